// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Two contexts, their wheels and some timers, and their sequential model. See service.cpp.

#ifndef ASIO_WHEEL_TEST_SUPPORT_SERVICE_EPISODE_HPP
#define ASIO_WHEEL_TEST_SUPPORT_SERVICE_EPISODE_HPP

#include <asio_wheel/basic_waitable_timer.hpp>
#include <asio_wheel/detail/time/saturating.hpp>
#include <asio_wheel/error.hpp>
#include <asio_wheel/pending.hpp>
#include <asio_wheel/steady_timer.hpp>
#include <asio_wheel/wheel_options.hpp>
#include <asio_wheel/wheel_service.hpp>

#include "any_short_duration.hpp"
#include "backend.hpp"
#include "choices.hpp"
#include "episode_base.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/cancellation_type.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/multiple_exceptions.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/wait_traits.hpp>
#include <boost/system/error_code.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <stdexcept>
#include <utility>
#include <variant>
#include <vector>

namespace asio_wheel::test {

class service_episode : private episode_base {
public:
    /// `crowd`: so many other waits that never expire. With very many, operations are aborted in
    /// another way.
    explicit service_episode(bytes& in, std::size_t crowd = 0)
        : episode_base(in), in_real_time_(in.below(16) == 15), sides_{side(in), side(in)} {
        for (const side& s : sides_) {
            const wheel_options& o = s.wheel->options();
            note("hint %, tick % ns, % slots, % levels, budget %", s.hint, o.tick.count(), o.slots,
                 o.levels, o.budget);
            note("    max_pending %, locking %", o.max_pending, o.locking);
        }
        for (place& p : places_) {
            renew(p);
        }
        if (sides_[0].wheel->options().max_pending == 0) {
            for (; crowd_.size() < crowd; ++sides_[0].scheduled, ++sides_[0].pending) {
                crowd_.emplace_back(*sides_[0].context, time_point::max())
                    .async_wait([](const error_code&) {});
            }
        }
    }

    service_episode(const service_episode&) = delete;
    service_episode& operator=(const service_episode&) = delete;

    void step() {
        act();
        // A function that is dispatched inline, in a context that a handler runs, may throw at the
        // same time as the handler. Asio then drops one of the two exceptions.
        require(thrown_ == caught_ || (nested_ && thrown_ > caught_),
                "each exception leaves run()");
        check_counts();
    }

    /// Destroys everything in one of several ways. Afterwards, no wait is left.
    void finish() {
        quiet_ = true;
        abort_crowd();
        crowd_.clear();
        switch (pick(4)) {
        case 0:
            end_by_cancelling();
            break;
        case 1:
            drain(0);
            drain(1);
            break;
        default: // abruptly
            break;
        }
        const std::size_t first = pick(2);
        end_context(first);
        if (coin()) {
            settle();
        }
        end_context(1 - first);
        for (place& p : places_) {
            destroy(p);
        }
        require(std::all_of(waits_.begin(), waits_.end(),
                            [](const wait& w) { return w.state == phase::over; }),
                "each handler is called or destroyed");
        require(probes_ == 0, "each handler is destroyed");
    }

private:
    using clock = std::chrono::steady_clock;
    using time_point = clock::time_point;
    using duration = clock::duration;
    using error_code = boost::system::error_code;
    using io_context = boost::asio::io_context;
    using any_io_executor = boost::asio::any_io_executor;
    using any_timer = steady_timer;
    using native_timer =
        basic_waitable_timer<clock, boost::asio::wait_traits<clock>, io_context::executor_type>;
    using own_strand = boost::asio::strand<io_context::executor_type>;

    static constexpr std::size_t max_waits = 500;
    static constexpr unsigned max_depth = 4;

    /// The exception of handlers.
    struct boom {};

    /// The state of a wait; all states but `pending` are final.
    /// `sent`: it was due, and queued on another context when the timer's context was destroyed.
    enum class phase { pending, cancelled, too_many, stopped, sent, over };

    /// The executor of a handler: one of the two contexts, or the strand on it.
    struct route {
        std::size_t on = 0;
        bool strand = false;
        bool operator==(const route&) const = default;
    };

    struct wait {
        phase state = phase::pending;
        bool postponed = false;
        std::size_t wheel = 0; // The side of its wheel.
        std::size_t place = 0; // The slot of its timer, while it is pending.
        time_point expiry;
        time_point earliest; // Of the expiries since its wheel was last visited.
        route runs;
        bool at_the_end = false; // Started while a context was being destroyed.
        std::unique_ptr<boost::asio::cancellation_signal> signal;
    };

