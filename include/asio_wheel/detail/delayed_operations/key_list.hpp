// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_WHEEL_DETAIL_DELAYED_OPERATIONS_KEY_LIST_HPP
#define ASIO_WHEEL_DETAIL_DELAYED_OPERATIONS_KEY_LIST_HPP

#include <array>
#include <concepts>
#include <cstddef>
#include <memory>
#include <ranges>
#include <type_traits>
#include <utility>
#include <vector>

namespace asio_wheel::detail {

/// The keys that an operation watches, as the user gives them: {a, b, …}, one key, or a range.
///
/// It refers to the caller's keys where it can, so that a call with a callback copies none. A copy
/// owns its keys, and so does one that was moved from another. Tokens such as deferred and
/// use_awaitable make such copies, because they start the operation later.
///
/// It is not made from a std::initializer_list: g++ 12 cannot compile one in a co_await expression.
template <class Key>
class key_list {
    static constexpr std::size_t most = 8; // In braces.

    template <class K>
    static constexpr bool is_key = std::same_as<std::remove_cvref_t<K>, Key>;

public:
    key_list(const Key& k) noexcept : key_list(of(k)) {}
    key_list(const Key& k1, const Key& k2) noexcept : key_list(of(k1, k2)) {}
    key_list(const Key& k1, const Key& k2, const Key& k3) noexcept : key_list(of(k1, k2, k3)) {}
    key_list(const Key& k1, const Key& k2, const Key& k3, const Key& k4) noexcept
        : key_list(of(k1, k2, k3, k4)) {}
    key_list(const Key& k1, const Key& k2, const Key& k3, const Key& k4, const Key& k5) noexcept
        : key_list(of(k1, k2, k3, k4, k5)) {}
    key_list(const Key& k1, const Key& k2, const Key& k3, const Key& k4, const Key& k5,
             const Key& k6) noexcept
        : key_list(of(k1, k2, k3, k4, k5, k6)) {}
    key_list(const Key& k1, const Key& k2, const Key& k3, const Key& k4, const Key& k5,
             const Key& k6, const Key& k7) noexcept
        : key_list(of(k1, k2, k3, k4, k5, k6, k7)) {}
    key_list(const Key& k1, const Key& k2, const Key& k3, const Key& k4, const Key& k5,
             const Key& k6, const Key& k7, const Key& k8) noexcept
        : key_list(of(k1, k2, k3, k4, k5, k6, k7, k8)) {}

    /// What becomes a key.
    template <class K>
        requires(std::convertible_to<K, Key> && !is_key<K> &&
                 !std::same_as<std::remove_cvref_t<K>, key_list>)
    key_list(K&& key) {
        own_.push_back(std::forward<K>(key));
        point_to_own();
    }

    template <std::ranges::input_range R>
        requires(std::convertible_to<std::ranges::range_reference_t<R>, Key> &&
                 !std::convertible_to<R, Key>)
    key_list(R&& keys) {
        if constexpr (std::ranges::contiguous_range<R> && std::ranges::sized_range<R> &&
                      is_key<std::ranges::range_value_t<R>>) {
            first_ = std::ranges::data(keys);
            size_ = static_cast<std::size_t>(std::ranges::size(keys));
        } else {
            for (auto&& key : keys) {
                own_.push_back(std::forward<decltype(key)>(key));
            }
            point_to_own();
        }
    }

    key_list(const key_list& other) { copy(other); }
    key_list(key_list&& other) {
        if (other.own_.empty()) {
            copy(other);
        } else {
            own_ = std::move(other.own_);
            other.point_to_own();
            point_to_own();
        }
    }
    key_list& operator=(const key_list&) = delete;
    ~key_list() = default;

    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    [[nodiscard]] const Key& operator[](std::size_t i) const noexcept {
        return first_ != nullptr ? first_[i] : *inline_keys_[i];
    }

private:
    using few = std::array<const Key*, most>;

    key_list(std::pair<few, std::size_t> keys) noexcept
        : inline_keys_(keys.first), size_(keys.second) {}

    template <class... Keys>
    [[nodiscard]] static std::pair<few, std::size_t> of(const Keys&... keys) noexcept {
        return {few{std::addressof(keys)...}, sizeof...(keys)};
    }

    void copy(const key_list& other) {
        own_.reserve(other.size());
        for (std::size_t i = 0; i < other.size(); ++i) {
            own_.push_back(other[i]);
        }
        point_to_own();
    }

    void point_to_own() noexcept {
        first_ = own_.data();
        size_ = own_.size();
    }

    // Keys side by side; or, if that is null, a few anywhere.
    const Key* first_ = nullptr;
    few inline_keys_{};
    std::size_t size_ = 0;
    std::vector<Key> own_;
};

} // namespace asio_wheel::detail

#endif
