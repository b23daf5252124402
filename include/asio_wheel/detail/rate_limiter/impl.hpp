// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The implementation of a rate limiter.
//
// What it needs while somebody waits, a queue with a timer and a driver, is made for the first who
// waits, and freed after the last one. So a limiter that nobody waits for is a bucket.
//
// What always holds when a function of the limiter has returned:
//
//  - If somebody waits, there is a wait for when the first one can be served, or the driver has
//    been asked for a turn. So nobody is forgotten.
//  - If nobody waits, there is no queue, but while its driver has handlers to call: those of others
//    must not overtake them; or after an operation could not be started. Such a limiter does not
//    keep the context running.
//
// The user may move a limiter. This part stays where it is, because the driver and the cancellation
// slots of operations point to it. It is used by one thread at a time, so it has no lock.

#ifndef ASIO_WHEEL_DETAIL_RATE_LIMITER_IMPL_HPP
#define ASIO_WHEEL_DETAIL_RATE_LIMITER_IMPL_HPP

#include <asio_wheel/rate_limiter.hpp>

#include <asio_wheel/basic_waitable_timer.hpp>
#include <asio_wheel/detail/asio/asio_compat.hpp>
#include <asio_wheel/detail/asio/executors.hpp>
#include <asio_wheel/detail/asio/op_memory.hpp>
#include <asio_wheel/detail/bad_argument.hpp>
#include <asio_wheel/detail/exceptions.hpp>
#include <asio_wheel/detail/op/handler_op.hpp>
#include <asio_wheel/detail/op/queue_driver.hpp>
#include <asio_wheel/detail/op/slot_link.hpp>
#include <asio_wheel/detail/op/waiting_op.hpp>
#include <asio_wheel/detail/rate_limiter/token_bucket.hpp>
#include <asio_wheel/detail/scope_exit.hpp>
#include <asio_wheel/detail/service/refused_wait.hpp>
#include <asio_wheel/detail/time/saturating.hpp>
#include <asio_wheel/error.hpp>
#include <asio_wheel/wait_kind.hpp>
#include <asio_wheel/wheel_service.hpp>

#include <boost/asio/error.hpp>
#include <boost/asio/wait_traits.hpp>
#include <boost/intrusive/list.hpp>
#include <boost/system/error_code.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <ratio>
#include <string>
#include <tuple>
#include <utility>

namespace asio_wheel::detail {

/// Somebody who waits for tokens.
class acquire_op : public waiting_op {
public:
    [[nodiscard]] token_bucket::count wanted() const noexcept { return wanted_; }

protected:
    template <class Run>
    acquire_op(Run run, token_bucket::count n) : waiting_op(run), wanted_(n) {}
    ~acquire_op() = default;

    [[nodiscard]] std::tuple<boost::system::error_code> take_results() { return {error()}; }

private:
    token_bucket::count wanted_;
};

template <class Clock, class Executor>
class rate_limiter_impl {
    using count = token_bucket::count;

public:
    using duration = typename Clock::duration;
    using time_point = typename Clock::time_point;
    using executor_type = Executor;
    using waiter = acquire_op;
    static constexpr wait_kind kind_of_wait = wait_kind::queue;

    rate_limiter_impl(const executor_type& ex, const rate_limiter_options& options)
        : executor_(ex), wheel_(anchor_of<Clock>(ex)), rate_(checked(options.rate)),
          bucket_(gain_of(rate_), per_of(rate_), checked_burst(options.burst), now()) {}

    rate_limiter_impl(const rate_limiter_impl&) = delete;
    rate_limiter_impl& operator=(const rate_limiter_impl&) = delete;
    ~rate_limiter_impl() { cancel(); }

    [[nodiscard]] const executor_type& get_executor() const noexcept { return executor_; }

    [[nodiscard]] bool try_acquire(std::uint64_t n) {
        return !closed_ && !somebody_waits() && take(saturated(n));
    }

    template <class Handler>
    void start(Handler&& handler, std::uint64_t number) {
        const count n = saturated(number);
        if constexpr (!is_native_type<Executor>) {
            if (!is_native(executor_)) {
                make_queue(); // Its driver is the way to the handler.
            }
        }
        // If this throws, the handler is destroyed, which may own the limiter.
        waiter& w = make_waiter(std::forward<Handler>(handler), n);
        if (closed_) {
            finish(w, error::limiter_closed);
        } else if (!somebody_waits() && take(n)) {
            finish(w, {});
        } else {
            enqueue(w);
            return;
        }
        rest();
    }

    [[nodiscard]] count available() {
        look(now());
        return bucket_.level();
    }

    [[nodiscard]] std::size_t pending() const noexcept {
        return queue_ != nullptr ? queue_->waiters.size() : 0;
    }

    [[nodiscard]] const token_rate& rate() const noexcept { return rate_; }
    void rate(const token_rate& r) {
        rate_ = checked(r);
        serve_all_due();
        bucket_.rate(gain_of(rate_), per_of(rate_));
        look_again();
    }