    struct side {
        explicit side(bytes& in) {
            hint = in.below(4);
            switch (hint) {
            case 0:
                context = std::make_unique<io_context>();
                break;
            case 1:
                context = std::make_unique<io_context>(1);
                break;
            case 2:
                context = std::make_unique<io_context>(BOOST_ASIO_CONCURRENCY_HINT_UNSAFE_IO);
                break;
            default:
                context = std::make_unique<io_context>(BOOST_ASIO_CONCURRENCY_HINT_UNSAFE);
            }
            using namespace std::chrono_literals;
            constexpr std::array<std::pair<std::size_t, unsigned>, 6> shapes{
                {{256, 4}, {2, 1}, {2, 30}, {4, 3}, {16, 1}, {64, 2}}};
            constexpr std::array<std::chrono::nanoseconds, 4> ticks{1ms, 7ms, 100us, 1s};
            constexpr std::array<std::size_t, 4> budgets{256, 1, 2, 5};
            const auto& [slots, levels] = shapes[in.below(shapes.size())];
            wheel_options options;
            options.slots = slots;
            options.levels = levels;
            options.tick = ticks[in.below(ticks.size())];
            options.budget = budgets[in.below(budgets.size())];
            options.max_pending = in.below(4) == 3 ? 1 + in.below(12) : 0;
            options.locking = in.below(2) == 0;
            wheel = &make_wheel(*context, options);
            wheel->pause();
            strand.emplace(boost::asio::make_strand(*context));
        }

        // In a single-threaded context, Asio does not yet count what a handler posts. A poll()
        // inside that handler calls it, finds no work, and stops the context.
        [[nodiscard]] bool may_stop_by_itself() const {
            return hides_posts() || (posted_inside && hint != 0);
        }

        // By public functions, a wheel posts as handlers do. So a poll() inside a handler does not
        // see what became due in that handler's turn: docs/versioning.md.
        [[nodiscard]] bool hides_posts() const {
            return hint != 0 && detail::context_queue::is_public;
        }

        std::uint64_t hint = 0;
        std::unique_ptr<io_context> context;
        wheel_service<clock>* wheel = nullptr;
        std::optional<own_strand> strand;
        bool ended = false;   // Its context is being or has been destroyed.
        bool stopped = false; // By stop(), and not restarted since.
        bool drained = false;
        bool visited = false; // Its waits are being visited.
        time_point time_of_end;
        unsigned running = 0; // Calls of run() and the like that have not returned.
        std::size_t posted = 0;
        bool posted_inside = false; // By a handler on this side.
        // The model of the wheel's counters.
        std::uint64_t pending = 0;
        std::uint64_t scheduled = 0;
        std::uint64_t fired = 0;
        std::uint64_t cancelled = 0;
        std::uint64_t rejected = 0;
        std::uint64_t postponed = 0;
        std::uint64_t lost = 0; // Destroyed with the other context.
    };

    /// The side of a timer, or none, and its pending waits in order.
    struct place {
        std::variant<std::monostate, any_timer, native_timer> timer;
        std::size_t side = 0;
        bool strand = false;
        std::deque<std::size_t> waiting;
    };

    /// Part of a handler, which moves with it. It tells the episode what becomes of the handler.
    class probe {
    public:
        probe(service_episode& episode, std::size_t id) noexcept : episode_(&episode), id_(id) {
            ++episode.probes_;
        }
        probe(probe&& other) noexcept
            : episode_(std::exchange(other.episode_, nullptr)), id_(other.id_) {}
        probe& operator=(probe&&) = delete;
        ~probe() {
            if (episode_ != nullptr) {
                --episode_->probes_;
                episode_->destroyed(id_);
            }
        }
        void call(const error_code& ec) {
            service_episode& episode = *std::exchange(episode_, nullptr);
            --episode.probes_;
            episode.called(id_, ec);
        }

    private:
        service_episode* episode_;
        std::size_t id_;
    };

    struct handler {
        probe inside;
        void operator()(const error_code& ec) { inside.call(ec); }
    };

    // ---- Choices

    place& any_place() { return places_[pick(places_.size())]; }

    // Mostly close, so that much happens, but of all magnitudes for which a wheel has levels.
    duration any_duration() {
        switch (pick(10)) {
        case 0:
            return duration::zero();
        case 1:
            return -any_magnitude();
        case 2:
            return any_magnitude();
        case 3:
            return coin() ? duration::max() : duration::min();
        case 4: // Not a whole number of ticks.
            return duration(static_cast<duration::rep>(pick(50'000'000)));
        default:
            return any_short_duration(in_);
        }
    }

    duration any_magnitude() { return duration(static_cast<duration::rep>(in_.magnitude(61))); }

    // ---- For the report of a failure

    [[nodiscard]] std::size_t number_of(const place& p) const {
        return static_cast<std::size_t>(&p - places_.data());
    }

