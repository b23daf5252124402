// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0
// labels: threads
// timeout: 600

// Two contexts that own objects of each other and are destroyed in every order: one after the other
// at each step, and on two threads at once. AddressSanitizer and ThreadSanitizer detect misuse. The
// test checks that each handler is called or destroyed once.
//
// Three limits are Asio's own. A context must outlive unexpired waits whose handlers are bound to
// it, because they are work of its executor. A socket must be destroyed before its context. An
// object with a pending operation must not be used while another thread destroys its context.

#include <asio_wheel/delay_queue.hpp>
#include <asio_wheel/idle_timer.hpp>
#include <asio_wheel/interval.hpp>
#include <asio_wheel/scheduler.hpp>
#include <asio_wheel/steady_timer.hpp>
#include <asio_wheel/timeout.hpp>
#include <asio_wheel/timeout_stream.hpp>

#include "support/context.hpp"
#include "support/latch.hpp"
#include "support/names.hpp"
#include "support/threads.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/local/connect_pair.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/write.hpp>
#include <boost/test/unit_test.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>

namespace {

using namespace asio_wheel::test;
using asio_wheel::steady_timer;

// Each handler that was started holds a reference, and nothing else does.
using token = std::shared_ptr<int>;
using thing = std::shared_ptr<void>;

// Creates an object of a context. A handler that is pending there may hold the token.
using maker = std::function<thing(asio::io_context&, const token&)>;
// Starts an operation on a context whose handler holds `cargo`.
using starter = std::function<void(asio::io_context&, const token&, const thing& cargo)>;

template <class T>
struct named {
    const char* name;
    T function;
};

template <class Function>
auto with(token t, thing cargo, Function f) {
    return [t = std::move(t), cargo = std::move(cargo), f = std::move(f)](auto&&...) { f(); };
}
auto holding(token t, thing cargo = nullptr) {
    return with(std::move(t), std::move(cargo), [] {});
}

const named<maker> things[] = {
    {"a timer that nobody waits for",
     [](asio::io_context& ctx, const token&) { return std::make_shared<steady_timer>(ctx); }},
    {"a timer that is waited for",
     [](asio::io_context& ctx, const token& t) {
         auto timer = std::make_shared<steady_timer>(ctx, 1h);
         timer->async_wait(holding(t));
         timer->async_wait(holding(t));
         return timer;
     }},
    {"a timer that is due",
     [](asio::io_context& ctx, const token& t) {
         auto timer = std::make_shared<steady_timer>(ctx, -1s);
         timer->async_wait(holding(t));
         return timer;
     }},
    {"a queue with a pop",
     [](asio::io_context& ctx, const token& t) {
         auto queue = std::make_shared<asio_wheel::delay_queue<int>>(ctx);
         queue->push(1h, 1);
         queue->async_pop(holding(t));
         return queue;
     }},
    {"a scheduler with tasks",
     [](asio::io_context& ctx, const token& t) {
         auto scheduler =
             std::make_shared<asio_wheel::basic_scheduler<std::chrono::steady_clock>>(ctx);
         scheduler->schedule_after(1h, holding(t));
         scheduler->schedule_after(0s, holding(t));
         scheduler->schedule_at_fixed_rate(1h, 1h, holding(t));
         return scheduler;
     }},
    {"an idle timer that is waited for",
     [](asio::io_context& ctx, const token& t) {
         auto idle = std::make_shared<asio_wheel::idle_timer>(ctx, 1h);
         idle->async_wait(holding(t));
         return idle;
     }},
    {"an interval that is waited for",
     [](asio::io_context& ctx, const token& t) {
         auto ticks = std::make_shared<asio_wheel::interval>(ctx, 1h);
         ticks->async_tick(holding(t));
         return ticks;
     }},
};

// Each of these is owned by the handler of its own operation.
template <class Timer>
void wait(Timer timer, const token& t, const thing& cargo) {
    timer->async_wait(with(t, cargo, [timer] {}));
}

const named<starter> starts[] = {
    {"a wait", [](asio::io_context& ctx, const token& t,
                  const thing& cargo) { wait(std::make_shared<steady_timer>(ctx, 1h), t, cargo); }},
    {"a wait that is due",
     [](asio::io_context& ctx, const token& t, const thing& cargo) {
         wait(std::make_shared<steady_timer>(ctx, -1s), t, cargo);
         wait(std::make_shared<steady_timer>(ctx, -2s), t, cargo);
     }},
    {"a wait that was cancelled",
     [](asio::io_context& ctx, const token& t, const thing& cargo) {
         const auto timer = std::make_shared<steady_timer>(ctx, 1h);
         wait(timer, t, cargo);
         timer->cancel();
     }},
    {"a wait on a strand that is due",
     [](asio::io_context& ctx, const token& t, const thing& cargo) {
         using timer =
             asio_wheel::basic_waitable_timer<std::chrono::steady_clock,
                                              asio::wait_traits<std::chrono::steady_clock>,
                                              asio::strand<asio::io_context::executor_type>>;
         wait(std::make_shared<timer>(asio::make_strand(ctx), -1s), t, cargo);
     }},
    {"a wait with a deadline",
     [](asio::io_context& ctx, const token& t, const thing& cargo) {
         const auto timer = std::make_shared<steady_timer>(ctx, 2h);
         timer->async_wait(asio_wheel::timeout(1h, with(t, cargo, [timer] {})));
     }},
    {"a wait whose deadline has passed",
     [](asio::io_context& ctx, const token& t, const thing& cargo) {
         const auto timer = std::make_shared<steady_timer>(ctx, 2h);
         timer->async_wait(asio_wheel::timeout(0s, with(t, cargo, [timer] {})));
     }},
    {"a pop",
     [](asio::io_context& ctx, const token& t, const thing& cargo) {
         const auto queue = std::make_shared<asio_wheel::delay_queue<int>>(ctx);
         queue->async_pop(with(t, cargo, [queue] {}));
         queue->push(1h, 1);
     }},
    {"a pop of what is due",
     [](asio::io_context& ctx, const token& t, const thing& cargo) {
         const auto queue = std::make_shared<asio_wheel::delay_queue<int>>(ctx);
         queue->async_pop(with(t, cargo, [queue] {}));
         queue->push(-1s, 1);
     }},
    {"tasks",
     [](asio::io_context& ctx, const token& t, const thing& cargo) {
         const auto tasks =
             std::make_shared<asio_wheel::basic_scheduler<std::chrono::steady_clock>>(ctx);
         tasks->schedule_after(1h, with(t, cargo, [tasks] {}));
         tasks->schedule_after(0s, with(t, cargo, [tasks] {}));
     }},
    {"an idle timer's wait",
     [](asio::io_context& ctx, const token& t, const thing& cargo) {
         wait(std::make_shared<asio_wheel::idle_timer>(ctx, 1h), t, cargo);
     }},
    {"a tick of an interval",
     [](asio::io_context& ctx, const token& t, const thing& cargo) {
         const asio_wheel::interval_options at_once{.first = 0ns};
         const auto ticks = std::make_shared<asio_wheel::interval>(ctx, 1h, at_once);
         ticks->async_tick(with(t, cargo, [ticks] {}));
     }},
};

// Two contexts that run step by step, and are destroyed when the test says so.
struct two_contexts {
    std::unique_ptr<asio::io_context> a = std::make_unique<asio::io_context>();
    std::unique_ptr<asio::io_context> b = std::make_unique<asio::io_context>();

