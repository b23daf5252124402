// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Random programs run the state machine of a stream's deadlines beside an observer, a model without
// states. The observer keeps a list of the pending operations, and checks each of them for every
// answer. So it knows which operations are late, and when a wait must end. The tests use no wheel,
// no context and no clock. Waits are in a list, and time is a number.

#include <asio_wheel/detail/timeout_stream/deadline_fsm.hpp>

#include "support/seed.hpp"

#include <boost/system/error_code.hpp>
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

using namespace std::chrono_literals;
using asio_wheel::error;
using asio_wheel::detail::deadline_fsm;
using asio_wheel::detail::direction;
using asio_wheel::detail::stream_limits;
using boost::system::error_code;
using kind = deadline_fsm::action::kind;

constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max();

deadline_fsm::time_point at(std::int64_t t) {
    return t == never ? deadline_fsm::never : deadline_fsm::time_point(1000h + t * 1s);
}

bool same_direction(direction a, direction b) {
    return (a == direction::read) == (b == direction::read);
}

struct operation {
    direction what = direction::read;
    std::int64_t deadline = never; // When the operation began, or as it was set since.
    error_code why;                // Its result, if it has failed.
    bool closing = false;          // The stream was closed after it began,
    bool early = false;            // or before, and has been in use since then.
    bool spared = false;           // Its grace has not ended.
};

// A period in which so many bytes have to be transferred. It counts the seconds one by one.
struct period {
    std::int64_t length = never;
    std::size_t least = 1;
    std::int64_t used = 0;             // How much of it has passed.
    std::vector<std::size_t> bytes;    // What was transferred meanwhile.
    std::optional<std::size_t> unsent; // What the peer had not taken when it began, if known.

    [[nodiscard]] std::int64_t end(std::int64_t now) const {
        return length == never ? never : now + length - used;
    }
    [[nodiscard]] std::size_t sum() const {
        return std::accumulate(bytes.begin(), bytes.end(), std::size_t(0));
    }
    void restart() { *this = {length, least, 0, {}, {}}; }
    void set(std::int64_t l, std::size_t n) {
        if (length == never || sum() >= n) {
            restart();
        }
        length = l;
        least = n;
    }
    void transfer(std::size_t n) {
        bytes.push_back(n);
        if (sum() >= least) {
            restart();
        }
    }
    // At its end, the peer has not taken `n` bytes.
    void look(std::size_t n) {
        if (unsent ? sum() + *unsent >= n + least : n != 0) {
            restart();
            unsent = n;
        }
    }
};

// The model of the machine. It stores no conclusions except for the results of failed operations.
struct observer {
    std::int64_t now = 0;
    std::vector<operation> pending;
    std::int64_t lifetime = never;
    bool closed = false; // And nothing has begun since.
    period idle, write_idle, rate;

    [[nodiscard]] bool any(direction what) const {
        return std::ranges::any_of(
            pending, [what](const operation& o) { return same_direction(o.what, what); });
    }
    [[nodiscard]] bool connecting() const {
        return std::ranges::any_of(pending,
                                   [](const operation& o) { return o.what == direction::connect; });
    }
    [[nodiscard]] bool has_none(direction what) const { return !any(what) && !connecting(); }

    void second_passes() {
        ++now;
        idle.used += pending.empty() ? 0 : 1;
        rate.used += pending.empty() ? 0 : 1;
        write_idle.used += any(direction::write) ? 1 : 0;
    }

