// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0
// labels: threads
// timeout: 900
// unity: interleave
// pch: off

// The deadline of an operation (detail/timeout/deadline.hpp) in all interleavings: the operation
// starts, its time comes, it is cancelled through its outer slot, and it completes, each on a
// thread of its own.
//
// The operation is a part of the test, and the core is a small one with a single wait. So only the
// deadline is explored.

#include <asio_wheel/detail/core/timer_state.hpp>
#include <asio_wheel/detail/timeout/deadline.hpp>

#include "interleave/support/explorer.hpp"

#include <boost/asio/cancellation_type.hpp>
#include <boost/asio/error.hpp>
#include <boost/system/error_code.hpp>
#include <boost/test/unit_test.hpp>

#include <chrono>
#include <cstddef>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

namespace {

namespace asio = boost::asio;
namespace detail = asio_wheel::detail;
using namespace asio_wheel::test::interleave;
using asio::cancellation_type;
using boost::system::error_code;

constexpr auto by_time = cancellation_type::terminal;
constexpr auto by_another = cancellation_type::terminal | cancellation_type::total;

// A core with one wait, which ends when the test says so. Its lock stands for the wheel's.
class core {
public:
    using time_point = std::chrono::steady_clock::time_point; // Nothing here sets an expiry.
    using handler = detail::expire_deadline<core>;
    using state = detail::timer_state;

    explicit core(bool delivers_aborted) : delivers_aborted_(delivers_aborted) {}
    core(const core&) = delete;
    core& operator=(const core&) = delete;
    ~core() { check(spares_.take() == nullptr, "a timer that nothing waits on is not kept"); }

    void start(state& timer, detail::deadline_ptr<core> owner) {
        const std::lock_guard<detail::mutex> guard(mutex_);
        check(user_.exchange(true) == false, "a timer has one owner at a time");
        pending_ = new wait(*this, handler(std::move(owner)));
        timer_ = &timer;
        timer.set_life(detail::timer_life::waiting);
        ++started;
        user_.store(false);
    }

    /// The time comes. Returns false if there is no wait.
    bool fire() { return complete({}); }

    /// A queued aborted wait is delivered, or the wheel is drained.
    bool complete(const error_code& ec) {
        wait* op = nullptr;
        {
            const std::lock_guard<detail::mutex> guard(mutex_);
            const bool aborts = ec == asio::error::operation_aborted && aborted_ != nullptr;
            op = std::exchange(aborts ? aborted_ : pending_, nullptr);
            if (op == nullptr) {
                return false;
            }
            if (!aborts) {
                timer_->set_life(detail::timer_life::inactive); // The last access to it.
            }
        }
        handler h(std::move(op->function)); // The memory is freed before the upcall.
        op->destroy();
        h(ec);
        return true;
    }

    // The interface that the deadline needs.

    [[nodiscard]] detail::wait_node* withdraw(state& timer) {
        check(user_.exchange(true) == false, "a timer has one owner at a time");
        const std::lock_guard<detail::mutex> guard(mutex_);
        wait* const op = std::exchange(pending_, nullptr);
        if (op != nullptr) {
            timer.set_life(detail::timer_life::inactive);
            ++withdrawn;
        }
        user_.store(false);
        if (delivers_aborted_) { // As the wheel does with its last wait.
            aborted_ = op;
            return nullptr;
        }
        return op;
    }

    [[nodiscard]] detail::spare_timer* take_spare() { return spares_.take(); }
    [[nodiscard]] bool keep_spare(detail::spare_timer& t) { return spares_.keep(t); }
    void remove(state&) { check(false, "there is room for a spare timer"); }

    int started = 0;   // Waits.
    int withdrawn = 0; // By the deadline, because the operation had completed.
    int freed = 0;     // Waits, in any way.

    [[nodiscard]] bool idle() const { return pending_ == nullptr && aborted_ == nullptr; }

private:
    struct wait : detail::wait_op {
        wait(core& c, handler&& h) : wait_op_of(&wait::run), owner_(c), function(std::move(h)) {}

        static void run(void*, detail::operation* self, const error_code&, std::size_t) {
            auto* const op = static_cast<wait*>(self);
            ++op->owner_.freed;
            delete op;
        }

        core& owner_;
        handler function;
    };

    const bool delivers_aborted_;
    detail::mutex mutex_;
    detail::atomic<bool> user_{false}; // The timer is in use.
    state* timer_ = nullptr;
    wait* pending_ = nullptr;
    wait* aborted_ = nullptr; // In the context's queue.
    detail::spare_timers spares_;
};

// An operation, its deadline, and all events that may affect them. Each member function has
// everything that it needs from the start, so each can run on a thread of its own.
class stage {
    using ptr = detail::deadline_ptr<core>;

public:
    explicit stage(bool delivers_aborted = false) : core_(delivers_aborted) {
        auto [starter, handler, wait] = detail::deadline<core>::make(core_, by_time);
        outer_.emplace(starter);
        d_ = starter.operator->();
        d_->slot().assign([this](cancellation_type type) { cancelled(type); });
        starter_.emplace(std::move(starter));
        handler_.emplace(std::move(handler));
        wait_.emplace(std::move(wait));
    }
    stage(const stage&) = delete;
    stage& operator=(const stage&) = delete;

