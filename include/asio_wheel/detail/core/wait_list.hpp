// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_WHEEL_DETAIL_CORE_WAIT_LIST_HPP
#define ASIO_WHEEL_DETAIL_CORE_WAIT_LIST_HPP

#include <asio_wheel/detail/core/wait_node.hpp>
#include <asio_wheel/detail/memory/prefetch.hpp>

#include <boost/intrusive/circular_slist_algorithms.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>

namespace asio_wheel::detail {

/// The waits of a timer, in the order in which they started. A timer nearly always has one. So the
/// list is a ring, and is no larger than a pointer to its last element. A tag on that pointer tells
/// whether there are more elements, so that the one element's memory need not be read for that.
class wait_list {
    struct traits {
        using node = wait_node;
        using node_ptr = wait_node*;
        using const_node_ptr = const wait_node*;
        static node_ptr get_next(const_node_ptr n) noexcept { return n->next; }
        static void set_next(node_ptr n, node_ptr next) noexcept { n->next = next; }
    };
    using ring = boost::intrusive::circular_slist_algorithms<traits>;

public:
    [[nodiscard]] bool empty() const noexcept { return tagged_ == nullptr; }
    /// If it is alone, it is not looked at.
    [[nodiscard]] wait_node& front() const noexcept { return several() ? *last()->next : *last(); }
    [[nodiscard]] std::size_t size() const noexcept {
        return several() ? ring::count(last()) : empty() ? 0 : 1;
    }

    void clear() noexcept { tagged_ = nullptr; }

    void push_back(wait_node& w) noexcept {
        const bool first = empty();
        if (first) {
            ring::init_header(&w);
        } else {
            ring::link_after(last(), &w);
        }
        set(&w, !first);
    }

    void erase(wait_node& w) noexcept {
        if (!several()) {
            clear();
            return;
        }
        wait_node* const previous =
            last()->next == &w ? last() : ring::get_previous_node(last(), &w);
        ring::unlink_after(previous);
        wait_node* const rest = last() == &w ? previous : last();
        set(rest, rest->next != rest);
    }

    /// Calls f(wait) for each, which may erase it.
    template <class Function>
    void for_each(Function f) {
        wait_node* w = empty() ? nullptr : &front();
        for (std::size_t left = size(); left != 0; --left) {
            f(*std::exchange(w, w->next));
        }
    }

    void prefetch() const noexcept { detail::prefetch(last()); }

    void swap(wait_list& other) noexcept { std::swap(tagged_, other.tagged_); }

private:
    [[nodiscard]] std::uintptr_t tag() const noexcept {
        return reinterpret_cast<std::uintptr_t>(tagged_) % 2;
    }
    [[nodiscard]] wait_node* last() const noexcept {
        return reinterpret_cast<wait_node*>(tagged_ - tag());
    }
    [[nodiscard]] bool several() const noexcept { return tag() != 0; }
    void set(wait_node* last, bool several) noexcept {
        tagged_ = reinterpret_cast<std::byte*>(last) + (several ? 1 : 0);
    }

    std::byte* tagged_ = nullptr;
};

} // namespace asio_wheel::detail

#endif
