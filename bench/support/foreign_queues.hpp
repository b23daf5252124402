// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The timers of libuv and libevent with the part of the interface in queues.hpp that they support:
// inserting and erasing. They use real time, so entries cannot be made to expire on demand.
//
// The build sets BENCH_WITH_LIBUV and BENCH_WITH_LIBEVENT to 1 where the library was found.

#ifndef BENCH_FOREIGN_QUEUES_HPP
#define BENCH_FOREIGN_QUEUES_HPP

#include "measure.hpp"
#include "queues.hpp"

#if BENCH_WITH_LIBUV
#include <uv.h>
#endif

#if BENCH_WITH_LIBEVENT
#include <event2/event.h>
#include <event2/event_struct.h>
#endif

#include <cstddef>

namespace bench {

#if BENCH_WITH_LIBUV
/// A tick is a millisecond, counted from the loop's time, which does not advance here.
class libuv_queue {
public:
    static constexpr const char* name = "libuv";
    static constexpr bool lazy = false;
    static constexpr bool timed = false;

    struct entry {
        tick_t wanted = 0;
        uv_timer_t timer;
    };

    libuv_queue() { require(uv_loop_init(&loop_) == 0, "libuv has no loop"); }
    libuv_queue(const libuv_queue&) = delete;
    libuv_queue& operator=(const libuv_queue&) = delete;
    ~libuv_queue() {
        uv_walk(&loop_, [](uv_handle_t* handle, void*) { uv_close(handle, nullptr); }, nullptr);
        uv_run(&loop_, UV_RUN_DEFAULT);
        uv_loop_close(&loop_);
    }

    /// Before an entry is filed for the first time.
    void adopt(entry& e) { uv_timer_init(&loop_, &e.timer); }

    void insert(entry& e, tick_t deadline) {
        uv_timer_start(&e.timer, [](uv_timer_t*) {}, deadline, 0);
        ++size_;
    }
    void erase(entry& e) {
        uv_timer_stop(&e.timer);
        --size_;
    }
    void reschedule(entry& e, tick_t deadline) {
        uv_timer_start(&e.timer, [](uv_timer_t*) {}, deadline, 0);
    }
    [[nodiscard]] std::size_t size() const { return size_; }

private:
    uv_loop_t loop_;
    std::size_t size_ = 0;
};
#endif

#if BENCH_WITH_LIBEVENT
/// A tick is a millisecond, counted from now. libevent reads its (coarse) clock on each call.
class libevent_queue {
public:
    static constexpr const char* name = "libevent";
    static constexpr bool lazy = false;
    static constexpr bool timed = false;

    struct entry {
        tick_t wanted = 0;
        event timer;
    };

    libevent_queue() : base_(event_base_new()) {
        require(base_ != nullptr, "libevent has no base");
    }
    libevent_queue(const libevent_queue&) = delete;
    libevent_queue& operator=(const libevent_queue&) = delete;
    ~libevent_queue() { event_base_free(base_); }

    /// Before an entry is filed for the first time.
    void adopt(entry& e) {
        event_assign(&e.timer, base_, -1, 0, [](evutil_socket_t, short, void*) {}, nullptr);
    }

    void insert(entry& e, tick_t deadline) {
        add(e, deadline);
        ++size_;
    }
    void erase(entry& e) {
        event_del(&e.timer);
        --size_;
    }
    void reschedule(entry& e, tick_t deadline) { add(e, deadline); }
    [[nodiscard]] std::size_t size() const { return size_; }

private:
    static void add(entry& e, tick_t deadline) {
        const timeval after{static_cast<time_t>(deadline / 1'000),
                            static_cast<suseconds_t>(deadline % 1'000 * 1'000)};
        event_add(&e.timer, &after);
    }

    event_base* base_;
    std::size_t size_ = 0;
};
#endif

} // namespace bench

#endif
