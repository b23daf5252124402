// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Values that become available in the order of their times.
//
// The rule. An element is in a wheel as long as its time lies ahead, and in a heap when the wheel
// has reached its time. So the first element of the heap is the first of all, unless the wheel
// still holds an earlier one. Times are always compared exactly: the wheel's ticks are the clock's
// units.
//
// The reason. The wheel files, moves and removes an element in constant time. It hands out elements
// in the order of their times, as many at a time as are asked for. The heap puts those of equal
// times in the order in which they were pushed. It also takes elements whose time has passed when
// they are pushed, which a wheel cannot order; and, if the clock was set back, all that is pushed
// until the clock is where it was. Most often the heap has a few elements, which come in order.

#ifndef ASIO_WHEEL_DETAIL_DELAY_QUEUE_DELAYED_ELEMENTS_HPP
#define ASIO_WHEEL_DETAIL_DELAY_QUEUE_DELAYED_ELEMENTS_HPP

#include <asio_wheel/tick.hpp>
#include <asio_wheel/wheel.hpp>

#include <boost/intrusive/list.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

namespace asio_wheel::detail {

/// Which element: the place that holds it, and how many that place held before.
struct element_key {
    std::uint32_t place = 0;
    std::uint32_t generation = 0;

    friend constexpr bool operator==(const element_key&, const element_key&) noexcept = default;
};

/// Times are counts of a clock's units. `Steady`: the clock never goes back.
template <class T, bool Steady>
class delayed_elements {
public:
    using count_t = std::int64_t;

    /// A value with its time, and where it is. It never moves.
    class element : public wheel_entry {
        friend delayed_elements;

        std::uint32_t place_ = 0;
        std::uint32_t generation_ = 0;
        std::uint32_t at_ = nowhere; // In the heap; or, of a vacant place, the next vacant one.
        count_t time_ = 0;
        std::uint64_t number_ = 0; // Among equal times, the smaller number is first.
        std::optional<T> value_;
    };

    explicit delayed_elements(count_t now) : origin_(now), seen_(now), wheel_(slots, levels) {}

    [[nodiscard]] std::size_t size() const noexcept { return size_; }

    /// `value` is moved from only if this returns.
    element_key push(T&& value, count_t time) {
        element& e = vacant();
        e.value_.emplace(std::move(value));
        first_vacant_ = std::exchange(e.at_, nowhere);
        ++size_;
        file(e, time);
        return {e.place_, e.generation_};
    }

    /// The value of an element, which is gone; none if it was already. If the value's move throws,
    /// the element stays.
    [[nodiscard]] std::optional<T> erase(element_key key) {
        element* const e = find(key);
        return e != nullptr ? take(*e) : std::nullopt;
    }

    /// Gives an element another time. False if it is gone.
    bool postpone(element_key key, count_t time) noexcept {
        element* const e = find(key);
        if (e == nullptr) {
            return false;
        }
        withdraw(*e);
        file(*e, time);
        return true;
    }

    void clear() noexcept {
        for (std::size_t i = 0; i < places_; ++i) {
            element& e = at(i);
            if (e.filed()) {
                wheel_.erase(e);
            }
            // No key from before fits what comes now.
            first_generation_ = std::max(first_generation_, e.generation_ + 1);
        }
        aside_.clear();
        std::vector<element*>().swap(heap_);
        first_vacant_ = nowhere;
        size_ = places_ = 0;
        // Destroyed last: values may do anything then.
        const std::vector<block_ptr> gone = std::exchange(blocks_, {});
    }

    /// The element whose time came first; null if none has come by now(). The clock is read only if
    /// the answer depends on it.
    template <class Now>
    [[nodiscard]] element* due(Now now) {
        if (!Steady || heap_.empty() || first_later_than(seen_) || wheel_may_be_earlier()) {
            seen_ = now();
            gather(tick_of(seen_));
        }
        return heap_.empty() || first_later_than(seen_) ? nullptr : heap_.front();
    }

