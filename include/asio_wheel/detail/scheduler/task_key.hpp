// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Keys of tasks: values of any types that can be hashed and compared. One scheduler may have keys
// of several types.
//
// A key is stored in its task. The table of keys knows its hash, its type, and how to compare it.
// Values of different types are different keys. But whatever converts to std::string_view is a
// std::string, so a string literal finds what was scheduled under a std::string.
//
// The user's hash function is called before anything else happens, and never again. The user's ==
// is called under the registry's mutex.

#ifndef ASIO_WHEEL_DETAIL_SCHEDULER_TASK_KEY_HPP
#define ASIO_WHEEL_DETAIL_SCHEDULER_TASK_KEY_HPP

#include <concepts>
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace asio_wheel {

template <class Clock>
class basic_task_handle;

namespace detail {

/// In place of a key, for a task without one.
struct no_key {};

template <class T>
inline constexpr bool is_task_handle = false;
template <class Clock>
inline constexpr bool is_task_handle<basic_task_handle<Clock>> = true;

template <class T>
concept string_key = std::convertible_to<const T&, std::string_view>;

/// The type as which a key is stored.
template <class T>
using stored_key = std::conditional_t<string_key<std::decay_t<T>>, std::string, std::decay_t<T>>;

template <class T>
concept hashable = requires(const T& key) {
    { std::hash<T>()(key) } -> std::convertible_to<std::size_t>;
};

/// Fails to compile, with an explanation, if `T` cannot be a key.
template <class T>
constexpr void expect_key() {
    using key = stored_key<T>;
    static_assert(!is_task_handle<key>, "asio_wheel: a handle is not a key. Write handle.cancel(), "
                                        "and so on");
    static_assert(hashable<key>, "asio_wheel: the key of a task needs a std::hash");
    static_assert(std::equality_comparable<key>, "asio_wheel: the key of a task needs an ==");
}

/// A different address for each type. Not const: linkers merge constants that are equal.
template <class Stored>
inline char key_type_tag = 0;

/// A key, whatever its type is. Refers to the value.
class key_view {
public:
    /// `value` is a `Stored`, or a std::string_view if `Stored` is std::string. Throws what the
    /// hash function throws.
    template <class Stored, class Value>
    [[nodiscard]] static key_view of(const Value& value) {
        return {std::hash<Value>()(value), &key_type_tag<Stored>, static_cast<const void*>(&value),
                &are_equal<Value, Stored>};
    }

    [[nodiscard]] std::size_t hash() const noexcept { return hash_; }

    /// Throws what == of the values throws. The hashes are equal.
    [[nodiscard]] bool equals(const key_view& stored) const {
        return type_ == stored.type_ && equal_(value_, stored.value_);
    }

private:
    using comparison = bool (*)(const void* value, const void* stored);

    key_view(std::size_t hash, const void* type, const void* value, comparison equal) noexcept
        : hash_(hash), type_(type), value_(value), equal_(equal) {}

    template <class Value, class Stored>
    [[nodiscard]] static bool are_equal(const void* value, const void* stored) {
        return static_cast<bool>(*static_cast<const Stored*>(stored) ==
                                 *static_cast<const Value*>(value));
    }

    std::size_t hash_;
    const void* type_;
    const void* value_;
    comparison equal_;
};

/// Returns f(view of `key`).
template <class Key, class Function>
decltype(auto) with_key(const Key& key, Function f) {
    if constexpr (string_key<Key>) {
        const std::string_view text(key);
        return f(key_view::of<std::string>(text));
    } else {
        return f(key_view::of<stored_key<Key>>(key));
    }
}

/// The key of a task.
template <class Stored>
class key_holder {
public:
    template <class Key>
        requires(!std::same_as<std::remove_cvref_t<Key>, key_holder>)
    explicit key_holder(Key&& key)
        : value_(std::forward<Key>(key)), view_(key_view::of<Stored>(value_)) {}
    key_holder(const key_holder&) = delete;
    key_holder& operator=(const key_holder&) = delete;

    [[nodiscard]] const key_view* view() const noexcept { return &view_; }

private:
    Stored value_;
    key_view view_;
};

template <>
class key_holder<no_key> {
public:
    explicit key_holder(no_key) noexcept {}

    [[nodiscard]] static const key_view* view() noexcept { return nullptr; }
};

} // namespace detail

} // namespace asio_wheel

#endif
