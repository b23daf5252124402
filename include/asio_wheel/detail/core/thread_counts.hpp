// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// What threads have done to the timers of one wheel, counted without a lock and without a shared
// cache line.
//
// Each thread has its own block of counts, which no other thread writes. The sum of all blocks is
// what all threads have done together. A thread remembers where its block is. It identifies the
// counts by their address and by the time when they were made, because other counts may later have
// the same address.
//
// When a thread has ended, its block is taken over by the next new thread. Or, when the sum is
// asked for, its counts are added to those of all threads that have ended, and the block is freed.
// So the sum costs as much as there are threads, and not as there were.

#ifndef ASIO_WHEEL_DETAIL_CORE_THREAD_COUNTS_HPP
#define ASIO_WHEEL_DETAIL_CORE_THREAD_COUNTS_HPP

#include <asio_wheel/detail/attributes.hpp>
#include <asio_wheel/detail/core/spare_timers.hpp>
#include <asio_wheel/detail/threads/sync.hpp>
#include <asio_wheel/detail/threads/thread_life.hpp>
#include <asio_wheel/wait_kind.hpp>

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace asio_wheel::detail {

/// One number of a block. It is not a detail::atomic: tests that explore interleavings need not
/// switch threads at each count.
class thread_count {
public:
    /// Pairs with add(): acquires what the thread has done before it counted. Another thread may
    /// have started the wait that this one has ended: see count_end.litmus.
    [[nodiscard]] std::uint64_t value() const noexcept {
        return value_.load(std::memory_order_acquire);
    }

    /// For a thread that has announced by a sequentially consistent store that it is going to read.
    /// Pairs with add_in_order().
    [[nodiscard]] std::uint64_t value_in_order() const noexcept {
        return value_.load(std::memory_order_seq_cst);
    }

    /// Called by the thread that owns the block.
    void add(std::uint64_t n) noexcept { set(n, std::memory_order_release); }

    /// As add(). After it, the thread makes a sequentially consistent read-modify-write, and then
    /// reads the announcement. Either it sees the announcement, or value_in_order() sees the count.
    void add_in_order(std::uint64_t n) noexcept {
#if defined(__x86_64__) || defined(__i386__) || defined(_M_X64) || defined(_M_IX86)
        add(n); // That read-modify-write keeps all stores before it before all loads after it.
#else
        set(n, std::memory_order_seq_cst);
#endif
    }

    /// Called by any thread.
    void add_shared(std::uint64_t n) noexcept { value_.fetch_add(n, std::memory_order_seq_cst); }

private:
    void set(std::uint64_t n, std::memory_order order) noexcept {
        value_.store(value_.load(std::memory_order_relaxed) + n, order);
    }

    std::atomic<std::uint64_t> value_{0}; // Litmus tests: start_idle, start_idle_shared.
};

/// What was counted.
struct wait_counts {
    std::uint64_t scheduled = 0; ///< Waits accepted.
    std::uint64_t cancelled = 0; ///< Waits aborted.
    std::uint64_t fired = 0;     ///< Waits delivered because their time had come.
    std::uint64_t forgotten = 0; ///< Waits destroyed with their context or executor.
    std::uint64_t postponed = 0; ///< Waits that got another deadline.
    counts_by_kind expired;      ///< What users mean by that: see wait_kind.

    /// Never negative: see sum().
    [[nodiscard]] std::uint64_t pending() const noexcept {
        const std::uint64_t ended = cancelled + fired + forgotten;
        return scheduled > ended ? scheduled - ended : 0;
    }
};

/// What one thread has counted, and keeps for the wheel.
class alignas(64) thread_block {
public:
    void scheduled() noexcept { shared_ ? scheduled_.add_shared(1) : scheduled_.add_in_order(1); }
    void not_scheduled() noexcept { count(scheduled_, std::uint64_t{0} - 1); } ///< After all.
    void cancelled(std::uint64_t n = 1) noexcept { count(cancelled_, n); }
    void fired() noexcept { count(fired_, 1); }
    void forgotten() noexcept { count(forgotten_, 1); }
    void postponed(std::uint64_t n) noexcept { count(postponed_, n); }
    void expired(wait_kind kind) noexcept { count(expired_[static_cast<std::size_t>(kind)], 1); }

    [[nodiscard]] std::uint64_t cancelled_so_far() const noexcept { return cancelled_.value(); }

    /// Waits that this thread has started, less those that it has ended.
    [[nodiscard]] std::uint64_t balance() const noexcept {
        return scheduled_.value_in_order() - ended();
    }

    /// Adds what another block has counted, whose thread has ended.
    void add(const thread_block& ended) noexcept;

    /// Null if several threads share this block.
    [[nodiscard]] spare_timers* spares() noexcept { return shared_ ? nullptr : &spares_; }

private:
    friend class thread_counts;

    [[nodiscard]] std::uint64_t ended() const noexcept {
        return cancelled_.value() + fired_.value() + forgotten_.value();
    }

    void count(thread_count& what, std::uint64_t n) noexcept {
        shared_ ? what.add_shared(n) : what.add(n);
    }

    thread_count scheduled_;
    thread_count cancelled_;
    thread_count fired_;
    thread_count forgotten_;
    thread_count postponed_;
    std::array<thread_count, all_wait_kinds.size()> expired_;
    bool shared_ = false;
    spare_timers spares_;
    thread_life::pointer owner_;
    thread_block* next_ = nullptr;
};

class ASIO_WHEEL_ONE_INSTANCE thread_counts {
public:
    /// `several`: more than one thread uses the wheel.
    explicit thread_counts(bool several) noexcept
        : several_(several), born_(std::chrono::steady_clock::now()) {
        common_.shared_ = true;
    }
    thread_counts(const thread_counts&) = delete;
    thread_counts& operator=(const thread_counts&) = delete;
    ~thread_counts();

    /// The calling thread's.
    [[nodiscard]] thread_block& here() noexcept {
        if (!several_) {
            return first_;
        }
        const found& last = found_[place()];
        const bool known = last.counts == this && last.born == born_ && !thread_life::gone();
        return known ? *last.block : find();
    }

    /// A timer that a thread has left which has ended. Null if there is none.
    [[nodiscard]] spare_timer* take_left() noexcept;

    // The following are called by one thread at a time: under the wheel's lock.

    /// Frees the blocks of threads that have ended. Costs next to nothing if none has.
    void forget_ended() noexcept;

    /// How many waits all threads have aborted.
    [[nodiscard]] std::uint64_t cancelled() const noexcept;

    // A wait may start on one thread and end on another while these read the blocks. So they read
    // all starts before all ends, or after them.

    /// The sum of all blocks. What other threads count meanwhile may be missing.
    [[nodiscard]] wait_counts sum() const noexcept;

    /// How many waits are pending; no fewer than there are. Counts a wait that starts meanwhile,
    /// unless the thread that starts it sees what the calling thread has announced: see
    /// thread_count.
    [[nodiscard]] std::uint64_t pending() const noexcept;
    /// The same, but no more than there are.
    [[nodiscard]] std::uint64_t surely_pending() const noexcept;

    /// The number of blocks.
    [[nodiscard]] std::size_t size() const noexcept {
        return size_.load(std::memory_order_relaxed);
    }

private:
    using time = std::chrono::steady_clock::time_point;

    struct found {
        const thread_counts* counts;
        time born;
        thread_block* block;
    };
    // Few, so that a thread that uses the wheels of several contexts, or clocks, finds each at
    // once.
    static constexpr std::size_t places = 4;
    static inline thread_local constinit std::array<found, places> found_{};

    [[nodiscard]] std::size_t place() const noexcept {
        return reinterpret_cast<std::uintptr_t>(this) / sizeof(thread_block) % places;
    }

    [[nodiscard]] thread_block& find() noexcept;
    [[nodiscard]] thread_block* find_or_make(thread_life& here) noexcept;
    void add_common() noexcept;
    [[nodiscard]] bool has_ended() const noexcept;
    void unlink(thread_block& block, thread_block* newer) noexcept;
    void publish(thread_block& block) noexcept;
    [[nodiscard]] thread_block* newest() const noexcept {
        return newest_.load(std::memory_order_seq_cst);
    }

    template <class Function>
    void for_each(Function f) const noexcept;

    const bool several_;
    const time born_;
    std::uint64_t ends_ = 0; // thread_life::ends() at the last forget_ended().
    mutex mutex_;            // Guards the owners, the list, and what is left. The innermost lock.
    thread_block first_;     // Of the first thread, and of others after it.
    thread_block common_;    // Of all threads that have ended, or found no memory for a block.
    bool common_used_ = false;
    spare_timers left_; // By threads that have ended.
    std::atomic<bool> any_left_{false};
    // A list: see publish(), and the litmus test start_idle_new_thread. Blocks are taken out of it
    // under the wheel's lock, which those that read it hold.
    std::atomic<thread_block*> newest_{&first_};
    std::atomic<std::size_t> size_{1};
};

} // namespace asio_wheel::detail

#endif