    [[nodiscard]] static auto ns(time_point t) { return t.time_since_epoch().count(); }

    // ---- The operations of the program and its handlers

    void act() {
        switch (pick(24)) {
        case 0:
        case 1:
        case 2:
        case 3:
        case 4:
        case 5:
            return start(any_place());
        case 6:
        case 7:
            return expire(any_place());
        case 8:
            return cancel(any_place());
        case 9:
            return cancel_one(any_place());
        case 10:
        case 11:
            return postpone(any_place());
        case 12:
            return move(any_place(), any_place());
        case 13:
            return coin() ? destroy(any_place()) : renew(any_place());
        case 14:
            return emit();
        case 15:
        case 16:
            return advance(pick(2));
        case 17:
            return advance_to_next(pick(2));
        case 18:
            return coin() ? visit(pick(2)) : stop_or_restart(pick(2));
        case 19:
            return post(pick(2));
        case 20:
            return depth_ == 0 ? settle() : run_some(pick(2));
        case 21:
            return depth_ == 0 && once_in(16) ? drain(pick(2)) : run_some(pick(2));
        case 22:
            return in_real_time_ ? let_time_go(pick(2)) : run_some(pick(2));
        default:
            return run_some(pick(2));
        }
    }

    // Calls f(its timer), unless there is none or it cannot be used any more.
    template <class Function>
    void with_timer(place& p, Function f) {
        if (auto* const any = std::get_if<any_timer>(&p.timer)) {
            f(*any);
        } else if (auto* const native = std::get_if<native_timer>(&p.timer)) {
            f(*native);
        }
    }

    [[nodiscard]] bool usable(const place& p) const {
        return p.timer.index() != 0 && !sides_[p.side].ended;
    }

    void destroy(place& p) {
        note("destroy timer %", number_of(p));
        abort_first(p, p.waiting.size());
        p.timer = std::monostate();
    }

    void renew(place& p) {
        const std::size_t on = pick(2);
        side& s = sides_[on];
        destroy(p);
        if (s.ended) {
            return;
        }
        p.side = on;
        p.strand = false;
        switch (pick(4)) {
        case 0:
        case 1:
            p.timer.emplace<native_timer>(*s.context);
            break;
        case 2:
            p.timer.emplace<any_timer>(*s.context, any_duration());
            break;
        default:
            p.strand = true;
            p.timer.emplace<any_timer>(*s.strand, sum(s.wheel->now(), any_duration() / 2));
        }
        note("    a new one on side %, on its strand: %", on, p.strand);
    }

    void start(place& p) {
        // While a context is being destroyed, its timers can still be used.
        if (waits_.size() < max_waits && (usable(p) || p.side == dying_)) {
            with_timer(p, [&](auto& object) { start(p, object); });
        }
    }

    template <class Timer>
    void start(place& p, Timer& object) {
        const std::size_t id = waits_.size();
        wait& w = waits_.emplace_back();
        w.wheel = p.side;
        w.place = number_of(p);
        w.expiry = object.expiry();
        w.runs = {p.side, p.strand};
        w.at_the_end = dying_ != nobody;
        accept(p, id);
        using boost::asio::bind_cancellation_slot;
        using boost::asio::bind_executor;
        const std::size_t other = pick(2);
        side& o = sides_[other];
        const std::size_t kind = o.ended ? pick(3) : pick(8);
        note("wait % on timer % until %, kind %, other side %", id, w.place, ns(w.expiry), kind,
             other);
        handler h{probe(*this, id)};
        if (kind == 2 || kind == 7) {
            w.signal = std::make_unique<boost::asio::cancellation_signal>();
        }
        if (kind > 2) {
            w.runs = {other, kind != 3 && kind != 5};
        }
        switch (kind) {
        case 2:
            return object.async_wait(bind_cancellation_slot(w.signal->slot(), std::move(h)));
        case 3:
            return object.async_wait(bind_executor(*o.context, std::move(h)));
        case 4:
            return object.async_wait(bind_executor(*o.strand, std::move(h)));
        case 5:
            return object.async_wait(
                bind_executor(any_io_executor(o.context->get_executor()), std::move(h)));
        case 6:
            return object.async_wait(bind_executor(any_io_executor(*o.strand), std::move(h)));
        case 7:
            return object.async_wait(
                bind_cancellation_slot(w.signal->slot(), bind_executor(*o.strand, std::move(h))));
        default:
            return object.async_wait(std::move(h));
        }
    }

