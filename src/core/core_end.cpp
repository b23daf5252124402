// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The end of a wheel's context, and what a fork does.

#include <asio_wheel/detail/core/core.hpp>
#include <asio_wheel/detail/core/core_scopes.hpp>

#include <mutex>
#include <utility>

namespace asio_wheel::detail {

core::~core() = default; // Here: its members are those of the library.

void core::after_fork() {
    const std::lock_guard<optional_mutex> guard(lock_->mutex);
    guarded_->alarm_.after_fork();
}

bool core::end(wait_list& doomed) noexcept {
    const std::lock_guard<optional_mutex> guard(lock_->mutex);
    guarded& g = *guarded_;
    g.begin_to_close();
    g.stall_.end();
    const visit others(*this);
    std::size_t left = options_.budget;
    const bool more = g.book_.take_all([&](timer_state& s) {
        left -= g.detach_some(s, doomed, left);
        const bool all = s.waits.empty(); // A timer may have very many waits.
        if (all) {
            g.delivery_.settle(s);
        }
        return all;
    });
    while (left != 0 && g.delivery_.first_listed() != nullptr) {
        timer_state& s = *g.delivery_.first_listed();
        left -= g.detach_some(s, doomed, left);
        g.delivery_.settle(s); // Removes it from the list with its last wait.
    }
    return more || left != options_.budget;
}

void core::end() noexcept {
    const std::lock_guard<optional_mutex> guard(lock_->mutex);
    lock_->core = nullptr;
}

// On Windows, the end of a context destroys operations in its queue until no work is left. If too
// little is counted, some are never destroyed; if too much, it waits for ever. So from now on, each
// operation in the queue counts once, and nothing else does: each_counts(). Until now, a wake-up
// and the rest of a turn need not have counted by themselves: waits did. A thread of Asio may still
// run one of them.
void core::guarded::begin_to_close() noexcept {
    if (std::exchange(closing_, true) || !queue_.ends_without_work) {
        return;
    }
    for (std::size_t i = 0; i < alarm_.to_come(); ++i) {
        queue_.work_started();
    }
    if (!next_turn_.is_nothing() && next_turn_.count()) {
        queue_.work_started();
    }
}

// The context ends, and a wait that counted as work will not be in its queue any more.
void core::guarded::forget_work() noexcept {
    if (queue_.ends_without_work) {
        queue_.work_finished();
    }
}

// Detaches no more than `most` waits. Returns how many.
std::size_t core::guarded::detach_some(timer_state& s, wait_list& doomed,
                                       std::size_t most) noexcept {
    std::size_t detached = 0;
    for (; !s.waits.empty() && detached < most; ++detached) {
        wait_node& wait = s.waits.front();
        delivery_.detach(wait);
        counts_.here().forgotten();
        if (wait.is_waiting()) { // Otherwise its place counts, or nothing.
            forget_work();
        }
        switch (wait.where()) {
        case wait_node::location::timer:
            doomed.push_back(wait);
            break;
        case wait_node::location::queue:
            wait.result = wait_node::result_state::aborted;
            break;
        case wait_node::location::executor:
            if (wait.is_waiting()) {
                wait.result = wait_node::result_state::dropped;
            }
            break;
        case wait_node::location::queue_final:
            break;
        }
    }
    return detached;
}

} // namespace asio_wheel::detail
