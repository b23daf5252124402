// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Substitutes for the library's mutex and atomics. They report each operation of their thread, and
// remember where each object was created. For programs that define ASIO_WHEEL_SYNC_HEADER as
// "support/counted_sync.hpp".
//
// They have the size and the alignment of the standard ones, so addresses show which objects share
// a cache line.

#ifndef ASIO_WHEEL_TEST_SUPPORT_COUNTED_SYNC_HPP
#define ASIO_WHEEL_TEST_SUPPORT_COUNTED_SYNC_HPP

#include "support/atomic_operators.hpp"

#include <atomic>
#include <cstddef>
#include <map>
#include <mutex>
#include <source_location>
#include <type_traits>
#include <utility>

namespace asio_wheel::test {

/// An operation on a mutex or an atomic. `modify` is an atomic read-modify-write, even one that
/// changes nothing.
enum class sync_event { lock, unlock, load, store, modify };

/// Receives each operation of its thread.
class sync_observer {
public:
    sync_observer() = default;
    sync_observer(const sync_observer&) = delete;
    sync_observer& operator=(const sync_observer&) = delete;

    virtual void saw(sync_event what, const void* object) = 0;

    static inline thread_local sync_observer* here = nullptr;

protected:
    ~sync_observer() = default;
};

inline void tell(sync_event what, const void* object) {
    if (sync_observer::here != nullptr) {
        sync_observer::here->saw(what, object);
    }
}

/// Where a mutex or an atomic was created.
struct birth {
    const char* file = "";
    const char* owner = nullptr; ///< The object it is part of; null: shared.
};

/// The objects created so far. A destroyed object stays until another one is created at its
/// address.
class births {
public:
    static void note(const void* object, const char* file) {
        const lock guard;
        all()[object] = {file, owner};
    }
    [[nodiscard]] static birth of(const void* object) {
        const lock guard;
        const auto it = all().find(object);
        return it != all().end() ? it->second : birth();
    }

    /// While this exists, objects that its thread creates are part of an object with this name.
    class part_of {
    public:
        explicit part_of(const char* name) noexcept : former_(std::exchange(owner, name)) {}
        part_of(const part_of&) = delete;
        part_of& operator=(const part_of&) = delete;
        ~part_of() { owner = former_; }

    private:
        const char* const former_;
    };

private:
    // Guards the map. It is not a mutex, because mutexes are counted.
    class lock {
    public:
        lock() noexcept {
            while (busy.test_and_set(std::memory_order_acquire)) { // Pairs with ~lock().
            }
        }
        lock(const lock&) = delete;
        lock& operator=(const lock&) = delete;
        ~lock() { busy.clear(std::memory_order_release); }
    };

    // Never destroyed: objects of static lifetime may be created after all others.
    static std::map<const void*, birth>& all() {
        static auto* const map = new std::map<const void*, birth>;
        return *map;
    }

    static inline std::atomic_flag busy;
    static inline thread_local const char* owner = nullptr;
};

/// The counts exclude the real mutexes that implement these.
inline thread_local bool inside_counted_mutex = false;

} // namespace asio_wheel::test

namespace asio_wheel::detail {

class mutex {
    using place = std::source_location;

public:
    explicit mutex(const place& where = place::current()) {
        test::births::note(this, where.file_name());
    }
    mutex(const mutex&) = delete;
    mutex& operator=(const mutex&) = delete;
    ~mutex() = default;

    void lock() {
        test::inside_counted_mutex = true;
        mutex_.lock();
        test::inside_counted_mutex = false;
        test::tell(test::sync_event::lock, this);
    }

    [[nodiscard]] bool try_lock() {
        test::inside_counted_mutex = true;
        const bool taken = mutex_.try_lock();
        test::inside_counted_mutex = false;
        if (taken) {
            test::tell(test::sync_event::lock, this);
        }
        return taken;
    }

    void unlock() {
        test::tell(test::sync_event::unlock, this);
        mutex_.unlock();
    }

private:
    std::mutex mutex_;
};

static_assert(sizeof(mutex) == sizeof(std::mutex));

template <class T>
class atomic : public test::atomic_operators<atomic<T>, T> {
    using event = test::sync_event;
    using place = std::source_location;
    using change_type = typename test::atomic_operators<atomic<T>, T>::change_type;

public:
    using value_type = T;
    static constexpr bool is_always_lock_free = std::atomic<T>::is_always_lock_free;

    constexpr atomic(const place& where = place::current()) { note(where); }
    constexpr atomic(T value, const place& where = place::current()) // Implicit, like std::atomic.
        : value_(value) {
        note(where);
    }
    atomic(const atomic&) = delete;
    atomic& operator=(const atomic&) = delete;
    ~atomic() = default;

    [[nodiscard]] T load(std::memory_order order = std::memory_order_seq_cst) const {
        test::tell(event::load, this);
        return value_.load(order);
    }
    operator T() const { return load(); }

    void store(T value, std::memory_order order = std::memory_order_seq_cst) {
        test::tell(event::store, this);
        value_.store(value, order);
    }
    T operator=(T value) {
        store(value);
        return value;
    }

    T exchange(T value, std::memory_order order = std::memory_order_seq_cst) {
        return modified().exchange(value, order);
    }

    template <class... Orders>
    bool compare_exchange_strong(T& expected, T desired, Orders... orders) {
        return modified().compare_exchange_strong(expected, desired, orders...);
    }
    // A single thread has no reason to fail, and a count must not depend on chance.
    template <class... Orders>
    bool compare_exchange_weak(T& expected, T desired, Orders... orders) {
        return modified().compare_exchange_strong(expected, desired, orders...);
    }

    T fetch_add(change_type change, std::memory_order order = std::memory_order_seq_cst) {
        return modified().fetch_add(change, order);
    }
    T fetch_sub(change_type change, std::memory_order order = std::memory_order_seq_cst) {
        return modified().fetch_sub(change, order);
    }
    T fetch_and(T bits, std::memory_order order = std::memory_order_seq_cst) {
        return modified().fetch_and(bits, order);
    }
    T fetch_or(T bits, std::memory_order order = std::memory_order_seq_cst) {
        return modified().fetch_or(bits, order);
    }
    T fetch_xor(T bits, std::memory_order order = std::memory_order_seq_cst) {
        return modified().fetch_xor(bits, order);
    }

    void wait(T old, std::memory_order order = std::memory_order_seq_cst) const {
        test::tell(event::load, this);
        value_.wait(old, order);
    }
    void notify_one() { value_.notify_one(); }
    void notify_all() { value_.notify_all(); }

private:
    constexpr void note(const place& where) {
        if (!std::is_constant_evaluated()) {
            test::births::note(this, where.file_name());
        }
    }

    std::atomic<T>& modified() {
        test::tell(event::modify, this);
        return value_;
    }

    std::atomic<T> value_{};
};

static_assert(sizeof(atomic<char>) == sizeof(std::atomic<char>));
static_assert(sizeof(atomic<void*>) == sizeof(std::atomic<void*>));

} // namespace asio_wheel::detail

#endif
