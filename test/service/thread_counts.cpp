// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0
// labels: threads

// The counters of a wheel's waits: one set for each thread, and their sum.

#include <asio_wheel/detail/core/thread_counts.hpp>
#include <asio_wheel/detail/threads/thread_exit.hpp>

#include "support/only_if.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <thread>
#include <vector>

namespace {

using asio_wheel::detail::has_thread_exit;
using asio_wheel::detail::thread_block;
using asio_wheel::detail::thread_counts;
using asio_wheel::detail::wait_counts;
using asio_wheel::test::only_if;

} // namespace

BOOST_AUTO_TEST_SUITE(thread_counts_tests)

BOOST_AUTO_TEST_CASE(what_is_pending_is_what_was_started_and_has_not_ended) {
    thread_counts counts(true);
    BOOST_TEST(counts.pending() == 0U);
    thread_block& here = counts.here();
    for (int i = 0; i < 10; ++i) {
        here.scheduled();
    }
    here.cancelled(2);
    here.fired();
    here.forgotten();
    here.postponed(7);
    const wait_counts sum = counts.sum();
    BOOST_TEST(sum.scheduled == 10U);
    BOOST_TEST(sum.cancelled == 2U);
    BOOST_TEST(sum.fired == 1U);
    BOOST_TEST(sum.forgotten == 1U);
    BOOST_TEST(sum.postponed == 7U);
    BOOST_TEST(sum.pending() == 6U);
    BOOST_TEST(counts.pending() == 6U);
    BOOST_TEST(here.balance() == 6U);
    BOOST_TEST(here.cancelled_so_far() == 2U);
    here.not_scheduled();
    BOOST_TEST(counts.pending() == 5U);
    BOOST_TEST(counts.sum().scheduled == 9U);
}

BOOST_AUTO_TEST_CASE(each_thread_has_a_block_and_keeps_it, *only_if(has_thread_exit)) {
    thread_counts counts(true);
    thread_block* const mine = &counts.here();
    BOOST_TEST(&counts.here() == mine);
    std::atomic<int> own_blocks = 0;
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
        threads.emplace_back([&] {
            thread_block* const its_own = &counts.here();
            for (int k = 0; k < 1000; ++k) {
                counts.here().scheduled();
                counts.here().cancelled();
            }
            counts.here().scheduled();
            own_blocks += its_own != mine && &counts.here() == its_own ? 1 : 0;
        });
    }
    for (auto& t : threads) {
        t.join();
    }
    BOOST_TEST(own_blocks == 4);
    BOOST_TEST(counts.sum().scheduled == 4 * 1001U);
    BOOST_TEST(counts.sum().cancelled == 4 * 1000U);
    BOOST_TEST(counts.pending() == 4U);
    BOOST_TEST(counts.size() <= 5U); // A thread may reuse the block of one that has ended.
    BOOST_TEST(mine->balance() == 0U);
}

// One thread starts a wait and another one ends it: one counts too many, the other too few.
BOOST_AUTO_TEST_CASE(a_wait_may_end_on_another_thread) {
    thread_counts counts(true);
    counts.here().scheduled();
    std::thread([&] { counts.here().fired(); }).join();
    BOOST_TEST(counts.pending() == 0U);
    BOOST_TEST((counts.here().balance() == 1U || !has_thread_exit));
}

// While the counts are read, one thread starts a wait, and another one ends it, again and again.
BOOST_AUTO_TEST_CASE(a_wait_that_ends_on_another_thread_while_it_is_counted_makes_no_sum_negative) {
    thread_counts counts(true);
    enum class turn { nobody, starts, ends };
    std::atomic<turn> next = turn::nobody;
    std::uint64_t most = 0, surely = 0, summed = 0;
    {
        const std::jthread ends([&](const std::stop_token& over) {
            thread_block& here = counts.here();
            next = turn::starts;
            while (!over.stop_requested()) {
                if (next == turn::ends) {
                    here.cancelled();
                    next = turn::starts;
                }
            }
        });
        while (next == turn::nobody) { // The block of the next thread is read first.
        }
        const std::jthread starts([&](const std::stop_token& over) {
            thread_block& here = counts.here();
            while (!over.stop_requested()) {
                if (next == turn::starts) {
                    here.scheduled();
                    next = turn::ends;
                }
            }
        });
        const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(1);
        while (std::chrono::steady_clock::now() < end) {
            for (int i = 0; i < 1000; ++i) {
                most = (std::max)(most, counts.pending());
                surely = (std::max)(surely, counts.surely_pending());
                summed = (std::max)(summed, counts.sum().pending());
            }
        }
    }
    BOOST_TEST(most < std::uint64_t{1} << 63U);
    BOOST_TEST(surely <= 1U);
    BOOST_TEST(summed <= 1U);
}

// More wheels than a thread caches.
BOOST_AUTO_TEST_CASE(a_thread_counts_for_many_wheels_in_turn) {
    std::vector<std::unique_ptr<thread_counts>> wheels;
    for (int i = 0; i < 20; ++i) {
        wheels.push_back(std::make_unique<thread_counts>(true));
    }
    for (std::uint64_t round = 1; round <= 3; ++round) {
        for (auto& w : wheels) {
            w->here().scheduled();
            BOOST_TEST(w->pending() == round);
        }
    }
}

