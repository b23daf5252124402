// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The individual steps in the life of a timer, and of utilities, to be repeated any number of
// times: for programs that count what a step does. Uses the public interface only.

#ifndef ASIO_WHEEL_TEST_SUPPORT_TIMER_LIFE_HPP
#define ASIO_WHEEL_TEST_SUPPORT_TIMER_LIFE_HPP

#include "counted_sync.hpp"
#include "sync_counter.hpp"

#include <asio_wheel/delay_queue.hpp>
#include <asio_wheel/idle_timer.hpp>
#include <asio_wheel/sleep.hpp>
#include <asio_wheel/steady_timer.hpp>
#include <asio_wheel/timeout.hpp>
#include <asio_wheel/timeout_stream.hpp>
#include <asio_wheel/wheel_service.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/cancellation_type.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/system/error_code.hpp>

#if __has_include(<boost/asio/cancel_after.hpp>)
#include <boost/asio/cancel_after.hpp>
#define ASIO_WHEEL_TEST_HAS_CANCEL_AFTER 1
#else
#define ASIO_WHEEL_TEST_HAS_CANCEL_AFTER 0
#endif

#include <array>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

namespace asio_wheel::test {

/// An operation that goes through a context's queue once: the minimum for an asynchronous
/// operation.
template <class... Results>
class initiate_one_turn {
public:
    using executor_type = boost::asio::any_io_executor;

    explicit initiate_one_turn(executor_type ex) noexcept : executor_(std::move(ex)) {}

    [[nodiscard]] executor_type get_executor() const noexcept { return executor_; }

    template <class Handler>
    void operator()(Handler&& handler, Results... results) const {
        boost::asio::post(executor_,
                          [handler = std::forward<Handler>(handler), results...]() mutable {
                              std::move(handler)(boost::system::error_code(), results...);
                          });
    }

private:
    executor_type executor_;
};

/// A stream that always has data to read.
class memory_layer {
public:
    using executor_type = boost::asio::any_io_executor;

    explicit memory_layer(executor_type ex) : executor_(std::move(ex)) {}

    [[nodiscard]] executor_type get_executor() const noexcept { return executor_; }

    template <class Buffers, class Token>
    auto async_read_some(const Buffers& buffers, Token&& token) {
        return boost::asio::async_initiate<Token, void(boost::system::error_code, std::size_t)>(
            initiate_one_turn<std::size_t>(executor_), token, boost::asio::buffer_size(buffers));
    }

    static void close(boost::system::error_code& ec) noexcept { ec = {}; }

private:
    executor_type executor_;
};

/// The steps. `Timer` is asio_wheel::steady_timer or boost::asio::steady_timer.
///
/// Side effects are excluded: other waits expire earlier, so the wake-up is already set; and calls
/// are made in a handler, so no thread has to be woken up. One thread takes all steps, of a context
/// that could have several.
template <class Timer>
class timer_life {
    static constexpr bool is_wheels = std::is_same_v<Timer, asio_wheel::steady_timer>;
    using clock = std::chrono::steady_clock;
    using hours = std::chrono::hours;
    using error_code = boost::system::error_code;
    using executor = boost::asio::io_context::executor_type;

public:
    /// Takes a step one or more times, with nothing else between begin() and end() of the section.
    /// Returns how often.
    using step = std::function<std::size_t(timer_life&, section&)>;

    struct named_step {
        const char* name;
        step does;
        step bare = {}; ///< The same work without a timer.
    };

    explicit timer_life(boost::asio::io_context& ctx) : ctx_(ctx), first_(ctx) {
        first_.expires_after(hours(1));
        first_.async_wait([](const error_code&) {});
    }
    timer_life(const timer_life&) = delete;
    timer_life& operator=(const timer_life&) = delete;
    ~timer_life() {
        first_.cancel();
        poll();
    }

    /// All steps, in the order of a timer's life. Steps that a kind of timer does not have are
    /// omitted.
    [[nodiscard]] static std::vector<named_step> steps();

private:
    static constexpr std::size_t some = 8;

    struct completed {
        timer_life* self;
        template <class... Results>
        void operator()(const error_code&, Results&&...) const {
            self->on_completion_();
        }
    };

    [[nodiscard]] completed handler() noexcept { return {this}; }

