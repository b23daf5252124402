// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// What leads from a cancellation slot to an operation that is used on one executor only.
//
// The operation and the function in the slot point to each other. Either may end first: the user
// may give the slot to another operation.

#ifndef ASIO_WHEEL_DETAIL_OP_SLOT_LINK_HPP
#define ASIO_WHEEL_DETAIL_OP_SLOT_LINK_HPP

#include <asio_wheel/detail/asio/cancellation.hpp>
#include <asio_wheel/detail/scope_exit.hpp>

#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/cancellation_type.hpp>

#include <concepts>
#include <utility>

namespace asio_wheel::detail {

class slot_link;

/// The end at the operation.
class slot_target {
public:
    slot_target(const slot_target&) = delete;
    slot_target& operator=(const slot_target&) = delete;

    /// From now on a signal does not find the operation.
    inline void disconnect_slot() noexcept;
    [[nodiscard]] bool has_slot() const noexcept { return link_ != nullptr; }

protected:
    slot_target() = default;
    ~slot_target() { disconnect_slot(); }

private:
    friend slot_link;
    slot_link* link_ = nullptr;
};

/// The end in the slot.
class slot_link {
public:
    explicit slot_link(slot_target& target) noexcept : target_(&target) { target.link_ = this; }
    slot_link(const slot_link&) = delete;
    slot_link& operator=(const slot_link&) = delete;

    /// Null when the operation is disconnected.
    [[nodiscard]] slot_target* target() const noexcept { return target_; }

protected:
    ~slot_link() {
        if (target_ != nullptr) {
            target_->link_ = nullptr;
        }
    }

private:
    friend slot_target;
    slot_target* target_;
};

inline void slot_target::disconnect_slot() noexcept {
    if (link_ != nullptr) {
        std::exchange(link_, nullptr)->target_ = nullptr;
    }
}

/// The function in the slot: calls abort(op), or abort(op, type) if an operation asks for it.
template <class Op, class Abort>
class slot_function : public slot_link {
public:
    slot_function(Op& op, Abort abort) noexcept : slot_link(op), abort_(abort) {}

    void operator()(boost::asio::cancellation_type type) {
        if (target() == nullptr || !aborts(type)) {
            return;
        }
        Op& op = static_cast<Op&>(*target());
        if constexpr (std::invocable<Abort&, Op&, boost::asio::cancellation_type>) {
            abort_(op, type);
        } else {
            abort_(op);
        }
    }

private:
    Abort abort_;
};

/// Connects an operation with the slot of its handler, if that has one. Until the operation is
/// disconnected, the slot calls abort(op), or abort(op, type). If this throws, the operation is
/// destroyed.
template <class Op, class Handler, class Abort>
void connect_slot(Op& op, const Handler& handler, Abort abort) {
    scope_exit undo([&op] { op.destroy(); });
    if (auto slot = boost::asio::get_associated_cancellation_slot(handler); slot.is_connected()) {
        slot.template emplace<slot_function<Op, Abort>>(op, abort);
    }
    undo.release();
}

} // namespace asio_wheel::detail

#endif