    // Runs `n` handlers, in turn. Returns how many there were.
    std::size_t run(std::size_t n) {
        std::size_t done = 0;
        for (bool idle = false; done < n && !idle;) {
            idle = true;
            for (asio::io_context* const ctx : {a.get(), b.get()}) {
                if (done < n) {
                    ctx->restart();
                    const std::size_t ran = ctx->poll_one();
                    done += ran;
                    idle = idle && ran == 0;
                }
            }
        }
        return done;
    }
};

// Calls `fill` for two contexts, runs n = 0, 1, 2 … handlers, and destroys the contexts in both
// orders, until nothing is left to run.
void end_at_every_step(const std::function<void(two_contexts&, const token&)>& fill) {
    for (const bool a_first : {true, false}) {
        bool over = false;
        for (std::size_t steps = 0; !over; ++steps) {
            BOOST_TEST_REQUIRE(steps < 1000U, "the contexts do not come to rest");
            BOOST_TEST_INFO_SCOPE((a_first ? "the first" : "the second")
                                  << " ends first, after " << steps << " steps");
            const token t = std::make_shared<int>();
            two_contexts both;
            fill(both, t);
            over = both.run(steps) < steps;
            (a_first ? both.a : both.b).reset();
            (a_first ? both.b : both.a).reset();
            BOOST_TEST(t.use_count() == 1, "a handler is left");
        }
    }
}

// Calls each function on a thread of its own, concurrently, many times.
class at_once {
public:
    template <class F, class G>
    at_once(F f, G g) {
        const std::jthread other([&] {
            start_.arrive_and_wait();
            f();
        });
        start_.arrive_and_wait();
        g();
    }

private:
    barrier start_{2};
};

constexpr int rounds = 500;
constexpr int tickets = 8;

// Starts due waits on `from` with handlers for `to`, half of them for a strand.
void start_for(asio::io_context& from, asio::io_context& to, const token& t,
               std::atomic<int>& called) {
    const auto strand = asio::make_strand(to);
    for (int i = 0; i < tickets; i += 2) {
        const auto timer = std::make_shared<steady_timer>(from, -1s);
        const auto count = [t, &called, timer](const error_code&) { ++called; };
        timer->async_wait(asio::bind_executor(to, count));
        timer->async_wait(asio::bind_executor(strand, count));
    }
}

// Queues handlers of each context on the other one.
int send_to_each_other(two_contexts& both, const token& t) {
    std::atomic<int> called = 0;
    start_for(*both.a, *both.b, t, called);
    both.a->poll_one(); // The others are due then, but have not been called.
    start_for(*both.b, *both.a, t, called);
    both.b->poll();
    for (int i = 0; i < tickets - 1; ++i) {
        both.a->poll_one();
    }
    return called;
}

} // namespace