    void require(bool condition) const {
        if (!condition) {
            throw std::logic_error("a step of a timer's life has gone another way");
        }
    }

    void poll() {
        ctx_.restart();
        ctx_.poll();
    }

    // Runs `f` in a handler, and everything that follows from it.
    template <class Function>
    void inside(Function f) {
        boost::asio::post(ctx_, std::move(f));
        poll();
    }

    // Counts `f`, in a handler.
    template <class Function>
    std::size_t once(section& s, Function f) {
        bool done = false;
        inside([&] {
            s.begin();
            f();
            s.end();
            done = true;
        });
        require(done);
        return 1;
    }

    // Counts from one handler to another one that is called `some` times later. `start` starts all
    // of them, or `again` starts the next one.
    template <class Start, class Again>
    std::size_t chain(section& s, Start start, Again again) {
        std::size_t called = 0;
        on_completion_ = [&] {
            ++called;
            if (called == 1) {
                s.begin();
            } else if (called == some + 1) {
                s.end();
                return;
            }
            again();
        };
        inside(start);
        on_completion_ = [] {};
        require(called == some + 1);
        return some;
    }

    // A timer with a pending wait.
    [[nodiscard]] std::unique_ptr<Timer> armed(clock::duration d) {
        auto t = std::make_unique<Timer>(ctx_);
        arm(*t, d);
        return t;
    }
    void arm(Timer& t, clock::duration d) {
        t.expires_after(d);
        t.async_wait(handler());
    }

    // `count` timers that wait for the same time in `d`, which must not have passed before all
    // wait.
    [[nodiscard]] std::vector<std::unique_ptr<Timer>> armed_in_time(std::size_t count,
                                                                    clock::duration d) {
        while (true) {
            std::vector<std::unique_ptr<Timer>> all;
            const auto expiry = clock::now() + d;
            while (all.size() != count) {
                all.push_back(std::make_unique<Timer>(ctx_, expiry));
                all.back()->async_wait(handler());
            }
            if (clock::now() < expiry) {
                return all;
            }
            all.clear(); // The thread was suspended for too long.
            poll();
        }
    }

    // Waits until the time has come, plus a tick and the lateness of the kernel.
    static void pass(clock::duration d) {
        std::this_thread::sleep_for(d + std::chrono::milliseconds(3));
    }

    std::size_t construct(section& s);
    std::size_t arm_fresh(section& s);
    std::size_t arm_first(section& s);
    std::size_t arm_again(section& s);
    std::size_t re_arm(section& s, clock::duration from, clock::duration to);
    std::size_t postpone(section& s, clock::duration from, clock::duration to);
    std::size_t postpone_back(section& s);
    std::size_t cancel(section& s);
    std::size_t deliver_aborted(section& s);
    std::size_t expire_alone(section& s);
    std::size_t expire_together(section& s);
    std::size_t destroy(section& s);
    std::size_t move(section& s);
    std::size_t sleep(section& s);
    std::size_t request(section& s);
    std::size_t request_with_timeout(section& s);
    std::size_t read(section& s);
    std::size_t read_with_deadline(section& s);
    std::size_t touch(section& s);
    std::size_t push(section& s);
    std::size_t erase(section& s);