    void expire(place& p) {
        if (!usable(p)) {
            return;
        }
        const std::size_t pending = p.waiting.size();
        abort_first(p, pending);
        const bool at = coin();
        const duration d = any_duration();
        with_timer(p, [&](auto& object) {
            const time_point now = sides_[p.side].wheel->now();
            const time_point t(d);
            require((at ? object.expires_at(t) : object.expires_after(d)) == pending,
                    "setting the expiry counts what it aborts");
            note("timer % expires at %", number_of(p), ns(object.expiry()));
            require(!at || object.expiry() == t, "the expiry is as it was set");
            require(at || !paused(p.side) || object.expiry() == sum(now, d),
                    "the expiry is so far from now, or at the end of the clock");
        });
        if (coin()) {
            start(p);
        }
    }

    void cancel(place& p) {
        if (!usable(p) && p.side != dying_) {
            return;
        }
        note("cancel timer %", number_of(p));
        const std::size_t pending = p.waiting.size();
        abort_first(p, pending);
        with_timer(p, [&](auto& object) {
            const std::size_t counted = object.cancel();
            require(counted == pending || p.side == dying_, "cancel() counts what it aborts");
        });
    }

    void cancel_one(place& p) {
        if (!usable(p)) {
            return;
        }
        note("cancel_one timer %", number_of(p));
        const std::size_t pending = std::min<std::size_t>(p.waiting.size(), 1);
        abort_first(p, pending);
        with_timer(p, [&](auto& object) {
            require(object.cancel_one() == pending, "cancel_one() counts what it aborts");
        });
    }

    void postpone(place& p) {
        if (!usable(p)) {
            return;
        }
        const bool until = coin();
        const duration d = any_duration();
        with_timer(p, [&](auto& object) {
            const std::size_t moved =
                until ? object.postpone_until(sum(object.expiry(), d)) : object.postpone(d);
            note("postpone timer % to %", number_of(p), ns(object.expiry()));
            require(moved == p.waiting.size(), "postpone() counts what it moves");
            for (const std::size_t id : p.waiting) {
                waits_[id].expiry = object.expiry();
                waits_[id].earliest = std::min(waits_[id].earliest, object.expiry());
                waits_[id].postponed = true;
            }
        });
        sides_[p.side].postponed += p.waiting.size();
    }

    void move(place& from, place& to) {
        if (&from == &to || !usable(from) || (to.timer.index() != 0 && !usable(to))) {
            return;
        }
        note("move timer % to %", number_of(from), number_of(to));
        time_point expiry;
        with_timer(from, [&](auto& object) { expiry = object.expiry(); });
        auto* const from_native = std::get_if<native_timer>(&from.timer);
        auto* const to_native = std::get_if<native_timer>(&to.timer);
        abort_first(to, to.waiting.size());
        if (from_native != nullptr) {
            if (to_native != nullptr && coin()) {
                *to_native = std::move(*from_native);
            } else if (coin()) {
                to.timer.emplace<native_timer>(std::move(*from_native));
            } else if (auto* const to_any = std::get_if<any_timer>(&to.timer)) {
                *to_any = std::move(*from_native);
            } else {
                to.timer.emplace<any_timer>(std::move(*from_native));
            }
        } else {
            auto& from_any = std::get<any_timer>(from.timer);
            auto* const to_any = std::get_if<any_timer>(&to.timer);
            if (to_any != nullptr && coin()) {
                *to_any = std::move(from_any);
            } else {
                to.timer.emplace<any_timer>(std::move(from_any));
            }
        }
        to.side = from.side;
        to.strand = from.strand;
        to.waiting.swap(from.waiting);
        for (const std::size_t id : to.waiting) {
            waits_[id].place = number_of(to);
        }
        with_timer(to, [&](auto& object) {
            require(object.expiry() == expiry, "the expiry moves with the timer");
        });
        with_timer(from, [&](auto& object) {
            require(object.expiry() == time_point(), "what was moved from is as good as new");
        });
    }

    void emit() {
        if (waits_.empty()) {
            return;
        }
        const std::size_t id = pick(waits_.size());
        wait& w = waits_[id];
        if (w.signal == nullptr) {
            return;
        }
        using type = boost::asio::cancellation_type;
        constexpr std::array<type, 4> types{type::terminal, type::partial, type::total, type::none};
        const type t = types[pick(types.size())];
        note("emit to wait %", id);
        if (w.state == phase::pending && t != type::none) {
            std::erase(places_[w.place].waiting, id);
            abort(id);
        }
        w.signal->emit(t);
    }

    void stop_or_restart(std::size_t which) {
        side& s = sides_[which];
        if (s.ended) {
            return;
        }
        if (coin() || s.running != 0) {
            note("stop side %", which);
            s.context->stop();
            s.stopped = true;
        } else {
            restart(which);
        }
    }

    // Not while it runs: that is not allowed.
    void restart(std::size_t which) {
        side& s = sides_[which];
        if (s.running == 0) {
            s.context->restart();
            s.stopped = false;
        }
    }

