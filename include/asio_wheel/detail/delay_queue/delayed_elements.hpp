// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The elements of a delay queue: values that become due in the order of their times.
//
// The rule. An element is in a wheel until the wheel has reached its time, and then in a heap. So
// the first element of the heap is the first of all, unless the wheel still has an earlier one.
// Times are compared exactly: one tick of this wheel is one unit of the clock.
//
// The reason. The wheel files, moves and removes an element in constant time. It expires elements
// in the order of their times, as many at a time as are asked for. But it does not order elements
// of equal times, so the heap does: by the order in which they were pushed. The heap also has the
// elements whose time had passed when they were pushed, which a wheel cannot order; and, if the
// clock was set back, all that is pushed until the clock has reached its old time again. Most often
// the heap has a few elements, which come in order.
//
// An element is in one of four locations, and these data say which:
//
//   location   filed()   position_                          value_
//   wheel      yes       no_index                           set
//   heap       no        its index in the heap              set
//   deferred   no        no_index                           set
//   free       no        the next free element, or          not set
//                        no_index
//
//   from       to         when
//   free       wheel      push(), for a time that the wheel has not reached
//              heap       push(), otherwise
//   wheel      heap       the wheel reaches its time: advance_wheel()
//   heap       deferred   defer()
//   deferred   heap       restore_deferred()
//   wheel, heap or deferred:
//              free       take(), erase()
//              wheel      postpone(), to a time that the wheel has not reached
//              heap       postpone(), otherwise
//
// One thread at a time uses the elements, so there is no lock.

#ifndef ASIO_WHEEL_DETAIL_DELAY_QUEUE_DELAYED_ELEMENTS_HPP
#define ASIO_WHEEL_DETAIL_DELAY_QUEUE_DELAYED_ELEMENTS_HPP

#include <asio_wheel/detail/delay_queue/element_heap.hpp>
#include <asio_wheel/detail/delay_queue/element_key.hpp>
#include <asio_wheel/tick.hpp>
#include <asio_wheel/wheel.hpp>

#include <boost/assert.hpp>
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

/// `Steady`: the clock of the time points is never set back.
template <class T, class TimePoint, bool Steady>
class delayed_elements {
public:
    static constexpr std::size_t slots = 64; ///< Of the wheel.
    static constexpr unsigned levels = 8;    ///< Of the wheel.
    static constexpr std::uint32_t no_index = (std::numeric_limits<std::uint32_t>::max)();

    /// A value with its time. Stays at its address.
    class element : public wheel_entry {
        friend delayed_elements;

        std::uint32_t index_ = 0;
        std::uint32_t generation_ = 0;
        std::uint32_t position_ = no_index; // See the table above.
        TimePoint time_;
        std::uint64_t sequence_ = 0; // Orders elements of equal times.
        std::optional<T> value_;
    };

    explicit delayed_elements(TimePoint now)
        : origin_(now), last_now_(now), wheel_(slots, levels) {}

    [[nodiscard]] std::size_t size() const noexcept { return size_; }

    /// If this throws, `value` was not moved from.
    element_key push(T&& value, TimePoint time) {
        element& e = allocate();
        BOOST_ASSERT(!e.filed() && !e.value_);
        e.value_.emplace(std::move(value));
        first_free_ = std::exchange(e.position_, no_index);
        ++size_;
        insert(e, time);
        return key_of(e);
    }

    /// Removes an element and returns its value; none if there is no such element. If moving the
    /// value throws, the element stays.
    [[nodiscard]] std::optional<T> erase(element_key key) {
        element* const e = element_of(key);
        return e != nullptr ? take(*e) : std::nullopt;
    }

    /// Gives an element another time. False if there is no such element.
    bool postpone(element_key key, TimePoint time) noexcept {
        element* const e = element_of(key);
        if (e == nullptr) {
            return false;
        }
        unlink(*e);
        insert(*e, time);
        return true;
    }

    void clear() noexcept {
        if (destroying_ != 0) {
            return remove_all();
        }
        for (std::size_t i = 0; i < index_end_; ++i) {
            element& e = element_at(i);
            if (e.filed()) {
                wheel_.erase(e);
            }
            // So that no old key names an element that is pushed later.
            min_generation_ = (std::max)(min_generation_, e.generation_ + 1);
        }
        deferred_.clear();
        heap_.clear();
        first_free_ = no_index;
        size_ = index_end_ = 0;
        // Destroyed last: the destructors of values may use this object.
        const std::vector<block_ptr> destroyed = std::exchange(blocks_, {});
    }

    /// The first element that is due; null if there is none. Calls now() only if the answer depends
    /// on it.
    template <class Now>
    [[nodiscard]] element* first_due(Now now) {
        if (!Steady || heap_.empty() || heap_front_is_after(last_now_) || wheel_may_be_earlier()) {
            last_now_ = now();
            advance_wheel(tick_of(last_now_));
        }
        return heap_.empty() || heap_front_is_after(last_now_) ? nullptr : &heap_.front();
    }

    [[nodiscard]] static const T& value(const element& e) noexcept { return *e.value_; }