    boost::asio::io_context& ctx_;
    std::function<void()> on_completion_ = [] {};
    Timer first_; // Waits for an hour. Other timers wait for longer unless stated otherwise.
    clock::duration earliest_ = std::chrono::minutes(30);
};

template <class Timer>
std::size_t timer_life<Timer>::construct(section& s) {
    std::optional<Timer> t;
    return once(s, [&] { t.emplace(ctx_); });
}

template <class Timer>
std::size_t timer_life<Timer>::arm_fresh(section& s) {
    Timer t(ctx_);
    return once(s, [&] { arm(t, hours(2)); });
}

// Earlier than all others: the wake-up is moved.
template <class Timer>
std::size_t timer_life<Timer>::arm_first(section& s) {
    Timer t(ctx_);
    earliest_ -= std::chrono::seconds(1);
    return once(s, [&] { arm(t, earliest_); });
}

template <class Timer>
std::size_t timer_life<Timer>::arm_again(section& s) {
    const auto t = armed(hours(2));
    inside([&] { t->cancel(); });
    return once(s, [&] { arm(*t, hours(2)); });
}

template <class Timer>
std::size_t timer_life<Timer>::re_arm(section& s, clock::duration from, clock::duration to) {
    const auto t = armed(from);
    return once(s, [&] { arm(*t, to); });
}

template <class Timer>
std::size_t timer_life<Timer>::postpone(section& s, clock::duration from, clock::duration to) {
    const auto t = armed(from);
    std::size_t waits = 0;
    once(s, [&] { waits = t->postpone(to); });
    require(waits == 1);
    return 1;
}

// To an earlier time than before, but later than the one that the timer is filed for.
template <class Timer>
std::size_t timer_life<Timer>::postpone_back(section& s) {
    const auto t = armed(hours(2));
    static_cast<void>(t->postpone(hours(4)));
    std::size_t waits = 0;
    once(s, [&] { waits = t->postpone(hours(3)); });
    require(waits == 1);
    return 1;
}

template <class Timer>
std::size_t timer_life<Timer>::cancel(section& s) {
    const auto t = armed(hours(2));
    std::size_t waits = 0;
    once(s, [&] { waits = t->cancel(); });
    require(waits == 1);
    return 1;
}

template <class Timer>
std::size_t timer_life<Timer>::deliver_aborted(section& s) {
    std::vector<std::unique_ptr<Timer>> all;
    while (all.size() != some + 1) {
        all.push_back(armed(hours(2)));
    }
    return chain(
        s,
        [&] {
            for (const auto& t : all) {
                t->cancel();
            }
        },
        [] {});
}

template <class Timer>
std::size_t timer_life<Timer>::expire_alone(section& s) {
    constexpr std::chrono::milliseconds d(5);
    const auto all = armed_in_time(1, d);
    bool expired = false;
    on_completion_ = [&expired] { expired = true; };
    pass(d);
    ctx_.restart();
    s.begin();
    while (!expired) {
        ctx_.run_one();
    }
    s.end();
    on_completion_ = [] {};
    poll();
    return 1;
}

// Waits of one tick, except for the first two: after the first one, the context polls for other
// events.
template <class Timer>
std::size_t timer_life<Timer>::expire_together(section& s) {
    constexpr std::chrono::milliseconds d(10);
    constexpr std::size_t last = some + 2;
    const auto all = armed_in_time(last, d);
    std::size_t called = 0;
    on_completion_ = [&] {
        ++called;
        if (called == 2) {
            s.begin();
        } else if (called == last) {
            s.end();
        }
    };
    pass(d);
    ctx_.restart();
    while (called != last) {
        ctx_.run_one();
    }
    on_completion_ = [] {};
    poll();
    return some;
}

template <class Timer>
std::size_t timer_life<Timer>::destroy(section& s) {
    auto t = armed(hours(2));
    return once(s, [&] { t.reset(); });
}

template <class Timer>
std::size_t timer_life<Timer>::move(section& s) {
    const auto t = armed(hours(2));
    std::optional<Timer> to;
    once(s, [&] { to.emplace(std::move(*t)); });
    require(to->cancel() == 1);
    poll();
    return 1;
}

template <class Timer>
std::size_t timer_life<Timer>::sleep(section& s) {
    boost::asio::cancellation_signal end;
    once(s, [&] {
        async_sleep_for(ctx_, hours(2), boost::asio::bind_cancellation_slot(end.slot(), handler()));
    });
    end.emit(boost::asio::cancellation_type::terminal);
    poll();
    return 1;
}

template <class Timer>
std::size_t timer_life<Timer>::request(section& s) {
    const auto next = [&] { initiate_one_turn<>(ctx_.get_executor())(handler()); };
    return chain(s, next, next);
}

template <class Timer>
std::size_t timer_life<Timer>::request_with_timeout(section& s) {
    const births::part_of here("timer"); // It is kept for the next operation.
    const auto next = [&] {
        const auto begin = [&](auto token) {
            boost::asio::async_initiate<decltype(token), void(error_code)>(
                initiate_one_turn<>(ctx_.get_executor()), token);
        };
        if constexpr (is_wheels) {
            begin(asio_wheel::timeout(hours(2), handler()));
        } else {
#if ASIO_WHEEL_TEST_HAS_CANCEL_AFTER
            begin(boost::asio::cancel_after(hours(2), handler()));
#endif
        }
    };
    return chain(s, next, next);
}

template <class Timer>
std::size_t timer_life<Timer>::read(section& s) {
    memory_layer stream(ctx_.get_executor());
    std::array<char, 16> data;
    const auto next = [&] { stream.async_read_some(boost::asio::buffer(data), handler()); };
    return chain(s, next, next);
}

template <class Timer>
std::size_t timer_life<Timer>::read_with_deadline(section& s) {
    const births::part_of here("stream");
    timeout_stream<memory_layer> stream(ctx_.get_executor());
    std::array<char, 16> data;
    const auto next = [&] {
        stream.expires_after(hours(2));
        stream.async_read_some(boost::asio::buffer(data), handler());
    };
    return chain(s, next, next);
}

template <class Timer>
std::size_t timer_life<Timer>::touch(section& s) {
    idle_timer idle(ctx_, hours(2));
    idle.async_wait(handler());
    pass(std::chrono::milliseconds(
        30)); // Three ticks of a slow kernel, so the coarse clock advances.
    once(s, [&] { idle.touch(); });
    idle.cancel();
    poll();
    return 1;
}

template <class Timer>
std::size_t timer_life<Timer>::push(section& s) {
    delay_queue<int> queue(ctx_);
    queue.push(hours(2), 1);
    return once(s, [&] { queue.push(hours(3), 2); });
}

template <class Timer>
std::size_t timer_life<Timer>::erase(section& s) {
    delay_queue<int> queue(ctx_);
    const auto key = queue.push(hours(2), 1);
    std::optional<int> value;
    once(s, [&] { value = queue.erase(key); });
    require(value == 1);
    return 1;
}

template <class Timer>
std::vector<typename timer_life<Timer>::named_step> timer_life<Timer>::steps() {
    const auto plain = [](std::size_t (timer_life::*f)(section&)) {
        return [f](timer_life& self, section& s) { return (self.*f)(s); };
    };
    const auto moving = [](auto f, int from, int to) {
        return [f, from, to](timer_life& self, section& s) {
            return (self.*f)(s, hours(from), hours(to));
        };
    };
    std::vector<named_step> all{
        {"make a timer", plain(&timer_life::construct)},
        {"arm a fresh timer", plain(&timer_life::arm_fresh)},
        {"arm the earliest of all", plain(&timer_life::arm_first)},
        {"arm again after cancel", plain(&timer_life::arm_again)},
        {"re-arm to a later time", moving(&timer_life::re_arm, 2, 3)},
        {"re-arm to an earlier time", moving(&timer_life::re_arm, 3, 2)},
    };
    if constexpr (is_wheels) {
        all.insert(all.end(),
                   {{"postpone to a later time", moving(&timer_life::postpone, 2, 3)},
                    {"postpone back", plain(&timer_life::postpone_back)},
                    {"postpone to an earlier time", moving(&timer_life::postpone, 3, 2)}});
    }
    all.insert(all.end(),
               {{"cancel", plain(&timer_life::cancel)},
                {"deliver an aborted wait", plain(&timer_life::deliver_aborted)},
                {"expire one wait, and deliver it", plain(&timer_life::expire_alone)},
                {"deliver each further one of its tick", plain(&timer_life::expire_together)},
                {"move a pending timer", plain(&timer_life::move)},
                {"destroy a pending timer", plain(&timer_life::destroy)}});
    if constexpr (is_wheels) {
        all.push_back({"begin a sleep", plain(&timer_life::sleep)});
    }
    if constexpr (is_wheels || ASIO_WHEEL_TEST_HAS_CANCEL_AFTER) {
        all.push_back({"a timeout round an operation", plain(&timer_life::request_with_timeout),
                       plain(&timer_life::request)});
    }
    if constexpr (is_wheels) {
        all.insert(all.end(), {{"a read with a deadline", plain(&timer_life::read_with_deadline),
                                plain(&timer_life::read)},
                               {"touch an idle timer", plain(&timer_life::touch)},
                               {"push into a delay queue", plain(&timer_life::push)},
                               {"erase from a delay queue", plain(&timer_life::erase)}});
    }
    return all;
}

} // namespace asio_wheel::test

#endif
