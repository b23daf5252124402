// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// libev has a 4-ary heap. Timers are re-armed with ev_timer_again(), as its manual recommends for
// idle timeouts.

#include "peer.hpp"

#include <ev.h>

#include <cstddef>
#include <vector>

namespace {

class peer {
public:
    explicit peer(std::size_t n) : loop_(ev_loop_new(EVFLAG_AUTO)), timers_(n) {
        bench::require(loop_ != nullptr, "libev has no loop");
        for (ev_timer& timer : timers_) {
            // The macros of ev.h contain casts that our warnings reject.
            timer = {};
            timer.cb = [](struct ev_loop*, ev_timer*, int) {};
            timer.repeat = 30.0;
        }
    }
    peer(const peer&) = delete;
    peer& operator=(const peer&) = delete;
    ~peer() {
        for (ev_timer& timer : timers_) {
            ev_timer_stop(loop_, &timer);
        }
        ev_loop_destroy(loop_);
    }

    void start_all(std::size_t n) {
        for (std::size_t i = 0; i < n; ++i) {
            ev_timer_again(loop_, &timers_[i]);
        }
    }

    void start_cancel(std::size_t count) {
        for (; count > 0; --count) {
            update_clock(count);
            ev_timer_again(loop_, &timers_.back());
            ev_timer_stop(loop_, &timers_.back());
        }
    }

    template <class Next>
    void re_arm(std::size_t count, Next next) {
        for (; count > 0; --count) {
            update_clock(count);
            ev_timer_again(loop_, &timers_[next()]);
        }
    }

private:
    void update_clock(std::size_t count) {
        if (count % bench::burst == 0) {
            ev_now_update(loop_);
        }
    }

    struct ev_loop* loop_;
    std::vector<ev_timer> timers_;
};

} // namespace

int main(int argc, char** argv) {
    return bench::peer_main<peer>("libev", argc, argv);
}
