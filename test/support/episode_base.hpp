// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// What all episodes have in common: their choices come from an input, and they log what they do.

#ifndef ASIO_WHEEL_TEST_SUPPORT_EPISODE_BASE_HPP
#define ASIO_WHEEL_TEST_SUPPORT_EPISODE_BASE_HPP

#include "choices.hpp"
#include "story.hpp"

#include <cstddef>

namespace asio_wheel::test {

class episode_base {
public:
    episode_base(const episode_base&) = delete;
    episode_base& operator=(const episode_base&) = delete;

protected:
    explicit episode_base(bytes& in) : in_(in) {}
    ~episode_base() = default;

    // ---- Choices

    std::size_t pick(std::size_t n) { return static_cast<std::size_t>(in_.below(n)); }
    bool once_in(std::size_t n) { return pick(n) == n - 1; }
    bool coin() { return once_in(2); }

    // ---- For the report of a failure

    template <class... Values>
    void note(const char* text, Values... values) noexcept {
        story_.note(text, values...);
    }

    void require(bool holds, const char* promise) const { story_.require(holds, promise); }

    bytes& in_;

private:
    story story_;
};

} // namespace asio_wheel::test

#endif
