// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// How a wheel is asked what waits on it. See book.hpp for walks.

#ifndef ASIO_WHEEL_DETAIL_CORE_PENDING_WALK_HPP
#define ASIO_WHEEL_DETAIL_CORE_PENDING_WALK_HPP

#include <asio_wheel/detail/core/core.hpp>
#include <asio_wheel/detail/core/timer_state.hpp>
#include <asio_wheel/detail/wheel/wheel_walk.hpp>
#include <asio_wheel/pending.hpp>

#include <span>
#include <vector>

namespace asio_wheel::detail {

/// There is one at a time for a wheel. Another thread waits for it.
class core::pending_walk {
public:
    explicit pending_walk(core& c);
    pending_walk(const pending_walk&) = delete;
    pending_walk& operator=(const pending_walk&) = delete;
    ~pending_walk();

    /// The next ones, until the next call. Empty if there are no more.
    [[nodiscard]] std::span<const pending_wait> next();

private:
    // The thread that walks. A walk inside a walk would wait for itself.
    class turn {
    public:
        explicit turn(walk_turns& turns);
        turn(const turn&) = delete;
        turn& operator=(const turn&) = delete;
        ~turn();

    private:
        walk_turns& turns_;
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

} // namespace asio_wheel::detail

#endif
