// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Timers that are used again and again for one operation after the other. A timer that is filed
// when its operation ends stays filed, and is kept by the thread. The next operation on that thread
// starts its wait without the wheel's lock: see timer_entry.hpp.

#ifndef ASIO_WHEEL_DETAIL_CORE_SPARE_TIMERS_HPP
#define ASIO_WHEEL_DETAIL_CORE_SPARE_TIMERS_HPP

#include <cstddef>
#include <utility>

namespace asio_wheel::detail {

/// What holds such a timer.
class spare_timer {
public:
    spare_timer(const spare_timer&) = delete;
    spare_timer& operator=(const spare_timer&) = delete;

    /// The wheel has ended.
    virtual void free() noexcept = 0;

protected:
    spare_timer() = default;
    ~spare_timer() = default;

private:
    friend class spare_timers;

    spare_timer* next_ = nullptr;
};

/// Those that a thread keeps for a wheel, or that threads have left. The last one that was kept is
/// taken first.
class spare_timers {
public:
    spare_timers() = default;
    spare_timers(const spare_timers&) = delete;
    spare_timers& operator=(const spare_timers&) = delete;
    ~spare_timers() {
        while (spare_timer* const t = take()) {
            t->free();
        }
    }

    /// Null if there is none.
    [[nodiscard]] spare_timer* take() noexcept {
        if (first_ == nullptr) {
            return nullptr;
        }
        --size_;
        return std::exchange(first_, first_->next_);
    }

    /// False if there are enough.
    [[nodiscard]] bool keep(spare_timer& t) noexcept {
        if (size_ == most) {
            return false;
        }
        ++size_;
        t.next_ = std::exchange(first_, &t);
        return true;
    }

    /// Takes over all of another list, however many.
    void keep_all(spare_timers& others) noexcept {
        while (spare_timer* const t = others.take()) {
            ++size_;
            t->next_ = std::exchange(first_, t);
        }
    }

    [[nodiscard]] bool empty() const noexcept { return first_ == nullptr; }

private:
    static constexpr std::size_t most = 256;

    spare_timer* first_ = nullptr;
    std::size_t size_ = 0;
};

} // namespace asio_wheel::detail

#endif