    [[nodiscard]] static const T& value(const element& e) noexcept { return *e.value_; }

    /// The value of an element, which is gone. If the value's move throws, the element stays.
    [[nodiscard]] std::optional<T> take(element& e) {
        std::optional<T> value(std::move(e.value_));
        remove(e);
        return value;
    }

    /// Moves the value of an element, which is gone then, to where there is none. If the value's
    /// move throws, the element stays.
    void take_to(std::optional<T>& to, element& e) {
        to.emplace(std::move(*e.value_)); // NOLINT(bugprone-unchecked-optional-access)
        remove(e);
    }

    /// Hides what due() gave, so that it gives the next one, until bring_back().
    void set_aside(element& e) noexcept {
        leave_heap(e);
        aside_.push_back(e);
    }
    void bring_back() noexcept {
        while (!aside_.empty()) {
            element& e = aside_.front();
            aside_.pop_front();
            enter_heap(e);
        }
    }

    /// Calls f(key, value, time) for each element.
    template <class Function>
    void for_each(Function&& f) const {
        for (std::size_t i = 0; i < places_; ++i) {
            const element& e = at(i);
            if (e.value_) {
                f(element_key{e.place_, e.generation_}, *e.value_, e.time_);
            }
        }
    }

    /// When the next element can be taken; it may be too early if elements were erased or moved
    /// since. None without elements.
    [[nodiscard]] std::optional<count_t> next() noexcept {
        gather(wheel_.now());
        return heap_.empty() ? time_of(wheel_.next_expiry()) : heap_.front()->time_;
    }

    /// The same, exactly.
    [[nodiscard]] std::optional<count_t> exactly_next() noexcept {
        gather(wheel_.now());
        return heap_.empty() ? time_of(wheel_.find_next_expiry()) : heap_.front()->time_;
    }

private:
    // While an element is not filed, the wheel does not use the links that it has.
    using element_list =
        boost::intrusive::list<element, boost::intrusive::constant_time_size<false>>;

    // Places are made by the block, and stay where they are. (A std::deque would do, but for
    // clear(): some need memory to become empty.)
    static constexpr std::size_t block_size = std::max<std::size_t>(1, 1024 / sizeof(element));
    using block_ptr = std::unique_ptr<std::array<element, block_size>>;

    static constexpr std::uint32_t nowhere = std::numeric_limits<std::uint32_t>::max();

    [[nodiscard]] element& at(std::size_t place) const noexcept {
        return (*blocks_[place / block_size])[place % block_size];
    }

    [[nodiscard]] static bool before(const element& a, const element& b) noexcept {
        return std::tie(a.time_, a.number_) < std::tie(b.time_, b.number_);
    }

    // A vacant place, and room for it in the heap: so that nothing after push() can fail.
    element& vacant() {
        if (first_vacant_ == nowhere) {
            if (heap_.capacity() <= places_) {
                heap_.reserve(2 * places_ + 16);
            }
            if (places_ == blocks_.size() * block_size) {
                blocks_.push_back(std::make_unique<typename block_ptr::element_type>());
            }
            element& e = at(places_);
            e.place_ = static_cast<std::uint32_t>(places_++);
            e.generation_ = first_generation_;
            first_vacant_ = e.place_;
        }
        return at(first_vacant_);
    }

    [[nodiscard]] element* find(element_key key) noexcept {
        if (key.place >= places_) {
            return nullptr;
        }
        element& e = at(key.place);
        return e.generation_ == key.generation && e.value_ ? &e : nullptr;
    }

    // A tick is one unit; nothing is rounded. What lies before the origin has come long ago.
    [[nodiscard]] tick_t tick_of(count_t time) const noexcept {
        const tick_t since = static_cast<tick_t>(time) - static_cast<tick_t>(origin_);
        return time <= origin_ ? 0 : std::min(since, last_tick);
    }
    [[nodiscard]] std::optional<count_t> time_of(tick_t tick) const noexcept {
        return tick == no_tick
                   ? std::nullopt
                   : std::optional(static_cast<count_t>(static_cast<tick_t>(origin_) + tick));
    }