    // When what does that becomes late, if its own deadline is this.
    [[nodiscard]] std::int64_t end_of(direction what, std::int64_t deadline) const {
        return std::min({deadline, lifetime, idle.end(now), rate.end(now),
                         what == direction::read ? never : write_idle.end(now)});
    }
    // When an operation becomes late. Never, if it has failed already, or has a grace.
    [[nodiscard]] std::int64_t end_of(const operation& o) const {
        return o.why || o.spared ? never : end_of(o.what, o.deadline);
    }
    [[nodiscard]] bool closing() const {
        return std::ranges::any_of(pending,
                                   [](const operation& o) { return o.closing || o.early; });
    }
    // Whether nothing but a period is over.
    [[nodiscard]] bool is_only_idle() const {
        return first_end() <= now && std::ranges::none_of(pending, [this](const operation& o) {
                   return !o.why && !o.spared && std::min(o.deadline, lifetime) <= now;
               });
    }
    // An operation is to begin.
    void begin(direction what) {
        if (pending.empty() && (closed || what == direction::connect)) {
            closed = false;
            for (period* const p : {&idle, &write_idle, &rate}) {
                p->restart();
            }
        }
    }
    void transfer(direction what, std::size_t n) {
        idle.transfer(n);
        rate.transfer(n);
        if (what != direction::read) {
            write_idle.transfer(n);
        }
    }
    // The peer has not taken `n` bytes. `writing`: the period of writes counts.
    void look(std::optional<std::size_t> n, bool writing) {
        for (period* const p : {&idle, &write_idle, &rate}) {
            if (n && p->end(now) <= now && (writing || p != &write_idle)) {
                p->look(*n);
            }
        }
    }
    [[nodiscard]] std::int64_t first_end() const {
        return first_end_if([](const operation&) { return true; });
    }
    // Operations that are pending when a stream is closed end on their own, and need no wait.
    [[nodiscard]] std::int64_t first_end_to_be_kept() const {
        return first_end_if([](const operation& o) { return !o.closing; });
    }
    // An operation may begin after the end of the idle period of a closed stream.
    [[nodiscard]] std::int64_t first_end_not_to_be_missed() const {
        return first_end_if([](const operation& o) { return !o.closing && !o.early; });
    }

    template <class Predicate>
    [[nodiscard]] std::int64_t first_end_if(Predicate p) const {
        std::int64_t first = never;
        for (const operation& o : pending) {
            first = std::min(first, p(o) ? end_of(o) : never);
        }
        return first;
    }

    [[nodiscard]] bool spares(direction what) const {
        return std::ranges::any_of(pending, [what](const operation& o) {
            return same_direction(o.what, what) && o.spared;
        });
    }

    // The error of an operation that begins now, if others in its direction have failed.
    [[nodiscard]] error_code fate_of(direction what) const {
        for (const operation& o : pending) {
            if (same_direction(o.what, what) && o.why) {
                return o.why;
            }
        }
        return {};
    }

    // The stream is closed, and all operations that are late at `t` fail. Returns their number.
    std::size_t close(std::int64_t t, error_code why) {
        std::vector<operation*> failing;
        for (operation& o : pending) {
            if (end_of(o) <= t && end_of(o) != never) {
                failing.push_back(&o);
            }
        }
        for (operation* const o : failing) {
            o->why = why;
        }
        for (operation& o : pending) {
            o.closing = true;
        }
        closed = true;
        return failing.size();
    }
};

struct wait {
    std::uint64_t turn = 0;
    std::int64_t end = 0;
    bool withdrawn = false;
};

struct grace {
    direction what = direction::read;
    std::uint64_t number = 0;
};

// How often each event happened, in all episodes.
using counts = std::map<std::string_view, int>;

class episode {
public:
    // If `on_time`, a wait is delivered at its end. Otherwise it may be late.
    episode(std::uint64_t seed, bool on_time, counts& happened)
        : random_(seed), on_time_(on_time), happened_(happened) {}

    void run(int steps) {
        for (int i = 0; i < steps; ++i) {
            step();
            check();
            if (on_time_) {
                arrive(); // A deadline that was set has passed.
            }
            const bool in_time = seen_.first_end_not_to_be_missed() > now_;
            expect(in_time || !on_time_, "something is late, and the stream is open");
        }
        while (!seen_.pending.empty()) {
            end(below(seen_.pending.size()));
            check();
        }
        expect(!fsm_.armed(), "an idle stream has no wait");
    }

private:
    std::size_t close(std::int64_t t, error_code why) {
        fsm_.closed();
        return seen_.close(t, why);
    }