    void post(std::size_t which) {
        side& s = sides_[which];
        if (s.ended) {
            return;
        }
        ++s.posted;
        s.posted_inside = s.posted_inside || s.running != 0;
        boost::asio::post(*s.context, [this, &s] {
            --s.posted;
            if (!quiet_ && depth_ < max_depth && !in_.empty()) {
                ++depth_;
                act();
                --depth_;
            }
        });
    }

    // ---- Time

    [[nodiscard]] bool paused(std::size_t which) const { return sides_[which].wheel->paused(); }

    void let_time_go(std::size_t which) {
        side& s = sides_[which];
        if (s.ended) {
            return;
        }
        note(s.wheel->paused() ? "resume side %" : "pause side %", which);
        s.wheel->paused() ? s.wheel->resume() : s.wheel->pause();
    }

    void advance(std::size_t which) {
        side& s = sides_[which];
        if (s.ended) {
            return;
        }
        const duration d = any_duration();
        if (!s.wheel->paused()) {
            bool refused = false;
            try {
                s.wheel->advance(d);
            } catch (const std::logic_error&) {
                refused = true;
            }
            return require(refused, "only paused time can be advanced");
        }
        const time_point before = s.wheel->now();
        const std::size_t due = s.wheel->advance(d);
        const time_point now = s.wheel->now();
        note("advance side % from % to %: %", which, ns(before), ns(now), due);
        require(now == std::max(before, sum(before, d)), "time is advanced by so much");
        // It is unknown which of the earlier expired waits were found due then.
        require(due <= count_pending(which, time_point::min(), now),
                "advance() makes nothing due that has not expired");
        require(due >= count_pending(which, before, now), "advance() makes all due that expire");
    }

    void advance_to_next(std::size_t which) {
        side& s = sides_[which];
        if (s.ended || !s.wheel->paused()) {
            return;
        }
        const time_point before = s.wheel->now();
        time_point next = time_point::max();
        bool overdue = false;
        for (const wait& w : waits_) {
            if (w.state == phase::pending && w.wheel == which) {
                overdue = overdue || has_expired(w, before);
                next = w.expiry > before ? std::min(next, w.expiry) : next;
            }
        }
        const std::size_t due = s.wheel->advance_to_next();
        const time_point now = s.wheel->now();
        note("advance side % from % to the next, %: %", which, ns(before), ns(now), due);
        const bool stands = due == 0 && now == before;
        const bool last_tick = next > time_point::max() - s.wheel->options().tick;
        if (next == time_point::max()) {
            require(overdue || stands, "time stands where it was if nothing will ever be due");
        } else if (last_tick && stands) {
            // It need not visit the last tick of the clock, which ends after the clock does.
        } else if (overdue) {
            require(now >= before && now <= next, "advance_to_next() leaves nothing out");
        } else {
            require(due > 0, "advance_to_next() finds what is due");
            require(now == next, "advance_to_next() goes to the next expiry");
        }
    }

    // Asks a wheel what waits on it. Now and then, other things happen meanwhile.
    void visit(std::size_t which) {
        side& s = sides_[which];
        if (s.ended) {
            return;
        }
        if (s.visited) {
            bool refused = false;
            try {
                s.wheel->for_each_pending([](const pending_wait&) {});
            } catch (const std::logic_error&) {
                refused = true;
            }
            return require(refused, "a walk inside a walk is an error");
        }
        const bool alone = coin() || depth_ >= max_depth;
        const std::size_t first_new = waits_.size();
        std::vector<std::size_t> before; // The waits that are pending.
        for (std::size_t id = 0; id < waits_.size(); ++id) {
            if (waits_[id].state == phase::pending && waits_[id].wheel == which) {
                before.push_back(id);
                waits_[id].earliest = waits_[id].expiry;
            }
        }
        std::vector<std::chrono::nanoseconds> found;
        s.visited = true;
        ++depth_;
        s.wheel->for_each_pending([&](const pending_wait& w) {
            found.push_back(w.remaining);
            if (!alone && coin()) {
                act();
            }
        });
        --depth_;
        s.visited = false;
        note("visit side %: % of %", which, found.size(), before.size());
        const time_point now = s.wheel->now();
        const std::size_t others = which == 0 ? crowd_.size() : 0;
        std::size_t stayed = now < time_point::max() ? others : 0; // Those that must be found.
        std::vector<std::chrono::nanoseconds> expected(
            stayed, asio_wheel::detail::until_saturating(now, time_point::max()));
        for (const std::size_t id : before) {
            const wait& w = waits_[id];
            if (w.state == phase::pending && w.earliest > now) { // It was never due.
                ++stayed;
                expected.push_back(asio_wheel::detail::until_saturating(now, w.expiry));
            }
        }
        require(found.size() >= (s.wheel->paused() ? stayed : 0),
                "what waits all the time is visited");
        require(found.size() <= others + before.size() + (waits_.size() - first_new),
                "no wait is visited twice");
        if (alone && s.wheel->paused()) {
            std::erase_if(found, [](std::chrono::nanoseconds d) { return d.count() <= 0; });
            std::sort(found.begin(), found.end());
            std::sort(expected.begin(), expected.end());
            require(found == expected, "it is visited for as long as it has to wait");
        }
    }

