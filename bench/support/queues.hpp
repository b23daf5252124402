// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Queues of deadlines with a common interface, so that each does the same work:
//
//     insert(entry, deadline), erase(entry), reschedule(entry, deadline)
//     advance(now, expired, slice)   removes the entries that are due, calls expired(entry) for
//                                    each, and calls slice() wherever other work could run. Returns
//                                    the number of entries.
//     next_expiry()                  the tick of the earliest deadline, or no_tick
//     size()
//
// `lazy` is true if an operation defers part of its work. A fair test then lasts until that is
// done. `timed` is false if the queue has no advance() and no next_expiry().

#ifndef BENCH_QUEUES_HPP
#define BENCH_QUEUES_HPP

#include <asio_wheel/wheel.hpp>
#include <asio_wheel/wheel_options.hpp>

#include <boost/asio/detail/op_queue.hpp>
#include <boost/asio/detail/timer_queue.hpp>
#include <boost/asio/detail/wait_op.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <type_traits>
#include <vector>

namespace bench {

using asio_wheel::no_tick;
using asio_wheel::tick_t;

/// Our wheel with the default options, advanced in slices as the service does.
class wheel_queue {
public:
    static constexpr const char* name = "asio_wheel";
    static constexpr bool lazy = true;
    static constexpr bool timed = true;

    struct entry : asio_wheel::wheel_entry {
        tick_t wanted = 0; // The deadline that the workload chose.
    };

    void insert(entry& e, tick_t deadline) { wheel_.insert(e, deadline); }
    void erase(entry& e) { wheel_.erase(e); }
    void reschedule(entry& e, tick_t deadline) { wheel_.reschedule(e, deadline); }

    template <class Expired, class Slice>
    std::size_t advance(tick_t now, Expired expired, Slice slice) {
        std::size_t total = 0;
        for (bool more = true; more;) {
            const auto progress = wheel_.advance(now, options_.budget, due_);
            for (std::size_t i = 0; i < progress.expired; ++i) {
                expired(static_cast<entry&>(*due_[i]));
            }
            slice();
            total += progress.expired;
            more = progress.more;
        }
        return total;
    }

    [[nodiscard]] tick_t next_expiry() const { return wheel_.next_expiry(); }
    [[nodiscard]] std::size_t size() const { return wheel_.size(); }

private:
    const asio_wheel::wheel_options options_;
    asio_wheel::wheel wheel_{options_.slots, options_.levels};
    std::vector<asio_wheel::wheel_entry*> due_{options_.budget};
};

/// The balanced tree of the standard library.
class multimap_queue {
public:
    static constexpr const char* name = "multimap";
    static constexpr bool lazy = false;
    static constexpr bool timed = true;

    struct entry {
        tick_t wanted = 0;
        std::multimap<tick_t, entry*>::iterator place;
    };

    void insert(entry& e, tick_t deadline) { e.place = map_.emplace(deadline, &e); }
    void erase(entry& e) { map_.erase(e.place); }
    // Reuses the node, as fast code does.
    void reschedule(entry& e, tick_t deadline) {
        auto node = map_.extract(e.place);
        node.key() = deadline;
        e.place = map_.insert(std::move(node));
    }

    template <class Expired, class Slice>
    std::size_t advance(tick_t now, Expired expired, Slice slice) {
        std::size_t total = 0;
        while (!map_.empty() && map_.begin()->first <= now) {
            entry& e = *map_.begin()->second;
            map_.erase(map_.begin());
            expired(e);
            ++total;
        }
        slice();
        return total;
    }

    [[nodiscard]] tick_t next_expiry() const {
        return map_.empty() ? no_tick : map_.begin()->first;
    }
    [[nodiscard]] std::size_t size() const { return map_.size(); }

private:
    std::multimap<tick_t, entry*> map_;
};

/// The time traits for Asio's timer queue: ticks, and a clock that the benchmark sets.
struct tick_traits {
    using time_type = tick_t;
    using duration_type = std::int64_t;

    struct posix_duration {
        std::int64_t count;
        [[nodiscard]] std::int64_t ticks() const { return count; }
        [[nodiscard]] std::int64_t total_milliseconds() const { return count; }
        [[nodiscard]] std::int64_t total_microseconds() const { return count * 1'000; }
    };

    static inline thread_local tick_t time = 0;

    static tick_t now() { return time; }
    static bool less_than(tick_t a, tick_t b) { return a < b; }
    static std::int64_t subtract(tick_t a, tick_t b) { return static_cast<std::int64_t>(a - b); }
    static posix_duration to_posix_duration(std::int64_t d) { return {d}; }
};

// Asio's queue is an implementation detail: newer versions add an allocator parameter.
template <template <class> class Queue>
std::type_identity<Queue<tick_traits>> asio_queue_of();
template <template <class, class> class Queue>
std::type_identity<Queue<tick_traits, std::allocator<void>>> asio_queue_of();

template <class Queue>
Queue make_asio_queue() {
    if constexpr (std::is_default_constructible_v<Queue>) {
        return Queue();
    } else {
        return Queue(std::allocator<void>(), 0);
    }
}

/// The binary heap that Asio's timers use, driven without a reactor.
class asio_queue {
    using queue = decltype(asio_queue_of<boost::asio::detail::timer_queue>())::type;
    using operation = boost::asio::detail::wait_op;

public:
    static constexpr const char* name = "asio_heap";
    static constexpr bool lazy = false;
    static constexpr bool timed = true;

    struct entry : operation {
        entry() : operation(nullptr) {} // Never completed: only the queue is tested.
        tick_t wanted = 0;
        queue::per_timer_data data;
    };

    asio_queue() = default;
    asio_queue(const asio_queue&) = delete;
    asio_queue& operator=(const asio_queue&) = delete;
    ~asio_queue() { // Removes the remaining entries.
        queue_.get_all_timers(ready_);
        take([](entry&) {});
    }

    void insert(entry& e, tick_t deadline) {
        queue_.enqueue_timer(deadline, e.data, &e);
        ++size_;
    }
    void erase(entry& e) {
        queue_.cancel_timer(e.data, ready_);
        size_ -= take([](entry&) {});
    }
    void reschedule(entry& e, tick_t deadline) {
        erase(e);
        insert(e, deadline);
    }

    template <class Expired, class Slice>
    std::size_t advance(tick_t now, Expired expired, Slice slice) {
        tick_traits::time = now;
        queue_.get_ready_timers(ready_);
        // Counts an entry before `expired` may insert it again.
        const std::size_t total = take([this, &expired](entry& e) {
            --size_;
            expired(e);
        });
        slice();
        return total;
    }

    [[nodiscard]] tick_t next_expiry() const {
        tick_traits::time = 0;
        constexpr long none = 1'000'000'000;
        const long wait = queue_.wait_duration_msec(none);
        return wait == none ? no_tick : static_cast<tick_t>(wait);
    }
    [[nodiscard]] std::size_t size() const { return size_; }

private:
    template <class Function>
    std::size_t take(Function function) {
        std::size_t taken = 0;
        for (; auto* const op = ready_.front(); ++taken) {
            ready_.pop();
            function(static_cast<entry&>(static_cast<operation&>(*op)));
        }
        return taken;
    }

    queue queue_ = make_asio_queue<queue>();
    boost::asio::detail::op_queue<boost::asio::detail::operation> ready_;
    std::size_t size_ = 0;
};

} // namespace bench

#endif