    std::size_t below(std::size_t n) { return random_() % n; }
    bool one_in(std::size_t n) { return below(n) == 0; }
    std::int64_t some_time(std::size_t n) { return static_cast<std::int64_t>(below(n)); }
    direction some_direction() {
        const auto n = below(9);
        return n < 4 ? direction::read : n < 8 ? direction::write : direction::connect;
    }

    void note(const std::string& what) { story_ += std::to_string(now_) + " " + what + "\n"; }
    void expect(bool holds, const char* what) {
        if (!holds) {
            BOOST_FAIL(what << ", after\n" << story_);
        }
    }
    void expect(const deadline_fsm::action& a, kind what, std::int64_t t = never) {
        expect(a.what == what && (t == never || a.at == at(t)), "the action is another one");
    }

    void step() {
        // Operations that are pending when a stream is closed end soon.
        if (seen_.closing() && !one_in(4)) {
            end(below(seen_.pending.size()));
            return;
        }
        switch (below(10)) {
        case 0:
            one_in(3) ? set_message() : set();
            break;
        case 1:
            one_in(8) ? set_try_late() : set_period();
            break;
        case 8:
            if (!graces_.empty() && one_in(2)) {
                set();
                check();
            }
            end_grace();
            break;
        case 9:
            block(some_direction());
            break;
        case 2:
        case 3:
            begin(some_direction());
            break;
        case 4:
            if (!seen_.pending.empty()) {
                end(below(seen_.pending.size()));
            }
            break;
        case 5:
            if (one_in(10)) {
                fail_wait();
            }
            break;
        default:
            pass(some_time(6));
        }
    }

    void set() {
        if (one_in(4)) {
            return set_lifetime();
        }
        const bool reads = one_in(2);
        const direction what = reads ? direction::read : direction::write;
        expect(seen_.has_none(what) == (reads ? fsm_.has_no_reads() : fsm_.has_no_writes()),
               "is anything pending?");
        const std::int64_t t = one_in(4) ? never : now_ + some_time(25);
        note((reads ? "reads until " : "writes until ") + std::to_string(t));
        change([&] {
            (reads ? reads_until_ : writes_until_) = t;
            for (operation& o : seen_.pending) {
                o.deadline = same_direction(o.what, what) ? t : o.deadline;
            }
            return fsm_.set(reads ? &stream_limits::read : &stream_limits::write, at(t));
        });
    }

    void set_lifetime() {
        const std::int64_t t = one_in(2) ? never : now_ + some_time(40);
        note("lives until " + std::to_string(t));
        change([&] {
            seen_.lifetime = t;
            return fsm_.set(&stream_limits::lifetime, at(t));
        });
    }

    void set_period() {
        switch (below(4)) {
        case 0:
            return change_period("writes idle after ", seen_.write_idle, &stream_limits::write_idle,
                                 1);
        case 1:
            return change_period("a rate in ", seen_.rate, &stream_limits::rate, 1 + below(80));
        default:
            return set_idle();
        }
    }

    void set_idle() {
        if (one_in(3) && seen_.idle.length != never) {
            const std::int64_t d = 1 + some_time(20);
            note("scaled to " + std::to_string(d));
            seen_.idle.length = d;
            const bool had_wait = current() != nullptr;
            const auto answer = fsm_.scale_idle(d * 1s);
            had_wait ? carry_out(answer) : expect(answer, kind::none);
            note_past();
            ++happened_["scaled"];
            return;
        }
        change_period("idle after ", seen_.idle, &stream_limits::idle, 1);
    }

    void change_period(const char* what, period& p,
                       asio_wheel::detail::progress_period stream_limits::* which,
                       std::size_t least) {
        const std::int64_t d = one_in(4) ? never : one_in(2) ? 10 : 1 + some_time(20);
        note(what + std::to_string(d) + ", bytes: " + std::to_string(least));
        change([&] {
            p.set(d, least);
            return d == never ? fsm_.set(which, deadline_fsm::no_period, least, no_time())
                              : fsm_.set(which, d * 1s, least, at(now_));
        });
    }

