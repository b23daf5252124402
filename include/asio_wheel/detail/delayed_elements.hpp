// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Values that become available in the order of their times: a wheel of elements, the elements
// themselves, and those whose time has come.

#ifndef ASIO_WHEEL_DETAIL_DELAYED_ELEMENTS_HPP
#define ASIO_WHEEL_DETAIL_DELAYED_ELEMENTS_HPP

#include <asio_wheel/tick.hpp>
#include <asio_wheel/wheel.hpp>

#include <boost/intrusive/list.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
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

/// Times are counts of a clock's units, as tick_scale has them.
template <class T>
class delayed_elements {
public:
    using count_t = std::int64_t;

    delayed_elements(count_t now, count_t tick) : scale_(now, tick), wheel_(slots, levels) {}

    [[nodiscard]] std::size_t size() const noexcept { return size_; }

    /// `value` is moved from only if this returns.
    element_key push(T&& value, count_t time) {
        element& e = vacant();
        e.value.emplace(std::move(value));
        vacant_.pop_back();
        ++size_;
        file(e, time);
        return {e.place, e.generation};
    }

    /// The value of an element, which is gone; none if it was already.
    [[nodiscard]] std::optional<T> erase(element_key key) {
        element* const e = find(key);
        return e != nullptr ? take(*e) : std::nullopt;
    }

    /// Gives an element another time. False if it is gone.
    bool reset(element_key key, count_t time) {
        element* const e = find(key);
        if (e == nullptr) {
            return false;
        }
        withdraw(*e);
        file(*e, time);
        return true;
    }

    void clear() {
        std::deque<element> gone; // Destroyed at last: values may do anything then.
        for (element& e : elements_) {
            if (e.filed()) {
                wheel_.erase(e);
            }
            // No key from before fits what comes now.
            first_generation_ = std::max(first_generation_, e.generation + 1);
        }
        ready_.clear();
        vacant_.clear();
        size_ = 0;
        gone.swap(elements_);
    }

    /// The value whose time came first, if any has come by now(). While some are ready, the clock is
    /// asked only if another one may come before them: one that was pushed late.
    template <class Now>
    [[nodiscard]] std::optional<T> pop(Now now) {
        if (ready_.empty() || wheel_.next_expiry() <= wheel_.told()) {
            collect(now());
        }
        if (ready_.empty()) {
            return std::nullopt;
        }
        return take(ready_.front());
    }

    /// What pop() would give; null if that is nothing.
    [[nodiscard]] const T* peek(count_t now) {
        collect(now);
        return ready_.empty() ? nullptr : &*ready_.front().value;
    }

    /// Calls f(key, value, time) for each element.
    template <class Function>
    void for_each(Function&& f) const {
        for (const element& e : elements_) {
            if (e.value) {
                f(element_key{e.place, e.generation}, *e.value, e.time);
            }
        }
    }

    /// When the next element can be taken; it may be a little early if elements were erased or
    /// moved since. None without elements.
    [[nodiscard]] std::optional<count_t> next() noexcept {
        return !ready_.empty() ? ready_.front().time : begin_of(wheel_.next_expiry());
    }

    /// The same, exactly.
    [[nodiscard]] std::optional<count_t> exactly_next(count_t now) noexcept {
        follow_set_back(now);
        return !ready_.empty() ? ready_.front().time : begin_of(wheel_.find_next_expiry());
    }

private:
    struct element : wheel_entry {
        std::uint32_t place = 0;
        std::uint32_t generation = 0;
        bool ready = false; // It is in ready_.
        count_t time = 0;
        std::uint64_t number = 0; // Among equals, the one that was pushed first is the first.
        std::optional<T> value;
    };

    // While an element is ready, the wheel does not use the links that it has.
    using element_list =
        boost::intrusive::list<element, boost::intrusive::constant_time_size<false>>;

    [[nodiscard]] static bool before(const element& a, const element& b) noexcept {
        return std::tie(a.time, a.number) < std::tie(b.time, b.number);
    }

