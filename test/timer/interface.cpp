// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0
// unity: off

// The compile-time interface of the timers: members, types, conversions. Each check also applies to
// Asio's timers, with every version of Boost.

#include <asio_wheel/boottime_timer.hpp>
#include <asio_wheel/high_resolution_timer.hpp>
#include <asio_wheel/steady_timer.hpp>
#include <asio_wheel/system_timer.hpp>

#include "support/context.hpp"
#include "support/counting_allocator.hpp"
#include "support/names.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/bind_allocator.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/execution/context.hpp>
#include <boost/asio/execution_context.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/system_timer.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/test/unit_test.hpp>

#include <chrono>
#include <concepts>
#include <cstddef>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace {

using namespace asio_wheel::test;

using io_executor = asio::io_context::executor_type;
using strand = asio::strand<io_executor>;
using clock_type = std::chrono::steady_clock;

template <class Executor>
using wheel_timer =
    asio_wheel::basic_waitable_timer<clock_type, asio::wait_traits<clock_type>, Executor>;
template <class Executor>
using asio_timer = asio::basic_waitable_timer<clock_type, asio::wait_traits<clock_type>, Executor>;

// Without high_resolution_timer, which is the same type as one of the others.
using all_timers =
    std::tuple<asio_wheel::steady_timer, asio_wheel::system_timer, asio_wheel::boottime_timer,
               wheel_timer<io_executor>, wheel_timer<strand>,
               wheel_timer<asio::thread_pool::executor_type>, asio::steady_timer,
               asio::system_timer, asio_timer<io_executor>, asio_timer<strand>>;

template <class T, class... Arguments>
concept implicitly_constructible_from =
    requires(void (*f)(T), Arguments&&... a) { f({std::forward<Arguments>(a)...}); };

template <class T, class... Arguments>
concept only_explicitly_constructible_from =
    std::constructible_from<T, Arguments...> && !implicitly_constructible_from<T, Arguments...>;

template <class Timer, class... Token>
concept can_wait =
    requires(Timer& t, Token&&... token) { t.async_wait(std::forward<Token>(token)...); };

// Members for code from before C++11, which only some versions of Boost have.
template <class T>
concept cancels_with_code = requires(T& t, error_code& ec) {
    { t.cancel(ec) } -> std::same_as<std::size_t>;
    { t.cancel_one(ec) } -> std::same_as<std::size_t>;
};
template <class T>
concept gets_expires_at = requires(const T& t) {
    { t.expires_at() } -> std::same_as<typename T::time_point>;
};
template <class T>
concept sets_expiry_with_code =
    requires(T& t, typename T::time_point time, typename T::duration d, error_code& ec) {
        { t.expires_at(time, ec) } -> std::same_as<std::size_t>;
        { t.expires_from_now(d, ec) } -> std::same_as<std::size_t>;
    };
template <class T>
concept has_expires_from_now = requires(T& t, const T& constant, typename T::duration d) {
    { constant.expires_from_now() } -> std::same_as<typename T::duration>;
    { t.expires_from_now(d) } -> std::same_as<std::size_t>;
};

// Asio asks for no more of an executor.
class unassignable_executor {
public:
    explicit unassignable_executor(asio::io_context& ctx) : context_(ctx) {}

    template <class Function>
    void execute(Function&& function) const {
        asio::post(context_, std::forward<Function>(function));
    }
    [[nodiscard]] asio::execution_context& query(asio::execution::context_t) const noexcept {
        return context_;
    }
    friend bool operator==(const unassignable_executor& a,
                           const unassignable_executor& b) noexcept {
        return &a.context_ == &b.context_;
    }

private:
    asio::io_context& context_;
};
static_assert(!std::is_copy_assignable_v<unassignable_executor>);

struct final_traits final {
    static clock_type::duration to_wait_duration(const clock_type::duration& d) { return d; }
    static clock_type::duration to_wait_duration(const clock_type::time_point& t) {
        return t - clock_type::now();
    }
};

// A completion token that only inspects its arguments.
struct probe {};

struct probed {
    bool has_executor;
    asio::any_io_executor executor;
};

} // namespace

