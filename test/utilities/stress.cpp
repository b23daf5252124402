// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0
// labels: threads
// timeout: 900

// All utilities concurrently: threads that do random operations on timers, cancellation slots,
// deadlines, tasks, delay queues and idle timers on one wheel, while others run its context.
// Everything that was started must end, and the result of each call must match what the handlers
// saw.
//
//     ASIO_WHEEL_OPERATIONS=10000000 ASIO_WHEEL_THREADS=8 tools/test -R test_utilities_stress
//
// tools/stress runs this with 2, 4 and 8 threads. Real time: waits of milliseconds.

#include <asio_wheel/delay_queue.hpp>
#include <asio_wheel/error.hpp>
#include <asio_wheel/idle_timer.hpp>
#include <asio_wheel/scheduler.hpp>
#include <asio_wheel/steady_timer.hpp>
#include <asio_wheel/timeout.hpp>
#include <asio_wheel/wheel_service.hpp>

#include "support/backend.hpp"
#include "support/context.hpp"
#include "support/handler_counts.hpp"
#include "support/names.hpp"
#include "support/sanitizers.hpp"
#include "support/seed.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/cancellation_type.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/strand.hpp>
#include <boost/system/system_error.hpp>
#include <boost/test/unit_test.hpp>

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <iostream>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <thread>
#include <utility>
#include <vector>

namespace {

using namespace asio_wheel::test;
using asio_wheel::cancel_result;
using asio_wheel::scheduler;
using asio_wheel::steady_timer;
using clock_type = std::chrono::steady_clock;
using strand = asio::strand<asio::io_context::executor_type>;

// The functions of tasks: those that are called once, and those that are repeated.
struct task_tally {
    std::atomic<std::uint64_t> made{0};
    std::atomic<std::uint64_t> called{0};
    std::atomic<std::uint64_t> uncalled{0}; // Destroyed without a call,
    std::atomic<std::uint64_t> cancelled{
        0}; // as cancel() has returned, or because they were rejected.
    std::atomic<std::uint64_t> repeated{0};
    std::atomic<std::uint64_t> repetitions{0};
    std::atomic<std::uint64_t> ended{0}; // Repeated ones that have ended.
    std::atomic<std::uint64_t> faults{0};

    [[nodiscard]] std::uint64_t pending() const {
        return made + repeated - called - uncalled - ended;
    }
};

// The values of delay queues.
struct value_tally {
    std::atomic<std::uint64_t> pushed{0};
    std::atomic<std::uint64_t> taken{0};
    std::atomic<std::uint64_t> cleared{0};
    std::atomic<std::uint64_t> early{0};
};

struct totals {
    handler_counts waits;     // Waits of timers: the calls return how many they abort.
    handler_counts signalled; // Waits that are aborted by signals.
    handler_counts deadlines; // Waits with an additional deadline.
    handler_counts idle;
    handler_counts pops;
    task_tally tasks;
    value_tally values;
    std::atomic<std::uint64_t> touches{0};

    // The pending work of the context.
    [[nodiscard]] std::uint64_t pending() const {
        return waits.pending() + signalled.pending() + deadlines.pending() + pops.pending() +
               tasks.pending();
    }
};

class counted_task {
public:
    counted_task(task_tally& t, clock_type::time_point not_before, bool repeated)
        : tally_(&t), not_before_(not_before), repeated_(repeated) {
        ++(repeated ? t.repeated : t.made);
    }
    counted_task(counted_task&& other) noexcept
        : tally_(std::exchange(other.tally_, nullptr)), not_before_(other.not_before_),
          repeated_(other.repeated_), called_(other.called_) {}
    counted_task& operator=(counted_task&&) = delete;
    ~counted_task() {
        if (tally_ != nullptr) {
            ++(repeated_ ? tally_->ended : called_ ? tally_->called : tally_->uncalled);
        }
    }
    void operator()() {
        tally_->faults += clock_type::now() < not_before_ ? 1U : 0U;
        tally_->faults += std::exchange(called_, true) && !repeated_ ? 1U : 0U;
        tally_->repetitions += repeated_ ? 1U : 0U;
    }

private:
    task_tally* tally_;
    clock_type::time_point not_before_;
    bool repeated_;
    bool called_ = false;
};

// The current scheduler. Now and then it stops, and another one adopts its tasks.
class shared_scheduler {
public:
    explicit shared_scheduler(asio::io_context& ctx) : ctx_(ctx) {}