    [[nodiscard]] std::uint64_t burst() const noexcept {
        return static_cast<std::uint64_t>(bucket_.burst());
    }
    void burst(std::uint64_t b) {
        const count size = checked_burst(b);
        serve_all_due();
        bucket_.burst(size);
        look_again();
    }

    std::size_t cancel() noexcept { return complete_all(boost::asio::error::operation_aborted); }

    void close() noexcept { closed_ = true; }
    [[nodiscard]] bool closed() const noexcept { return closed_; }

private:
    using driver = queue_driver<rate_limiter_impl>;
    friend driver;

    // What there is while somebody waits.
    struct waiting_queue {
        waiting_queue(rate_limiter_impl& self, const Executor& ex)
            : timer(ex), driver_(std::make_shared<driver>(self, ex)) {}
        waiting_queue(const waiting_queue&) = delete;
        waiting_queue& operator=(const waiting_queue&) = delete;
        ~waiting_queue() {
            driver_->ignore_wait();
            driver_->disconnect();
        }

        basic_waitable_timer<Clock, boost::asio::wait_traits<Clock>, Executor> timer;
        std::shared_ptr<driver> driver_;
        boost::intrusive::list<waiter> waiters; // In the order in which they came.
        bool wait_pending = false; // A wait is pending, and its handler will call on_wait().
    };

    // ---- Arguments

    using unit = std::ratio_divide<typename duration::period, std::nano>;

    [[nodiscard]] static count saturated(std::uint64_t n) noexcept {
        return static_cast<count>(
            (std::min)(n, static_cast<std::uint64_t>(token_bucket::max_tokens)));
    }

    [[nodiscard]] static count gain_of(const token_rate& r) noexcept {
        return static_cast<count>(r.tokens) * count{unit::num};
    }
    [[nodiscard]] static count per_of(const token_rate& r) noexcept {
        return count{r.per.count()} * count{unit::den};
    }

    [[nodiscard]] static token_rate checked(const token_rate& r) {
        if (r.per.count() <= 0) {
            bad_argument("token_rate::per", in_ns(r.per), "greater than 0 ns");
        }
        const bool fits =
            r.tokens <= static_cast<std::uint64_t>(token_bucket::max / count{unit::num}) &&
            r.per.count() <= token_bucket::max / count{unit::den} &&
            token_bucket::is_rate(gain_of(r), per_of(r));
        if (!fits) {
            bad_argument("token_rate::tokens", std::to_string(r.tokens),
                         "less, for a time of " + in_ns(r.per));
        }
        return r;
    }

    [[nodiscard]] static count checked_burst(std::uint64_t b) {
        if (b == 0) {
            bad_argument("rate_limiter_options::burst", "0", "1 or more");
        }
        return saturated(b);
    }

    // ---- Tokens

    // Also after the context's end. The wheel itself is used only while somebody waits.
    [[nodiscard]] count now() const {
        return count{now_of<Clock>(wheel_, executor_).time_since_epoch().count()};
    }

    [[nodiscard]] bool take(count n) {
        bucket_.advance(now());
        if (!bucket_.has(n)) {
            return false;
        }
        bucket_.take(n);
        return true;
    }

    // ---- The queue

    [[nodiscard]] bool somebody_waits() const noexcept {
        return queue_ != nullptr && !queue_->waiters.empty();
    }

    void make_queue() {
        if (queue_ == nullptr) {
            queue_ = std::make_unique<waiting_queue>(*this, executor_);
        }
    }

    // Frees the queue if nobody waits; but see on_delivered().
    void rest() noexcept {
        if (queue_ == nullptr || !queue_->waiters.empty()) {
            return;
        }
        if (!queue_->driver_->has_finished()) {
            queue_.reset();
        } else if (std::exchange(queue_->wait_pending, false)) {
            queue_->driver_->ignore_wait();
            queue_->timer.cancel();
        }
    }

    template <class Handler>
    [[nodiscard]] waiter& make_waiter(Handler&& handler, count n) {
        const auto make = [&]<class Way>(Way way) -> waiter& {
            using op = handler_op<waiter, Handler, Way>;
            op* const w =
                op_memory<op, Handler>::create(std::forward<Handler>(handler), std::move(way), n);
            BOOST_ASIO_HANDLER_CREATION(
                (context_of(executor_), *w, "rate_limiter", this, 0, "async_acquire"));
            connect_slot<waiter>(*w, w->handler(), [this](waiter& aborted) { abort(aborted); });
            return *w;
        };
        const auto here = [&](const auto& make_here) -> waiter& {
            if constexpr (!is_native_type<Executor>) {
                if (!is_native(executor_)) {
                    return make_here(typename driver::way(*queue_->driver_));
                }
            }
            return make_here(by_own_queue(queue_of(executor_)));
        };
        return choose_way(handler, executor_, here, make);
    }