    // Deadlines are set by f(). A wait that this needs may be refused.
    template <class Function>
    void change(Function f) {
        const observer before = seen_;
        const std::int64_t reads = reads_until_;
        const std::int64_t writes = writes_until_;
        const auto options = fsm_.limits();
        const deadline_fsm::action answer = f();
        carry_out(answer);
        note_past();
        happened_["moved_pending"] += answer.what == kind::move ? 1 : 0;
        happened_["armed_pending"] += answer.what == kind::arm ? 1 : 0;
        if (answer.what == kind::arm && one_in(5)) {
            note("taken back");
            fsm_.take_back_setting(options);
            waits_.pop_back();
            seen_ = before;
            reads_until_ = reads;
            writes_until_ = writes;
            ++happened_["setting_taken_back"];
        }
    }

    // A deadline may be set to the past.
    void note_past() { set_to_past_ = seen_.first_end() <= now_ ? now_ : set_to_past_; }

    void set_message() {
        message_ = one_in(4) ? never : some_time(10);
        message_begun_ = false;
        note("message after " + std::to_string(message_));
        message_ == never ? fsm_.message_after(std::nullopt) : fsm_.message_after(message_ * 1s);
    }

    void set_try_late() {
        try_late_ = !try_late_;
        note(try_late_ ? "try late" : "do not try late");
        fsm_.try_late(try_late_);
    }

    // So much was read or written.
    void progress(direction what, std::size_t bytes) {
        const bool was_slow = seen_.rate.sum() != 0;
        if (bytes != 0) {
            seen_.transfer(what, bytes);
            message_begun_ = message_begun_ || (what == direction::read && message_ != never);
        }
        happened_["rate_met"] +=
            was_slow && seen_.rate.sum() == 0 && seen_.rate.length != never ? 1 : 0;
        if (message_begun_ && !seen_.any(direction::read)) {
            reads_until_ = now_ + std::exchange(message_, never);
            message_begun_ = false;
            ++happened_["messages"];
        }
    }

    [[nodiscard]] std::int64_t deadline_of(direction what) const {
        return std::min(what == direction::read ? reads_until_ : writes_until_, seen_.lifetime);
    }
    [[nodiscard]] bool has_period() const {
        return seen_.idle.length != never || seen_.write_idle.length != never ||
               seen_.rate.length != never;
    }
    // Whether operations that begin too late are tried.
    [[nodiscard]] bool tries_late() const { return try_late_ && seen_.lifetime > now_; }

    // An operation that blocks. It takes no time here, because no wait could arrive meanwhile.
    void block(direction what) {
        const std::int64_t deadline = deadline_of(what);
        note("block " + std::to_string(static_cast<int>(what)));
        const auto until = fsm_.block(what, fsm_.begin_needs_now(what) ? at(now_) : no_time());
        if (deadline <= now_ && !tries_late()) {
            expect(!until, "it was not too late");
            close(now_, error::timed_out);
            ++happened_["blocked_too_late"];
            return;
        }
        seen_.begin(what);
        const std::int64_t end = seen_.end_of(what, deadline);
        expect(until && *until == at(end), "it may block until another time");
        if (end <= now_ && one_in(2)) {
            const auto unsent = some_bytes();
            const auto further = fsm_.block_on(what, at(end), unsent, at(now_));
            if (deadline > now_) {
                seen_.look(unsent, what != direction::read || seen_.any(direction::write));
            }
            const std::int64_t later = seen_.end_of(what, deadline);
            if (later <= now_) {
                expect(!further, "it has not ended in time");
                close(now_, error::timed_out);
                ++happened_["blocked_too_long"];
                return;
            }
            expect(further && *further == at(later), "it may block until another time");
        }
        const std::size_t bytes = some_progress();
        note("with progress " + std::to_string(bytes));
        const bool needs_now = fsm_.end_needs_now(what, bytes);
        fsm_.block_ended(what, bytes, needs_now ? at(now_) : no_time());
        progress(what, bytes);
        ++happened_["blocked"];
    }

