// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// A pop of a delay queue: an operation that waits for an element, and brings its value to the
// handler (waiting_op.hpp).

#ifndef ASIO_WHEEL_DETAIL_DELAY_QUEUE_POP_OP_HPP
#define ASIO_WHEEL_DETAIL_DELAY_QUEUE_POP_OP_HPP

#include <asio_wheel/detail/op/waiting_op.hpp>

#include <boost/system/error_code.hpp>

#include <optional>
#include <tuple>
#include <utility>

namespace asio_wheel::detail {

/// A pop, without its results, its handler and its way.
template <class Entry>
class pop_op : public waiting_op {
public:
    std::optional<Entry> entry; ///< Where the element is put.

protected:
    using waiting_op::waiting_op;
    ~pop_op() = default;
};

/// A pop whose handler gets the value; a default-constructed one with an error.
template <class Entry>
class value_pop : public pop_op<Entry> {
    using value_type = typename Entry::value_type;

protected:
    using pop_op<Entry>::pop_op;
    ~value_pop() = default;

    [[nodiscard]] std::tuple<boost::system::error_code, value_type> take_results() {
        if (this->entry) {
            return {this->error(), std::move(this->entry->value)};
        }
        return {this->error(), value_type()};
    }
};

/// A pop whose handler gets the entry; none with an error.
template <class Entry>
class entry_pop : public pop_op<Entry> {
protected:
    using pop_op<Entry>::pop_op;
    ~entry_pop() = default;

    [[nodiscard]] std::tuple<boost::system::error_code, std::optional<Entry>> take_results() {
        return {this->error(), std::move(this->entry)};
    }
};

} // namespace asio_wheel::detail

#endif