template <>
struct boost::asio::async_result<probe, void(error_code)> {
    using return_type = probed;
    template <class Initiation>
    static probed initiate(Initiation&& initiation, probe) {
        using executor = typename std::decay_t<Initiation>::executor_type;
        static_assert(std::same_as<decltype(initiation.get_executor()), const executor&>);
        static_assert(noexcept(initiation.get_executor()));
        return {true, asio::any_io_executor(initiation.get_executor())};
    }
};

BOOST_AUTO_TEST_SUITE(timer_interface)

BOOST_AUTO_TEST_CASE_TEMPLATE(a_timer_has_the_member_types_of_asios, T, all_timers) {
    using executor = typename T::executor_type;
    using clock = typename T::clock_type;
    static_assert(std::same_as<typename T::duration, typename clock::duration>);
    static_assert(std::same_as<typename T::time_point, typename clock::time_point>);
    static_assert(std::same_as<typename T::traits_type, asio::wait_traits<clock>>);
    using on_strand = typename T::template rebind_executor<strand>::other;
    static_assert(std::same_as<typename on_strand::executor_type, strand>);
    static_assert(std::same_as<typename on_strand::clock_type, clock>);
    static_assert(std::same_as<typename on_strand::traits_type, typename T::traits_type>);
    static_assert(std::same_as<typename on_strand::template rebind_executor<executor>::other, T>);
    BOOST_TEST(std::is_destructible_v<T>);
}

BOOST_AUTO_TEST_CASE(a_timers_defaults_are_those_of_asios) {
    using asio_wheel::basic_waitable_timer;
    static_assert(std::same_as<asio_wheel::steady_timer, basic_waitable_timer<clock_type>>);
    static_assert(
        std::same_as<asio_wheel::system_timer, basic_waitable_timer<std::chrono::system_clock>>);
    static_assert(std::same_as<asio_wheel::high_resolution_timer,
                               basic_waitable_timer<std::chrono::high_resolution_clock>>);
    static_assert(std::same_as<asio_wheel::steady_timer, wheel_timer<asio::any_io_executor>>);
    static_assert(std::same_as<asio::steady_timer, asio_timer<asio::any_io_executor>>);
    BOOST_TEST((std::same_as<asio_wheel::steady_timer::executor_type, asio::any_io_executor>));
}

BOOST_AUTO_TEST_CASE_TEMPLATE(a_timer_is_constructed_as_asios, T, all_timers) {
    using executor = typename T::executor_type;
    using context = std::conditional_t<std::same_as<executor, asio::thread_pool::executor_type>,
                                       asio::thread_pool, asio::io_context>;
    using time_point = typename T::time_point;
    using duration = typename T::duration;
    static_assert(only_explicitly_constructible_from<T, const executor&>);
    static_assert(implicitly_constructible_from<T, const executor&, const time_point&>);
    static_assert(implicitly_constructible_from<T, const executor&, const duration&>);
    if constexpr (!std::same_as<executor, strand>) {
        static_assert(only_explicitly_constructible_from<T, context&>);
        static_assert(only_explicitly_constructible_from<T, context&, const time_point&>);
        static_assert(only_explicitly_constructible_from<T, context&, const duration&>);
    }
    static_assert(!std::default_initializable<T>);
    static_assert(!std::constructible_from<T, const context&>);
    static_assert(!std::constructible_from<T, std::string&>);
    static_assert(!std::constructible_from<T, std::string&, const duration&>);
    static_assert(!std::copy_constructible<T>);
    static_assert(!std::is_assignable_v<T&, const T&>);
    static_assert(std::move_constructible<T>);
    static_assert(std::is_assignable_v<T&, T>);
    static_assert(!std::is_nothrow_move_constructible_v<T>);
    static_assert(!std::is_nothrow_move_assignable_v<T>);
    static_assert(std::is_nothrow_destructible_v<T>);
    BOOST_TEST(!std::is_polymorphic_v<T>);
}

BOOST_AUTO_TEST_CASE_TEMPLATE(a_timer_converts_if_its_executor_does, T, all_timers) {
    using to_any = typename T::template rebind_executor<asio::any_io_executor>::other;
    using to_io = typename T::template rebind_executor<io_executor>::other;
    static_assert(std::convertible_to<T, to_any>);
    static_assert(std::is_assignable_v<to_any&, T>);
    static_assert(!std::constructible_from<to_any, const T&>);
    static_assert(std::convertible_to<typename T::executor_type, io_executor> ==
                  std::constructible_from<to_io, T>);
    BOOST_TEST((std::convertible_to<typename T::executor_type, io_executor> ==
                std::is_assignable_v<to_io&, T>));
}