    // One of the graces ends.
    void end_grace() {
        if (graces_.empty()) {
            return;
        }
        const auto i = static_cast<std::ptrdiff_t>(below(graces_.size()));
        const grace g = graces_[static_cast<std::size_t>(i)];
        graces_.erase(graces_.begin() + i);
        note("grace " + std::to_string(g.number) + " ends");
        std::vector<operation*> spared;
        for (operation& o : seen_.pending) {
            if (o.spared && same_direction(o.what, g.what) && grace_of(g.what) == g.number) {
                spared.push_back(&o);
            }
        }
        auto answer = fsm_.grace_ended(g.what, g.number, at(now_));
        if (spared.empty()) {
            expect(answer, kind::none);
            ++happened_["past_graces"];
            return;
        }
        for (operation* const o : spared) {
            o->spared = false;
        }
        if (seen_.first_end() > now_) { // A later deadline was set meanwhile.
            carry_out(answer);
            ++happened_["spared_again"];
            return;
        }
        if (is_taken(answer)) {
            return;
        }
        expect(answer, kind::close);
        expect(close(now_, error::timed_out) != 0, "what had a grace has failed");
        ++happened_["graces"];
    }

    // The number of the last grace of a direction.
    std::uint64_t& grace_of(direction what) { return last_grace_[what == direction::read ? 0 : 1]; }

    void begin(direction what) {
        const std::int64_t deadline = deadline_of(what);
        note("begin " + std::to_string(static_cast<int>(what)));
        const bool needs_now = fsm_.begin_needs_now(what);
        expect(needs_now == (deadline != never || has_period()), "is time needed?");
        const bool empty = what != direction::connect && one_in(8);
        const auto answer = fsm_.begin(what, needs_now ? at(now_) : no_time(), empty);
        const bool first = !seen_.any(what);
        if (deadline <= now_ && (!tries_late() || (first && empty))) {
            expect(answer, kind::close);
            close(now_, error::timed_out);
            ++happened_["too_late"];
            return;
        }
        const bool has_grace = deadline <= now_ && first;
        happened_["rate_resumed"] += seen_.pending.empty() && seen_.rate.used != 0 ? 1 : 0;
        seen_.begin(what);
        const error_code fate = seen_.fate_of(what);
        happened_["joined"] += fate ? 1 : 0;
        const bool spared = has_grace || seen_.spares(what);
        const std::int64_t own = what == direction::read ? reads_until_ : writes_until_;
        seen_.pending.push_back({what, own, fate, false, seen_.closing(), spared});
        ++happened_["begun"];
        if (has_grace) {
            expect(answer, kind::grace);
            if (one_in(10)) {
                note("grace taken back");
                fsm_.take_back_grace(what);
                seen_.pending.pop_back();
                ++happened_["grace_taken_back"];
            }
            expect(grace_of(what) < fsm_.grace(), "each grace is another one");
            grace_of(what) = fsm_.grace();
            graces_.push_back({what, fsm_.grace()});
            return;
        }
        note_past(); // What a rate has left may be nothing.
        const bool had_wait = current() != nullptr;
        carry_out(answer);
        if (!had_wait && answer.what == kind::arm && one_in(10)) {
            note("taken back");
            fsm_.take_back(what);
            waits_.pop_back();
            seen_.pending.pop_back();
            ++happened_["taken_back"];
        }
    }

    void end(std::size_t i) {
        const operation o = seen_.pending[i];
        const std::size_t bytes = some_progress();
        note("end " + std::to_string(static_cast<int>(o.what)) + " with " + std::to_string(bytes));
        seen_.pending.erase(seen_.pending.begin() + static_cast<std::ptrdiff_t>(i));
        const bool needs_now = fsm_.end_needs_now(o.what, bytes);
        expect(!needs_now || bytes != 0 || message_begun_ || has_period(), "is time needed?");
        progress(o.what, bytes);
        const auto ending = fsm_.end(o.what, bytes, needs_now ? at(now_) : no_time());
        expect(ending.why == o.why, "it is told why");
        const bool lingers = current() != nullptr && seen_.first_end() == never;
        expect(ending.lingers == lingers, "does the wait linger?");
        ++happened_["ended"];
        if (!seen_.connecting() && one_in(2)) { // in its handler
            if (one_in(2)) {
                set();
            }
            begin(o.what);
        }
        if (lingers || one_in(8)) {
            settle();
        }
    }

