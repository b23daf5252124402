// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// One asynchronous wait as Asio sees it: an operation that is a wait_node, too. A derived class has
// the handler.

#ifndef ASIO_WHEEL_DETAIL_SERVICE_WAIT_OP_HPP
#define ASIO_WHEEL_DETAIL_SERVICE_WAIT_OP_HPP

#include <asio_wheel/detail/asio/context_queue.hpp>
#include <asio_wheel/detail/core/wait_node.hpp>
#include <asio_wheel/error.hpp>

#include <boost/asio/error.hpp>
#include <boost/system/error_code.hpp>

namespace asio_wheel::detail {

/// `Node`: wait_node, slotted_node, or one of these with a description.
template <class Node>
class wait_op_of : public operation, public Node {
protected:
    explicit wait_op_of(func_type function, const wait_node::form& f = {}) noexcept
        : operation(function), Node(f) {}
    ~wait_op_of() = default;
};

using wait_op = wait_op_of<wait_node>;

/// (The compiler finds that all of these are the same.)
[[nodiscard]] inline operation& operation_of(wait_node& wait) noexcept {
    if (wait.is_described) {
        return wait.has_slot ? static_cast<operation&>(
                                   static_cast<wait_op_of<described_node<slotted_node>>&>(wait))
                             : static_cast<wait_op_of<described_node<wait_node>>&>(wait);
    }
    return wait.has_slot ? static_cast<operation&>(static_cast<wait_op_of<slotted_node>&>(wait))
                         : static_cast<wait_op&>(wait);
}

/// What the handler is told.
[[nodiscard]] inline boost::system::error_code error_of(const wait_node& wait) noexcept {
    switch (wait.result) {
    case wait_node::result_state::waiting:
    case wait_node::result_state::due:
    case wait_node::result_state::dropped:
        break;
    case wait_node::result_state::aborted:
        return boost::asio::error::operation_aborted;
    case wait_node::result_state::too_many:
        return error::too_many_pending;
    case wait_node::result_state::stopped:
        return error::wheel_stopped;
    }
    return {};
}

} // namespace asio_wheel::detail

#endif
