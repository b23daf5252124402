// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Programs that are stopped after their first, second, third … handler, and destroyed with all
// pending operations: the timers first, or the context first.

#include <asio_wheel/steady_timer.hpp>

#include "support/names.hpp"
#include "support/tear_down.hpp"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <boost/test/unit_test.hpp>

#include <array>
#include <chrono>
#include <cstddef>
#include <deque>
#include <memory>
#include <utility>
#include <vector>

namespace {

using namespace asio_wheel::test;
using asio_wheel::steady_timer;
using asio_wheel::use_wheel;
using asio_wheel::test::tear_down_at_every_step;
using tcp = asio::ip::tcp;

// The number of existing handlers: created, but neither called nor destroyed. None may be left when
// a program has been torn down; the next program checks that.
int handlers_alive = 0;

template <class Function>
class counted {
public:
    explicit counted(Function f) : f_(std::move(f)) { ++handlers_alive; }
    counted(counted&& other) noexcept : f_(std::move(other.f_)) { ++handlers_alive; }
    ~counted() { --handlers_alive; }
    void operator()(const error_code& ec) {
        BOOST_TEST(!std::exchange(called_, true), "called twice");
        f_(ec);
    }

private:
    Function f_;
    bool called_ = false;
};

template <class Start>
std::size_t tear_down(Start start) {
    const std::size_t steps = tear_down_at_every_step([&start](asio::io_context& ctx) {
        BOOST_TEST(std::exchange(handlers_alive, 0) == 0);
        return start(ctx);
    });
    BOOST_TEST(std::exchange(handlers_alive, 0) == 0);
    return steps;
}

const auto nothing = [](const error_code&) {};

} // namespace

BOOST_AUTO_TEST_SUITE(timer_tear_down, *boost::unit_test::timeout(120))

// Each wait operates on the next timer, so that there are always due, aborted, postponed, queued
// and pending ones.
BOOST_AUTO_TEST_CASE(many_timers) {
    struct program {
        std::deque<steady_timer> timers;
        std::vector<int> rounds;

        explicit program(asio::io_context& ctx) : rounds(12) {
            for (std::size_t i = 0; i < rounds.size(); ++i) {
                timers.emplace_back(ctx, (i % 5) * 1ms + (i / 5) * 1min);
                wait(i);
            }
        }

        void wait(std::size_t i) {
            timers[i].async_wait(counted([this, i](const error_code& ec) {
                if (!ec && ++rounds[i] <= 2) {
                    on_expiry(i);
                }
            }));
        }

        void on_expiry(std::size_t i) {
            const std::size_t next = (i + 1) % timers.size();
            switch ((i + static_cast<std::size_t>(rounds[i])) % 5) {
            case 0:
                timers[next].cancel();
                break;
            case 1:
                timers[next].expires_after(10ms);
                wait(next);
                break;
            case 2:
                static_cast<void>(timers[next].postpone(20ms));
                break;
            case 3:
                timers[next].expires_after(1h);
                break;
            default:
                timers[i] = steady_timer(std::move(timers[next]));
                timers[next].async_wait(counted(nothing));
            }
            wait(i);
        }
    };
    const std::size_t steps =
        tear_down([](asio::io_context& ctx) { return std::make_shared<program>(ctx); });
    BOOST_TEST(steps > 30U);
}

// Handlers own the timers of the next waits.
BOOST_AUTO_TEST_CASE(nested_ownership) {
    struct nest {
        static void dig(asio::io_context& ctx, int depth) {
            if (depth == 0) {
                return;
            }
            for (int i = 0; i < 2; ++i) {
                auto t = std::make_shared<steady_timer>(ctx, depth * 1s);
                steady_timer& waiting = *t;
                waiting.async_wait(counted([&ctx, depth, t](const error_code& ec) {
                    if (!ec) {
                        dig(ctx, depth - 1);
                    }
                }));
                waiting.async_wait(counted([t](const error_code&) {}));
            }
        }
    };
    const std::size_t steps = tear_down([](asio::io_context& ctx) {
        nest::dig(ctx, 4);
        return std::shared_ptr<void>();
    });
    BOOST_TEST(steps > 30U);
}