    void settle() {
        note("settle");
        wait* const w = current();
        const bool withdraws = w != nullptr && seen_.first_end() == never;
        const auto answer = fsm_.settle();
        expect(answer, withdraws ? kind::withdraw : kind::none);
        if (withdraws) {
            ++happened_["withdrawn"];
            if (one_in(2)) {
                w->withdrawn = true; // It is queued already.
            } else {
                std::erase_if(waits_, [](const wait& x) { return !x.withdrawn; });
            }
        }
    }

    void pass(std::int64_t d) {
        while (on_time_ && !graces_.empty()) { // A grace takes no time.
            end_grace();
            check();
        }
        for (; d != 0; --d) {
            ++now_;
            seen_.second_passes();
            arrive();
        }
    }

    // Delivers the waits that have expired.
    void arrive() {
        for (std::size_t i = 0; i < waits_.size();) {
            const wait w = waits_[i];
            if (w.withdrawn ? one_in(4) : w.end <= now_ && (on_time_ || one_in(3))) {
                waits_.erase(waits_.begin() + static_cast<std::ptrdiff_t>(i));
                w.withdrawn ? arrive_in_vain(w) : arrive(w);
                check();
            } else {
                ++i;
            }
        }
    }

    void arrive_in_vain(const wait& w) {
        note("past turn " + std::to_string(w.turn));
        expect(one_in(2) ? fsm_.wait_ended(w.turn, at(now_))
                         : fsm_.wait_failed(w.turn, error::wheel_stopped),
               kind::none);
        ++happened_["past_turns"];
    }

    void arrive(const wait& w) {
        note("turn " + std::to_string(w.turn) + " ends");
        const std::int64_t first = seen_.first_end();
        const std::string_view why = first == seen_.lifetime               ? "lived_out"
                                     : first == seen_.idle.end(now_)       ? "idle"
                                     : first == seen_.write_idle.end(now_) ? "writes_idle"
                                     : first == seen_.rate.end(now_)       ? "slow"
                                                                           : "timed_out";
        auto answer = fsm_.wait_ended(w.turn, at(now_));
        if (first <= now_) {
            // A stream with punctual waits is closed exactly at the deadline.
            expect(!on_time_ || seen_.first_end_not_to_be_missed() >= now_ || set_to_past_ == now_,
                   "it is late");
            if (is_taken(answer)) {
                return;
            }
            expect(answer, kind::close);
            expect(close(now_, error::timed_out) != 0, "it is early");
            ++happened_[why];
            return;
        }
        happened_["rearmed"] += first != never ? 1 : 0;
        carry_out(answer);
        if (answer.what == kind::arm && one_in(10)) {
            note("refused");
            waits_.pop_back();
            expect(fsm_.wait_refused(error::too_many_pending), kind::close);
            close(never, error::too_many_pending);
            ++happened_["refused"];
        }
    }

    [[nodiscard]] std::optional<std::size_t> some_bytes() {
        return one_in(3) ? std::nullopt : std::optional(below(one_in(2) ? 5 : 200));
    }
    [[nodiscard]] std::size_t some_progress() { return one_in(2) ? 0 : 1 + below(40); }

    // If nothing but a period is over, the peer is asked. Whether it has taken bytes.
    bool is_taken(deadline_fsm::action& answer) {
        if (!seen_.is_only_idle()) {
            return false;
        }
        expect(answer, kind::ask);
        const auto unsent = some_bytes();
        note("asked: " + (unsent ? std::to_string(*unsent) : "unknown"));
        answer = fsm_.asked(unsent, at(now_));
        seen_.look(unsent, seen_.any(direction::write));
        if (seen_.first_end() <= now_) {
            return false;
        }
        carry_out(answer);
        ++happened_["taken"];
        return true;
    }

