// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The table of a scheduler's keys, when somebody chooses the keys so that it becomes slow.

#include <asio_wheel/detail/hash_seed.hpp>
#include <asio_wheel/detail/key_table.hpp>
#include <asio_wheel/detail/scheduler/task_key.hpp>
#include <asio_wheel/detail/scheduler/task_registry.hpp>

#include "support/seed.hpp"

#include <boost/test/unit_test.hpp>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <set>
#include <vector>

namespace {

using asio_wheel::detail::hash_seed;
using asio_wheel::detail::key_holder;
using asio_wheel::detail::registry_entry;
using key_table = asio_wheel::detail::key_table<registry_entry>;

constexpr std::size_t count = 4096;
constexpr std::uint64_t buckets = 256;

// Keys that `spread` puts into one of so many buckets, and so into few of any table.
template <class Spread>
[[nodiscard]] std::vector<std::uint64_t> keys_for(Spread spread) {
    std::vector<std::uint64_t> keys;
    for (std::uint64_t i = 0; keys.size() != count; ++i) {
        if (spread(std::hash<std::uint64_t>()(i)) % buckets == 0) {
            keys.push_back(i);
        }
    }
    return keys;
}

struct tasks_with_keys {
    key_table table;
    std::deque<key_holder<std::uint64_t>> holders;
    std::deque<registry_entry> entries;

    explicit tasks_with_keys(const std::vector<std::uint64_t>& keys, hash_seed seed = hash_seed())
        : table(seed) {
        for (const std::uint64_t key : keys) {
            registry_entry& e = entries.emplace_back();
            e.key = holders.emplace_back(key).view();
            const auto is_key = [&](const registry_entry& other) {
                return e.key->equals(*other.key);
            };
            BOOST_TEST_REQUIRE(table.find(e.key->hash(), is_key) == nullptr);
            table.insert(e);
        }
    }
    ~tasks_with_keys() {
        for (registry_entry& e : entries) {
            table.erase(e);
        }
    }
};

// Of `count` keys in as many buckets, the fullest bucket has about 7 if they are spread at random.
constexpr std::size_t at_random = 16;

} // namespace

BOOST_AUTO_TEST_SUITE(scheduler_key_table, *boost::unit_test::timeout(60))

BOOST_AUTO_TEST_CASE(keys_chosen_for_one_table_are_spread_by_another) {
    const std::uint64_t seed = asio_wheel::test::seed();
    const hash_seed known(seed);
    const auto chosen = keys_for(known);
    BOOST_TEST(tasks_with_keys(chosen, known).table.longest_bucket() > at_random);
    BOOST_TEST(tasks_with_keys(chosen, hash_seed(seed + 1)).table.longest_bucket() <= at_random);
    BOOST_TEST(tasks_with_keys(chosen).table.longest_bucket() <= at_random);
}

// Without a seed: what the table of before did.
BOOST_AUTO_TEST_CASE(keys_chosen_for_a_fixed_hash_are_spread) {
    const auto chosen = keys_for([](std::uint64_t hash) {
        const std::uint64_t product = hash * 0x9E37'79B9'7F4A'7C15U;
        return product >> 32U ^ product;
    });
    BOOST_TEST(tasks_with_keys(chosen).table.longest_bucket() <= at_random);
}

BOOST_AUTO_TEST_CASE(keys_that_differ_in_few_bits_are_spread) {
    for (unsigned shift = 0; shift <= 52; shift += 4) {
        std::vector<std::uint64_t> keys;
        for (std::uint64_t i = 0; i != count; ++i) {
            keys.push_back(i << shift);
        }
        BOOST_TEST_INFO_SCOPE("shift " << shift);
        BOOST_TEST(tasks_with_keys(keys).table.longest_bucket() <= at_random);
    }
}

BOOST_AUTO_TEST_CASE(each_table_has_a_seed_of_its_own) {
    std::set<std::size_t> hashes;
    for (int i = 0; i != 100; ++i) {
        hashes.insert(hash_seed()(1));
    }
    BOOST_TEST(hashes.size() == 100U);
}

BOOST_AUTO_TEST_SUITE_END()