BOOST_AUTO_TEST_CASE_TEMPLATE(a_timers_members_are_those_of_asios, T, all_timers) {
    using time_point = typename T::time_point;
    using duration = typename T::duration;
    static_assert(requires(T& t, const T& constant, const time_point& time, const duration& d,
                           error_code& ec) {
        { t.get_executor() } noexcept -> std::same_as<const typename T::executor_type&>;
        { t.cancel() } -> std::same_as<std::size_t>;
        { t.cancel_one() } -> std::same_as<std::size_t>;
        { constant.expiry() } -> std::same_as<time_point>;
        { t.expires_at(time) } -> std::same_as<std::size_t>;
        { t.expires_after(d) } -> std::same_as<std::size_t>;
        { t.wait() } -> std::same_as<void>;
        { t.wait(ec) } -> std::same_as<void>;
    });
    static_assert(!requires(const T& t) { t.get_executor(); });
    BOOST_TEST((can_wait<T, void (*)(error_code)>));
}

template <class Wheel, class Asio>
constexpr bool have_the_same_deprecated_members =
    cancels_with_code<Wheel> == cancels_with_code<Asio> &&
    gets_expires_at<Wheel> == gets_expires_at<Asio> &&
    sets_expiry_with_code<Wheel> == sets_expiry_with_code<Asio> &&
    has_expires_from_now<Wheel> == has_expires_from_now<Asio>;

BOOST_AUTO_TEST_CASE(a_timer_has_deprecated_members_where_asios_has_them) {
    BOOST_TEST((have_the_same_deprecated_members<asio_wheel::steady_timer, asio::steady_timer>));
    BOOST_TEST((have_the_same_deprecated_members<asio_wheel::system_timer, asio::system_timer>));
    BOOST_TEST((have_the_same_deprecated_members<wheel_timer<strand>, asio_timer<strand>>));
}

BOOST_AUTO_TEST_CASE_TEMPLATE(deprecated_members_do_what_the_others_do, World, worlds) {
    using T = typename World::timer;
    World world;
    T t(world.ctx, typename T::time_point(1h));
    if constexpr (gets_expires_at<T>) {
        BOOST_TEST((t.expires_at() == t.expiry()));
    }
    journal log;
    const error_code other = asio::error::eof;
    const auto wait = [&] {
        t.async_wait(log.note(1));
        t.async_wait(log.note(2));
    };
    t.expires_after(1h);
    if constexpr (cancels_with_code<T>) {
        error_code ec = other;
        wait();
        BOOST_TEST(t.cancel_one(ec) == 1U);
        BOOST_TEST(ec == success);
        ec = other;
        BOOST_TEST(t.cancel(ec) == 1U);
        BOOST_TEST(ec == success);
        BOOST_TEST(world.log_now(log) == "1! 2!");
    }
    if constexpr (sets_expiry_with_code<T>) {
        error_code ec = other;
        wait();
        BOOST_TEST(t.expires_at(typename T::time_point(2h), ec) == 2U);
        BOOST_TEST(ec == success);
        BOOST_TEST((t.expiry() == typename T::time_point(2h)));
        ec = other;
        BOOST_TEST(t.expires_from_now(2h, ec) == 0U);
        BOOST_TEST(ec == success);
        BOOST_TEST((t.expiry() > world.now() + 1h));
        BOOST_TEST(world.log_now(log) == "1! 2!");
    }
    if constexpr (has_expires_from_now<T>) {
        t.expires_from_now(3h);
        wait();
        BOOST_TEST((t.expires_from_now() > 2h));
        BOOST_TEST((t.expires_from_now() <= 3h));
        BOOST_TEST(t.expires_from_now(-3h) == 2U);
        BOOST_TEST((t.expires_from_now() <= -3h));
        BOOST_TEST(world.log_now(log) == "1! 2!");
    }
    BOOST_TEST(t.cancel() == 0U);
}

