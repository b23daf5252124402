// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The source of a test's decisions: random numbers, or bytes that a fuzzer has generated.

#ifndef ASIO_WHEEL_TEST_SUPPORT_CHOICES_HPP
#define ASIO_WHEEL_TEST_SUPPORT_CHOICES_HPP

#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <span>
#include <stdexcept>

namespace asio_wheel::test {

/// Checks a condition cheaply. BOOST_TEST would take longer than the step that it checks.
inline void expect(bool holds, const char* promise) {
    if (!holds) {
        throw std::logic_error(promise);
    }
}

/// Decides what a test does next.
class choices {
public:
    choices() = default;
    choices(const choices&) = delete;
    choices& operator=(const choices&) = delete;
    virtual ~choices() = default;

    /// Returns a number below `limit`, which must not be 0.
    virtual std::uint64_t below(std::uint64_t limit) = 0;

    /// Returns a number of any magnitude up to 2^bits, 1 <= bits <= 64.
    virtual std::uint64_t magnitude(unsigned bits) = 0;

    bool once_in(std::uint64_t n) { return below(n) == 0; }
};

class random_numbers final : public choices {
public:
    explicit random_numbers(std::uint64_t seed) : engine_(seed) {}

    std::uint64_t below(std::uint64_t limit) override { return engine_() % limit; }
    std::uint64_t magnitude(unsigned bits) override {
        return (engine_() >> (64 - bits)) >> below(bits);
    }

private:
    std::mt19937_64 engine_;
};

/// Each choice consumes as few bytes as its limit allows. At the end of the input, all choices are
/// 0.
class bytes final : public choices {
public:
    /// The last bytes, `for_the_end` of them, are for how an episode ends.
    explicit bytes(std::span<const std::uint8_t> data, std::size_t for_the_end = 0)
        : rest_(data), for_the_end_(for_the_end) {}

    /// Whether nothing is left but what is for the end.
    [[nodiscard]] bool empty() const { return rest_.size() <= for_the_end_; }

    std::uint64_t below(std::uint64_t limit) override { return number(limit - 1) % limit; }
    std::uint64_t magnitude(unsigned bits) override {
        const std::uint64_t greatest = std::numeric_limits<std::uint64_t>::max() >> (64 - bits);
        return number(greatest >> below(bits)) & greatest;
    }

private:
    // A number of as many bytes as `greatest` has.
    std::uint64_t number(std::uint64_t greatest) {
        std::uint64_t value = 0;
        for (std::uint64_t left = greatest; left != 0; left >>= 8U) {
            value = value << 8U | next();
        }
        return value;
    }

    std::uint8_t next() {
        if (rest_.empty()) {
            return 0;
        }
        const std::uint8_t byte = rest_.front();
        rest_ = rest_.subspan(1);
        return byte;
    }

    std::span<const std::uint8_t> rest_;
    std::size_t for_the_end_;
};

} // namespace asio_wheel::test

#endif