    // The end of time never comes.
    [[nodiscard]] static bool has_expired(const wait& w, time_point now) {
        return w.expiry <= now && w.expiry != time_point::max();
    }

    // Returns how many waits expire in (from, to].
    [[nodiscard]] std::size_t count_pending(std::size_t which, time_point from,
                                            time_point to) const {
        return static_cast<std::size_t>(
            std::count_if(waits_.begin(), waits_.end(), [&](const wait& w) {
                return w.state == phase::pending && w.wheel == which && has_expired(w, to) &&
                       (w.expiry > from || from == time_point::min());
            }));
    }

    [[nodiscard]] static time_point sum(time_point t, duration d) {
        const duration since = t.time_since_epoch();
        if (d > duration::zero() && since > duration::max() - d) {
            return time_point::max();
        }
        if (d < duration::zero() && since < duration::min() - d) {
            return time_point::min();
        }
        return t + d;
    }

    // ---- Running

    // Calls run(context) and returns its result, or 0 if it threw.
    template <class Function>
    std::size_t guarded(std::size_t which, Function run) {
        side& s = sides_[which];
        std::size_t count = 0;
        ++s.running;
        try {
            count = run(*s.context);
        } catch (const boom&) {
            ++caught_;
            count = 1;
        } catch (const boost::asio::multiple_exceptions&) {
            require(nested_, "each exception leaves run() by itself");
            ++caught_;
            count = 1;
        }
        --s.running;
        return count;
    }

    std::size_t poll(std::size_t which) {
        return guarded(which, [](io_context& ctx) { return ctx.poll(); });
    }

    void run_some(std::size_t which) {
        side& s = sides_[which];
        if (s.ended || depth_ >= max_depth) {
            return;
        }
        nested_ = nested_ || depth_ != 0;
        if (coin()) {
            restart(which);
        }
        const std::size_t how = pick(8);
        note("run side % in way %, depth %", which, how, depth_);
        if (how < 4) {
            guarded(which, [](io_context& ctx) { return ctx.poll_one(); });
        } else if (how < 7) {
            const bool stopped = s.context->stopped();
            while (poll(which) != 0) {
            }
            const bool by_itself = s.context->stopped() && s.may_stop_by_itself();
            const bool hidden = s.running != 0 && s.hides_posts();
            if (!stopped && !s.stopped && !by_itself && !hidden) {
                check_nothing_is_overdue(which, true);
            }
        } else {
            guarded(which, [](io_context& ctx) {
                return ctx.run_one_for(std::chrono::microseconds(200));
            });
        }
    }

    // Until nothing happens any more.
    void settle() {
        note("settle");
        for (std::size_t ran = 1; ran != 0;) {
            ran = 0;
            for (std::size_t which = 0; which < sides_.size(); ++which) {
                if (!sides_[which].ended) {
                    restart(which);
                    ran += poll(which);
                }
            }
        }
        for (std::size_t which = 0; which < sides_.size(); ++which) {
            if (!sides_[which].ended) {
                check_nothing_is_overdue(which, false);
                check_work(which);
            }
        }
        require(std::all_of(waits_.begin(), waits_.end(),
                            [](const wait& w) {
                                return w.state == phase::pending || w.state == phase::over;
                            }),
                "what is decided is delivered");
        check_counts();
    }

    // ---- The ends of waits

    void called(std::size_t id, const error_code& ec) {
        wait& w = waits_[id];
        side& s = sides_[w.wheel];
        side& here = sides_[w.runs.on];
        note("wait % completes, error % in state %", id, ec.value(), w.state);
        require(w.state != phase::over, "a handler is called once");
        require(dying_ == nobody, "no handler is called by the end of a context");
        require(w.runs.strand ? here.strand->running_in_this_thread()
                              : here.context->get_executor().running_in_this_thread(),
                "a handler runs where its executor says");
        // (But a strand completes what it has begun, and dispatched functions run inline.)
        require(!here.stopped || stops_behind_what_is_ready || w.runs.strand || here.running > 1 ||
                    sides_[1 - w.runs.on].running > 0,
                "a context that is stopped calls no handler");
        const phase state = std::exchange(w.state, phase::over);
        switch (state) {
        case phase::cancelled:
            require(ec == boost::asio::error::operation_aborted, "what was counted is aborted");
            break;
        case phase::too_many:
            require(ec == error::too_many_pending, "there is a limit");
            break;
        case phase::stopped:
            require(ec == error::wheel_stopped, "a drained wheel takes nothing");
            break;
        case phase::sent:
            require(!ec, "what was not counted is not aborted");
            require(has_expired(w, s.time_of_end), "no wait is early");
            break;
        default:
            require(!ec, "what was not counted is not aborted");
            require(has_expired(w, s.wheel->now()), "no wait is early");
            succeed(id);
        }
        behave(w.runs.on);
    }