    // For example, the wheel is drained.
    void fail_wait() {
        if (const wait* const w = current()) {
            note("turn " + std::to_string(w->turn) + " fails");
            const bool any = seen_.first_end() != never;
            expect(fsm_.wait_failed(w->turn, error::wheel_stopped), any ? kind::close : kind::none);
            std::erase_if(waits_, [](const wait& x) { return !x.withdrawn; });
            if (any) {
                close(never, error::wheel_stopped);
                ++happened_["failed"];
            }
        }
    }

    // When an operation has begun or the wait has ended, the machine must change the wait as little
    // as possible.
    void carry_out(const deadline_fsm::action& answer) {
        const std::int64_t first = seen_.first_end();
        wait* const w = current();
        if (first == never || (w != nullptr && w->end <= first)) {
            expect(answer, kind::none);
        } else if (w == nullptr) {
            expect(answer, kind::arm, first);
            expect(waits_.empty() || waits_.back().turn < fsm_.turn(), "each turn is another one");
            waits_.push_back({fsm_.turn(), first});
            ++happened_["armed"];
        } else {
            expect(answer, kind::move, first);
            w->end = first;
            ++happened_["moved"];
        }
    }

    // The wait that was not withdrawn.
    wait* current() {
        const auto w = std::ranges::find(waits_, false, &wait::withdrawn);
        return w == waits_.end() ? nullptr : &*w;
    }

    void check() {
        using enum asio_wheel::detail::direction_phase;
        for (const direction what : {direction::read, direction::write}) {
            const auto phase = seen_.fate_of(what) ? failed : seen_.any(what) ? pending : unused;
            expect(fsm_.phase_of(what) == phase, "the phase is another one");
        }
        for (const operation& o : seen_.pending) {
            expect(o.why == seen_.fate_of(o.what), "those in one direction share their fate");
        }
        const wait* const w = current();
        expect(fsm_.armed() == (w != nullptr), "is there a wait?");
        expect(w == nullptr || (fsm_.turn() == w->turn && fsm_.wait_end() == at(w->end)),
               "it is another wait");
        const std::int64_t first = seen_.first_end_to_be_kept();
        expect(first == never || (w != nullptr && w->end <= first), "a deadline has no wait");
    }

    // A time for calls that need none.
    deadline_fsm::time_point no_time() {
        return one_in(2) ? deadline_fsm::time_point::min() : deadline_fsm::time_point::max();
    }

    std::mt19937_64 random_;
    const bool on_time_;
    counts& happened_;
    deadline_fsm fsm_{{}};
    observer seen_;
    std::vector<wait> waits_;
    std::int64_t now_ = 0;
    std::int64_t set_to_past_ = -1; // When that was done last.
    std::int64_t reads_until_ = never;
    std::int64_t writes_until_ = never;
    std::int64_t message_ = never;
    bool message_begun_ = false;
    bool try_late_ = false;
    std::vector<grace> graces_;
    std::array<std::uint64_t, 2> last_grace_{};
    std::string story_;
};

void run_episodes(bool on_time) {
    std::mt19937_64 random(asio_wheel::test::seed());
    counts c;
    for (int i = 0; i < 5'000; ++i) {
        episode(random(), on_time, c).run(100);
    }
    BOOST_TEST(c.size() == 32U);
    for (const auto& [event, times] : c) {
        BOOST_TEST(times > 200, event);
    }
}

} // namespace

BOOST_AUTO_TEST_SUITE(timeout_stream_deadline_model, *boost::unit_test::timeout(120))

BOOST_AUTO_TEST_CASE(a_stream_is_closed_exactly_when_an_observer_sees_a_deadline_pass) {
    run_episodes(true);
}

BOOST_AUTO_TEST_CASE(waits_that_arrive_late_close_nothing_early_and_forget_nothing) {
    run_episodes(false);
}

BOOST_AUTO_TEST_SUITE_END()
