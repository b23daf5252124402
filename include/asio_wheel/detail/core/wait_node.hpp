// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// One asynchronous wait as the core sees it: where it is, and how it ended. Its operation, with its
// handler, is in a class that the core does not know.
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
//                freed        it is withdrawn, or its context ends
//   queue        timer        its turn comes after it was postponed
//                executor     its turn comes, and its handler has another executor
//                freed        its turn comes: its handler is called
//   queue_final  executor     as in the queue
//                freed        as in the queue
//   executor     timer        it arrives after it was postponed
//                queue        it is due, and the executor had no memory
//                queue_final  its result is final, and the executor had no memory
//                freed        it arrives: its handler is called
//
// `freed` is no location: then the wait is no more.
//
// A wait that is waiting or due is attached to its timer, so cancel() and postpone() reach it,
// wherever it is. A wait in the queue or on an executor is freed there, and nowhere else.

#ifndef ASIO_WHEEL_DETAIL_CORE_WAIT_NODE_HPP
#define ASIO_WHEEL_DETAIL_CORE_WAIT_NODE_HPP

#include <asio_wheel/detail/threads/sync.hpp>
#include <asio_wheel/wait_kind.hpp>

#include <boost/assert.hpp>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <source_location>

namespace asio_wheel::detail {

class timer_state;
struct slotted_node;

/// Leads from a cancellation slot to a wait. Null once the wait is out of the slot's reach. Changed
/// under the wheel's lock only. Null is final, and can be read without the lock: see the litmus
/// test cancel_link.
struct cancel_link {
    atomic<slotted_node*> wait{nullptr}; // Litmus test: cancel_link.
};

/// The tag and the place of a wait. Neither needs to be there: then it is null, or its line is 0.
struct wait_description {
    const char* tag = nullptr;
    std::source_location place;
};

/// The wheel's lock guards a wait until it is claimed for delivery. From then on it belongs to the
/// thread that claimed it.
struct wait_node {
    enum class result_state : std::uint8_t {
        waiting,
        due,
        aborted,
        too_many, ///< Refused: see wheel_options::max_pending.
        stopped,  ///< Refused: the wheel was drained.
        dropped   ///< It was waiting when its context ended. It is destroyed where it arrives.
    };

    enum class location : std::uint8_t { timer, queue, queue_final, executor };

    /// What the wait is. Constant.
    struct form {
        wait_kind kind = wait_kind::timer;
        bool is_dispatched = false; ///< Its handler has another executor than the context's own.
        bool has_slot = false;      ///< It is a slotted_node.
        bool is_described = false;  ///< It is a described_node.
    };

    explicit wait_node(const form& f) noexcept
        : has_slot(f.has_slot), is_described(f.is_described), is_dispatched(f.is_dispatched),
          kind(f.kind) {}
    wait_node(const wait_node&) = delete;
    wait_node& operator=(const wait_node&) = delete;

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

    [[nodiscard]] location where() const noexcept { return where_; }
    void move_to(location to) noexcept {
        BOOST_ASSERT(may_follow(where_, to));
        where_ = to;
    }

    [[nodiscard]] bool is_waiting() const noexcept { return result == result_state::waiting; }

    /// Makes it one that ends as aborted in the context's queue.
    void finish_as_aborted() noexcept {
        result = result_state::aborted;
        move_to(location::queue_final);
        owner = nullptr;
    }

    /// The cancellation slot that leads here, if any.
    [[nodiscard]] inline cancel_link* link() const noexcept;

    /// Its tag and its place, if it has them.
    [[nodiscard]] inline wait_description description() const noexcept;

    timer_state* owner = nullptr; ///< The timer that it is attached to.
    wait_node* next = nullptr;    ///< In the timer's list.

private:
    location where_ = location::timer;

public:
    result_state result = result_state::waiting;
    std::uint8_t queue_refs = 0; ///< How often it is in the context's queue. The last time counts.
    const bool has_slot : 1;
    const bool is_described : 1;
    const bool is_dispatched : 1;
    const wait_kind kind : 5;

protected:
    ~wait_node() = default;
};

/// A wait whose handler may have a cancellation slot.
struct slotted_node : wait_node {
    explicit slotted_node(form f) noexcept : wait_node((f.has_slot = true, f)) {}

    cancel_link* cancel = nullptr;

protected:
    ~slotted_node() = default;
};

/// A wait that stores its description.
template <class Base>
struct described_node : Base {
    explicit described_node(wait_node::form f) noexcept : Base((f.is_described = true, f)) {}

    wait_description what; ///< Set before the wait starts, and then constant.

protected:
    ~described_node() = default;
};

inline cancel_link* wait_node::link() const noexcept {
    return has_slot ? static_cast<const slotted_node*>(this)->cancel : nullptr;
}

inline wait_description wait_node::description() const noexcept {
    if (!is_described) {
        return {};
    }
    return has_slot ? static_cast<const described_node<slotted_node>*>(this)->what
                    : static_cast<const described_node<wait_node>*>(this)->what;
}

/// Whether a delivered wait of this kind has expired for the user. Otherwise its handler looks
/// whether that is so, and tells the core.
[[nodiscard]] constexpr bool expires_when_delivered(wait_kind kind) noexcept {
    return kind <= wait_kind::scheduler;
}
static_assert(wait_kind::scheduler < (std::min)({wait_kind::idle, wait_kind::heartbeat,
                                                 wait_kind::queue, wait_kind::stream}));

/// Whether the handler of a wait of this kind asks the wheel before it calls the user's.
[[nodiscard]] constexpr bool needs_wheel_when_delivered(wait_kind kind) noexcept {
    return kind == wait_kind::interval || kind == wait_kind::idle || kind == wait_kind::heartbeat ||
           kind == wait_kind::stream;
}

/// Whether a wait of this kind may guard something that arrives, so that it must not expire before
/// what has arrived was read. A user's timer may.
[[nodiscard]] constexpr bool guards_io(wait_kind kind) noexcept {
    switch (kind) {
    case wait_kind::timer:
    case wait_kind::timeout:
    case wait_kind::idle:
    case wait_kind::heartbeat:
    case wait_kind::stream:
        return true;
    case wait_kind::sleep:
    case wait_kind::interval:
    case wait_kind::scheduler:
    case wait_kind::queue:
        break;
    }
    return false;
}

} // namespace asio_wheel::detail

#endif
