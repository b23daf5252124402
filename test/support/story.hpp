// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_WHEEL_TEST_SUPPORT_STORY_HPP
#define ASIO_WHEEL_TEST_SUPPORT_STORY_HPP

#include <array>
#include <cstddef>
#include <cstdlib>
#include <iostream>
#include <string>
#include <utility>

namespace asio_wheel::test {

/// Prints the broken promise and the preceding operations, and aborts. A fuzzer then keeps the
/// input.
[[noreturn]] inline void fail(const std::string& promise, const std::string& story) {
    std::cerr << "not so: " << promise << '\n' << story << std::endl;
    std::abort();
}

/// The recent operations of a program, to be printed if a promise is broken. Recording costs next
/// to nothing.
class story {
public:
    /// Each % stands for one of the values.
    template <class... Values>
    void note(const char* text, Values... values) noexcept {
        static_assert(sizeof...(Values) <= most_values);
        lines_[count_++ % lines_.size()] = {text, {static_cast<long long>(values)...}};
    }

    void require(bool holds, const char* promise) const {
        if (!holds) {
            fail(promise, tell());
        }
    }

private:
    static constexpr std::size_t most_values = 5;

    [[nodiscard]] std::string tell() const {
        std::string text;
        for (std::size_t i = count_ < lines_.size() ? 0 : count_ - lines_.size(); i < count_; ++i) {
            const auto& [line, values] = lines_[i % lines_.size()];
            text += "    ";
            std::size_t used = 0;
            for (const char* at = line; *at != '\0'; ++at) {
                *at == '%' ? text += std::to_string(values[used++]) : text += *at;
            }
            text += '\n';
        }
        return text;
    }

    std::array<std::pair<const char*, std::array<long long, most_values>>, 400> lines_{};
    std::size_t count_ = 0;
};

} // namespace asio_wheel::test

#endif