// A destroyed handler starts another wait, and so on.
BOOST_AUTO_TEST_CASE(handlers_that_wait_again_when_they_are_destroyed) {
    struct phoenix {
        std::shared_ptr<steady_timer> t;
        int lives;

        phoenix(std::shared_ptr<steady_timer> timer, int n) : t(std::move(timer)), lives(n) {
            ++handlers_alive;
        }
        phoenix(phoenix&& other) noexcept
            : t(std::move(other.t)), lives(std::exchange(other.lives, 0)) {
            ++handlers_alive;
        }
        ~phoenix() {
            --handlers_alive;
            if (lives > 0) {
                steady_timer& waiting = *t;
                waiting.expires_after(1s);
                waiting.async_wait(phoenix(std::move(t), lives - 1));
            }
        }
        void operator()(const error_code&) {}
    };
    tear_down([](asio::io_context& ctx) {
        auto t = std::make_shared<steady_timer>(ctx, 1s);
        t->async_wait(phoenix(t, 3));
        return std::shared_ptr<void>();
    });
}

BOOST_AUTO_TEST_CASE(strands_and_slots) {
    struct program : std::enable_shared_from_this<program> {
        asio::strand<asio::io_context::executor_type> a;
        asio::strand<asio::io_context::executor_type> b;
        steady_timer on_a;
        steady_timer on_b;
        steady_timer plain;
        asio::cancellation_signal signal;
        int rounds = 0;

        explicit program(asio::io_context& ctx)
            : a(asio::make_strand(ctx)), b(asio::make_strand(ctx)), on_a(a), on_b(b), plain(ctx) {}

        void start() {
            if (++rounds > 3) {
                return;
            }
            on_a.expires_after(10ms);
            on_b.expires_after(10ms);
            plain.expires_after(11ms);
            on_a.async_wait(counted([self = this->shared_from_this()](const error_code&) {
                self->on_b.cancel();
                asio::post(self->b, [self] { self->on_b.async_wait(counted(nothing)); });
            }));
            on_b.async_wait(asio::bind_cancellation_slot(signal.slot(), counted(nothing)));
            plain.async_wait(asio::bind_executor(
                b, counted([self = this->shared_from_this()](const error_code&) {
                    self->signal.emit(asio::cancellation_type::terminal);
                    asio::post(self->a, [self] { self->start(); });
                })));
        }
    };
    // The program belongs to its handlers. It has strands, so it must not outlive the context.
    const std::size_t steps = tear_down([](asio::io_context& ctx) {
        std::make_shared<program>(ctx)->start();
        return std::shared_ptr<void>();
    });
    BOOST_TEST(steps > 12U);
}

// The other context is destroyed later, with the handlers in its queue, which are not destroyed
// before.
BOOST_AUTO_TEST_CASE(handlers_on_their_way_to_a_second_context) {
    struct program {
        asio::io_context& other;
        std::deque<steady_timer> timers;
        int rounds = 0;

        program(asio::io_context& ctx, asio::io_context& second) : other(second) {
            for (int i = 0; i < 4; ++i) {
                timers.emplace_back(ctx, i / 2 * 1s);
                wait(timers.back());
            }
        }

        void wait(steady_timer& t) {
            t.async_wait(
                asio::bind_executor(other, counted([this, &t](const error_code&) {
                                        if (++rounds < 8) {
                                            timers[static_cast<std::size_t>(rounds) % 4].cancel();
                                            t.expires_after(1s);
                                            wait(t);
                                        }
                                    })));
        }
    };
    for (const bool other_first : {false, true}) {
        std::unique_ptr<asio::io_context> other;
        const std::size_t steps = tear_down_at_every_step(
            [&](asio::io_context& ctx) {
                other.reset();
                BOOST_TEST(std::exchange(handlers_alive, 0) == 0);
                other = std::make_unique<asio::io_context>();
                use_wheel(ctx).pause();
                return std::make_shared<program>(ctx, *other);
            },
            [&](asio::io_context& ctx) {
                ctx.restart();
                other->restart();
                const auto here = [&] { return ctx.poll_one() != 0; };
                const auto there = [&] { return other->poll_one() != 0; };
                return (other_first ? there() || here() : here() || there()) ||
                       use_wheel(ctx).advance_to_next() != 0;
            });
        other.reset();
        BOOST_TEST(std::exchange(handlers_alive, 0) == 0);
        BOOST_TEST(steps > 15U);
    }
}

