// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// A binary heap whose elements know where they are in it, so that any of them can be removed.

#ifndef ASIO_WHEEL_DETAIL_DELAY_QUEUE_ELEMENT_HEAP_HPP
#define ASIO_WHEEL_DETAIL_DELAY_QUEUE_ELEMENT_HEAP_HPP

#include <boost/assert.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace asio_wheel::detail {

/// `Access` has precedes(a, b), the order of elements, and position(e), a reference to where `e`
/// keeps its position.
template <class Element, class Access>
class element_heap {
public:
    /// The position of an element that is in no heap.
    static constexpr std::uint32_t no_position = (std::numeric_limits<std::uint32_t>::max)();

    [[nodiscard]] bool empty() const noexcept { return elements_.empty(); }
    [[nodiscard]] Element& front() const noexcept { return *elements_.front(); }

    [[nodiscard]] std::size_t capacity() const noexcept { return elements_.capacity(); }
    void reserve(std::size_t n) { elements_.reserve(n); }
    /// Not more memory than for `n` elements, which are there at most.
    void shrink(std::size_t n) {
        std::vector<Element*> smaller;
        smaller.reserve(n);
        smaller = elements_; // Does not allocate.
        elements_.swap(smaller);
    }
    /// Without a word to the elements. Frees all memory.
    void clear() noexcept { std::vector<Element*>().swap(elements_); }

    /// Needs capacity for it.
    void insert(Element& e) noexcept {
        BOOST_ASSERT(Access::position(e) == no_position && elements_.size() < capacity());
        elements_.push_back(&e);
        sift_up(e, elements_.size() - 1);
    }

    void erase(Element& e) noexcept {
        const std::size_t at = Access::position(e);
        BOOST_ASSERT(elements_[at] == &e);
        Element& last = *elements_.back();
        elements_.pop_back();
        if (&last != &e) {
            if (at != 0 && Access::precedes(last, *elements_[(at - 1) / 2])) {
                sift_up(last, at);
            } else {
                sift_down(last, at);
            }
        }
        Access::position(e) = no_position;
    }

private:
    // Put `e` at `at` or above; or at `at` or below. Position `at` is free.
    void sift_up(Element& e, std::size_t at) noexcept {
        while (at != 0 && Access::precedes(e, *elements_[(at - 1) / 2])) {
            put_at(*elements_[(at - 1) / 2], at);
            at = (at - 1) / 2;
        }
        put_at(e, at);
    }
    void sift_down(Element& e, std::size_t at) noexcept {
        for (std::size_t child = 2 * at + 1; child < elements_.size(); child = 2 * at + 1) {
            if (child + 1 < elements_.size() &&
                Access::precedes(*elements_[child + 1], *elements_[child])) {
                ++child;
            }
            if (!Access::precedes(*elements_[child], e)) {
                break;
            }
            put_at(*elements_[child], at);
            at = child;
        }
        put_at(e, at);
    }
    void put_at(Element& e, std::size_t at) noexcept {
        elements_[at] = &e;
        Access::position(e) = static_cast<std::uint32_t>(at);
    }

    std::vector<Element*> elements_;
};

} // namespace asio_wheel::detail

#endif