    /// Removes an element and returns its value. If moving the value throws, the element stays.
    [[nodiscard]] std::optional<T> take(element& e) {
        std::optional<T> value(std::move(e.value_));
        remove(e);
        return value;
    }

    /// The same, but makes an entry of its key, its time and its value.
    template <class Entry>
    void take(element& e, std::optional<Entry>& entry) {
        // NOLINTNEXTLINE(bugprone-unchecked-optional-access): it has one.
        entry.emplace(key_of(e), e.time_, std::move(*e.value_));
        remove(e);
    }

    /// Hides an element that first_due() has returned, until restore_deferred() is called. So
    /// first_due() returns the next one.
    void defer(element& e) noexcept {
        BOOST_ASSERT(e.position_ != no_index && e.value_);
        heap_.erase(e);
        deferred_.push_back(e);
    }
    void restore_deferred() noexcept {
        while (!deferred_.empty()) {
            element& e = deferred_.front();
            deferred_.pop_front();
            heap_.insert(e);
        }
    }

    /// The value of an element; null if there is no such element.
    [[nodiscard]] T* find(element_key key) const noexcept {
        element* const e = element_of(key);
        return e != nullptr ? &*e->value_ : nullptr;
    }

    /// Its time; none if there is no such element.
    [[nodiscard]] std::optional<TimePoint> time_of(element_key key) const noexcept {
        const element* const e = element_of(key);
        return e != nullptr ? std::optional(e->time_) : std::nullopt;
    }

    /// The key of the first element of all, due or not; none if there is no element. If it is in
    /// the wheel, the wheel goes on to its time. Elements that are pushed before that time are in
    /// the heap then.
    [[nodiscard]] std::optional<element_key> first_key() noexcept {
        advance_wheel(wheel_.now());
        if (heap_.empty() && !wheel_.empty()) {
            advance_wheel(wheel_.find_next_expiry());
        }
        return heap_.empty() ? std::nullopt : std::optional(key_of(heap_.front()));
    }

    /// Allocates what `n` elements need.
    void reserve(std::size_t n) {
        wheel_.reserve();
        heap_.reserve((std::max)(n, n + 1)); // Throws if that wraps around.
        blocks_.reserve((n + block_size - 1) / block_size);
        while (blocks_.size() * block_size < n) {
            blocks_.push_back(std::make_unique<typename block_ptr::element_type>());
        }
    }

    /// Frees the blocks behind the last element. If it throws, it has no effect.
    void shrink_to_fit() {
        if (destroying_ != 0) {
            return;
        }
        std::size_t end = index_end_;
        while (end != 0 && !element_at(end - 1).value_) {
            --end;
        }
        // No element of the heap is behind `end`.
        heap_.shrink(end + 1);
        for (std::size_t i = end; i < index_end_; ++i) { // As if they had never been used.
            element& e = element_at(i);
            min_generation_ = (std::max)(min_generation_, e.generation_ + 1);
            e.position_ = no_index;
        }
        index_end_ = end;
        first_free_ = no_index;
        for (std::size_t i = end; i-- > 0;) {
            element& e = element_at(i);
            if (!e.value_) {
                e.position_ = std::exchange(first_free_, e.index_);
            }
        }
        blocks_.resize((end + block_size - 1) / block_size);
    }

    /// Calls f(key, value, time) for each element.
    template <class Function>
    void for_each(Function& f) const {
        for (std::size_t i = 0; i < index_end_; ++i) {
            const element& e = element_at(i);
            if (e.value_) {
                f(key_of(e), std::as_const(*e.value_), e.time_);
            }
        }
    }

    /// The time of the next element; none if there is no element. It is too early if an element
    /// with that time was erased or postponed.
    [[nodiscard]] std::optional<TimePoint> next_expiry() noexcept {
        advance_wheel(wheel_.now());
        return heap_.empty() ? time_at(wheel_.next_expiry()) : heap_.front().time_;
    }

    /// The exact time of the next element; none if there is no element.
    [[nodiscard]] std::optional<TimePoint> find_next_expiry() noexcept {
        advance_wheel(wheel_.now());
        return heap_.empty() ? time_at(wheel_.find_next_expiry()) : heap_.front().time_;
    }

private:
    struct heap_access {
        [[nodiscard]] static bool precedes(const element& a, const element& b) noexcept {
            return std::tie(a.time_, a.sequence_) < std::tie(b.time_, b.sequence_);
        }
        [[nodiscard]] static std::uint32_t& position(element& e) noexcept { return e.position_; }
    };
    using heap_of_elements = element_heap<element, heap_access>;
    static_assert(no_index == heap_of_elements::no_position);

    // Uses the links of a wheel_entry, which the wheel does not use while the element is not filed.
    using element_list =
        boost::intrusive::list<element, boost::intrusive::constant_time_size<false>>;

    // Elements are allocated in blocks, so they stay at their addresses. (A std::deque does the
    // same. But clear() must not fail, and some implementations allocate to make a deque empty.)
    static constexpr std::size_t block_size = (std::max<std::size_t>)(1, 1024 / sizeof(element));
    using block_ptr = std::unique_ptr<std::array<element, block_size>>;

