// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// A pop of a delay queue: an operation that waits for an element, gets its value, and brings the
// value to its handler (handler_op.hpp).
//
//   state       meaning                                        location (executor_op.hpp)
//   waiting     in its delay queue's list. The delay queue     owner
//               owns it. Its cancellation slot leads to it
//   finished    has a value or an error, which is final. No    queue or executor
//               one owns it: it is freed where it arrives
//
//   from        to           when
//   waiting     finished     finish(): it gets a value; or it is aborted or refused, or the queue
//                            is closed
//   waiting     destroyed    the context ends, or the pop could not be started
//   finished    delivered    it arrives: it is freed, and its handler is called
//   finished    destroyed    the context of its handler's executor ends
//
// A pop that waits is used on its delay queue's executor only. A finished pop belongs to the thread
// that has taken it out of a queue.

#ifndef ASIO_WHEEL_DETAIL_DELAY_QUEUE_POP_OP_HPP
#define ASIO_WHEEL_DETAIL_DELAY_QUEUE_POP_OP_HPP

#include <asio_wheel/detail/op/executor_op.hpp>
#include <asio_wheel/detail/op/handler_op.hpp>
#include <asio_wheel/detail/op/slot_link.hpp>

#include <boost/assert.hpp>
#include <boost/intrusive/link_mode.hpp>
#include <boost/intrusive/list.hpp>
#include <boost/intrusive/list_hook.hpp>
#include <boost/system/error_code.hpp>

#include <optional>
#include <tuple>
#include <utility>

namespace asio_wheel::detail {

/// A pop, without its results, its handler and its way. Ends by finish(); or by destroy(), which
/// does not call the handler.
template <class Entry>
class pop_op : public ending_op,
               public slot_target,
               public boost::intrusive::list_base_hook<
                   boost::intrusive::link_mode<boost::intrusive::normal_link>> {
public:
    std::optional<Entry> entry; ///< Where the element is put.

    /// Sends the pop to its handler, which gets `ec` and the element, if there is one. The pop is
    /// in no list any more, and its slot is disconnected.
    void finish(const boost::system::error_code& ec) noexcept {
        BOOST_ASSERT(this->where() == executor_op::location::owner && !this->has_slot());
        this->set_error(ec);
        this->send();
    }

protected:
    using ending_op::ending_op;
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

template <class Entry>
using pop_list = boost::intrusive::list<pop_op<Entry>, boost::intrusive::constant_time_size<false>>;

/// Destroys all pops of a list, without calling their handlers. A handler's destructor may use, or
/// destroy, the object that the list is a member of. So the list is emptied first.
template <class Entry>
void destroy_all(pop_list<Entry>& list) noexcept {
    pop_list<Entry> pops;
    pops.swap(list);
    while (!pops.empty()) {
        pop_op<Entry>& first = pops.front();
        pops.pop_front();
        first.destroy();
    }
}

} // namespace asio_wheel::detail

#endif
