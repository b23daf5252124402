// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

#ifndef BENCH_QUEUE_FIXTURE_HPP
#define BENCH_QUEUE_FIXTURE_HPP

#include "measure.hpp"
#include "queues.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace bench {

constexpr tick_t second = 1'000; // A tick stands for a millisecond.

/// A queue, and n entries with deadlines uniformly distributed in 1 … range.
template <class Queue>
class queue_fixture {
public:
    using entry = typename Queue::entry;

    explicit queue_fixture(std::size_t n, tick_t range = 60 * second)
        : entries(n), order(random_order(n, random)) {
        for (entry& e : entries) {
            e.wanted = 1 + random.below(range);
        }
        restart();
    }

    /// Replaces the queue by an empty one at tick 0.
    void restart() {
        queue = nullptr; // Destroy the old one first: each may need much memory.
        queue = std::make_unique<Queue>();
        if constexpr (requires(Queue& q, entry& e) { q.adopt(e); }) {
            for (entry& e : entries) {
                queue->adopt(e);
            }
        }
    }

    /// Inserts all entries in order of address.
    void schedule_all() {
        for (entry& e : entries) {
            queue->insert(e, e.wanted);
        }
        require(queue->size() == entries.size(), "an entry was not filed");
    }

    void cancel_all(const std::vector<std::uint32_t>& in_order) {
        for (const std::uint32_t i : in_order) {
            queue->erase(entries[i]);
        }
        require(queue->size() == 0, "an entry was left although all were cancelled");
    }

    template <class Expired>
    std::size_t advance(tick_t now, Expired expired) {
        return queue->advance(now, expired, [] {});
    }

    splitmix64 random;
    std::vector<entry> entries;
    const std::vector<std::uint32_t> order; // random
    std::unique_ptr<Queue> queue;
};

} // namespace bench

#endif