BOOST_AUTO_TEST_CASE_TEMPLATE(what_is_no_token_is_no_argument_of_async_wait, T, all_timers) {
    static_assert(can_wait<T, asio::deferred_t>);
    static_assert(can_wait<T, const asio::use_awaitable_t<>&>);
    static_assert(!can_wait<T, std::string>);
    static_assert(!can_wait<T, void (*)(std::string)>);
    static_assert(!can_wait<T, void (*)(error_code), int>);
    BOOST_TEST(!(can_wait<T, int>));
}

BOOST_AUTO_TEST_CASE(a_timer_has_a_default_token_where_asios_has_one) {
    BOOST_TEST(can_wait<asio_wheel::steady_timer> == can_wait<asio::steady_timer>);
    BOOST_TEST(can_wait<wheel_timer<strand>> == can_wait<asio_timer<strand>>);
    using awaitable = asio::use_awaitable_t<>;
    BOOST_TEST(can_wait<awaitable::as_default_on_t<asio_wheel::steady_timer>>);
    BOOST_TEST(can_wait<awaitable::as_default_on_t<asio::steady_timer>>);
}

BOOST_AUTO_TEST_CASE_TEMPLATE(a_token_can_be_made_a_timers_default, World, worlds) {
    using T = typename World::timer;
    World world;
    journal log;
    T plain(world.ctx, -1h);
    const auto expiry = plain.expiry();
    auto t = asio::deferred.as_default_on(std::move(plain));
    static_assert(std::same_as<decltype(t), asio::deferred_t::as_default_on_t<T>>);
    BOOST_TEST((t.expiry() == expiry));
    auto wait = t.async_wait();
    std::move(wait)(log.note("expired"));
    BOOST_TEST(world.log_now(log) == "expired");
}

BOOST_AUTO_TEST_CASE_TEMPLATE(an_initiation_knows_the_timers_executor, World, worlds) {
    using T = typename World::timer;
    World world;
    T t(world.ctx);
    const probed seen = t.async_wait(probe());
    BOOST_TEST(seen.has_executor);
    BOOST_TEST((seen.executor == asio::any_io_executor(world.ctx.get_executor())));
    BOOST_TEST(t.cancel() == 0U);
}

BOOST_AUTO_TEST_CASE_TEMPLATE(constructors_set_executor_and_expiry, World, worlds) {
    using T = typename World::timer;
    using time_point = typename T::time_point;
    World world;
    const asio::any_io_executor ex = asio::make_strand(world.ctx);
    const auto before = world.now();
    T by_executor(ex), by_context(world.ctx);
    T at(ex, time_point(7h)), at_too(world.ctx, time_point(-7h));
    T after(ex, 1h), after_too(world.ctx, 1h);
    const auto later = world.now();
    BOOST_TEST((by_executor.expiry() == time_point()));
    BOOST_TEST((by_context.expiry() == time_point()));
    BOOST_TEST((at.expiry() == time_point(7h)));
    BOOST_TEST((at_too.expiry() == time_point(-7h)));
    for (const T* t : {&after, &after_too}) {
        BOOST_TEST((t->expiry() >= before + 1h));
        BOOST_TEST((t->expiry() <= later + 1h));
    }
    for (T* t : {&by_executor, &at, &after}) {
        BOOST_TEST((t->get_executor() == ex));
    }
    for (T* t : {&by_context, &at_too, &after_too}) {
        BOOST_TEST((t->get_executor() == asio::any_io_executor(world.ctx.get_executor())));
    }
}

BOOST_AUTO_TEST_CASE_TEMPLATE(a_moved_timer_takes_its_waits_along_and_leaves_a_new_one, World,
                              worlds) {
    using T = typename World::timer;
    World world;
    journal log;
    const asio::any_io_executor ex = asio::make_strand(world.ctx);
    T source(ex, 1h);
    const auto expiry = source.expiry();
    source.async_wait(log.note(1));
    T target(std::move(source));
    BOOST_TEST((target.expiry() == expiry));
    BOOST_TEST((target.get_executor() == ex));
    BOOST_TEST((source.expiry() == typename T::time_point()));
    BOOST_TEST((source.get_executor() == ex));
    BOOST_TEST(source.cancel() == 0U);
    BOOST_TEST(world.log_now(log) == "");
    source.async_wait(log.note(2));
    BOOST_TEST(world.log_now(log) == "2");
    BOOST_TEST(target.cancel() == 1U);
    BOOST_TEST(world.log_now(log) == "1!");
}