    [[nodiscard]] std::shared_ptr<scheduler> get() const {
        const std::lock_guard guard(mutex_);
        return current_;
    }
    void replace() {
        auto next = std::make_shared<scheduler>(ctx_);
        {
            const std::lock_guard guard(mutex_);
            current_.swap(next);
        }
        const scheduler::orphans orphans = next->stop();
        while (!adopted_by(*get(), orphans)) {
        }
    }
    void stop() { static_cast<void>(get()->stop()); }

    /// Returns whether a stopped scheduler has thrown this.
    [[nodiscard]] static bool is_stopped(const boost::system::system_error& e) {
        return e.code() == asio_wheel::error::scheduler_stopped;
    }

private:
    // Returns false if it has been replaced, too.
    static bool adopted_by(scheduler& s, const scheduler::orphans& orphans) {
        try {
            s.adopt(orphans);
            return true;
        } catch (const boost::system::system_error& e) {
            if (!is_stopped(e)) {
                throw;
            }
            return false;
        }
    }

    asio::io_context& ctx_;
    mutable std::mutex mutex_;
    std::shared_ptr<scheduler> current_ = std::make_shared<scheduler>(ctx_);
};

// The objects of one thread: its own timers, and objects on a strand.
class worker {
public:
    worker(asio::io_context& ctx, totals& t, shared_scheduler& s, std::uint64_t seed)
        : ctx_(ctx), totals_(t), scheduler_(s), strand_(asio::make_strand(ctx)), random_(seed),
          on_strand_(std::make_unique<strand_part>(*this, seed + 1'000'000)) {
        for (auto& timer : timers_) {
            timer.emplace(ctx);
        }
    }

    void run(std::uint64_t operations) {
        for (std::uint64_t i = 0; i < operations; ++i) {
            step();
            // No more than the context can handle.
            while (totals_.pending() + posted_ > 2'000) {
                std::this_thread::yield();
            }
        }
        for (auto& timer : timers_) {
            totals_.waits.counted += timer->cancel();
        }
        for (const auto& h : handles_) {
            note(h.cancel().result);
        }
        for (const auto& h : repeated_) {
            h.cancel();
        }
        asio::post(strand_, [this] { on_strand_->end(); });
    }

private:
    // The operations on one strand.
    class strand_part {
    public:
        strand_part(worker& w, std::uint64_t seed)
            : worker_(w), random_(seed), queue_(w.strand_), idle_(w.strand_, 1ms) {
            for (auto& s : slots_) {
                s.timer.emplace(w.strand_);
            }
        }

        void step() {
            switch (pick(12)) {
            case 0:
            case 1:
                wait_with_slot(slots_.at(pick(slots_.size())));
                break;
            case 2:
                slots_.at(pick(slots_.size())).signal.emit(asio::cancellation_type::total);
                break;
            case 3:
            case 4:
                wait_with_deadline();
                break;
            case 5:
            case 6:
                push();
                break;
            case 7:
                pop();
                break;
            case 8:
                take(queue_.try_pop());
                break;
            case 9:
                change();
                break;
            case 10:
                queue_.cancel();
                break;
            default:
                idle();
            }
        }

        void end() {
            ended_ = true;
            for (auto& s : slots_) {
                s.signal.emit(asio::cancellation_type::terminal);
            }
            queue_.cancel();
            values().cleared += queue_.size();
            queue_.clear();
            idle_.cancel();
        }

        asio_wheel::idle_timer& idle_timer() { return idle_; }

    private:
        struct element {
            std::unique_ptr<int> value;
            clock_type::time_point not_before;
        };
        using queue = asio_wheel::basic_delay_queue<element, clock_type, strand>;

        struct slotted {
            std::optional<steady_timer> timer;
            asio::cancellation_signal signal;
        };

        [[nodiscard]] std::size_t pick(std::size_t n) {
            return std::uniform_int_distribution<std::size_t>(0, n - 1)(random_);
        }
        [[nodiscard]] totals& all() const { return worker_.totals_; }
        [[nodiscard]] value_tally& values() const { return all().values; }

        void wait_with_slot(slotted& s) {
            s.timer->expires_after(pick(2000) * 1us);
            checked_handler handler(all().signalled, s.timer->expiry());
            s.timer->async_wait(asio::bind_executor(
                worker_.strand_,
                asio::bind_cancellation_slot(s.signal.slot(), std::move(handler))));
        }