    // First come, first served. A wait that is queued on another executor may be overtaken if it is
    // postponed, or if that executor's context is running a handler that runs the timer's context.
    void succeed(std::size_t id) {
        const wait& w = waits_[id];
        const place& p = places_[w.place];
        auto& queue = places_[w.place].waiting;
        const auto it = std::find(queue.begin(), queue.end(), id);
        const bool direct = w.runs == route{w.wheel, false} && !p.strand;
        const bool hidden = nested_ && sides_[w.wheel].hides_posts();
        const bool ordered = (direct && !hidden) || (!w.postponed && !nested_);
        require(!ordered || std::none_of(queue.begin(), it,
                                         [&](std::size_t earlier) {
                                             return waits_[earlier].runs == w.runs;
                                         }),
                "first come, first served");
        queue.erase(it);
        side& s = sides_[w.wheel];
        ++s.fired;
        --s.pending;
    }

    // The actions of a handler.
    void behave(std::size_t here) {
        if (quiet_ || depth_ >= max_depth || in_.empty()) {
            return;
        }
        ++depth_;
        const std::size_t what = pick(8);
        for (std::size_t i = 0; i < what / 2; ++i) {
            act();
        }
        --depth_;
        if (what == 7) {
            if (coin()) {
                note("throw");
                ++thrown_;
                throw boom();
            }
            sides_[here].context->stop();
            sides_[here].stopped = true;
        }
    }

    // A handler was destroyed without being called.
    void destroyed(std::size_t id) noexcept {
        wait& w = waits_[id];
        note("wait % is destroyed", id);
        require(w.state != phase::over, "a handler is destroyed once, and not called");
        // One that was postponed while it was queued on another context finds out late.
        require(w.wheel == dying_ || w.runs.on == dying_ ||
                    (w.state == phase::sent && w.expiry > sides_[w.wheel].time_of_end),
                "no handler is destroyed but by the end of a context of its own");
        if (w.state == phase::pending) {
            std::erase(places_[w.place].waiting, id);
            --sides_[w.wheel].pending;
            ++sides_[w.wheel].lost;
        }
        w.state = phase::over;
        if (w.at_the_end || dying_ == nobody) {
            return;
        }
        // It may still use timers.
        place& p = any_place();
        switch (pick(6)) {
        case 1:
            return cancel(p);
        case 2:
            return start(p);
        case 3:
            return destroy(p);
        case 4:
            return emit();
        default:
            return;
        }
    }

    // The model's part of starting a wait.
    void accept(place& p, std::size_t id) {
        wait& w = waits_[id];
        side& s = sides_[p.side];
        const std::size_t limit = s.wheel->options().max_pending;
        if (s.drained) {
            w.state = phase::stopped;
            ++s.rejected;
        } else if (limit != 0 && s.pending >= limit) {
            w.state = phase::too_many;
            ++s.rejected;
        } else {
            p.waiting.push_back(id);
            ++s.scheduled;
            ++s.pending;
        }
    }

    // The model's part of aborting.
    void abort(std::size_t id) {
        wait& w = waits_[id];
        side& s = sides_[w.wheel];
        w.state = phase::cancelled;
        ++s.cancelled;
        --s.pending;
    }

    void abort_first(place& p, std::size_t n) {
        for (; n != 0; --n) {
            abort(p.waiting.front());
            p.waiting.pop_front();
        }
    }

    void abort_crowd() {
        sides_[0].cancelled += crowd_.size();
        sides_[0].pending -= crowd_.size();
    }

    // ---- Invariants

    void check_counts() const {
        for (std::size_t which = 0; which < sides_.size(); ++which) {
            const side& s = sides_[which];
            if (s.ended) {
                continue;
            }
            const wheel_stats stats = s.wheel->stats();
            require(s.wheel->pending() == s.pending, "pending() counts what is pending");
            require(stats.pending == s.pending, "stats() counts what is pending");
            require(stats.scheduled == s.scheduled, "stats() counts what was accepted");
            require(stats.fired == s.fired, "stats() counts what has succeeded");
            require(stats.cancelled == s.cancelled, "stats() counts what was aborted");
            require(stats.rejected == s.rejected, "stats() counts what was refused");
            require(stats.postponed == s.postponed, "stats() counts what was postponed");
            require(stats.scheduled == stats.fired + stats.cancelled + stats.pending + s.lost,
                    "what was accepted has fired, was cancelled, or is pending");
            require(stats.lateness.count() == stats.fired,
                    "each wait that has fired has a lateness");
        }
    }

