// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// An operation that waits in the list of an object until the object ends it (handler_op.hpp): a pop
// of a delay queue, for instance.
//
//   state       meaning                                          location (executor_op.hpp)
//   waiting     in the list of its object, which owns it. Its    owner
//               cancellation slot leads to it
//   finished    its results are final. No one owns it: it is     queue or executor
//               freed where it arrives
//
//   from        to           when
//   waiting     finished     finish(): it has what it waits for; or is aborted or refused
//   waiting     destroyed    the context ends, or the operation could not be started
//   finished    delivered    it arrives: it is freed, and its handler is called
//   finished    destroyed    the context of its handler's executor ends
//
// An operation that waits is used on its object's executor only. A finished one belongs to the
// thread that has taken it out of a queue.

#ifndef ASIO_WHEEL_DETAIL_OP_WAITING_OP_HPP
#define ASIO_WHEEL_DETAIL_OP_WAITING_OP_HPP

#include <asio_wheel/detail/op/executor_op.hpp>
#include <asio_wheel/detail/op/handler_op.hpp>
#include <asio_wheel/detail/op/slot_link.hpp>

#include <boost/assert.hpp>
#include <boost/intrusive/link_mode.hpp>
#include <boost/intrusive/list.hpp>
#include <boost/intrusive/list_hook.hpp>
#include <boost/system/error_code.hpp>

namespace asio_wheel::detail {

/// Such an operation, without its results, its handler and its way. Ends by finish(); or by
/// destroy(), which does not call the handler.
class waiting_op : public ending_op,
                   public slot_target,
                   public boost::intrusive::list_base_hook<
                       boost::intrusive::link_mode<boost::intrusive::normal_link>> {
public:
    /// Sends the operation to its handler, which gets `ec` and the results. It is in no list any
    /// more, and its slot is disconnected.
    void finish(const boost::system::error_code& ec) noexcept {
        BOOST_ASSERT(where() == executor_op::location::owner && !has_slot());
        set_error(ec);
        send();
    }

protected:
    using ending_op::ending_op;
    ~waiting_op() = default;
};

/// `Op` is a waiting_op.
template <class Op>
using waiting_list = boost::intrusive::list<Op, boost::intrusive::constant_time_size<false>>;

/// Destroys all operations of a list, without calling their handlers. A handler's destructor may
/// use, or destroy, the object that the list is a member of. So the list is emptied first. And it
/// may emit a signal: so no slot leads to an operation any more that the object does not know.
template <class List>
void destroy_all(List& list) noexcept {
    List all;
    all.swap(list);
    for (auto& op : all) {
        op.disconnect_slot();
    }
    while (!all.empty()) {
        auto& first = all.front();
        all.pop_front();
        first.destroy();
    }
}

} // namespace asio_wheel::detail

#endif