BOOST_AUTO_TEST_SUITE(fault_contexts)

// Each operation on a context owns an object of each kind on the other context, and the other way
// round.
BOOST_AUTO_TEST_CASE(handlers_may_own_what_belongs_to_a_context_that_has_ended) {
    for (const auto& start : starts) {
        for (const auto& make : things) {
            BOOST_TEST_CONTEXT(start.name << " owns " << make.name) {
                end_at_every_step([&](two_contexts& both, const token& t) {
                    start.function(*both.a, t, make.function(*both.b, t));
                    start.function(*both.b, t, make.function(*both.a, t));
                });
            }
        }
    }
}

// A chain: each handler owns a timer of the other context, whose handler owns the next one.
BOOST_AUTO_TEST_CASE(handlers_may_own_timers_whose_handlers_own_timers) {
    end_at_every_step([](two_contexts& both, const token& t) {
        thing last;
        for (int i = 0; i < 6; ++i) {
            asio::io_context& ctx = i % 2 == 0 ? *both.a : *both.b;
            const auto timer = std::make_shared<steady_timer>(ctx, i % 3 == 0 ? -1s : 1h);
            timer->async_wait(holding(t, last));
            last = timer;
        }
    });
}

// They are in the queue of the other context.
BOOST_AUTO_TEST_CASE(whichever_context_ends_first_what_is_on_its_way_to_the_other_is_destroyed) {
    for (const bool a_first : {true, false}) {
        const token t = std::make_shared<int>();
        two_contexts both;
        BOOST_TEST(send_to_each_other(both, t) < tickets);
        (a_first ? both.a : both.b).reset();
        (a_first ? both.b : both.a).reset();
        BOOST_TEST(t.use_count() == 1, "a handler is left");
    }
}

