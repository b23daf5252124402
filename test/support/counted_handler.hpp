// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Handlers and values that count their moves and copies, and can make them fail.

#ifndef ASIO_WHEEL_TEST_SUPPORT_COUNTED_HANDLER_HPP
#define ASIO_WHEEL_TEST_SUPPORT_COUNTED_HANDLER_HPP

#include "support/operator_new.hpp"

#include <boost/asio/error.hpp>
#include <boost/system/errc.hpp>
#include <boost/system/error_code.hpp>
#include <boost/system/system_error.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <exception>
#include <new>
#include <optional>
#include <type_traits>
#include <utility>

namespace asio_wheel::test {

using boost::system::error_code;

inline const error_code success;
inline const error_code aborted = boost::asio::error::operation_aborted;
inline const error_code no_memory =
    boost::system::errc::make_error_code(boost::system::errc::not_enough_memory);

struct move_failed : std::exception {
    [[nodiscard]] const char* what() const noexcept override { return "a move has failed"; }
};

/// The moves and copies of handlers and values.
struct counted_moves : fault_line {
    bool calling = false;          ///< A call of the library or of the scenario is running.
    std::size_t failed_in_run = 0; ///< How many have failed at other times.

    /// Call this on each of them. Throws if it must fail.
    void next() {
        if (strikes()) {
            failed_in_run += calling ? 0 : 1;
            throw move_failed();
        }
    }
};

inline counted_moves moves;

/// The actual and the expected outcome of an operation.
struct outcome {
    // What is expected. The scenario may change it until the operation ends.
    error_code expected;                 ///< The result of the operation,
    std::optional<error_code> otherwise; ///< or its result if an allocation or a move has failed,
    std::optional<error_code> or_else;   ///< or another allowed result in that case.
    int times = 1;                       ///< How often its handler must be called.
    bool is_work = true;                 ///< The context has work until the operation has ended.

    // What happened.
    bool accepted = false; ///< It was started,
    bool refused = false;  ///< or starting it has thrown.
    int calls = 0;         ///< Calls of its handler.
    error_code ec;         ///< The first result, or the error that was thrown,
    std::size_t more = 0;  ///< and the second result if it is a number.
    int live = 0;          ///< Existing copies of its handler.

    [[nodiscard]] bool may_end_so(bool failed) const {
        return ec == expected || (failed && (ec == otherwise || ec == or_else));
    }
    [[nodiscard]] bool waits() const noexcept { return accepted && calls < times && live != 0; }
};

/// The violations in a run. Recording one allocates no memory.
class complaints {
public:
    struct complaint {
        const char* what;
        std::size_t line; ///< The line that recorded it.
    };

    void add(const char* what, std::size_t line) noexcept {
        const auto same = [&](const complaint& c) { return c.line == line && c.what == what; };
        if (size_ < all_.size() && std::none_of(begin(), end(), same)) {
            all_[size_++] = {what, line};
        }
    }

    [[nodiscard]] const complaint* begin() const noexcept { return all_.data(); }
    [[nodiscard]] const complaint* end() const noexcept { return all_.data() + size_; }

private:
    std::array<complaint, 8> all_{};
    std::size_t size_ = 0;
};

/// The handler of any operation. Its moves and copies may fail.
class handler {
public:
    handler(outcome& o, complaints& c) noexcept : outcome_(&o), complaints_(&c) { ++o.live; }
    handler(handler&& other) : handler(other, 0) { other.moved_from_ = true; }
    handler(const handler& other) : handler(other, 0) {}
    handler& operator=(const handler&) = delete;
    ~handler() { --outcome_->live; }

    template <class... Results>
    void operator()(Results&&... results) {
        const fault_line::pause no_allocation_fails(heap.faults);
        const fault_line::pause no_move_fails(moves);
        if (moved_from_) {
            complaints_->add("a handler is called that was moved from", __LINE__);
        }
        if (++outcome_->calls > outcome_->times) {
            complaints_->add("a handler is called too often", __LINE__);
        }
        if constexpr (sizeof...(Results) != 0) {
            note(results...);
        }
    }

private:
    handler(const handler& other, int)
        : outcome_(other.outcome_), complaints_(other.complaints_), moved_from_(other.moved_from_) {
        moves.next();
        ++outcome_->live;
    }

    template <class First, class... Rest>
    void note(const First& first, const Rest&... rest) {
        if constexpr (std::is_same_v<First, error_code>) {
            outcome_->ec = first;
        } else if constexpr (std::is_same_v<First, std::exception_ptr>) {
            outcome_->ec = code_of(first);
        }
        if constexpr (sizeof...(Rest) != 0) {
            note_more(rest...);
        }
    }

    template <class Second, class... Rest>
    void note_more(const Second& second, const Rest&...) {
        if constexpr (std::is_convertible_v<Second, std::size_t>) {
            outcome_->more = static_cast<std::size_t>(second);
        }
    }

    [[nodiscard]] error_code code_of(const std::exception_ptr& e) {
        if (e == nullptr) {
            return {};
        }
        try {
            std::rethrow_exception(e);
        } catch (const boost::system::system_error& failure) {
            return failure.code();
        } catch (const std::bad_alloc&) {
            return no_memory;
        } catch (...) {
            complaints_->add("an operation ends with an unknown exception", __LINE__);
            return {};
        }
    }

    outcome* outcome_;
    complaints* complaints_;
    bool moved_from_ = false;
};

/// A counted value: a number, or 0 if it was moved from. Its moves and copies may fail, and have no
/// effect then.
class value {
public:
    static inline int live = 0;

    explicit value(std::size_t number = 0) noexcept : number_(number) { ++live; }
    value(value&& other) : value(other) { other.number_ = 0; }
    value(const value& other) : number_(other.number_) {
        moves.next();
        ++live;
    }
    value& operator=(value&& other) {
        moves.next();
        number_ = std::exchange(other.number_, 0);
        return *this;
    }
    value& operator=(const value&) = delete;
    ~value() { --live; }

    [[nodiscard]] operator std::size_t() const noexcept { return number_; }

private:
    std::size_t number_;
};

} // namespace asio_wheel::test

#endif
