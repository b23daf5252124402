// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0
// pch: off
// unity: operator_new

// Delay queues without memory. operator new is counted.

#include "support/names.hpp"
#include "support/operator_new.hpp"

#include <asio_wheel/delay_queue.hpp>
#include <asio_wheel/timeout.hpp>

#include "support/context.hpp"
#include "support/empty_pool.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/strand.hpp>
#include <boost/system/error_code.hpp>
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <memory>
#include <new>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <tuple>
#include <utility>

namespace {

using namespace asio_wheel::test;
using queue_type = asio_wheel::delay_queue<std::unique_ptr<int>>;

// Calls try_it(n) for each of its allocations that may fail, in a thread with an empty pool.
template <class Function>
void for_each_allocation(Function try_it) {
    std::size_t n = 0;
    bool failed = true;
    while (failed) {
        BOOST_TEST_CONTEXT("allocation " << n) {
            std::thread([&] {
                const empty_pool pool;
                failed = try_it(n);
            }).join();
        }
        ++n;
    }
    BOOST_TEST(n >= 2U);
}

// Returns false if `f` ran out of memory.
template <class Function>
bool succeeds(Function f) {
    try {
        f();
        return true;
    } catch (const std::bad_alloc&) {
        return false;
    }
}

// A queue on a context, in paused time, and pops whose handlers record their results: a digit for a
// value; '!' for aborted, 'c' for closed, 't' for timed out, 'm' for memory. Allocates nothing
// except what is tested.
class stage {
public:
    stage() {
        asio_wheel::use_wheel(*context).pause();
        make_queue();
    }

    void make_queue() { queue.emplace(*context); }

    [[nodiscard]] auto note() {
        return [this](error_code ec, const std::unique_ptr<int>& value) {
            story_[length_++] = !ec             ? static_cast<char>('0' + *value)
                                : ec == aborted ? '!'
                                : ec == asio_wheel::error::queue_closed ? 'c'
                                : ec == asio_wheel::error::timed_out    ? 't'
                                : ec == std::errc::not_enough_memory    ? 'm'
                                                                        : '?';
        };
    }
    // Returns the results since the last call.
    [[nodiscard]] std::string take_log() { return {story_.data(), std::exchange(length_, 0)}; }

    // Advances time and runs what is ready, even if memory runs out.
    void pass(std::chrono::seconds d) {
        while (!succeeds([&] { asio_wheel::use_wheel(*context).advance(d); })) {
        }
        for (int i = 0; i < 4; ++i) { // A handler on one context may make one on the other ready.
            for (asio::io_context* const c : {&*context, &other}) {
                c->restart();
                while (!succeeds([&] { c->poll(); })) {
                }
            }
        }
    }

    asio::io_context other;
    std::optional<asio::io_context> context{std::in_place};
    std::optional<queue_type> queue;

private:
    std::array<char, 64> story_{};
    std::size_t length_ = 0;
};

// The executor of handlers, while the queue's executor is its context itself.
struct on_the_context {
    static auto of(stage& s) { return s.context->get_executor(); }
};
struct on_a_strand {
    static auto of(stage& s) { return asio::make_strand(*s.context); }
};
struct on_another_context {
    static auto of(stage& s) { return s.other.get_executor(); }
};
struct on_a_hidden_context {
    static auto of(stage& s) { return asio::any_io_executor(s.other.get_executor()); }
};
using places = std::tuple<on_the_context, on_a_strand, on_another_context, on_a_hidden_context>;

} // namespace

BOOST_AUTO_TEST_SUITE(delay_queue_memory, *boost::unit_test::timeout(60))