        void wait_with_deadline() {
            const auto t = std::make_shared<steady_timer>(worker_.strand_, pick(2000) * 1us);
            checked_handler handler(all().deadlines, t->expiry());
            t->async_wait(asio_wheel::timeout(
                pick(2000) * 1us,
                asio::bind_executor(
                    worker_.strand_,
                    [t, h = std::move(handler)](const error_code& ec) mutable { h(ec); })));
        }

        void push() {
            const auto d = pick(3000) * 1us;
            keys_.push_back(queue_.push(d, {std::make_unique<int>(1), clock_type::now() + d}));
            ++values().pushed;
            if (keys_.size() > 50) {
                keys_.pop_front();
            }
        }
        void pop() {
            checked_handler handler(all().pops, clock_type::time_point());
            queue_.async_pop(
                [this, h = std::move(handler)](const error_code& ec, element e) mutable {
                    if (!ec) {
                        take(std::move(e));
                    }
                    h(ec);
                });
        }
        void change() {
            if (keys_.empty()) {
                return;
            }
            const auto key = keys_.at(pick(keys_.size()));
            if (pick(2) == 0) {
                if (auto e = queue_.erase(key)) {
                    e->not_before = {};
                    take(std::move(e));
                }
                return;
            }
            // Not earlier than its expiry.
            static_cast<void>(queue_.postpone(key, 5ms));
        }
        void take(std::optional<element> e) {
            if (e) {
                values().taken += e->value != nullptr ? 1U : 0U;
                values().early += clock_type::now() < e->not_before ? 1U : 0U;
            }
        }

        void idle() {
            if (waits_idle_ || ended_) {
                idle_.cancel();
                return;
            }
            waits_idle_ = true;
            checked_handler handler(all().idle, clock_type::time_point());
            idle_.async_wait(asio::bind_executor(
                worker_.strand_, [this, h = std::move(handler)](const error_code& ec) mutable {
                    waits_idle_ = false;
                    h(ec);
                }));
        }

        worker& worker_;
        std::mt19937_64 random_;
        queue queue_;
        std::deque<queue::key> keys_;
        asio_wheel::idle_timer idle_;
        bool waits_idle_ = false;
        bool ended_ = false;
        std::array<slotted, 8> slots_;
    };

    [[nodiscard]] std::size_t pick(std::size_t n) {
        return std::uniform_int_distribution<std::size_t>(0, n - 1)(random_);
    }
    // On all levels of a small wheel.
    [[nodiscard]] std::chrono::microseconds pick_duration() {
        return (1U << pick(14)) * 100us / 16 + pick(3) * 50us;
    }

    void step() {
        switch (pick(8)) {
        case 0:
        case 1:
        case 2:
            use(*timers_.at(pick(timers_.size())));
            break;
        case 3:
            use_tasks();
            break;
        case 4:
            on_strand_->idle_timer().touch();
            ++totals_.touches;
            break;
        default:
            ++posted_;
            asio::post(strand_, [this] {
                on_strand_->step();
                --posted_;
            });
        }
    }

    void use(steady_timer& t) {
        handler_counts& waits = totals_.waits;
        switch (pick(8)) {
        case 0:
            waits.counted += t.cancel();
            break;
        case 1:
            waits.counted += t.cancel_one();
            break;
        case 2: {
            steady_timer moved(std::move(t));
            wait(moved);
            t = std::move(moved);
            break;
        }
        case 3:
            static_cast<void>(t.postpone_until(t.expiry() + pick_duration()));
            break;
        case 4:
            waits.counted += t.expires_after(pick_duration());
            waits.counted += t.cancel();
            break;
        default:
            waits.counted += t.expires_after(pick_duration());
            wait(t);
        }
    }

    void wait(steady_timer& t) {
        checked_handler handler(totals_.waits, t.expiry());
        if (pick(4) == 0) {
            t.async_wait(asio::bind_executor(strand_, std::move(handler)));
        } else {
            t.async_wait(std::move(handler));
        }
    }

    void use_tasks() {
        if (pick(500) == 0) {
            scheduler_.replace();
            return;
        }
        if (pick(3) == 0 && !handles_.empty()) {
            note(handles_.front().cancel().result);
            handles_.pop_front();
            return;
        }
        const auto d = pick_duration();
        const bool repeated = pick(10) == 0;
        try {
            const auto s = scheduler_.get();
            counted_task f(totals_.tasks, clock_type::now() + d, repeated);
            if (repeated) {
                repeated_.push_back(s->schedule_at_fixed_rate(d, 500us, std::move(f)));
            } else {
                handles_.push_back(s->schedule_after(d, std::move(f)));
            }
        } catch (const boost::system::system_error& e) {
            if (!shared_scheduler::is_stopped(e)) { // It was replaced in the meantime.
                throw;
            }
            totals_.tasks.cancelled += repeated ? 0U : 1U;
        }
        if (handles_.size() > 100) {
            handles_.pop_front();
        }
        if (repeated_.size() > 4) {
            repeated_.front().cancel();
            repeated_.pop_front();
        }
    }