    // On the thread that has started the operation.
    void arm() {
        (*starter_)->arm([this](auto& timer) { core_.start(timer, take(wait_)); });
        starter_.reset();
    }
    void arm_without_memory() {
        (*starter_)->arm([](auto&) { throw std::bad_alloc(); });
        wait_.reset();
        starter_.reset();
    }

    // The time comes, if there is a wait.
    void fire() { fired_ = core_.fire(); }

    // The operation is cancelled, and its slot is cleared.
    void cancel(cancellation_type type = by_another) {
        detail::outer_cancellation<detail::deadline<core>> slot(take(outer_));
        slot(type);
    }

    // The operation completes.
    void end() {
        const ptr d = take(handler_);
        d->close();
        check(!ended_, "an operation ends once");
        ended_ = true; // Not atomic: ThreadSanitizer detects a concurrent cancellation.
        passed_ = d->expired();
        why_ = d->why();
    }

    // Checks the results of all threads.
    void finish() {
        core_.complete(asio::error::operation_aborted); // A queued wait arrives.
        outer_.reset();
        check(ended_, "the operation has ended");
        check(core_.idle(), "the end of an operation leaves no wait behind");
        check(core_.started <= 1 && core_.freed == core_.started, "each wait is freed once");
        check(passed_ == (first_ == time), "the operation hears what came first");
    }

    // The reaction of the operation to its cancellation.
    std::function<void()> on_cancel;

    [[nodiscard]] bool passed() const { return passed_; }
    [[nodiscard]] const error_code& why() const { return why_; }
    [[nodiscard]] int cancellations() const { return cancellations_; }
    [[nodiscard]] int withdrawn() const { return core_.withdrawn; }
    [[nodiscard]] bool fired() const { return fired_; }
    // The wheel is drained.
    void drain() { fired_ = core_.complete(asio::error::operation_aborted); }

private:
    enum source { none, time, another };

    static ptr take(std::optional<ptr>& from) {
        ptr p(std::move(*from));
        from.reset();
        return p;
    }

    void cancelled(cancellation_type type) {
        check(!ended_, "an operation that has ended is not cancelled");
        ++cancellations_;
        if (first_ == none && (type & by_time) == by_time) {
            first_ = type == by_time ? time : another;
        }
        inside_.store(true); // The call takes a while.
        check(!ended_, "an operation does not end, on another thread, while it is cancelled");
        if (on_cancel) {
            std::exchange(on_cancel, nullptr)();
        }
    }

    core core_;
    detail::deadline<core>* d_;
    std::optional<ptr> starter_, handler_, wait_;
    std::optional<ptr> outer_;

    // State of the operation: used by one thread after another, as the deadline ensures.
    bool ended_ = false;
    source first_ = none;
    int cancellations_ = 0;
    detail::atomic<bool> inside_{false};

    bool fired_ = false;
    bool passed_ = false;
    error_code why_;
};

} // namespace

BOOST_AUTO_TEST_SUITE(interleave_deadline)

BOOST_AUTO_TEST_CASE(an_operation_that_ends_while_its_wait_begins_leaves_no_wait) {
    for (const bool aborted : {false, true}) {
        explore_both(aborted ? "arm_end_aborted" : "arm_end", 2, {.schedules = 10}, [aborted] {
            stage s(aborted);
            together([&] { s.arm(); }, [&] { s.end(); });
            check(!s.passed(), "no time has come");
            s.finish();
        });
    }
}

BOOST_AUTO_TEST_CASE(an_operation_ends_or_its_time_comes) {
    for (const bool aborted : {false, true}) {
        explore_both(aborted ? "fire_end_aborted" : "fire_end", 2, {.schedules = 10}, [aborted] {
            stage s(aborted);
            s.arm();
            together([&] { s.fire(); }, [&] { s.end(); });
            check(s.fired() == (s.withdrawn() == 0), "a wait ends in one way");
            check(s.passed() == (s.cancellations() == 1), "the time comes, or comes to nothing");
            s.finish();
        });
    }
}

BOOST_AUTO_TEST_CASE(an_operation_ends_or_the_wheel_is_drained) {
    explore_both("drain_end", 2, {.schedules = 10}, [] {
        stage s;
        s.arm();
        together([&] { s.drain(); }, [&] { s.end(); });
        check(!s.passed() || s.why() == asio_wheel::error::wheel_stopped,
              "a deadline that can't be kept passes, and says why");
        s.finish();
    });
}

BOOST_AUTO_TEST_CASE(an_operation_ends_or_is_cancelled) {
    explore_both("cancel_end", 2, {.schedules = 10}, [] {
        stage s;
        s.arm();
        together([&] { s.cancel(); }, [&] { s.end(); });
        check(!s.passed() && s.withdrawn() == 1, "the time has not come");
        s.finish();
    });
}

