// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The mutex, the atomics and the event of the library for programs that explore interleavings: each
// operation is a yield point. Selected by ASIO_WHEEL_SYNC_HEADER and ASIO_WHEEL_EVENT_HEADER.
//
// Each contains the real one, which does the work with the memory order that the library has
// chosen. So ThreadSanitizer sees which accesses the library itself orders. On a thread that is not
// explored, only the real one is used.

#ifndef ASIO_WHEEL_TEST_INTERLEAVE_SUPPORT_SYNC_HPP
#define ASIO_WHEEL_TEST_INTERLEAVE_SUPPORT_SYNC_HPP

#include "interleave/support/yield_points.hpp"
#include "support/atomic_operators.hpp"

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <source_location>
#include <type_traits>

namespace asio_wheel::detail {

class mutex {
public:
    constexpr mutex() noexcept = default;
    mutex(const mutex&) = delete;
    mutex& operator=(const mutex&) = delete;
    ~mutex() = default;

    void lock() {
        test::interleave::before_lock(this, held_);
        real_.lock();
        held_ = true;
    }

    [[nodiscard]] bool try_lock() {
        test::interleave::before(test::interleave::action::try_lock, this,
                                 std::source_location::current());
        const bool taken = real_.try_lock();
        if (taken) {
            held_ = true;
        }
        test::interleave::came_to(taken ? 1 : 0);
        return taken;
    }

    void unlock() {
        test::interleave::before(test::interleave::action::unlock, this,
                                 std::source_location::current());
        held_ = false;
        real_.unlock();
        test::interleave::after(this);
    }

private:
    std::mutex real_;
    bool held_ = false; // Guarded by `real_`. The explorer reads it only between steps.
};

template <class T>
class atomic : public test::atomic_operators<atomic<T>, T> {
    using action = test::interleave::action;
    using place = std::source_location;
    using change_type = typename test::atomic_operators<atomic<T>, T>::change_type;

public:
    using value_type = T;

    constexpr atomic() noexcept = default;
    constexpr atomic(T value) noexcept : value_(value) {} // Implicit, as it is of std::atomic.
    atomic(const atomic&) = delete;
    atomic& operator=(const atomic&) = delete;
    ~atomic() { ended_.store(true, std::memory_order_relaxed); }

    [[nodiscard]] T load(std::memory_order order = std::memory_order_seq_cst,
                         const place& where = place::current()) const {
        before(action::load, where);
        return noted(value_.load(order));
    }
    operator T() const { return load(); }

    void store(T value, std::memory_order order = std::memory_order_seq_cst,
               const place& where = place::current()) {
        before(action::store, where);
        value_.store(noted(value), order);
        test::interleave::after(this);
    }
    T operator=(T value) {
        store(value);
        return value;
    }

    T exchange(T value, std::memory_order order = std::memory_order_seq_cst,
               const place& where = place::current()) {
        return modify(where, [&] { return value_.exchange(value, order); });
    }

    bool compare_exchange_strong(T& expected, T desired,
                                 std::memory_order order = std::memory_order_seq_cst,
                                 const place& where = place::current()) {
        return compare_exchange(expected, desired, order, on_failure(order), where, false);
    }
    bool compare_exchange_strong(T& expected, T desired, std::memory_order success,
                                 std::memory_order failure, const place& where = place::current()) {
        return compare_exchange(expected, desired, success, failure, where, false);
    }
    bool compare_exchange_weak(T& expected, T desired,
                               std::memory_order order = std::memory_order_seq_cst,
                               const place& where = place::current()) {
        return compare_exchange(expected, desired, order, on_failure(order), where, true);
    }
    bool compare_exchange_weak(T& expected, T desired, std::memory_order success,
                               std::memory_order failure, const place& where = place::current()) {
        return compare_exchange(expected, desired, success, failure, where, true);
    }

    T fetch_add(change_type change, std::memory_order order = std::memory_order_seq_cst,
                const place& where = place::current()) {
        return modify(where, [&] { return value_.fetch_add(change, order); });
    }
    T fetch_sub(change_type change, std::memory_order order = std::memory_order_seq_cst,
                const place& where = place::current()) {
        return modify(where, [&] { return value_.fetch_sub(change, order); });
    }
    T fetch_and(T bits, std::memory_order order = std::memory_order_seq_cst,
                const place& where = place::current()) {
        return modify(where, [&] { return value_.fetch_and(bits, order); });
    }
    T fetch_or(T bits, std::memory_order order = std::memory_order_seq_cst,
               const place& where = place::current()) {
        return modify(where, [&] { return value_.fetch_or(bits, order); });
    }
    T fetch_xor(T bits, std::memory_order order = std::memory_order_seq_cst,
                const place& where = place::current()) {
        return modify(where, [&] { return value_.fetch_xor(bits, order); });
    }

    void wait(T old, std::memory_order order = std::memory_order_seq_cst,
              const place& where = place::current()) const {
        if (!test::interleave::explored()) {
            return value_.wait(old, order);
        }
        // Checking and falling asleep are one step.
        for (before(action::load, where); is(old, order);) {
            test::interleave::sleep_on(this, where);
        }
    }

    void notify_one(const place& where = place::current()) { notify(false, where); }
    void notify_all(const place& where = place::current()) { notify(true, where); }

private:
    void before(action what, const place& where) const {
        test::interleave::before(what, this, where);
        test::interleave::check_lives(ended_.load(std::memory_order_relaxed));
    }

    [[nodiscard]] static constexpr std::memory_order on_failure(std::memory_order order) noexcept {
        return order == std::memory_order_acq_rel   ? std::memory_order_acquire
               : order == std::memory_order_release ? std::memory_order_relaxed
                                                    : order;
    }

    [[nodiscard]] bool is(const T& old, std::memory_order order) const {
        const T now = noted(value_.load(order));
        return std::memcmp(&now, &old, sizeof(T)) == 0;
    }

    template <class Modify>
    T modify(const place& where, Modify f) {
        before(action::modify, where);
        const T former = noted(f());
        test::interleave::after(this);
        return former;
    }

    bool compare_exchange(T& expected, T desired, std::memory_order success,
                          std::memory_order failure, const place& where, bool weak) {
        before(action::modify, where);
        if (weak && is(expected, failure) && test::interleave::fails_spuriously()) {
            return false;
        }
        const bool done = value_.compare_exchange_strong(expected, desired, success, failure);
        static_cast<void>(noted(done ? desired : expected));
        if (done) {
            test::interleave::after(this);
        }
        return done;
    }

    void notify(bool all, const place& where) {
        before(action::notify, where);
        static_cast<void>(value_.load(std::memory_order_relaxed)); // Sanitizers check the object.
        test::interleave::wake(this, all);
        all ? value_.notify_all() : value_.notify_one();
        test::interleave::after(this);
    }

    static T noted(T value) noexcept {
        if constexpr (sizeof(T) <= sizeof(std::uint64_t)) {
            std::uint64_t bits = 0;
            std::memcpy(&bits, &value, sizeof(T));
            test::interleave::came_to(bits);
        }
        return value;
    }

    std::atomic<T> value_{};
    std::atomic<bool> ended_{false};
};

/// Time does not pass between yield points, so a wait has no limit.
class event {
public:
    void set() {
        is_set_.store(true, std::memory_order_release);
        is_set_.notify_one();
    }
    void wait() const { is_set_.wait(false, std::memory_order_acquire); }
    [[nodiscard]] bool wait_until(std::chrono::steady_clock::time_point) const {
        wait();
        return true;
    }

private:
    atomic<bool> is_set_{false};
};

} // namespace asio_wheel::detail

#endif