BOOST_AUTO_TEST_CASE(what_cannot_be_pushed_is_where_it_was) {
    for_each_allocation([](std::size_t n) {
        asio::io_context ctx;
        queue_type queue(ctx);
        std::array<std::unique_ptr<int>, 20> values;
        for (auto& value : values) {
            value = std::make_unique<int>();
        }
        std::size_t pushed = 0;
        const fail_after failure(n);
        for (auto& value : values) {
            try {
                queue.push(-1s, std::move(value));
                ++pushed;
            } catch (const std::bad_alloc&) {
                BOOST_TEST((value != nullptr));
            }
        }
        BOOST_TEST(queue.size() == pushed);
        for (; pushed != 0; --pushed) {
            BOOST_TEST(queue.try_pop().has_value());
        }
        BOOST_TEST(queue.empty());
        return failure.has_failed();
    });
}

BOOST_AUTO_TEST_CASE(a_pop_is_started_or_not) {
    for_each_allocation([](std::size_t n) {
        asio::cancellation_signal signal;
        const auto alive = std::make_shared<int>();
        int calls = 0;
        bool thrown = false, failed = false;
        {
            asio::io_context ctx;
            queue_type queue(ctx);
            {
                const fail_after failure(n);
                try {
                    queue.async_pop(asio::bind_cancellation_slot(
                        signal.slot(), [&calls, alive](error_code ec, std::unique_ptr<int>) {
                            BOOST_TEST(ec == aborted);
                            ++calls;
                        }));
                } catch (const std::bad_alloc&) {
                    thrown = true;
                }
                failed = failure.has_failed();
            }
            BOOST_TEST(alive.use_count() == (thrown ? 1 : 2));
            signal.emit(asio::cancellation_type::terminal);
            ctx.run();
        }
        BOOST_TEST((failed || !thrown)); // Waiting for a wake-up needs no memory.
        BOOST_TEST(calls == (thrown ? 0 : 1));
        return failed;
    });
}

// P1: accepted operations complete without further allocation.
BOOST_AUTO_TEST_CASE_TEMPLATE(a_pop_that_has_started_ends_without_memory, Place, places) {
    std::thread([] {
        const empty_pool pool;
        stage s;
        auto ex = std::make_optional(Place::of(s));
        asio::cancellation_signal signal;
        std::array<std::unique_ptr<int>, 3> values;
        for (int round = 0; round < 2; ++round) {
            // In the first round, the context and Asio allocate memory that they keep.
            const auto check = [&](auto what) {
                const std::size_t n = allocations_of(what);
                BOOST_TEST((n == 0 || round == 0));
            };
            for (std::size_t i = 0; i < values.size(); ++i) {
                values[i] = std::make_unique<int>(static_cast<int>(i));
            }
            for (int i = 0; i < 4; ++i) {
                s.queue->async_pop(asio::bind_executor(*ex, s.note()));
            }
            s.queue->push(1s, std::move(values[0]));
            s.queue->push(2s, std::move(values[1]));
            check([&] { s.pass(1s); }); // And waits for the next one.
            check([&] { s.pass(1s); });
            BOOST_TEST(s.take_log() == "01");
            check([&] { s.queue->push(0s, std::move(values[2])); }); // The capacity is sufficient.
            check([&] { s.pass(0s); });
            BOOST_TEST(s.take_log() == "2");
            check([&] { s.queue->cancel(); });
            check([&] { s.pass(0s); });
            BOOST_TEST(s.take_log() == "!");
            s.queue->async_pop(
                asio::bind_cancellation_slot(signal.slot(), asio::bind_executor(*ex, s.note())));
            check([&] { signal.emit(asio::cancellation_type::terminal); });
            check([&] { s.pass(0s); });
            BOOST_TEST(s.take_log() == "!");
        }
        const auto check = [&](auto what) { BOOST_TEST(allocations_of(what) == 0U); };
        const auto start_two = [&] {
            s.queue->async_pop(asio::bind_executor(*ex, s.note()));
            s.queue->async_pop(asio::bind_executor(*ex, s.note()));
        };
        start_two();
        check([&] { s.queue->close(); });
        check([&] { s.pass(0s); });
        BOOST_TEST(s.take_log() == "cc");
        s.make_queue();
        start_two();
        check([&] { s.queue.reset(); });
        check([&] { s.pass(0s); });
        BOOST_TEST(s.take_log() == "!!");
        s.make_queue();
        start_two();
        s.queue->cancel(); // Some are queued,
        start_two();       // and some wait.
        ex.reset();        // A strand must not outlive its context.
        check([&] { s.context.reset(); });
        BOOST_TEST(s.take_log() == "");
    }).join();
}

