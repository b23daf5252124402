// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_WHEEL_DETAIL_CORE_OP_LIST_HPP
#define ASIO_WHEEL_DETAIL_CORE_OP_LIST_HPP

#include <asio_wheel/detail/memory/prefetch.hpp>
#include <asio_wheel/detail/service/wait_op.hpp>

#include <boost/intrusive/circular_slist_algorithms.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>

namespace asio_wheel::detail {

/// The waits of a timer, in the order in which they started. A timer nearly always has one. So the
/// list is a ring, and is no larger than a pointer to its last element. A tag on that pointer tells
/// whether there are more elements, so that the one element's memory need not be read for that.
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
