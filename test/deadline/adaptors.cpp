// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// A deadline gets through adaptors of handlers and through composed operations: Asio's and those of
// the library. What does not let it through is here, too; the executor always gets through.

#include <asio_wheel/cancel_after.hpp>
#include <asio_wheel/deadline.hpp>
#include <asio_wheel/handler_group.hpp>
#include <asio_wheel/sleep.hpp>
#include <asio_wheel/steady_timer.hpp>
#include <asio_wheel/tag.hpp>
#include <asio_wheel/timeout.hpp>
#include <asio_wheel/timeout_stream.hpp>

#include "support/asking_operation.hpp"
#include "support/context.hpp"
#include "support/names.hpp"

#include <boost/asio/any_completion_handler.hpp>
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/append.hpp>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/bind_allocator.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/buffered_read_stream.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/compose.hpp>
#include <boost/asio/consign.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/experimental/co_composed.hpp>
#include <boost/asio/experimental/parallel_group.hpp>
#include <boost/asio/prepend.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/write.hpp>
#include <boost/test/unit_test.hpp>
#if __has_include(<boost/asio/bind_immediate_executor.hpp>)
#include <boost/asio/bind_immediate_executor.hpp>
#endif
#if __has_include(<boost/asio/cancel_after.hpp>)
#include <boost/asio/cancel_after.hpp>
#endif

#include <array>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace asio_wheel::test;
using asio_wheel::cancel_after;
using asio_wheel::tag;
using asio_wheel::timeout;
using asio_wheel::with_deadline;
using std::chrono::nanoseconds;
namespace experimental = asio::experimental;

constexpr nanoseconds none = nanoseconds::max();
constexpr auto ignore_all = [](auto&&...) {};

struct fixture : virtual_time {
    // What a handler made of `token` has left, without its executor.
    template <class Token>
    nanoseconds left(Token&& token) {
        asked answer;
        async_ask(ctx.get_executor(), answer, std::forward<Token>(token));
        poll();
        return answer.property;
    }
};

// A stream that ends at once. Each of its operations asks.
struct asking_layer {
    using executor_type = asio::any_io_executor;
    using lowest_layer_type = asking_layer;

    asking_layer(executor_type e, asked& a) : ex(std::move(e)), answer(&a) {}

    [[nodiscard]] const executor_type& get_executor() const { return ex; }
    void close(error_code&) {}
    [[nodiscard]] asking_layer& lowest_layer() { return *this; }

    template <class Buffers, class Token>
    auto async_read_some(const Buffers&, Token&& token) {
        return async_ask(ex, *answer, asio::append(std::forward<Token>(token), std::size_t(1)));
    }
    template <class Buffers, class Token>
    auto async_write_some(const Buffers&, Token&& token) {
        return async_ask(ex, *answer, asio::append(std::forward<Token>(token), std::size_t(1)));
    }

    executor_type ex;
    asked* answer;
};

struct layers : fixture {
    asked answer;
    std::array<char, 1> memory{};

    [[nodiscard]] nanoseconds take() {
        poll();
        return std::exchange(answer, {}).property;
    }
};

} // namespace

BOOST_AUTO_TEST_SUITE(deadline_adaptors)

