// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

#include <asio_wheel/detail/core/delivery.hpp>

#include <atomic>
#include <utility>

namespace asio_wheel::detail {

void delivery::attach(timer_state& s, wait_node& wait) noexcept {
    const bool plain = wait.link() == nullptr;
    wait.owner = &s;
    const bool first = s.waits.empty();
    s.waits.push_back(wait);
    if (s.filed()) {
        s.set_life(first && plain ? timer_life::waiting : timer_life::guarded);
    }
}

void delivery::detach(wait_node& wait) noexcept {
    if (!wait.is_waiting() && wait.where() == wait_node::location::executor) {
        --due_elsewhere_;
    }
    wait.owner->waits.erase(wait);
    wait.owner = nullptr;
    disconnect_slot(wait);
}

void delivery::detach_and_remove(wait_node& wait) noexcept {
    timer_state& s = *wait.owner;
    detach(wait);
    if (s.waits.empty()) {
        book_.remove(s);
    }
    settle(s);
}

// Pairs with core::unbind() and core::cancel().
void delivery::disconnect_slot(wait_node& wait) noexcept {
    if (cancel_link* const link = wait.link()) {
        static_cast<slotted_node&>(wait).cancel = nullptr;
        link->wait.store(nullptr, std::memory_order_release);
    }
}

void delivery::settle(timer_state& s) noexcept {
    if (s.waits.empty()) {
        unlist(s);
        s.set_life(s.filed() ? timer_life::tombstone : timer_life::inactive);
    }
}

// A wait that is waiting counts as work of the context. So does each of its references in the
// queue.
bool delivery::make_ready(wait_node& wait, result how) noexcept {
    const bool waited = std::exchange(wait.result, how) == result::waiting;
    const bool due = how == result::due;
    switch (wait.where()) {
    case wait_node::location::timer:
        if (due) {
            wait.move_to(wait_node::location::queue);
            wait.queue_refs = 1;
            outbox_.push(wait);
        } else {
            finish(wait, how);
        }
        break;
    case wait_node::location::queue:
        if (waited) {
            // Without memory for a proxy it keeps its old place, which is earlier.
            if (due && wait.queue_refs < max_queue_refs &&
                outbox_.push_proxy(wait, queue_port::proxy::deliver)) {
                ++wait.queue_refs;
            } else {
                queue_.work_finished(); // Not the last work: its old place counts, too.
            }
        }
        break;
    case wait_node::location::executor:
        if (due) {
            ++due_elsewhere_;
            list(*wait.owner);
        }
        return !waited;
    case wait_node::location::queue_final:
        break;
    }
    return true;
}

void delivery::finish(wait_node& wait, result why) noexcept {
    wait.result = why;
    wait.move_to(wait_node::location::queue_final);
    wait.queue_refs = 1;
    outbox_.push(wait);
}

void delivery::take_back(wait_node& wait) noexcept {
    wait.result = result::waiting;
    queue_.work_started();
    due_elsewhere_ -= wait.where() == wait_node::location::executor ? 1 : 0;
}

bool delivery::is_turn(wait_node& wait) noexcept {
    if (--wait.queue_refs == 0 && wait.is_waiting()) {
        wait.move_to(wait_node::location::timer); // It was postponed.
    }
    return wait.queue_refs == 0 && !wait.is_waiting();
}

bool delivery::leave(wait_node& wait) noexcept {
    if (wait.where() == wait_node::location::queue) {
        if (!is_turn(wait)) {
            return false;
        }
        if (wait.owner != nullptr) { // Otherwise it was aborted in the queue.
            ++due_elsewhere_;
            list(*wait.owner);
        }
    }
    wait.move_to(wait_node::location::executor);
    return true;
}

void delivery::come_back(wait_node& wait) noexcept {
    switch (wait.result) {
    case result::waiting:
        wait.move_to(wait_node::location::timer); // It was postponed meanwhile.
        break;
    case result::due:
        wait.move_to(wait_node::location::queue);
        wait.queue_refs = 1;
        --due_elsewhere_;
        queue_.work_started();
        outbox_.push(wait);
        break;
    default:
        queue_.work_started();
        finish(wait, wait.result);
    }
}

void delivery::list(timer_state& s) noexcept {
    if (!std::exchange(s.listed, true)) {
        elsewhere_.push_back(s);
    }
}

void delivery::unlist(timer_state& s) noexcept {
    if (std::exchange(s.listed, false)) {
        elsewhere_.erase(elsewhere_.iterator_to(s));
    }
}

} // namespace asio_wheel::detail
