// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0
// pch: off

// The output of BOOST_ASIO_ENABLE_HANDLER_TRACKING for a wait is the same as for a wait on Asio's
// timers. (A build of all tests checks everything else with tracking.)

#define BOOST_ASIO_ENABLE_HANDLER_TRACKING 1

#include <asio_wheel/steady_timer.hpp>

#include "support/context.hpp"
#include "support/names.hpp"

#include <boost/asio/bind_executor.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <boost/test/unit_test.hpp>

#if defined(BOOST_ASIO_CUSTOM_HANDLER_TRACKING) || !__has_include(<unistd.h>)

BOOST_AUTO_TEST_CASE(the_standard_handler_tracking_is_replaced) {
    BOOST_TEST_MESSAGE("not tested: what custom handler tracking sees");
    BOOST_TEST(true);
}

#else

#include <unistd.h>

#include <chrono>
#include <cstddef>
#include <cstdio>
#include <map>
#include <new>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace asio_wheel::test;

using lines = std::vector<std::string>;

const auto per_element = boost::test_tools::per_element();

/// Returns the lines that are written to stderr while `function` runs.
template <class Function>
lines printed_by(Function function) {
    std::FILE* const file = std::tmpfile();
    BOOST_TEST_REQUIRE(file != nullptr);
    std::fflush(stderr);
    const int saved = ::dup(STDERR_FILENO);
    ::dup2(::fileno(file), STDERR_FILENO);
    function();
    std::fflush(stderr);
    ::dup2(saved, STDERR_FILENO);
    ::close(saved);
    std::rewind(file);
    lines result(1);
    for (int c = std::fgetc(file); c != EOF; c = std::fgetc(file)) {
        if (c == '\n') {
            result.emplace_back();
        } else {
            result.back() += static_cast<char>(c);
        }
    }
    std::fclose(file);
    return result;
}

/// From lines such as "@asio|1700000000.123456|0*7|deadline_timer@0x7ffc7c66b9d0.async_wait",
/// returns those about the timer that is named first and about its waits, without the timer's name
/// and with waits numbered from 1. The wheel's own timer and handlers are left out.
lines about_the_first_timer(const lines& all) {
    std::string timer;
    std::map<std::string, std::string> numbers;
    lines result;
    for (const std::string& line : all) {
        const auto time = line.find('|');
        const auto action = line.find('|', time + 1) + 1;
        if (!line.starts_with("@asio|") || action == 0) {
            continue;
        }
        const auto detail = line.find('|', action) + 1;
        const std::string what = line.substr(action, detail - action - 1);
        const std::string rest = line.substr(detail);
        if (rest.starts_with("deadline_timer@")) {
            const std::string object = rest.substr(0, rest.find('.'));
            const std::string operation = rest.substr(object.size() + 1);
            timer = timer.empty() ? object : timer;
            if (object != timer) {
                continue;
            }
            if (const auto star = what.find('*'); star != std::string::npos) {
                const std::string number = std::to_string(numbers.size() + 1);
                numbers[what.substr(star + 1)] = number;
                result.push_back("*" + number + " " + operation);
            } else {
                result.push_back(operation);
            }
        } else if (what[0] == '>' || what[0] == '<' || what[0] == '~' || what[0] == '!') {
            if (const auto known = numbers.find(what.substr(1)); known != numbers.end()) {
                result.push_back(what.substr(0, 1) + known->second +
                                 (rest.empty() ? "" : " " + rest));
            }
        }
    }
    return result;
}

template <class Function>
lines story_of(Function function) {
    return about_the_first_timer(printed_by(function));
}

// How Asio tracks that the wait with this number was called because it was cancelled. The error of
// standalone Asio has a category of its own.
std::string aborted_call(int number) {
    const error_code ec = asio::error::operation_aborted;
    return ">" + std::to_string(number) + " ec=" + ec.category().name() + ":" +
           std::to_string(ec.value());
}

lines without(const std::string& line, lines all) {
    std::erase(all, line);
    return all;
}

} // namespace

BOOST_AUTO_TEST_SUITE(handler_tracking)

BOOST_AUTO_TEST_CASE_TEMPLATE(a_waits_creation_call_and_return_are_tracked, T, timers) {
    const lines seen = story_of([] {
        asio::io_context ctx;
        T t(ctx);
        t.async_wait(ignore);
        ctx.run();
        t.expires_after(1ms); // real time
        t.async_wait(ignore);
        ctx.restart();
        ctx.run();
    });
    const lines created_and_called{"*1 async_wait", ">1 ec=system:0", "<1",
                                   "*2 async_wait", ">2 ec=system:0", "<2"};
    // Asio prints "cancel" for any timer that has had a wait.
    BOOST_TEST(without("cancel", seen) == created_and_called, per_element);
}

BOOST_AUTO_TEST_CASE_TEMPLATE(cancel_and_cancel_one_are_tracked, T, timers) {
    const lines expected{"*1 async_wait",
                         "*2 async_wait",
                         "*3 async_wait",
                         "cancel_one",
                         "cancel",
                         aborted_call(1),
                         "<1",
                         aborted_call(2),
                         "<2",
                         aborted_call(3),
                         "<3"};
    lines seen = story_of([] {
        asio::io_context ctx;
        T t(ctx, 1h);
        for (int i = 0; i < 3; ++i) {
            t.async_wait(ignore);
        }
        t.cancel_one();
        t.cancel();
        ctx.run();
    });
    BOOST_TEST_REQUIRE(seen.size() >= expected.size());
    seen.resize(expected.size()); // Later lines may track the timer's end.
    BOOST_TEST(seen == expected, per_element);
}

BOOST_AUTO_TEST_CASE_TEMPLATE(what_else_cancels_is_tracked_as_cancel, T, timers) {
    const lines expected{"*1 async_wait", "cancel", "*2 async_wait", "cancel",
                         "*3 async_wait", "cancel", aborted_call(1), "<1",
                         aborted_call(2), "<2",     aborted_call(3), "<3"};
    const lines seen = story_of([] {
        asio::io_context ctx;
        std::optional<T> t(std::in_place, ctx, 1h);
        t->async_wait(ignore);
        t->expires_after(2h);
        t->async_wait(ignore);
        t->expires_at(T::time_point::max());
        t->async_wait(ignore);
        t.reset();
        ctx.run();
    });
    BOOST_TEST(seen == expected, per_element);
}

BOOST_AUTO_TEST_CASE_TEMPLATE(a_wait_that_is_destroyed_uncalled_is_tracked, T, timers) {
    const lines expected{"*1 async_wait", "*2 async_wait", "*3 async_wait", "~1", "~2", "~3"};
    const lines seen = story_of([] {
        asio::io_context ctx;
        T t(ctx, 1h);
        t.async_wait(ignore);
        t.async_wait(asio::bind_executor(asio::make_strand(ctx), ignore));
        t.async_wait(ignore);
    });
    BOOST_TEST(without("cancel", seen) == expected, per_element);
    // The context is destroyed first. (With Asio's timer, destroying it afterwards would be an
    // error.)
    const lines context_first = story_of([] {
        alignas(T) std::byte memory[sizeof(T)];
        asio::io_context ctx;
        T* const t = ::new (static_cast<void*>(memory)) T(ctx, 1h);
        t->async_wait(ignore);
        t->async_wait(asio::bind_executor(asio::make_strand(ctx), ignore));
        t->async_wait(ignore);
    });
    BOOST_TEST(context_first == expected, per_element);
}

BOOST_AUTO_TEST_SUITE_END()

#endif