    void file(element& e, count_t time) noexcept {
        e.time_ = time;
        e.number_ = pushed_++;
        const tick_t tick = tick_of(time);
        if (tick <= wheel_.now()) {
            enter_heap(e);
        } else {
            wheel_.insert(e, tick);
        }
    }

    // Takes an element out of where it is.
    void withdraw(element& e) noexcept {
        if (e.filed()) {
            wheel_.erase(e);
        } else if (e.at_ != nowhere) {
            leave_heap(e);
        } else {
            aside_.erase(aside_.iterator_to(e));
        }
    }

    void remove(element& e) {
        withdraw(e);
        --size_;
        ++e.generation_;  // From now on no key leads here:
        e.value_.reset(); // values may do anything when they end.
        e.at_ = std::exchange(first_vacant_, e.place_);
    }

    [[nodiscard]] bool first_later_than(count_t now) const noexcept {
        return heap_.front()->time_ > now;
    }
    [[nodiscard]] bool wheel_may_be_earlier() const noexcept {
        return wheel_.next_expiry() <= tick_of(heap_.front()->time_);
    }

    // Moves elements from the wheel to the heap until the heap's first one is the first of all that
    // are due at `now`.
    void gather(tick_t now) noexcept {
        std::array<wheel_entry*, 64> found{};
        while (wheel_.next_expiry() <= now && (heap_.empty() || wheel_may_be_earlier())) {
            const std::size_t expired = wheel_.advance(now, found.size(), found).expired;
            for (std::size_t i = 0; i < expired; ++i) {
                enter_heap(static_cast<element&>(*found[i]));
            }
        }
    }

    void enter_heap(element& e) noexcept {
        heap_.push_back(&e); // There is room.
        rise(e, heap_.size() - 1);
    }

    void leave_heap(element& e) noexcept {
        element& last = *heap_.back();
        heap_.pop_back();
        if (&last != &e) {
            const std::size_t at = e.at_;
            if (at != 0 && before(last, *heap_[(at - 1) / 2])) {
                rise(last, at);
            } else {
                sink(last, at);
            }
        }
        e.at_ = nowhere;
    }

    // Put `e` where it belongs, as seen from place `at`, which is free.
    void rise(element& e, std::size_t at) noexcept {
        while (at != 0 && before(e, *heap_[(at - 1) / 2])) {
            put(*heap_[(at - 1) / 2], at);
            at = (at - 1) / 2;
        }
        put(e, at);
    }
    void sink(element& e, std::size_t at) noexcept {
        for (std::size_t child = 2 * at + 1; child < heap_.size(); child = 2 * at + 1) {
            if (child + 1 < heap_.size() && before(*heap_[child + 1], *heap_[child])) {
                ++child;
            }
            if (!before(*heap_[child], e)) {
                break;
            }
            put(*heap_[child], at);
            at = child;
        }
        put(e, at);
    }
    void put(element& e, std::size_t at) noexcept {
        heap_[at] = &e;
        e.at_ = static_cast<std::uint32_t>(at);
    }

    static constexpr std::size_t slots = 64;
    static constexpr unsigned levels = 8;

    count_t origin_; // Tick 0.
    count_t seen_;   // What the clock showed when it was last read.
    wheel wheel_;
    std::vector<block_ptr> blocks_;
    std::size_t places_ = 0; // In use or vacant. The last block may have more.
    std::uint32_t first_vacant_ = nowhere;
    std::vector<element*> heap_; // Has room for all elements.
    element_list aside_;
    std::size_t size_ = 0;
    std::uint64_t pushed_ = 0;
    std::uint32_t first_generation_ = 1; // So that no element has the key {}.
};

} // namespace asio_wheel::detail

#endif
