// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

#include <asio_wheel/detail/core/thread_counts.hpp>

#include <mutex>
#include <new>
#include <utility>

namespace asio_wheel::detail {

template <class Function>
void thread_counts::for_each(Function f) const noexcept {
    for (const thread_block* b = newest(); b != nullptr; b = b->next_) {
        f(*b);
    }
}

void thread_block::add(const thread_block& ended) noexcept {
    count(scheduled_, ended.scheduled_.value());
    count(cancelled_, ended.cancelled_.value());
    count(fired_, ended.fired_.value());
    count(forgotten_, ended.forgotten_.value());
    count(postponed_, ended.postponed_.value());
    for (std::size_t i = 0; i < expired_.size(); ++i) {
        count(expired_[i], ended.expired_[i].value());
    }
}

thread_counts::~thread_counts() {
    for (thread_block* block = newest(); block != &first_;) {
        thread_block* const ended = std::exchange(block, block->next_);
        if (ended != &common_) {
            delete ended;
        }
    }
}

spare_timer* thread_counts::take_left() noexcept {
    if (!any_left_.load(std::memory_order_relaxed)) {
        return nullptr;
    }
    const std::lock_guard<mutex> guard(mutex_);
    spare_timer* const t = left_.take();
    any_left_.store(!left_.empty(), std::memory_order_relaxed);
    return t;
}

void thread_counts::forget_ended() noexcept {
    const std::uint64_t ends = thread_life::ends();
    if (ends_ == ends || !several_) {
        return;
    }
    ends_ = ends;
    const std::lock_guard<mutex> guard(mutex_);
    if (!has_ended()) {
        return;
    }
    add_common(); // It comes first in the list, or is there already.
    thread_block* kept = nullptr;
    for (thread_block* b = newest(); b != &first_;) {
        thread_block* const older = b->next_;
        if (!b->owner_.ended()) {
            kept = b;
        } else {
            common_.add(*b);
            left_.keep_all(b->spares_);
            unlink(*b, kept);
            delete b;
        }
        b = older;
    }
    any_left_.store(!left_.empty(), std::memory_order_relaxed);
}

std::uint64_t thread_counts::cancelled() const noexcept {
    std::uint64_t total = 0;
    for_each([&total](const thread_block& b) { total += b.cancelled_.value(); });
    return total;
}

wait_counts thread_counts::sum() const noexcept {
    wait_counts total;
    for_each([&total](const thread_block& b) { total.scheduled += b.scheduled_.value(); });
    for_each([&total](const thread_block& b) {
        total.cancelled += b.cancelled_.value();
        total.fired += b.fired_.value();
        total.forgotten += b.forgotten_.value();
        total.postponed += b.postponed_.value();
        for (const wait_kind kind : all_wait_kinds) {
            total.expired[kind] += b.expired_[static_cast<std::size_t>(kind)].value();
        }
    });
    return total;
}

std::uint64_t thread_counts::pending() const noexcept {
    std::uint64_t total = 0;
    for_each([&total](const thread_block& b) { total -= b.ended(); });
    for_each([&total](const thread_block& b) { total += b.scheduled_.value_in_order(); });
    return total;
}

std::uint64_t thread_counts::surely_pending() const noexcept {
    std::uint64_t started = 0;
    std::uint64_t ended = 0;
    for_each([&started](const thread_block& b) { started += b.scheduled_.value(); });
    for_each([&ended](const thread_block& b) { ended += b.ended(); });
    return started > ended ? started - ended : 0;
}

thread_block& thread_counts::find() noexcept {
    const std::lock_guard<mutex> guard(mutex_);
    thread_life* const here = thread_life::mine();
    thread_block* const block = here == nullptr ? nullptr : find_or_make(*here);
    if (block == nullptr) {
        add_common();
        if (!has_thread_exit) {
            found_[place()] = {this, born_, &common_}; // No thread has a block of its own.
        }
        return common_;
    }
    found_[place()] = {this, born_, block};
    return *block;
}

// Null without memory.
thread_block* thread_counts::find_or_make(thread_life& here) noexcept {
    thread_block* ended = nullptr;
    for (thread_block* b = newest(); b != nullptr; b = b->next_) {
        if (b->owner_ == &here) {
            return b;
        }
        if (b->owner_.ended() || (b == &first_ && b->owner_ == nullptr)) {
            ended = b;
        }
    }
    if (ended != nullptr) {
        ended->owner_.reset(here);
        return ended;
    }
    auto* const fresh = new (std::nothrow) thread_block;
    if (fresh != nullptr) {
        fresh->owner_.reset(here);
        publish(*fresh);
    }
    return fresh;
}

void thread_counts::add_common() noexcept {
    if (!std::exchange(common_used_, true)) {
        publish(common_);
    }
}

// Whether the thread of a block has ended that can be freed.
bool thread_counts::has_ended() const noexcept {
    for (const thread_block* b = newest(); b != &first_; b = b->next_) {
        if (b->owner_.ended()) {
            return true;
        }
    }
    return false;
}

// `newer` is the block before it in the list, or null.
void thread_counts::unlink(thread_block& block, thread_block* newer) noexcept {
    if (newer != nullptr) {
        newer->next_ = block.next_;
    } else {
        newest_.store(block.next_, std::memory_order_relaxed); // Readers hold the wheel's lock.
    }
    size_.fetch_sub(1, std::memory_order_relaxed);
}

void thread_counts::publish(thread_block& block) noexcept {
    block.next_ = newest();
    newest_.store(&block, std::memory_order_seq_cst); // As add_in_order().
    size_.fetch_add(1, std::memory_order_relaxed);
}

} // namespace asio_wheel::detail
