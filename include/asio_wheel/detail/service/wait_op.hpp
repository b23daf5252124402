// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// One asynchronous wait: where it is, how it ended, and, in a derived class, its handler.
//
// A wait is in one of four locations.
//
//   location     meaning                                       its result_state
//   timer        it is attached to its timer                   waiting
//   queue        in the context's queue. It can still be       due; waiting again; or aborted
//                aborted, or be postponed and wait again
//   queue_final  in the context's queue. Only the queue        aborted, too_many, stopped
//                knows it, and its result is final
//   executor     on its way through its handler's executor,    any
//                if that is not the context's own
//
//   from         to           when
//   timer        queue        it is due
//                queue_final  it is aborted or refused
//   queue        timer        its turn comes after it was postponed
//                executor     its turn comes, and its handler has another executor
//   queue_final  executor     the same
//   executor     timer        it arrives after it was postponed
//                queue        it is due, and the executor had no memory
//                queue_final  its result is final, and the executor had no memory
//
// A wait that is waiting or due is attached to its timer, so cancel() and postpone() reach it,
// wherever it is. A wait in the queue or on an executor is freed there, and nowhere else.

#ifndef ASIO_WHEEL_DETAIL_SERVICE_WAIT_OP_HPP
#define ASIO_WHEEL_DETAIL_SERVICE_WAIT_OP_HPP

#include <asio_wheel/detail/asio/context_queue.hpp>
#include <asio_wheel/detail/exceptions.hpp>
#include <asio_wheel/detail/memory/block_pool.hpp>
#include <asio_wheel/detail/service/wait_description.hpp>
#include <asio_wheel/detail/threads/sync.hpp>
#include <asio_wheel/error.hpp>
#include <asio_wheel/wait_kind.hpp>

#include <boost/asio/error.hpp>
#include <boost/assert.hpp>
#include <boost/system/error_code.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>

namespace asio_wheel::detail {

class timer_entry;
class slotted_op;

/// Leads from a cancellation slot to an operation. Null once the operation is out of the slot's
/// reach. Changed under the wheel's lock only. Null is final, and can be read without the lock: see
/// the litmus test cancel_link.
struct cancel_link {
    atomic<slotted_op*> op{nullptr};
};

/// The wheel's lock guards a wait until it is claimed for delivery. From then on it belongs to the
/// thread that claimed it.
class wait_op : public operation {
public:
    enum class result_state : std::uint8_t {
        waiting,
        due,
        aborted,
        too_many, ///< Refused: see wheel_options::max_pending.
        stopped,  ///< Refused: the wheel was drained.
        dropped   ///< It was waiting when its context ended. It is destroyed where it arrives.
    };

    enum class location : std::uint8_t { timer, queue, queue_final, executor };

    /// The table above.
    [[nodiscard]] static constexpr bool may_follow(location from, location to) noexcept {
        switch (from) {
        case location::timer:
            return to == location::queue || to == location::queue_final;
        case location::queue:
            return to == location::timer || to == location::executor;
        case location::queue_final:
            return to == location::executor;
        case location::executor:
            return to != location::executor;
        }
        return false;
    }

    wait_op(const wait_op&) = delete;
    wait_op& operator=(const wait_op&) = delete;

    /// What the handler is told.
    [[nodiscard]] boost::system::error_code error() const noexcept {
        switch (result) {
        case result_state::waiting:
        case result_state::due:
        case result_state::dropped:
            break;
        case result_state::aborted:
            return boost::asio::error::operation_aborted;
        case result_state::too_many:
            return error::too_many_pending;
        case result_state::stopped:
            return error::wheel_stopped;
        }
        return {};
    }

    [[nodiscard]] location where() const noexcept { return where_; }
    void move_to(location to) noexcept {
        BOOST_ASSERT(may_follow(where_, to));
        where_ = to;
    }

    /// The cancellation slot that leads here, if any.
    [[nodiscard]] inline cancel_link* link() const noexcept;

    /// Its tag and its place, if it has them.
    [[nodiscard]] inline wait_description description() const noexcept;

    /// Makes it one that ends as aborted in the context's queue.
    void finish_as_aborted() noexcept {
        result = result_state::aborted;
        move_to(location::queue_final);
        owner = nullptr;
    }

private:
    // These four bytes fill what Asio's operation leaves of its last word.
    location where_ = location::timer;

public:
    result_state result = result_state::waiting;
    std::uint8_t queue_refs = 0; ///< How often it is in the context's queue. The last time counts.

    // What the operation is. Constant.
    const bool has_slot : 1;
    const bool is_described : 1;
    const bool is_dispatched : 1; ///< Its handler has another executor than the context's own.
    const wait_kind kind : 5;

    timer_entry* owner = nullptr; ///< The timer that it is attached to.
    wait_op* next = nullptr;      ///< In the timer's list.

protected:
    /// What the operation is: see above.
    struct form {
        wait_kind kind = wait_kind::timer;
        bool is_dispatched = false;
        bool has_slot = false;
        bool is_described = false;
    };

    explicit wait_op(func_type function) noexcept : wait_op(function, form()) {}
    wait_op(func_type function, const form& f) noexcept
        : operation(function), has_slot(f.has_slot), is_described(f.is_described),
          is_dispatched(f.is_dispatched), kind(f.kind) {}
    ~wait_op() = default;
};

/// Stands in the context's queue for a wait that cannot be linked there itself. It is there
/// already, and has become due again after others that must come first. Or it is far away in
/// memory, and is fetched while those before it have their turns.
class queue_proxy : public operation {
public:
    enum class kind : std::uint8_t { deliver, abort };

    /// Null without memory.
    [[nodiscard]] static queue_proxy* make(wait_op& op, kind k) noexcept {
        void* memory = nullptr;
        if (throws<std::bad_alloc>([&] { memory = block_pool::allocate(sizeof(queue_proxy)); })) {
            return nullptr;
        }
        return ::new (memory) queue_proxy(op, k);
    }

private:
    queue_proxy(wait_op& op, kind k) noexcept : operation(&queue_proxy::run), kind_(k), op_(op) {}

    static void run(void* queue, operation* self, const boost::system::error_code& ec,
                    std::size_t n) {
        const auto* const proxy = static_cast<queue_proxy*>(self);
        wait_op& op = proxy->op_;
        if (proxy->kind_ == kind::abort) {
            op.finish_as_aborted();
        }
        block_pool::deallocate(self, sizeof(queue_proxy));
        queue != nullptr ? op.complete(queue, ec, n) : op.destroy();
    }

    const kind kind_;
    wait_op& op_;
};

/// An operation whose handler may have a cancellation slot.
class slotted_op : public wait_op {
public:
    cancel_link* cancel = nullptr;

protected:
    slotted_op(func_type function, form f) noexcept : wait_op(function, (f.has_slot = true, f)) {}
    ~slotted_op() = default;
};

/// An operation that stores its description.
template <class Base>
class described_op : public Base {
public:
    wait_description what; ///< Set before the wait starts, and then constant.

protected:
    described_op(wait_op::func_type function, wait_op::form f) noexcept
        : Base(function, (f.is_described = true, f)) {}
    ~described_op() = default;
};

inline cancel_link* wait_op::link() const noexcept {
    return has_slot ? static_cast<const slotted_op*>(this)->cancel : nullptr;
}

inline wait_description wait_op::description() const noexcept {
    if (!is_described) {
        return {};
    }
    return has_slot ? static_cast<const described_op<slotted_op>*>(this)->what
                    : static_cast<const described_op<wait_op>*>(this)->what;
}

} // namespace asio_wheel::detail

#endif