BOOST_AUTO_TEST_CASE_TEMPLATE(move_assignment_aborts_what_the_target_waited_for, World, worlds) {
    using T = typename World::timer;
    World world;
    journal log;
    const asio::any_io_executor ex = asio::make_strand(world.ctx);
    T source(ex, 2h), target(world.ctx, 1h);
    const auto expiry = source.expiry();
    source.async_wait(log.note(1));
    target.async_wait(log.note(2));
    target.async_wait(log.note(3));
    target = std::move(source);
    BOOST_TEST(world.log_now(log) == "2! 3!");
    BOOST_TEST((target.expiry() == expiry));
    BOOST_TEST((target.get_executor() == ex));
    BOOST_TEST(source.cancel() == 0U);
    T& self = target;
    target = std::move(self);
    BOOST_TEST((target.expiry() == expiry));
    BOOST_TEST(world.log_now(log) == "");
    BOOST_TEST(target.cancel() == 1U);
    BOOST_TEST(world.log_now(log) == "1!");
}

BOOST_AUTO_TEST_CASE_TEMPLATE(a_timer_can_be_assigned_though_its_executor_can_not, Timer, timers) {
    using timer = typename Timer::template rebind_executor<unassignable_executor>::other;
    drained_context world;
    drained_context another;
    timer source{unassignable_executor(another.ctx)};
    timer target{unassignable_executor(world.ctx)};
    target.async_wait(world.log.note(0));
    source.async_wait(another.log.note(1));
    target = std::move(source);
    BOOST_TEST((target.get_executor() == unassignable_executor(another.ctx)));
    BOOST_TEST(world.log_now() == "0!");
    BOOST_TEST(another.log_now() == "1");
}

BOOST_AUTO_TEST_CASE(the_traits_of_a_timer_may_be_final) {
    const auto check = []<class Timer>(std::type_identity<Timer>) {
        drained_context world;
        Timer t(world.ctx);
        t.async_wait(world.log.note(0));
        BOOST_TEST(world.log_now() == "0");
    };
    check(std::type_identity<asio::basic_waitable_timer<clock_type, final_traits>>());
    check(std::type_identity<asio_wheel::basic_waitable_timer<clock_type, final_traits>>());
}

// Upper bounds, with room for other standard libraries. The sizes are printed.
BOOST_AUTO_TEST_CASE(a_timer_and_a_wait_are_about_as_large_as_asios) {
    virtual_time world;
    const auto size_of_wait = [&world](auto& t) {
        allocations count;
        const void* const eight_bytes = &world;
        t.expires_after(1h);
        t.async_wait(asio::bind_allocator(counting_allocator<>(count),
                                          [eight_bytes](error_code) { return eight_bytes; }));
        const std::size_t size = count.live_bytes;
        t.cancel();
        world.poll();
        return size;
    };
    asio::steady_timer theirs(world.ctx);
    timer ours(world.ctx);
    asio_timer<io_executor> theirs_on_io(world.ctx);
    wheel_timer<io_executor> ours_on_io(world.ctx);
    const std::size_t their_wait = size_of_wait(theirs), our_wait = size_of_wait(ours);
    const std::size_t their_wait_on_io = size_of_wait(theirs_on_io);
    const std::size_t our_wait_on_io = size_of_wait(ours_on_io);
    BOOST_TEST_MESSAGE("steady_timer " << sizeof ours << " bytes (Asio " << sizeof theirs
                                       << "), a wait " << our_wait << " (" << their_wait
                                       << "); on io_context's executor " << sizeof ours_on_io
                                       << " (" << sizeof theirs_on_io << ") and " << our_wait_on_io
                                       << " (" << their_wait_on_io << ")");
    BOOST_TEST(sizeof ours + our_wait <= sizeof theirs + their_wait);
    if (!asio_wheel::detail::context_queue::is_public) { // A wait has more memory there.
        BOOST_TEST(our_wait_on_io <= 1.5 * static_cast<double>(their_wait_on_io));
    }
    BOOST_TEST(sizeof ours_on_io <= 1.5 * sizeof theirs_on_io);
}

BOOST_AUTO_TEST_SUITE_END()