BOOST_FIXTURE_TEST_CASE(an_adaptor_round_a_deadline_lets_it_through, fixture) {
    const auto limited = [](auto handler) { return cancel_after(5s, std::move(handler)); };
    const auto strand = asio::make_strand(ctx);
    asio::cancellation_signal signal;
    error_code ec;
    BOOST_TEST((left(asio::append(limited(ignore_all), 1)) == 5s));
    BOOST_TEST((left(asio::prepend(limited(ignore_all), 1)) == 5s));
    BOOST_TEST((left(asio::consign(limited(ignore), 1)) == 5s));
    BOOST_TEST((left(asio::redirect_error(limited([] {}), ec)) == 5s));
    BOOST_TEST((left(asio::as_tuple(limited(ignore_all))) == 5s));
    BOOST_TEST((left(asio::bind_executor(strand, limited(ignore))) == 5s));
    BOOST_TEST((left(asio::bind_allocator(std::allocator<void>(), limited(ignore))) == 5s));
    BOOST_TEST((left(asio::bind_cancellation_slot(signal.slot(), limited(ignore))) == 5s));
#if __has_include(<boost/asio/bind_immediate_executor.hpp>)
    BOOST_TEST((left(asio::bind_immediate_executor(strand, limited(ignore))) == 5s));
#endif
#if __has_include(<boost/asio/cancel_after.hpp>)
    BOOST_TEST((left(asio::cancel_after(1h, limited(ignore))) == 5s));
#endif
    asio_wheel::handler_group group;
    BOOST_TEST((left(tag("tagged", limited(ignore))) == 5s));
    BOOST_TEST((left(group(limited(ignore))) == 5s));
    BOOST_TEST((left(timeout(1h, limited(ignore))) == 5s));
    BOOST_TEST(
        (left(asio::append(asio::bind_executor(strand, tag("x", limited(ignore_all))), 1)) == 5s));
}

BOOST_FIXTURE_TEST_CASE(a_deadline_round_adaptors_finds_the_earlier_one_below_them, fixture) {
    const auto strand = asio::make_strand(ctx);
    asio_wheel::handler_group group;
    BOOST_TEST((left(timeout(5s, asio::append(timeout(2s, ignore_all), 1))) == 2s));
    BOOST_TEST((left(timeout(5s, asio::as_tuple(cancel_after(2s, ignore_all)))) == 2s));
    BOOST_TEST((left(timeout(5s, asio::bind_executor(strand, timeout(2s, ignore)))) == 2s));
    BOOST_TEST((left(timeout(5s, group(tag("x", timeout(2s, ignore))))) == 2s));
    BOOST_TEST((left(timeout(1s, asio::consign(timeout(2s, ignore), 1))) == 1s));
}

BOOST_FIXTURE_TEST_CASE(chains_of_deferred_operations_let_it_through, fixture) {
    asked first;
    asked second;
    auto chain = async_ask(ctx.get_executor(), first, asio::deferred([&](error_code) {
                               return async_ask(ctx.get_executor(), second, asio::deferred);
                           }));
    std::move(chain)(timeout(5s, asio::bind_executor(ctx, ignore)));
    BOOST_TEST((first.property == 5s));
    poll();
    BOOST_TEST((second.property == 5s));
    async_ask(ctx.get_executor(), first, asio::deferred([](error_code ec) {
                  return asio::deferred.values(ec);
              }))(timeout(4s, asio::bind_executor(ctx, ignore)));
    BOOST_TEST((first.property == 4s));
    poll();
}

BOOST_FIXTURE_TEST_CASE(a_composed_operation_knows_it_in_each_step, fixture) {
    std::vector<nanoseconds> seen;
    asked inner;
    timer t(ctx);
    const auto composed = [&](auto&& token) {
        return asio::async_compose<decltype(token), void(error_code)>(
            [&, step = 0](auto& self, error_code ec = {}) mutable {
                seen.push_back(asio_wheel::remaining_time(self));
                switch (step++) {
                case 0:
                    t.expires_after(2s);
                    return t.async_wait(std::move(self));
                case 1:
                    return async_ask(ctx.get_executor(), inner, std::move(self));
                default:
                    return self.complete(ec);
                }
            },
            token, ctx);
    };
    composed(timeout(5s, ignore));
    pass(2s);
    BOOST_TEST_REQUIRE(seen.size() == 3U);
    BOOST_TEST((seen[0] == 5s));
    BOOST_TEST((seen[1] == 3s));
    BOOST_TEST((seen[2] == 3s));
    BOOST_TEST((inner.property == 3s));
}