// They belong to the context in whose queue they are.
BOOST_AUTO_TEST_CASE(what_is_on_its_way_is_called_though_the_context_of_its_timer_has_ended) {
    const token t = std::make_shared<int>();
    std::atomic<int> called = 0;
    two_contexts both;
    start_for(*both.a, *both.b, t, called);
    both.a->poll();
    both.a.reset();
    both.b->poll();
    BOOST_TEST(called == tickets);
    BOOST_TEST(t.use_count() == 1, "a handler is left");
}

// As with Asio's timers, nothing of the timer's context is used after the handler has been called.
BOOST_AUTO_TEST_CASE_TEMPLATE(a_handler_on_another_context_may_end_the_one_of_its_timer, Timer,
                              timers) {
    using any_executor = asio::any_io_executor;
    using strand = asio::strand<asio::io_context::executor_type>;
    using any_strand = asio::strand<any_executor>;
    const auto past = Timer::clock_type::now() - 1s;
    const auto check = [&]<class Executor>(const char* name, auto executor_for,
                                           std::type_identity<Executor>) {
        BOOST_TEST_INFO_SCOPE(name);
        using timer = typename Timer::template rebind_executor<Executor>::other;
        two_contexts both;
        const auto guard = asio::make_work_guard(*both.b);
        auto t = std::make_unique<timer>(executor_for(both.a->get_executor()), past);
        int called = 0;
        t->async_wait(asio::bind_executor(*both.b, [&](const error_code& ec) {
            BOOST_TEST(!ec);
            ++called;
            t.reset();
            both.a.reset();
        }));
        both.a->poll();
        both.b->poll();
        BOOST_TEST(called == 1);
    };
    const auto itself = [](auto ex) { return ex; };
    const auto stranded = [](auto ex) { return asio::make_strand(any_executor(ex)); };
    check("the context's executor", itself, std::type_identity<asio::io_context::executor_type>());
    check("any_io_executor", itself, std::type_identity<any_executor>());
    check("a strand", [](auto ex) { return asio::make_strand(ex); }, std::type_identity<strand>());
    check("a strand of any_io_executor", stranded, std::type_identity<any_strand>());
    check("any_io_executor of a strand", stranded, std::type_identity<any_executor>());
}

// Handlers in the queue of the other context own parts of the stream, so they must run before
// either context is destroyed.
BOOST_AUTO_TEST_CASE(a_stream_whose_handlers_belong_to_another_context_may_end_at_every_step) {
    using socket = asio::local::stream_protocol::socket;
    using stream = asio_wheel::timeout_stream<socket>;
    for (const bool received : {false, true}) {
        bool over = false;
        for (std::size_t steps = 0; !over; ++steps) {
            BOOST_TEST_REQUIRE(steps < 1000U);
            BOOST_TEST_INFO_SCOPE("after " << steps << " steps, "
                                           << (received ? "something" : "nothing") << " received");
            const token t = std::make_shared<int>();
            two_contexts both;
            {
                std::string in(16, ' ');
                socket peer(*both.a);
                stream s(*both.a);
                asio::local::connect_pair(s.lowest_layer(), peer);
                s.expires_after(received ? 1h : 1ns);
                s.async_read_some(asio::buffer(in), asio::bind_executor(*both.b, holding(t)));
                s.async_write_some(asio::buffer(in), asio::bind_executor(*both.b, holding(t)));
                if (received) {
                    asio::write(peer, asio::buffer("x", 1));
                }
                over = both.run(steps) < steps;
            }
            both.run(1000);
            (steps % 2 == 0 ? both.a : both.b).reset();
            BOOST_TEST(t.use_count() == 1, "a handler is left");
        }
    }
}