BOOST_AUTO_TEST_CASE(what_comes_first_decides_what_the_operation_hears) {
    explore_both("fire_cancel", 2, {.schedules = 10}, [] {
        stage s;
        s.arm();
        together([&] { s.fire(); }, [&] { s.cancel(); });
        check(s.cancellations() == 2, "each of them cancels");
        s.end();
        s.finish();
    });
    explore_both("fire_lesser_cancel", 2, {.schedules = 10}, [] {
        stage s;
        s.arm();
        together([&] { s.fire(); }, [&] { s.cancel(cancellation_type::total); });
        s.end();
        check(s.passed(), "a lesser cancellation does not hide that the time has come");
        s.finish();
    });
}

BOOST_AUTO_TEST_CASE(the_time_may_come_while_the_wait_begins) {
    explore_both("arm_fire", 2, {.schedules = 5}, [] {
        stage s;
        together([&] { s.arm(); }, [&] { s.fire(); });
        s.end();
        check(s.passed() == s.fired(), "the time has come, or not");
        s.finish();
    });
}

BOOST_AUTO_TEST_CASE(an_operation_may_end_inside_its_cancellation) {
    explore_both("fire_ends_cancel", 2, {.schedules = 10}, [] {
        stage s;
        s.arm();
        s.on_cancel = [&s] { s.end(); };
        together([&] { s.fire(); }, [&] { s.cancel(); });
        check(s.cancellations() == 1, "there is nothing left to cancel for the other one");
        s.finish();
    });
    explore_both("arm_cancel_ends", 2, {.schedules = 10}, [] {
        stage s;
        s.on_cancel = [&s] { s.end(); };
        together([&] { s.arm(); }, [&] { s.cancel(); });
        s.finish();
    });
}

// The cancellation of the inner one is the outer one's. The operation ends first for the outer one.
BOOST_AUTO_TEST_CASE(two_deadlines_of_one_operation_may_pass_at_once) {
    explore_both("nested_deadlines", 2, {.schedules = 10}, [] {
        stage outer;
        stage inner;
        outer.arm();
        inner.arm();
        outer.on_cancel = [&] {
            outer.end();
            inner.end();
        };
        inner.on_cancel = [&] { outer.cancel(); };
        together([&] { outer.fire(); }, [&] { inner.fire(); });
        check(outer.cancellations() == 1, "there is nothing left to cancel for the other one");
        outer.finish();
        inner.finish();
    });
}

BOOST_AUTO_TEST_CASE(an_operation_may_be_cancelled_inside_its_cancellation) {
    explore_both("nested_cancel_end", 2, {.schedules = 10}, [] {
        stage s;
        s.arm();
        s.on_cancel = [&s] { s.cancel(); };
        together([&] { s.fire(); }, [&] { s.end(); });
        check(s.passed() == (s.cancellations() != 0), "the time came first");
        s.finish();
    });
}

BOOST_AUTO_TEST_CASE(a_deadline_without_memory_for_its_wait_counts_as_passed) {
    explore_both("no_memory_end", 2, {.schedules = 5}, [] {
        stage s;
        together([&] { s.arm_without_memory(); }, [&] { s.end(); });
        check(s.passed() == (s.cancellations() == 1), "better cancelled than waited for");
        check(!s.passed() || s.why() == boost::system::errc::not_enough_memory, "it says why");
        s.finish();
    });
    explore_both("no_memory_cancel", 2, {.schedules = 10}, [] {
        stage s;
        together([&] { s.arm_without_memory(); }, [&] { s.cancel(); });
        check(s.cancellations() == 2, "each of them cancels");
        s.end();
        s.finish();
    });
}

// Three threads have too many interleavings, unless there is time.
void explore_some(const std::string& name, const std::function<void()>& scenario) {
    explore_all(name, {.preemptions = 2}, {.schedules = 500}, scenario);
    if (at_length()) {
        explore_all(name + "_all", {.schedules = 100'000'000}, {.schedules = 10'000}, scenario);
    }
}

BOOST_AUTO_TEST_CASE(three_threads_begin_and_end_and_interrupt_an_operation) {
    for (const bool aborted : {false, true}) {
        const std::string kind = aborted ? "_aborted" : "";
        explore_both("arm_fire_end" + kind, 2, {.schedules = 500}, [aborted] {
            stage s(aborted);
            together([&] { s.arm(); }, [&] { s.fire(); }, [&] { s.end(); });
            s.finish();
        });
        explore_some("arm_cancel_end" + kind, [aborted] {
            stage s(aborted);
            together([&] { s.arm(); }, [&] { s.cancel(); }, [&] { s.end(); });
            s.finish();
        });
        explore_some("fire_cancel_end" + kind, [aborted] {
            stage s(aborted);
            s.arm();
            together([&] { s.fire(); }, [&] { s.cancel(); }, [&] { s.end(); });
            s.finish();
        });
    }
}

BOOST_AUTO_TEST_CASE(four_threads_begin_and_end_and_interrupt_an_operation) {
    explore_all("arm_fire_cancel_end", {.preemptions = 1}, {.schedules = 500}, [] {
        stage s;
        together([&] { s.arm(); }, [&] { s.fire(); }, [&] { s.cancel(); }, [&] { s.end(); });
        s.finish();
    });
}

BOOST_AUTO_TEST_SUITE_END()