BOOST_FIXTURE_TEST_CASE(an_operation_composed_as_a_coroutine_passes_it_on, fixture) {
    asked first;
    asked second;
    const auto composed = [&](auto token) {
        return asio::async_initiate<decltype(token), void(error_code)>(
            experimental::co_composed<void(error_code)>(
                [](auto, asio::io_context& c, asked& a, asked& b) -> void {
                    co_await async_ask(c.get_executor(), a, asio::deferred);
                    co_await asio_wheel::async_sleep_for(c, 2s, asio::deferred);
                    co_await async_ask(c.get_executor(), b, asio::deferred);
                    co_return {error_code()};
                },
                ctx),
            token, std::ref(ctx), std::ref(first), std::ref(second));
    };
    composed(timeout(5s, ignore));
    poll();
    pass(2s);
    BOOST_TEST((first.property == 5s));
    BOOST_TEST((second.property == 3s));
}

BOOST_FIXTURE_TEST_CASE(operations_of_several_reads_and_writes_let_it_through, layers) {
    asking_layer layer(ctx.get_executor(), answer);
    std::string text;
    asio::async_read(layer, asio::buffer(memory), timeout(5s, ignore_all));
    BOOST_TEST((take() == 5s));
    asio::async_write(layer, asio::buffer(memory), timeout(5s, ignore_all));
    BOOST_TEST((take() == 5s));
    asio::async_read_until(layer, asio::dynamic_buffer(text, 1), '\n', timeout(5s, ignore_all));
    BOOST_TEST((take() == 5s));
    asio::buffered_read_stream<asking_layer&> buffered(layer);
    buffered.async_read_some(asio::buffer(memory), timeout(5s, ignore_all));
    BOOST_TEST((take() == 5s));
}

BOOST_FIXTURE_TEST_CASE(a_stream_with_deadlines_lets_it_through, layers) {
    asio_wheel::timeout_stream<asking_layer> stream(asio::any_io_executor(ctx.get_executor()),
                                                    answer);
    stream.expires_after(1h);
    stream.async_read_some(asio::buffer(memory), timeout(5s, ignore_all));
    BOOST_TEST((take() == 5s));
    asio::async_write(stream, asio::buffer(memory), tag("written", timeout(5s, ignore_all)));
    BOOST_TEST((take() == 5s));
}

// What does not let it through.

BOOST_FIXTURE_TEST_CASE(a_type_erased_handler_has_the_deadline_of_its_executor_alone, fixture) {
    using handler = asio::any_completion_handler<void(error_code)>;
    nanoseconds left{};
    const auto erase = [&](auto token) {
        asio::async_initiate<decltype(token), void(error_code)>(
            [&](auto concrete) {
                const handler erased(std::move(concrete));
                left = asio_wheel::remaining_time(erased);
            },
            token);
    };
    erase(asio::bind_executor(with_deadline(ctx, 4s), ignore));
    BOOST_TEST((left == 4s));
    erase(timeout(2s, asio::bind_executor(with_deadline(ctx, 4s), ignore)));
    BOOST_TEST((left == 4s));
    erase(timeout(2s, asio::bind_executor(ctx, ignore)));
    BOOST_TEST((left == none));
}

BOOST_FIXTURE_TEST_CASE(a_member_of_a_parallel_group_has_the_deadline_of_its_executor_alone,
                        fixture) {
    const auto ask_both = [this](const asio::any_io_executor& ex, auto&& token) {
        std::array<asked, 2> answers;
        timer t(ex, 1s);
        experimental::make_parallel_group(
            asio::bind_executor(ex, async_ask(ex, answers[0], asio::deferred)),
            t.async_wait(asio::deferred))
            .async_wait(experimental::wait_for_all(), std::forward<decltype(token)>(token));
        pass(1s);
        return answers[0].handler;
    };
    const auto handler = asio::bind_executor(ctx, ignore_all);
    BOOST_TEST((ask_both(ctx.get_executor(), cancel_after(5s, handler)) == none));
    BOOST_TEST((ask_both(with_deadline(ctx, 4s), cancel_after(5s, handler)) == 4s));
}

BOOST_AUTO_TEST_SUITE_END()