    void enqueue(waiter& w) {
        scope_exit destroy([this, &w] {
            rest();
            w.destroy(); // Its handler may own the limiter.
        });
        make_queue();
        auto& waiters = queue_->waiters;
        waiters.push_back(w);
        if (&waiters.front() == &w) { // Otherwise there is a wait, or a turn.
            scope_exit undo([&waiters] { waiters.pop_back(); });
            wait_for_front();
            undo.release();
        }
        destroy.release();
    }

    static void finish(waiter& w, const boost::system::error_code& ec) noexcept {
        w.disconnect_slot();
        w.finish(ec);
    }

    // Serves those for whom tokens have come: one slice. Returns what is left of it.
    //
    // The wheel is a little late. So each one is served as of the time when its tokens were there,
    // and the bucket is never full while somebody waits: nothing is lost.
    std::size_t serve_due() noexcept {
        const count t = now(); // Once: the bucket must not become fuller than it was at this time.
        std::size_t left = somebody_waits() ? wheel_.wheel->options().budget : 1;
        for (; left != 0 && somebody_waits() && first_is_due(t); --left) {
            waiter& first = queue_->waiters.front();
            queue_->waiters.pop_front();
            bucket_.take_next(first.wanted());
            wheel_.wheel->expired(kind_of_wait);
            finish(first, {});
        }
        look(t);
        rest();
        return left;
    }

    // Before the bucket changes, so that it is up to date: what has come so far has come by the old
    // rate. So not in slices.
    void serve_all_due() noexcept {
        while (serve_due() == 0) {
        }
    }

    // The bucket is brought up to date; but not if that might fill it before the first one was
    // served.
    void look(count t) noexcept {
        if (!somebody_waits() || !first_is_due(t)) {
            bucket_.advance(t);
        }
    }

    [[nodiscard]] bool first_is_due(count t) const noexcept {
        const count from = bucket_.at();
        const std::uint64_t passed =
            t > from ? static_cast<std::uint64_t>(t) - static_cast<std::uint64_t>(from) : 0;
        const count units = bucket_.until(queue_->waiters.front().wanted());
        return static_cast<std::uint64_t>(units) <= passed;
    }

    // The same, and then waits, or asks for another turn. Throws only if a wait is needed and
    // cannot be started.
    void serve() {
        const std::size_t left = serve_due();
        if (!somebody_waits()) {
            return;
        }
        if (left == 0) {
            queue_->driver_->request_turn();
        } else {
            wait_for_front();
        }
    }

    // Starts a wait, or moves the one that is pending. The bucket is up to date.
    void wait_for_front() {
        const count units = bucket_.until(queue_->waiters.front().wanted());
        const auto in = [](count n) { return duration(saturating<typename duration::rep>(n)); };
        const time_point t = add_saturating(time_point(in(bucket_.at())), in(units));
        auto& timer = queue_->timer;
        if (!queue_->wait_pending) {
            timer.expires_at(t);
            queue_->driver_->start_wait(timer);
            queue_->wait_pending = true;
        } else if (t != timer.expiry()) {
            static_cast<void>(timer.postpone_until(t));
        }
    }

    // The first one may be another one, or may be served at another time.
    void look_again() noexcept {
        if (somebody_waits()) {
            queue_->driver_->request_turn();
        }
    }

    void abort(waiter& w) noexcept {
        auto& waiters = queue_->waiters;
        const bool was_first = &waiters.front() == &w;
        waiters.erase(waiters.iterator_to(w));
        finish(w, boost::asio::error::operation_aborted);
        if (waiters.empty()) {
            rest();
        } else if (was_first) {
            look_again();
        }
    }

    // Returns how many there were.
    std::size_t complete_all(const boost::system::error_code& ec) noexcept {
        std::size_t ended = 0;
        for (; somebody_waits(); ++ended) {
            waiter& first = queue_->waiters.front();
            queue_->waiters.pop_front();
            finish(first, ec);
        }
        rest();
        return ended;
    }

    // ---- For the driver

    void on_wait(const boost::system::error_code& ec) {
        queue_->wait_pending = false;
        if (!ec) {
            on_turn();
        } else {
            complete_all(why_refused(ec));
        }
    }

    void on_turn() {
        // If this fails, tries again, until a wait can be started.
        scope_exit try_again([this] { look_again(); });
        if (!throws<std::bad_alloc>([this] { serve(); })) {
            try_again.release();
        }
    }

    // The last of those that were finished is about to be called.
    void on_delivered() noexcept { rest(); }

    // The context ends. The handler of an operation may own the limiter, so this is the last thing
    // to be done with it.
    void destroy_waiting() noexcept {
        queue_->wait_pending = false;
        destroy_all(queue_->waiters);
    }

    const Executor executor_;
    wheel_anchor& wheel_;
    token_rate rate_;
    token_bucket bucket_;
    std::unique_ptr<waiting_queue> queue_; // Null if nobody waits: see rest().
    bool closed_ = false;
};

} // namespace asio_wheel::detail

#endif
