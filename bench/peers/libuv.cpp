// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// libuv has a binary heap. Its operations leave no work for the loop.

#include "peer.hpp"

#include <uv.h>

#include <cstddef>
#include <vector>

namespace {

class peer {
public:
    explicit peer(std::size_t n) : timers_(n) {
        bench::require(uv_loop_init(&loop_) == 0, "libuv has no loop");
        for (uv_timer_t& timer : timers_) {
            uv_timer_init(&loop_, &timer);
        }
    }
    peer(const peer&) = delete;
    peer& operator=(const peer&) = delete;
    ~peer() {
        for (uv_timer_t& timer : timers_) {
            uv_close(reinterpret_cast<uv_handle_t*>(&timer), nullptr);
        }
        uv_run(&loop_, UV_RUN_DEFAULT);
        uv_loop_close(&loop_);
    }

    void start_all(std::size_t n) {
        for (std::size_t i = 0; i < n; ++i) {
            start(timers_[i]);
        }
    }

    void start_cancel(std::size_t count) {
        for (; count > 0; --count) {
            update_clock(count);
            start(timers_.back());
            uv_timer_stop(&timers_.back());
        }
    }

    template <class Next>
    void re_arm(std::size_t count, Next next) {
        for (; count > 0; --count) {
            update_clock(count);
            start(timers_[next()]);
        }
    }

private:
    void update_clock(std::size_t count) {
        if (count % bench::burst == 0) {
            uv_update_time(&loop_);
        }
    }

    static void start(uv_timer_t& timer) {
        uv_timer_start(&timer, [](uv_timer_t*) {}, 30'000, 0);
    }

    uv_loop_t loop_;
    std::vector<uv_timer_t> timers_;
};

} // namespace

int main(int argc, char** argv) {
    return bench::peer_main<peer>("libuv", argc, argv);
}