    void note(cancel_result r) {
        totals_.tasks.cancelled += r == cancel_result::cancelled ? 1U : 0U;
    }

    asio::io_context& ctx_;
    totals& totals_;
    shared_scheduler& scheduler_;
    strand strand_;
    std::mt19937_64 random_;
    std::array<std::optional<steady_timer>, 32> timers_;
    std::deque<asio_wheel::task_handle> handles_;
    std::deque<asio_wheel::task_handle> repeated_;
    std::atomic<std::uint64_t> posted_{0};
    std::unique_ptr<strand_part> on_strand_;
};

} // namespace

BOOST_AUTO_TEST_SUITE(utilities_stress)

BOOST_AUTO_TEST_CASE(all_utilities_at_once_on_one_wheel) {
    const std::uint64_t seed = asio_wheel::test::seed();
    constexpr std::uint64_t usual =
        has_thread_sanitizer || on_completion_port ? 200'000 : 2'000'000;
    const std::uint64_t operations =
        number_from_environment("ASIO_WHEEL_OPERATIONS").value_or(usual);
    const std::uint64_t threads = number_from_environment("ASIO_WHEEL_THREADS").value_or(4);
    drained_context world;
    auto& wheel =
        asio_wheel::make_wheel(world.ctx, {.tick = 100us, .slots = 4, .levels = 8, .budget = 16});
    totals t;
    {
        shared_scheduler tasks(world.ctx);
        std::deque<worker> workers;
        for (std::uint64_t i = 0; i < threads; ++i) {
            workers.emplace_back(world.ctx, t, tasks, seed + i);
        }
        auto work = std::make_optional(asio::make_work_guard(world.ctx));
        std::vector<std::jthread> runners;
        for (int i = 0; i < 2; ++i) {
            runners.emplace_back([&world] { world.ctx.run(); });
        }
        {
            std::vector<std::jthread> users;
            for (worker& w : workers) {
                users.emplace_back([&w, each = operations / threads] { w.run(each); });
            }
        }
        tasks.stop();
        work.reset();
    }
    const asio_wheel::wheel_stats stats = wheel.stats();
    std::cout << operations << " operations, " << threads << " threads: " << stats.scheduled
              << " waits, " << stats.fired << " fired, " << stats.cancelled << " cancelled, "
              << stats.postponed << " postponed; " << t.waits.started << " on timers, "
              << t.signalled.started << " with slots, " << t.deadlines.started
              << " with deadlines, " << t.idle.started << " idle, " << t.pops.started << " pops; "
              << t.values.pushed << " values; " << t.tasks.made << " tasks, " << t.tasks.repetitions
              << " repetitions of " << t.tasks.repeated << '\n';
    for (const handler_counts* each : {&t.waits, &t.signalled, &t.deadlines, &t.idle, &t.pops}) {
        each->check_calls();
    }
    BOOST_TEST(t.waits.counted == t.waits.aborted);
    BOOST_TEST(t.waits.refused == 0U);
    BOOST_TEST(t.deadlines.aborted == 0U); // A deadline reports that it has passed.
    BOOST_TEST(t.deadlines.refused > 0U);
    BOOST_TEST(t.tasks.made == t.tasks.called + t.tasks.uncalled);
    BOOST_TEST(t.tasks.cancelled <= t.tasks.uncalled);
    BOOST_TEST(t.tasks.cancelled > 0U);
    BOOST_TEST(t.tasks.ended == t.tasks.repeated);
    BOOST_TEST(t.tasks.repetitions > 0U);
    BOOST_TEST(t.tasks.faults == 0U);
    BOOST_TEST(t.values.pushed == t.values.taken + t.values.cleared);
    BOOST_TEST(t.values.early == 0U);
    BOOST_TEST(stats.pending == 0U);
    BOOST_TEST(stats.scheduled == stats.fired + stats.cancelled);
    BOOST_TEST(stats.rejected == 0U);
}

BOOST_AUTO_TEST_SUITE_END()
