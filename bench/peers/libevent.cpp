// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// libevent has a binary heap. The base is used without locks, and reads a coarse clock on each
// call.

#include "peer.hpp"

#include <event2/event.h>
#include <event2/event_struct.h>

#include <cstddef>
#include <vector>

namespace {

class peer {
public:
    explicit peer(std::size_t n) : base_(event_base_new()), timers_(n) {
        bench::require(base_ != nullptr, "libevent has no base");
        for (event& timer : timers_) {
            event_assign(&timer, base_, -1, 0, [](evutil_socket_t, short, void*) {}, nullptr);
        }
    }
    peer(const peer&) = delete;
    peer& operator=(const peer&) = delete;
    ~peer() {
        for (event& timer : timers_) {
            event_del(&timer);
        }
        event_base_free(base_);
    }

    void start_all(std::size_t n) {
        for (std::size_t i = 0; i < n; ++i) {
            start(timers_[i]);
        }
    }

    void start_cancel(std::size_t count) {
        for (; count > 0; --count) {
            start(timers_.back());
            event_del(&timers_.back());
        }
    }

    template <class Next>
    void re_arm(std::size_t count, Next next) {
        for (; count > 0; --count) {
            start(timers_[next()]);
        }
    }

private:
    static void start(event& timer) {
        const timeval after{30, 0};
        event_add(&timer, &after);
    }

    event_base* base_;
    std::vector<event> timers_;
};

} // namespace

int main(int argc, char** argv) {
    return bench::peer_main<peer>("libevent", argc, argv);
}