// Cached counters that were destroyed must not be used for others at the same address.
BOOST_AUTO_TEST_CASE(counts_at_the_address_of_others_begin_at_zero) {
    alignas(thread_counts) std::byte memory[sizeof(thread_counts)];
    for (int i = 0; i < 100; ++i) {
        auto* const counts = ::new (static_cast<void*>(memory)) thread_counts(true);
        std::thread first([&] {
            counts->here().scheduled(); // It has the first block, until it ends.
            std::thread([&] { counts->here().cancelled(); }).join();
        });
        first.join();
        counts->here().scheduled();
        BOOST_TEST(counts->sum().scheduled == 2U);
        BOOST_TEST(counts->sum().cancelled == 1U);
        counts->~thread_counts();
    }
}

// The sum costs as much as there are threads, and not as there were.
BOOST_AUTO_TEST_CASE(threads_that_have_ended_cost_nothing, *only_if(has_thread_exit)) {
    thread_counts counts(true);
    counts.here().scheduled();
    constexpr std::size_t many = 100;
    std::atomic<std::size_t> arrived = 0;
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < many; ++i) {
        threads.emplace_back([&] {
            counts.here().scheduled();
            counts.here().expired(asio_wheel::wait_kind::sleep);
            ++arrived;
            while (arrived < many) {
                std::this_thread::yield();
            }
        });
    }
    for (auto& t : threads) {
        t.join();
    }
    BOOST_TEST(counts.size() == many + 1);
    counts.forget_ended();
    BOOST_TEST(counts.size() == 2U); // This thread's, and what is common to all others.
    BOOST_TEST(counts.pending() == many + 1);
    BOOST_TEST(counts.sum().expired[asio_wheel::wait_kind::sleep] == many);
    for (int round = 0; round < 3; ++round) {
        std::thread([&] { counts.here().cancelled(); }).join();
    }
    BOOST_TEST(counts.size() <= 3U); // Each takes over the block of the one before.
    counts.forget_ended();
    BOOST_TEST(counts.size() == 2U);
    BOOST_TEST(counts.pending() == many - 2);
}

// Also with ThreadSanitizer: what is in a block and its timers is handed over.
// The block is somebody else's by then, or gone.
BOOST_AUTO_TEST_CASE(what_a_thread_does_while_it_ends_counts_elsewhere, *only_if(has_thread_exit)) {
    struct last_words {
        thread_counts* counts = nullptr;
        thread_block** used = nullptr;
        ~last_words() {
            counts->here().scheduled();
            *used = &counts->here();
        }
    };
    thread_counts counts(true);
    static_cast<void>(counts.here());
    thread_block* during = nullptr;
    thread_block* at_the_end = nullptr;
    std::thread([&] {
        thread_local last_words words; // It ends after what was made later.
        words.counts = &counts;
        words.used = &at_the_end;
        during = &counts.here();
        counts.here().scheduled();
    }).join();
    BOOST_TEST(during != nullptr);
    BOOST_TEST(at_the_end != nullptr);
    BOOST_TEST(at_the_end != during);
    BOOST_TEST(counts.pending() == 2U);
}

BOOST_AUTO_TEST_CASE(the_timers_of_a_thread_that_has_ended_are_for_others,
                     *only_if(has_thread_exit)) {
    struct timer : asio_wheel::detail::spare_timer {
        void free() noexcept override { ++freed; }
        int freed = 0;
    };
    timer kept, left;
    {
        thread_counts counts(true);
        BOOST_TEST(counts.take_left() == nullptr);
        static_cast<void>(counts.here());
        std::thread([&] {
            BOOST_TEST(counts.here().spares()->keep(kept));
            BOOST_TEST(counts.here().spares()->keep(left));
        }).join();
        counts.forget_ended();
        BOOST_TEST(counts.take_left() == &kept);
    }
    BOOST_TEST(kept.freed == 0);
    BOOST_TEST(left.freed == 1);
}

BOOST_AUTO_TEST_CASE(threads_share_a_block_if_they_cannot_tell_their_end,
                     *only_if(!has_thread_exit)) {
    thread_counts counts(true);
    thread_block* const mine = &counts.here();
    BOOST_TEST(mine->spares() == nullptr);
    for (int i = 0; i < 100; ++i) {
        std::thread([&] {
            counts.here().scheduled();
            BOOST_TEST(&counts.here() == mine);
        }).join();
    }
    counts.forget_ended();
    BOOST_TEST(&counts.here() == mine);
    BOOST_TEST(counts.pending() == 100U);
}

BOOST_AUTO_TEST_CASE(a_wheel_for_one_thread_has_one_block) {
    thread_counts counts(false);
    thread_block* const mine = &counts.here();
    thread_block* others = nullptr;
    std::thread([&] { others = &counts.here(); }).join(); // One after the other.
    BOOST_TEST(others == mine);
    BOOST_TEST(counts.size() == 1U);
}

BOOST_AUTO_TEST_SUITE_END()