// Three waiting pops, five values.
BOOST_AUTO_TEST_CASE_TEMPLATE(whichever_allocation_fails_no_value_and_no_pop_is_lost, Place,
                              places) {
    for_each_allocation([](std::size_t n) {
        std::array<std::unique_ptr<int>, 5> values;
        for (std::size_t i = 0; i < values.size(); ++i) {
            values[i] = std::make_unique<int>(static_cast<int>(i));
        }
        constexpr std::array<std::chrono::seconds, 5> delays{2s, 1s, 3s, 0s, 2s};
        std::size_t pushed = 0, started = 0, left = 0;
        bool failed = false;
        stage s;
        const auto ex = Place::of(s);
        {
            const fail_after failure(n);
            const auto push = [&](std::size_t i) {
                pushed += succeeds([&] { s.queue->push(delays[i], std::move(values[i])); }) ? 1 : 0;
            };
            const auto pop = [&] {
                started += succeeds([&] { s.queue->async_pop(asio::bind_executor(ex, s.note())); })
                               ? 1
                               : 0;
            };
            pop();
            push(0);
            push(1);
            pop();
            push(2);
            pop();
            push(3); // Due at once.
            s.pass(0s);
            s.pass(1s);
            push(4);
            s.pass(1s);
            s.pass(1s);
            s.pass(1h);
            while (const std::unique_ptr<int> value = s.queue->try_pop().value_or(nullptr)) {
                ++left;
            }
            s.queue->close();
            s.pass(0s);
            failed = failure.has_failed();
        }
        const std::string log_text = s.take_log();
        BOOST_TEST_CONTEXT("pops ended " << log_text) {
            BOOST_TEST(pushed + started >= 7U); // All except one, whose call failed.
            BOOST_TEST(log_text.size() == started);
            BOOST_TEST(log_text.size() + left == pushed);
            BOOST_TEST(log_text.find_first_not_of("01234") == std::string::npos);
            BOOST_TEST(
                (std::set<char>(log_text.begin(), log_text.end()).size() == log_text.size()));
            BOOST_TEST(s.context->stopped());
        }
        return failed;
    });
}

BOOST_AUTO_TEST_CASE_TEMPLATE(deadlines_and_the_end_of_the_queue_need_no_memory, Place, places) {
    for_each_allocation([](std::size_t n) {
        std::size_t started = 0;
        bool failed = false;
        stage s;
        const auto ex = Place::of(s);
        {
            const fail_after failure(n);
            const auto start = [&](auto token) {
                started += succeeds([&] { s.queue->async_pop(std::move(token)); }) ? 1 : 0;
            };
            for (int i = 0; i < 3; ++i) {
                start(asio_wheel::timeout(1s, asio::bind_executor(ex, s.note())));
            }
            s.pass(2s);
            start(asio::bind_executor(ex, s.note()));
            s.queue.reset();
            s.pass(0s);
            failed = failure.has_failed();
        }
        const std::string log_text = s.take_log();
        BOOST_TEST_CONTEXT("pops ended " << log_text) {
            BOOST_TEST(started >= 3U);
            BOOST_TEST(log_text.size() == started);
            // (The wait of a deadline may have failed: then the pop is cancelled at once.)
            BOOST_TEST(log_text.find_first_not_of("t!m") == std::string::npos);
            BOOST_TEST(std::count(log_text.begin(), log_text.end(), 't') >= 2);
            BOOST_TEST(s.context->stopped());
        }
        return failed;
    });
}

BOOST_AUTO_TEST_SUITE_END()
