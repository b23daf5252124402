// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_WHEEL_DETAIL_WAIT_OP_HPP
#define ASIO_WHEEL_DETAIL_WAIT_OP_HPP

#include <asio_wheel/detail/asio_compat.hpp>
#include <asio_wheel/error.hpp>
#include <asio_wheel/wheel.hpp>

#include <boost/asio/error.hpp>
#include <boost/intrusive/link_mode.hpp>
#include <boost/intrusive/list.hpp>
#include <boost/intrusive/list_hook.hpp>
#include <boost/intrusive/options.hpp>
#include <boost/intrusive/slist.hpp>
#include <boost/intrusive/slist_hook.hpp>
#include <boost/system/error_code.hpp>

#include <atomic>
#include <cstdint>

namespace asio_wheel::detail {

class wait_op;

/// The thread of a cancellation slot that leads to an operation; null once the operation is taken
/// for delivery. Changed under the wheel's lock only. Reading null without it is final: it never
/// becomes non-null again.
struct cancel_link {
    std::atomic<wait_op*> op{nullptr};
};

struct of_timer;
struct of_queue;

using timer_hook =
    boost::intrusive::slist_base_hook<boost::intrusive::tag<of_timer>,
                                      boost::intrusive::link_mode<boost::intrusive::normal_link>>;
using queue_hook =
    boost::intrusive::list_base_hook<boost::intrusive::tag<of_queue>,
                                     boost::intrusive::link_mode<boost::intrusive::normal_link>>;

struct timer_entry;

/// One asynchronous wait: what it waits for, how it ended, and the handler in a derived class.
///
/// It is born waiting and attached to its timer. The wheel's lock guards all of it until claim()
/// has taken it for delivery; from then on it belongs to the thread that claimed it.
class wait_op : public timer_hook, public queue_hook BOOST_ASIO_ALSO_INHERIT_TRACKED_HANDLER {
public:
    /// How the wait stands. Only a waiting or due operation is attached to its timer; the others
    /// are decided.
    enum class outcome : std::uint8_t { waiting, due, aborted, too_many, stopped };

    /// What is under way to deliver it. An operation in flight is freed by whoever carries it, and
    /// by nobody else.
    enum class flight : std::uint8_t {
        none,   ///< Nothing: it waits.
        queued, ///< It is in the ready queue, and a token is in the context's.
        hopping ///< A ticket is on its way through the handler's executor.
    };

    wait_op(const wait_op&) = delete;
    wait_op& operator=(const wait_op&) = delete;

    /// Frees the operation and calls its handler.
    virtual void complete(const boost::system::error_code& ec) = 0;

    /// Frees the operation and its handler uncalled.
    virtual void destroy() noexcept = 0;

    [[nodiscard]] boost::system::error_code result() const noexcept {
        switch (how) {
        case outcome::waiting:
        case outcome::due:
            break;
        case outcome::aborted:
            return boost::asio::error::operation_aborted;
        case outcome::too_many:
            return error::too_many_pending;
        case outcome::stopped:
            return error::wheel_stopped;
        }
        return {};
    }

    timer_entry* owner = nullptr;  ///< The timer it is attached to.
    cancel_link* cancel = nullptr; ///< The cancellation slot that leads here.
    outcome how = outcome::waiting;
    flight way = flight::none;
    const bool
        hops; ///< The handler is to be called through an executor of its own: see hopping_op.

protected:
    explicit wait_op(bool hops_to_call) noexcept : hops(hops_to_call) {}
    ~wait_op() = default;
};

using op_list = boost::intrusive::slist<wait_op, boost::intrusive::base_hook<timer_hook>,
                                        boost::intrusive::constant_time_size<false>,
                                        boost::intrusive::cache_last<true>>;
using op_queue = boost::intrusive::list<wait_op, boost::intrusive::base_hook<queue_hook>,
                                        boost::intrusive::constant_time_size<false>>;

/// What the service knows of a timer. Guarded by the wheel's lock, but for reading `linked`.
///
/// Invariant: linked == (filed() || !ops.empty()); while it is false the service neither knows of
/// the timer nor touches it, and the timer needs neither lock nor service, which may be gone. The
/// timer's owner sets it, by starting a wait. If another thread ends the last wait, clearing it is
/// the last thing that thread does with the timer (release; the owner's reads acquire).
struct timer_entry : wheel_entry {
    std::atomic<bool> linked{false};
    op_list ops; ///< First come, first served.

    void relink() noexcept { linked.store(filed() || !ops.empty(), std::memory_order_release); }
};

} // namespace asio_wheel::detail

#endif
