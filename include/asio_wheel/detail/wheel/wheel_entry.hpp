// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// What a wheel holds. It is apart from wheel.hpp, because each program with a timer compiles it.

#ifndef ASIO_WHEEL_DETAIL_WHEEL_WHEEL_ENTRY_HPP
#define ASIO_WHEEL_DETAIL_WHEEL_WHEEL_ENTRY_HPP

#include <asio_wheel/detail/threads/relaxed_atomic.hpp>
#include <asio_wheel/tick.hpp>

#include <boost/intrusive/link_mode.hpp>
#include <boost/intrusive/list_hook.hpp>

#include <cstdint>
#include <limits>

namespace asio_wheel {

namespace detail {

/// The links of an entry.
using wheel_hook =
    boost::intrusive::list_base_hook<boost::intrusive::link_mode<boost::intrusive::normal_link>>;

class wheel_walk;

} // namespace detail

/// What a wheel holds: derive from it. An entry must not move or end while it is filed, other than
/// by wheel::replace() or wheel::erase().
class wheel_entry : public detail::wheel_hook {
public:
    wheel_entry() noexcept = default; ///< It is not filed.
    wheel_entry(const wheel_entry&) = delete;
    wheel_entry& operator=(const wheel_entry&) = delete;

    /// True between insert() and erase() or expiry.
    [[nodiscard]] bool filed() const noexcept { return slot_ != unfiled; }

    /// The tick at which the entry is due; meaningful while it is filed. Another thread may read it
    /// while the wheel is used, if it can tell by other means whether the entry was left alone.
    [[nodiscard]] tick_t deadline() const noexcept { return deadline_; }

    /// A number that an entry keeps for its owner while it is not filed. Filing the entry loses it.
    [[nodiscard]] std::uint64_t spare_word() const noexcept { return deadline_; }
    void spare_word(std::uint64_t number) noexcept { deadline_ = number; }

protected:
    ~wheel_entry() = default;

private:
    friend class wheel;
    friend class detail::wheel_walk;
    friend struct wheel_inspector; // Defined by the tests, to check the invariants.

    static constexpr std::uint32_t unfiled = (std::numeric_limits<std::uint32_t>::max)();

    detail::relaxed_atomic<tick_t> deadline_ = 0;
    std::uint32_t slot_ = unfiled; // Where it was filed.
};

} // namespace asio_wheel

#endif
