// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_WHEEL_DETAIL_WAIT_OP_HPP
#define ASIO_WHEEL_DETAIL_WAIT_OP_HPP

#include <asio_wheel/detail/block_pool.hpp>
#include <asio_wheel/detail/context_queue.hpp>
#include <asio_wheel/detail/prefetch.hpp>
#include <asio_wheel/detail/sync.hpp>
#include <asio_wheel/error.hpp>

#include <boost/asio/error.hpp>
#include <boost/intrusive/circular_slist_algorithms.hpp>
#include <boost/system/error_code.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>
#include <utility>

namespace asio_wheel::detail {

class timer_entry;
class slotted_op;

/// The thread of a cancellation slot that leads to an operation; null once the operation is out of
/// its reach. Changed under the wheel's lock only. Reading null without it is final: it never
/// becomes non-null again.
struct cancel_link {
    atomic<slotted_op*> op{nullptr};
};

/// One asynchronous wait: what it waits for, how it ended, and the handler in a derived class.
///
/// It is born waiting and attached to its timer. The wheel's lock guards all of it until it is
/// taken for delivery; from then on it belongs to the thread that took it.
class wait_op : public operation {
public:
    /// How the wait stands. Only a waiting or due operation is attached to its timer; the others
    /// are decided.
    enum class outcome : std::uint8_t {
        waiting,
        due,
        aborted,
        too_many,
        stopped,
        dropped ///< It waited when its context ended: it is destroyed where it arrives.
    };

    /// Where it is. An operation in flight is freed by whoever carries it, and by nobody else.
    enum class flight : std::uint8_t {
        none,    ///< At home: it waits.
        queued,  ///< In the context's queue, where it may still be decided otherwise.
        decided, ///< In the context's queue, as its last way: nobody else knows of it.
        hopping  ///< On its way through the handler's executor.
    };

    wait_op(const wait_op&) = delete;
    wait_op& operator=(const wait_op&) = delete;

    [[nodiscard]] boost::system::error_code result() const noexcept {
        switch (how) {
        case outcome::waiting:
        case outcome::due:
        case outcome::dropped:
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

    /// The cancellation slot that leads here, if any.
    [[nodiscard]] inline cancel_link* link() const noexcept;

    /// Ends as aborted where it is delivered: nobody else knows of it any more.
    void decide_aborted() noexcept {
        how = outcome::aborted;
        way = flight::decided;
        owner = nullptr;
    }

    // These four bytes fill what Asio's operation leaves of its last word.
    outcome how = outcome::waiting;
    flight way =
        flight::none;        ///< Once it is in a queue, changed only by the one that takes it out.
    std::uint8_t places = 0; ///< How many it has in the queue. Its turn is the last of them.
    const bool has_slot;
    timer_entry* owner = nullptr; ///< The timer it is attached to.
    wait_op* next = nullptr;      ///< In the timer's list.

protected:
    explicit wait_op(func_type function, bool slotted = false) noexcept
        : operation(function), has_slot(slotted) {}
    ~wait_op() = default;
};

/// A place in the queue for an operation that is not linked there itself: because it is already, and
/// is due anew after others that are due before it; or because it is far away in memory, and should
/// be brought while others have their turns.
class place : public operation {
public:
    enum class purpose : std::uint8_t { deliver, abort };

    /// Null without memory.
    [[nodiscard]] static place* make(wait_op& op, purpose why) noexcept {
        try {
            return ::new (block_pool::allocate(sizeof(place))) place(op, why);
        } catch (const std::bad_alloc&) {
            return nullptr;
        }
    }

private:
    place(wait_op& op, purpose why) noexcept : operation(&place::run), why_(why), op_(op) {}

    static void run(void* queue, operation* self, const boost::system::error_code& ec,
                    std::size_t n) {
        const auto* const p = static_cast<place*>(self);
        wait_op& op = p->op_;
        if (p->why_ == purpose::abort) {
            op.decide_aborted();
        }
        block_pool::deallocate(self, sizeof(place));
        queue != nullptr ? op.complete(queue, ec, n) : op.destroy();
    }

    const purpose why_;
    wait_op& op_;
};

/// An operation whose handler may have a cancellation slot.
class slotted_op : public wait_op {
public:
    cancel_link* cancel = nullptr;

protected:
    explicit slotted_op(func_type function) noexcept : wait_op(function, true) {}
    ~slotted_op() = default;
};

inline cancel_link* wait_op::link() const noexcept {
    return has_slot ? static_cast<const slotted_op*>(this)->cancel : nullptr;
}

/// The operations of a timer, first come, first served: a ring, of which the last one is known, so
/// that the list is no larger than a pointer. Nearly always it has one element. A tag on the pointer
/// tells whether there are more, so that the element's memory need not be read for that.
class op_list {
    struct traits {
        using node = wait_op;
        using node_ptr = wait_op*;
        using const_node_ptr = const wait_op*;
        static node_ptr get_next(const_node_ptr n) noexcept { return n->next; }
        static void set_next(node_ptr n, node_ptr next) noexcept { n->next = next; }
    };
    using ring = boost::intrusive::circular_slist_algorithms<traits>;

public:
    [[nodiscard]] bool empty() const noexcept { return tagged_ == nullptr; }
    /// If it is alone, it is not looked at.
    [[nodiscard]] wait_op& front() const noexcept { return several() ? *last()->next : *last(); }
    [[nodiscard]] std::size_t size() const noexcept {
        return several() ? ring::count(last()) : empty() ? 0 : 1;
    }

    void clear() noexcept { tagged_ = nullptr; }

    void push_back(wait_op& op) noexcept {
        const bool first = empty();
        if (first) {
            ring::init_header(&op);
        } else {
            ring::link_after(last(), &op);
        }
        set(&op, !first);
    }

    void erase(wait_op& op) noexcept {
        if (!several()) {
            clear();
            return;
        }
        wait_op* const previous =
            last()->next == &op ? last() : ring::get_previous_node(last(), &op);
        ring::unlink_after(previous);
        wait_op* const rest = last() == &op ? previous : last();
        set(rest, rest->next != rest);
    }

    /// Calls f(op) for each, which may erase it.
    template <class Function>
    void for_each(Function f) {
        wait_op* op = empty() ? nullptr : &front();
        for (std::size_t left = size(); left != 0; --left) {
            f(*std::exchange(op, op->next));
        }
    }

    void prefetch() const noexcept { detail::prefetch(last()); }

    void swap(op_list& other) noexcept { std::swap(tagged_, other.tagged_); }

private:
    [[nodiscard]] std::uintptr_t tag() const noexcept {
        return reinterpret_cast<std::uintptr_t>(tagged_) % 2;
    }
    [[nodiscard]] wait_op* last() const noexcept {
        return reinterpret_cast<wait_op*>(tagged_ - tag());
    }
    [[nodiscard]] bool several() const noexcept { return tag() != 0; }
    void set(wait_op* last, bool several) noexcept {
        tagged_ = reinterpret_cast<std::byte*>(last) + (several ? 1 : 0);
    }

    std::byte* tagged_ = nullptr;
};

} // namespace asio_wheel::detail

#endif