    // After a poll. If that was inside a handler, other handlers may have to wait until it returns.
    void check_nothing_is_overdue(std::size_t which, bool direct) const {
        const side& s = sides_[which];
        if (!s.wheel->paused()) {
            return;
        }
        const time_point passed = s.wheel->now();
        for (const wait& w : waits_) {
            const bool could_run = !direct || w.runs == route{which, false};
            require(w.state != phase::pending || w.wheel != which || !could_run ||
                        !has_expired(w, passed) || (direct && places_[w.place].strand),
                    "what has expired is complete when the contexts were polled");
        }
    }

    // After everything has settled.
    void check_work(std::size_t which) const {
        const side& s = sides_[which];
        const bool has_work =
            s.posted != 0 || (which == 0 && !crowd_.empty()) ||
            std::any_of(waits_.begin(), waits_.end(), [&](const wait& w) {
                return w.state == phase::pending && (w.wheel == which || w.runs.on == which);
            });
        require(s.context->stopped() != has_work,
                "a context has work as long as a wait needs it, and no longer");
    }

    // ---- Destruction

    void end_by_cancelling() {
        for (place& p : places_) {
            cancel(p);
        }
        settle();
        require(sides_[0].pending == 0 && sides_[1].pending == 0, "nothing waits");
    }

    // Completes what is due first, so that the model knows what is not.
    void drain(std::size_t which) {
        side& s = sides_[which];
        if (!s.wheel->paused()) {
            s.wheel->pause();
        }
        const bool quiet = std::exchange(quiet_, true);
        settle();
        quiet_ = quiet;
        note("drain side %", which);
        std::vector<time_point> left;
        if (which == 0) {
            left.assign(crowd_.size(), time_point::max());
            abort_crowd();
        }
        for (place& p : places_) {
            if (p.side == which) {
                for (const std::size_t id : p.waiting) {
                    left.push_back(waits_[id].expiry);
                }
                abort_first(p, p.waiting.size());
            }
        }
        std::sort(left.begin(), left.end());
        require(s.wheel->drain() == left, "drain() says what was pending");
        s.drained = true;
        if (which == 0) {
            crowd_.clear();
        }
    }

    // As with any executor, waits that are bound to a context must not be pending elsewhere when it
    // is destroyed.
    void end_context(std::size_t which) {
        side& s = sides_[which];
        const bool timers_first = coin();
        for (place& p : places_) {
            // Neither a strand nor its owners may outlive its context.
            if (p.side == which && p.timer.index() != 0 && (timers_first || p.strand)) {
                destroy(p);
            }
        }
        const std::size_t other = 1 - which;
        if (!sides_[other].ended) {
            for (const wait& w : waits_) {
                if (w.state == phase::pending && w.wheel == other && w.runs.on == which) {
                    cancel(places_[w.place]);
                }
            }
            do {
                restart(other);
            } while (poll(other) != 0);
        }
        note("the end of context %", which);
        s.ended = true;
        s.time_of_end = s.wheel->now();
        dying_ = which;
        s.strand.reset();
        s.context.reset();
        dying_ = nobody;
        for (std::size_t id = 0; id < waits_.size(); ++id) {
            wait& w = waits_[id];
            require(w.state == phase::over || w.runs.on != which,
                    "the end of a context ends what is bound to it");
            require(w.state == phase::over || w.wheel != which || !sides_[w.runs.on].ended,
                    "the end of a context ends its waits");
            if (w.state == phase::pending && w.wheel == which) {
                std::erase(places_[w.place].waiting, id);
                w.state = phase::sent;
            }
        }
    }

    static constexpr std::size_t nobody = 2;

    const bool in_real_time_;
    std::deque<wait> waits_; // All waits so far, by number.
    std::array<side, 2> sides_;
    std::array<place, 8> places_;
    std::deque<native_timer> crowd_;
    std::size_t probes_ = 0;
    std::size_t thrown_ = 0;
    std::size_t caught_ = 0;
    std::size_t dying_ = nobody; // The side whose context is being destroyed.
    unsigned depth_ = 0;         // The nesting depth of handlers.
    bool nested_ = false;
    bool quiet_ = false; // Handlers do nothing any more.
};

} // namespace asio_wheel::test

#endif
