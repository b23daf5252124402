// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

#include <asio_wheel/detail/core/core_scopes.hpp>
#include <asio_wheel/detail/core/pending_walk.hpp>

#include <asio_wheel/detail/core/timer_state.hpp>
#include <asio_wheel/detail/exceptions.hpp>
#include <asio_wheel/detail/wheel/wheel_walk.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

namespace asio_wheel::detail {

class core::pending_walk::walk {
public:
    explicit walk(core& c);
    walk(const walk&) = delete;
    walk& operator=(const walk&) = delete;
    ~walk();

    [[nodiscard]] std::span<const pending_wait> next();

private:
    using turns = core::guarded::walk_turns;

    // The thread that walks. A walk inside a walk would wait for itself.
    class turn {
    public:
        explicit turn(turns& t);
        turn(const turn&) = delete;
        turn& operator=(const turn&) = delete;
        ~turn();

    private:
        turns& turns_;
    };

    void begin(unsigned number);
    template <class See>
    void slice(See see);
    void see(timer_state& s, time_count now);

    core& core_;
    const turn turn_;
    std::vector<wheel_entry*> found_;
    timer_state bookmark_;
    wheel_walk walk_;
    std::vector<pending_wait> waits_;
    bool ended_ = false;
};

core::pending_walk::pending_walk(core& c) : walk_(new walk(c)) {}

core::pending_walk::~pending_walk() = default;

std::span<const pending_wait> core::pending_walk::next() {
    return walk_->next();
}

core::pending_walk::walk::turn::turn(turns& t) : turns_(t) {
    if (turns_.walker.load(std::memory_order_relaxed) == std::this_thread::get_id()) {
        BOOST_THROW_EXCEPTION(
            std::logic_error("asio_wheel: the function of for_each_pending() has called "
                             "for_each_pending() or report() for the same wheel"));
    }
    turns_.one.lock();
    turns_.walker.store(std::this_thread::get_id(), std::memory_order_relaxed);
}

core::pending_walk::walk::turn::~turn() {
    turns_.walker.store(std::thread::id(), std::memory_order_relaxed);
    turns_.one.unlock();
}

core::pending_walk::walk::walk(core& c)
    : core_(c), turn_(c.guarded_->walks_), found_(c.options_.budget),
      walk_(c.guarded_->book_.entries(), bookmark_) {
    if (core_.guarded_->last_walk_ == (std::numeric_limits<std::uint8_t>::max)()) {
        // The numbers begin anew. A walk that ended early has left older ones on some timers.
        begin(0);
        while (!ended_) {
            slice([](timer_state&, time_count) {});
        }
    }
    begin(core_.guarded_->last_walk_ + 1U);
}

core::pending_walk::walk::~walk() {
    const locked guard(core_, "for_each_pending()");
    walk_.take_bookmark();
    bookmark_.set_life(timer_life::inactive);
    guard->book_.begin_walk(0);
}

std::span<const pending_wait> core::pending_walk::walk::next() {
    waits_.clear();
    waits_.reserve(found_.size());
    while (waits_.empty() && !ended_) {
        slice([this](timer_state& s, time_count now) { see(s, now); });
    }
    return waits_;
}

void core::pending_walk::walk::begin(unsigned number) {
    const locked guard(core_, "for_each_pending()");
    guard->last_walk_ = static_cast<std::uint8_t>(number);
    guard->book_.begin_walk(guard->last_walk_);
    ended_ = false;
}

// Calls see(timer, now) for the next timers that this walk has not seen. Sets ended_ after the last
// ones.
template <class See>
void core::pending_walk::walk::slice(See see) {
    const locked guard(core_, "for_each_pending()");
    const visit others(core_);
    const wheel_walk::progress passed = walk_.step(found_);
    bookmark_.set_life(passed.more ? timer_life::tombstone : timer_life::inactive);
    const time_count now = core_.now();
    for (std::size_t i = 0; i < passed.found; ++i) {
        auto& s = static_cast<timer_state&>(*found_[i]);
        if (std::exchange(s.seen_by_walk, guard->book_.walk()) != guard->book_.walk()) {
            see(s, now);
        }
    }
    if (!passed.more) {
        ended_ = !guard->book_.take_walk_missed();
    }
}

void core::pending_walk::walk::see(timer_state& s, time_count now) {
    const timer_life life = s.life_in_visit();
    if (life != timer_life::waiting && life != timer_life::guarded) {
        return;
    }
    const auto remaining = core_.unit().between(now, s.expiry.get_in_visit());
    s.waits.for_each([&](const wait_node& wait) {
        const wait_description what = wait.description();
        waits_.push_back({.kind = wait.kind,
                          .tag = what.tag != nullptr ? what.tag : "",
                          .place = what.place,
                          .remaining = remaining,
                          .on_other_executor = wait.is_dispatched});
    });
}

} // namespace asio_wheel::detail