    [[nodiscard]] element& element_at(std::size_t index) const noexcept {
        return (*blocks_[index / block_size])[index % block_size];
    }

    // Makes sure that there is a free element, and room for one more in the heap. After that,
    // nothing that is done with the element can fail. Returns the first free element.
    element& allocate() {
        if (first_free_ == no_index) {
            if (heap_.capacity() <= index_end_) {
                heap_.reserve(2 * index_end_ + 16);
            }
            if (index_end_ == blocks_.size() * block_size) {
                blocks_.push_back(std::make_unique<typename block_ptr::element_type>());
            }
            element& e = element_at(index_end_);
            e.index_ = static_cast<std::uint32_t>(index_end_++);
            e.generation_ = min_generation_;
            first_free_ = e.index_;
        }
        return element_at(first_free_);
    }

    [[nodiscard]] element* element_of(element_key key) const noexcept {
        if (key.index >= index_end_) {
            return nullptr;
        }
        element& e = element_at(key.index);
        return e.generation_ == key.generation && e.value_ ? &e : nullptr;
    }
    [[nodiscard]] static element_key key_of(const element& e) noexcept {
        return {e.index_, e.generation_};
    }

    // As clear(), but frees no block.
    void remove_all() noexcept {
        while (!heap_.empty()) {
            remove(heap_.front());
        }
        while (!deferred_.empty()) {
            remove(deferred_.front());
        }
        for (std::size_t i = 0; i < index_end_ && !wheel_.empty(); ++i) {
            if (element_at(i).filed()) {
                remove(element_at(i));
            }
        }
    }

    // One tick is one unit, so nothing is rounded. Times before the origin are tick 0, which the
    // wheel has always reached.
    [[nodiscard]] static tick_t count_of(TimePoint time) noexcept {
        return static_cast<tick_t>(static_cast<std::int64_t>(time.time_since_epoch().count()));
    }
    [[nodiscard]] tick_t tick_of(TimePoint time) const noexcept {
        const tick_t elapsed = count_of(time) - count_of(origin_);
        return time <= origin_ ? 0 : (std::min)(elapsed, last_tick);
    }
    [[nodiscard]] std::optional<TimePoint> time_at(tick_t tick) const noexcept {
        using duration = typename TimePoint::duration;
        const auto count = static_cast<std::int64_t>(count_of(origin_) + tick);
        return tick == no_tick
                   ? std::nullopt
                   : std::optional(TimePoint(duration(static_cast<typename duration::rep>(count))));
    }

    void insert(element& e, TimePoint time) noexcept {
        e.time_ = time;
        e.sequence_ = next_sequence_++;
        const tick_t tick = tick_of(time);
        if (tick <= wheel_.now()) {
            heap_.insert(e);
        } else {
            wheel_.insert(e, tick);
        }
    }

    // Removes an element from the wheel, the heap or the deferred ones.
    void unlink(element& e) noexcept {
        BOOST_ASSERT(e.value_);
        if (e.filed()) {
            wheel_.erase(e);
        } else if (e.position_ != no_index) {
            heap_.erase(e);
        } else {
            deferred_.erase(deferred_.iterator_to(e));
        }
    }

    void remove(element& e) {
        unlink(e);
        --size_;
        ++e.generation_; // First, so that no key names it while
        ++destroying_;   // the destructor of the value runs, which may use this object.
        e.value_.reset();
        --destroying_;
        e.position_ = std::exchange(first_free_, e.index_);
    }

    [[nodiscard]] bool heap_front_is_after(TimePoint now) const noexcept {
        return heap_.front().time_ > now;
    }
    [[nodiscard]] bool wheel_may_be_earlier() const noexcept {
        return wheel_.next_expiry() <= tick_of(heap_.front().time_);
    }

    // Moves elements whose time has come from the wheel to the heap, until the first element of the
    // heap is the first of all.
    void advance_wheel(tick_t now) noexcept {
        std::array<wheel_entry*, 64> expired_entries{};
        while (wheel_.next_expiry() <= now && (heap_.empty() || wheel_may_be_earlier())) {
            const std::size_t expired =
                wheel_.advance(now, expired_entries.size(), expired_entries).expired;
            for (std::size_t i = 0; i < expired; ++i) {
                heap_.insert(static_cast<element&>(*expired_entries[i]));
            }
        }
    }

    TimePoint origin_;   // Tick 0.
    TimePoint last_now_; // The last reading of the clock.
    wheel wheel_;
    std::vector<block_ptr> blocks_;
    std::size_t index_end_ = 0; // Elements with smaller indices have been used, or are in use.
    std::uint32_t first_free_ = no_index; // A list, linked by position_.
    heap_of_elements heap_;               // Its capacity is enough for all elements.
    element_list deferred_;
    std::size_t size_ = 0;
    std::size_t destroying_ = 0; // Removed elements whose values are being destroyed.
    std::uint64_t next_sequence_ = 0;
    std::uint32_t min_generation_ = 1; // Not 0, so that no element has the key {}.
};

} // namespace asio_wheel::detail

#endif