BOOST_AUTO_TEST_CASE(contexts_with_handlers_on_their_way_to_each_other_may_end_at_once) {
    for (int i = 0; i < rounds; ++i) {
        const token t = std::make_shared<int>();
        two_contexts both;
        send_to_each_other(both, t);
        at_once([&] { both.a.reset(); }, [&] { both.b.reset(); });
        BOOST_TEST_REQUIRE(t.use_count() == 1, "a handler is left");
    }
}

BOOST_AUTO_TEST_CASE(a_context_may_end_while_another_one_calls_its_handlers) {
    for (int i = 0; i < rounds; ++i) {
        const token t = std::make_shared<int>();
        std::atomic<int> called = 0;
        two_contexts both;
        const auto guard = asio::make_work_guard(*both.b);
        start_for(*both.a, *both.b, t, called);
        {
            // Their own executor has work too. No function on the strand may outlive its context.
            const auto strand = asio::make_strand(*both.a);
            std::deque<steady_timer> on_strand;
            for (int n = 0; n < tickets; ++n) {
                on_strand.emplace_back(strand, -1s)
                    .async_wait(asio::bind_executor(*both.b,
                                                    [t, &called](const error_code&) { ++called; }));
            }
            both.a->poll();
        }
        at_once([&] { both.a.reset(); }, [&] { both.b->poll(); });
        both.b->poll();
        BOOST_TEST_REQUIRE(t.use_count() == 1, "a handler is left");
        BOOST_TEST_REQUIRE(called <= 2 * tickets);
    }
}

// The same, but the context is destroyed during a call.
BOOST_AUTO_TEST_CASE(a_context_may_end_while_another_one_is_calling_one_of_its_handlers) {
    thread_checks all;
    using any_executor = asio::any_io_executor;
    const std::function<any_executor(asio::io_context&)> executors[] = {
        [](asio::io_context& ctx) { return ctx.get_executor(); },
        [](asio::io_context& ctx) { return asio::make_strand(ctx); },
    };
    for (const auto& executor_of : executors) {
        const token t = std::make_shared<int>();
        two_contexts both;
        signal_flag called;
        signal_flag ended;
        const auto guard = asio::make_work_guard(*both.b);
        std::optional<steady_timer> timer(std::in_place, executor_of(*both.a), -1s);
        timer->async_wait(asio::bind_executor(*both.b, [&, t](const error_code& ec) {
            all.expect(!ec);
            called.set();
            all.expect(ended.wait());
        }));
        timer->async_wait(asio::bind_executor(*both.b, holding(t)));
        both.a->poll();
        {
            const std::jthread runner([&] { both.b->poll(); });
            all.expect(called.wait());
            timer.reset();
            both.a.reset();
            ended.set();
        }
        BOOST_TEST(t.use_count() == 1, "a handler is left");
    }
}

// Their handlers own timers of each other, which have no pending wait.
BOOST_AUTO_TEST_CASE(contexts_whose_handlers_own_timers_of_each_other_may_end_at_once) {
    const auto& idle = things[0];
    for (const auto& start : starts) {
        BOOST_TEST_CONTEXT(start.name) {
            for (int i = 0; i < rounds / 5; ++i) {
                const token t = std::make_shared<int>();
                two_contexts both;
                start.function(*both.a, t, idle.function(*both.b, t));
                start.function(*both.b, t, idle.function(*both.a, t));
                both.run(static_cast<std::size_t>(i % 4));
                at_once([&] { both.a.reset(); }, [&] { both.b.reset(); });
                BOOST_TEST_REQUIRE(t.use_count() == 1, "a handler is left");
            }
        }
    }
}

BOOST_AUTO_TEST_SUITE_END()