BOOST_AUTO_TEST_CASE(chains_of_coroutines) {
    using namespace asio::experimental::awaitable_operators;
    struct witness {
        witness() { ++handlers_alive; }
        witness(const witness&) = delete;
        witness& operator=(const witness&) = delete;
        ~witness() { --handlers_alive; }
    };
    struct program {
        static asio::awaitable<void> sleep(std::chrono::milliseconds d) {
            const witness here;
            steady_timer t(co_await asio::this_coro::executor, d);
            co_await t.async_wait(asio::use_awaitable);
        }
        static asio::awaitable<int> twice(std::chrono::milliseconds d) {
            const witness here;
            co_await sleep(d);
            co_await sleep(d);
            co_return 2;
        }
        static asio::awaitable<void> run() {
            const witness here;
            for (int i = 1; i <= 3; ++i) {
                auto either = co_await (twice(i * 10ms) || sleep(25ms));
                BOOST_TEST(either.index() == (i == 1 ? 0U : 1U));
                co_await (sleep(1ms) && sleep(2ms));
            }
        }
    };
    const std::size_t steps = tear_down([](asio::io_context& ctx) {
        asio::co_spawn(ctx, program::run(), asio::detached);
        asio::co_spawn(asio::make_strand(ctx), program::run(), asio::detached);
        return std::shared_ptr<void>();
    });
    BOOST_TEST(steps > 20U);
}

// A client sends a few words and goes idle. The server echoes them, and closes the connection after
// a timeout.
BOOST_AUTO_TEST_CASE(a_session_with_an_idle_timeout) {
    struct session : std::enable_shared_from_this<session> {
        tcp::socket socket;
        steady_timer idle;
        std::array<char, 16> data{};

        explicit session(tcp::socket s) : socket(std::move(s)), idle(socket.get_executor()) {}

        void read() {
            idle.expires_after(30s);
            idle.async_wait(counted([self = this->shared_from_this()](const error_code& ec) {
                if (!ec) {
                    self->socket.close();
                }
            }));
            socket.async_read_some(asio::buffer(data), [self = this->shared_from_this()](
                                                           const error_code& ec, std::size_t n) {
                if (!ec) {
                    self->write(n);
                }
            });
        }

        void write(std::size_t n) {
            asio::async_write(socket, asio::buffer(data, n),
                              [self = this->shared_from_this()](const error_code& ec, std::size_t) {
                                  if (!ec) {
                                      self->read();
                                  }
                              });
        }
    };
    struct client : std::enable_shared_from_this<client> {
        tcp::socket socket;
        steady_timer pace;
        std::array<char, 16> data{};
        int said = 0;

        explicit client(asio::io_context& ctx) : socket(ctx), pace(ctx) {}

        void talk() {
            auto self = this->shared_from_this();
            if (said++ < 2) {
                asio::write(socket, asio::buffer("hello", 5));
            }
            socket.async_read_some(asio::buffer(data), [self](const error_code& ec, std::size_t) {
                if (!ec) {
                    self->pace.expires_after(20s);
                    self->pace.async_wait(counted([self](const error_code&) { self->talk(); }));
                }
            });
        }
    };
    int closed_for_silence = 0;
    const std::size_t steps = tear_down_at_every_step(
        [&](asio::io_context& ctx) {
            BOOST_TEST(std::exchange(handlers_alive, 0) == 0);
            use_wheel(ctx).pause();
            tcp::acceptor acceptor(ctx, {asio::ip::address_v4::loopback(), 0});
            auto c = std::make_shared<client>(ctx);
            c->socket.connect(acceptor.local_endpoint());
            std::make_shared<session>(acceptor.accept())->read();
            c->talk();
            return std::shared_ptr<void>();
        },
        [&](asio::io_context& ctx) {
            ctx.restart();
            // Data between the sockets must arrive before time may advance.
            if (ctx.poll_one() != 0 || ctx.run_one_for(1ms) != 0) {
                return true;
            }
            const std::size_t due = use_wheel(ctx).advance_to_next();
            closed_for_silence += due != 0;
            return due != 0;
        });
    BOOST_TEST(std::exchange(handlers_alive, 0) == 0);
    BOOST_TEST(steps > 8U);
    BOOST_TEST(closed_for_silence > 0);
}

BOOST_AUTO_TEST_SUITE_END()
