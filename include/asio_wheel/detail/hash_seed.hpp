// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_WHEEL_DETAIL_HASH_SEED_HPP
#define ASIO_WHEEL_DETAIL_HASH_SEED_HPP

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <random>

namespace asio_wheel::detail {

/// The secret of a hash table: each table of a process has another one, and each run of the process
/// others. It turns the hash of a key into a number whose bits are all equally good.
///
/// Why: the standard hash of a number is the number. A server's clients may choose the keys of a
/// table. They could choose them so that all are in one bucket. Then each search would compare them
/// all. (Keys whose hashes are equal are in one bucket in any case. If strangers can find such
/// keys, the user has to give the table a hash function with a secret of its own.)
class hash_seed {
public:
    hash_seed() : value_(next()) {}
    constexpr explicit hash_seed(std::uint64_t value) noexcept : value_(value) {}

    // Two rounds of a multiplicative hash. The seed enters each of them, so that differences of
    // keys are of no use without it.
    [[nodiscard]] constexpr std::size_t operator()(std::size_t hash) const noexcept {
        constexpr std::uint64_t factor = 0xD6E8'FEB8'6659'FD93U;
        std::uint64_t x = hash ^ value_;
        x = (x ^ (x >> 32U)) * factor;
        x = (x ^ (x >> 32U) ^ value_) * factor;
        return static_cast<std::size_t>(x ^ (x >> 32U));
    }

private:
    [[nodiscard]] static std::uint64_t next() {
        static const std::uint64_t of_this_run = [] {
            std::random_device random;
            const std::uint64_t high = random();
            return high << 32U | random();
        }();
        static std::atomic<std::uint64_t> tables{0}; // A number. It orders nothing.
        constexpr std::uint64_t step = 0x9E37'79B9'7F4A'7C15U;
        return of_this_run + step * tables.fetch_add(1, std::memory_order_relaxed);
    }

    std::uint64_t value_;
};

} // namespace asio_wheel::detail

#endif