    element& vacant() {
        if (vacant_.empty()) {
            if (vacant_.capacity() <=
                elements_.size()) { // So that giving a place back never fails.
                vacant_.reserve(2 * elements_.size() + 16);
            }
            element& e = elements_.emplace_back();
            e.place = static_cast<std::uint32_t>(elements_.size() - 1);
            e.generation = first_generation_;
            vacant_.push_back(&e);
        }
        return *vacant_.back();
    }

    [[nodiscard]] element* find(element_key key) noexcept {
        if (key.place >= elements_.size()) {
            return nullptr;
        }
        element& e = elements_[key.place];
        return e.generation == key.generation && e.value ? &e : nullptr;
    }

    [[nodiscard]] std::optional<count_t> begin_of(tick_t tick) const noexcept {
        return tick == no_tick ? std::nullopt : std::optional(scale_.begin_of(tick));
    }

    void file(element& e, count_t time) noexcept {
        e.time = time;
        e.number = pushed_++;
        wheel_.insert(e, scale_.round_up(time));
    }

    // Takes an element out of the wheel, or of those that are ready.
    void withdraw(element& e) noexcept {
        if (e.filed()) {
            wheel_.erase(e);
        } else if (e.ready) {
            ready_.erase(ready_.iterator_to(e));
            e.ready = false;
        }
    }

    // If the value cannot be moved, it stays where it is.
    [[nodiscard]] std::optional<T> take(element& e) {
        std::optional<T> value(std::move(e.value));
        withdraw(e);
        e.value.reset();
        ++e.generation;
        vacant_.push_back(&e);
        --size_;
        return value;
    }

    // Moves what is due at `now` from the wheel to those that are ready, and keeps these in order.
    void collect(count_t now) noexcept {
        follow_set_back(now);
        const tick_t tick = scale_.round_down(now);
        if (wheel_.next_expiry() > tick) {
            return;
        }
        // They come tick by tick, but for those that were pushed when their time had come, which are
        // last. Sorting a tick at a time keeps to what is in the caches.
        element_list fresh, same_tick, late;
        tick_t current = 0;
        const auto end_tick = [&] {
            same_tick.sort(&before);
            fresh.splice(fresh.end(), same_tick);
        };
        std::array<wheel_entry*, 256> due{};
        for (bool more = true; more;) {
            const auto progress = wheel_.advance(tick, due.size(), due);
            for (std::size_t i = 0; i < progress.expired; ++i) {
                auto& e = static_cast<element&>(*due[i]);
                e.ready = true;
                const tick_t its = scale_.round_up(e.time);
                if (its > current) {
                    end_tick();
                    current = its;
                }
                (its == current ? same_tick : late).push_back(e);
            }
            more = progress.more;
        }
        end_tick();
        late.sort(&before);
        fresh.merge(late, &before);
        if (!ready_.empty() && !fresh.empty() && before(fresh.front(), ready_.back())) {
            ready_.merge(fresh, &before);
        } else {
            ready_.splice(ready_.end(), fresh);
        }
    }

    // The wheel does not go back. If the clock was set back, its last tick begins now instead, and every
    // element has another one.
    void follow_set_back(count_t now) noexcept {
        const count_t begin = scale_.begin_of(wheel_.now());
        if (now < begin) {
            scale_.shift_origin(begin - now);
            for (element& e : elements_) {
                if (e.filed()) {
                    wheel_.reschedule(e, scale_.round_up(e.time));
                }
            }
        }
    }

    static constexpr std::size_t slots = 256;
    static constexpr unsigned levels = 3;

    tick_scale scale_;
    wheel wheel_;
    std::deque<element> elements_; // They never move.
    std::vector<element*> vacant_;
    element_list ready_; // In order.
    std::size_t size_ = 0;
    std::uint64_t pushed_ = 0;
    std::uint32_t first_generation_ = 1; // So that no element has the key {}.
};

} // namespace asio_wheel::detail

#endif
