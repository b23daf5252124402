// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0
// pch: off
// unity: without_caches

// Tests the harness of the tests in failing/: whether it detects violations. Each operation here is
// wrong in one way.

#include "support/failing.hpp"
#include "support/names.hpp"
#include "support/only_if.hpp"

#include <boost/asio/post.hpp>
#include <boost/test/unit_test.hpp>

#include <array>
#include <cstddef>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <utility>

namespace {

using namespace asio_wheel::test;
using enum failing;

// Returns all violations when each step fails once, or all steps from it on.
template <class Scenario>
std::string found_in(Scenario scenario) {
    std::string all;
    run_with(one_allocation, fault_line::endless, scenario, true);
    for (const failing what :
         {one_allocation, allocations_until_started, allocations_until_done, one_move}) {
        run_result result{};
        std::size_t n = 0;
        do {
            result = run_with(what, n++, scenario);
            for (const auto& c : result.found) {
                all += std::string(c.what) + '\n';
            }
        } while (result.failed != 0);
    }
    return all;
}

// Checks that an operation is reported as wrong; start(world, handler) starts it.
template <class Start>
bool finds(const char* what, Start start) {
    const std::string all = found_in([&](world& w) {
        w.start(w.expect(), [&](auto h) { start(w, std::move(h)); });
        w.run();
    });
    BOOST_TEST_MESSAGE(all);
    return all.find(what) != std::string::npos;
}

// Needs memory that a compiler must not optimise away, so this is no new-expression.
void may_throw() {
    ::operator delete(::operator new(1));
}

// A correct operation.
constexpr auto post = [](world& w, handler&& h) { asio::post(w.ctx(), std::move(h)); };

} // namespace

BOOST_AUTO_TEST_SUITE(failing_harness)

BOOST_AUTO_TEST_CASE(nothing_is_found_where_nothing_is_wrong) {
    const auto right = [](world& w) {
        w.start(w.expect(), [&](auto h) { post(w, std::move(h)); });
        w.run();
    };
    BOOST_TEST(found_in(right) == "");
    std::size_t allocations = 0;
    while (run_with(one_allocation, allocations, right).failed != 0) {
        ++allocations;
    }
    BOOST_TEST(allocations == 1U); // The operation of Asio.
    BOOST_TEST(run_with(allocations_until_done, 0, right).failed != 0U);
}

BOOST_AUTO_TEST_CASE(a_handler_that_is_lost_without_memory_is_found) {
    BOOST_TEST(finds("a handler is destroyed without being called", [](world& w, handler h) {
        try {
            post(w, std::move(h));
        } catch (const std::bad_alloc&) {
        }
    }));
}

BOOST_AUTO_TEST_CASE(a_handler_that_is_lost_when_it_is_moved_is_found) {
    BOOST_TEST(finds("a handler is destroyed without being called", [](world& w, handler h) {
        try {
            post(w, std::move(h));
        } catch (const move_failed&) {
        }
    }));
}

BOOST_AUTO_TEST_CASE(an_operation_that_throws_but_goes_on_is_found) {
    BOOST_TEST(
        finds("a starting call has thrown, but its handler lives on", [](world& w, handler h) {
            post(w, std::move(h));
            may_throw();
        }));
}

BOOST_AUTO_TEST_CASE(a_handler_that_is_called_at_once_is_found) {
    BOOST_TEST(finds("a handler is called from inside the starting call",
                     [](world&, handler h) { h(success); }));
}

BOOST_AUTO_TEST_CASE(a_handler_that_is_called_twice_is_found) {
    BOOST_TEST(finds("a handler is called too often", [](world& w, handler h) {
        asio::post(w.ctx(), [h = std::move(h)]() mutable {
            h(success);
            h(success);
        });
    }));
}

BOOST_AUTO_TEST_CASE(a_handler_that_is_called_after_it_was_moved_is_found) {
    BOOST_TEST(finds("a handler is called that was moved from", [](world& w, handler h) {
        asio::post(w.ctx(), [h = std::move(h)]() mutable {
            const handler other = std::move(h);
            h(success); // NOLINT(bugprone-use-after-move)
        });
    }));
}

BOOST_AUTO_TEST_CASE(a_wrong_result_is_found) {
    BOOST_TEST(finds("an operation has ended otherwise than expected", [](world& w, handler h) {
        asio::post(w.ctx(), [h = std::move(h)]() mutable { h(aborted); });
    }));
}

BOOST_AUTO_TEST_CASE(an_operation_that_needs_memory_to_complete_is_found) {
    const auto twice = [](world& w, handler h) {
        asio::post(w.ctx(), [&w, h = std::move(h)]() mutable { post(w, std::move(h)); });
    };
    BOOST_TEST(finds("run() has thrown bad_alloc", twice));
    BOOST_TEST(finds("a handler is destroyed without being called", twice));
}

BOOST_AUTO_TEST_CASE(an_operation_that_waits_for_memory_is_found) {
    // Tries again and again until memory is available.
    struct again {
        world* w;
        std::unique_ptr<handler> h;

        void operator()() {
            try {
                may_throw();
            } catch (const std::bad_alloc&) {
                w->prepare([this] { asio::post(w->ctx(), std::move(*this)); });
                return;
            }
            (*h)(success);
        }
    };
    BOOST_TEST(finds("what was accepted does not end without memory", [](world& w, handler h) {
        asio::post(w.ctx(), again{&w, std::make_unique<handler>(std::move(h))});
    }));
}

// A completion port waits for such work when it is destroyed.
BOOST_AUTO_TEST_CASE(work_that_nobody_ends_is_found, *only_if(!on_completion_port)) {
    BOOST_TEST(finds("nothing waits, but the context has work", [](world& w, handler h) {
        post(w, std::move(h));
        asio::use_service<asio::detail::scheduler>(w.ctx()).work_started();
    }));
}

BOOST_AUTO_TEST_CASE(an_operation_without_work_is_found) {
    std::optional<handler> kept;
    const std::string all = found_in([&](world& w) {
        w.start(w.expect(), [&](auto h) { kept.emplace(std::move(h)); });
        w.poll();
        if (kept) {
            w.prepare([&] { (*kept)(success); });
        }
        kept.reset();
        w.run();
    });
    BOOST_TEST(
        (all.find("the context has run out of work though something waits") != std::string::npos));
}

BOOST_AUTO_TEST_CASE(a_call_that_must_not_throw_is_found) {
    const std::string all = found_in([](world& w) {
        w.start(w.expect(), [&](auto h) { post(w, std::move(h)); });
        w.pass(0);
        may_throw(); // For example a cancel().
        w.run();
    });
    BOOST_TEST((all.find("a call has thrown bad_alloc that must not throw") != std::string::npos));
}

BOOST_AUTO_TEST_CASE(an_exception_without_cause_is_found) {
    const std::string all = found_in([](world& w) {
        bool tried = false;
        w.call([&] {
            if (!std::exchange(tried, true)) {
                throw std::bad_alloc();
            }
        });
        w.start(w.expect(), [&](auto h) { post(w, std::move(h)); });
        w.run();
    });
    BOOST_TEST((all.find("bad_alloc is thrown though nothing has failed") != std::string::npos));
}

BOOST_AUTO_TEST_CASE(memory_that_is_left_is_found) {
    std::array<std::unique_ptr<int>, 64> kept; // One for each run.
    std::size_t runs = 0;
    BOOST_TEST(finds("memory is left", [&](world& w, handler h) {
        post(w, std::move(h));
        w.prepare([&] { kept.at(runs++) = std::make_unique<int>(); });
    }));
}

BOOST_AUTO_TEST_CASE(values_that_are_left_are_found) {
    std::optional<value> kept;
    BOOST_TEST(finds("values are left", [&](world& w, handler h) {
        post(w, std::move(h));
        kept.emplace();
    }));
}

BOOST_AUTO_TEST_CASE(handlers_that_are_left_are_found) {
    alignas(handler) std::array<std::byte, sizeof(handler)> place{}; // It is never destroyed there.
    BOOST_TEST(finds("handlers are left", [&](world& w, handler h) {
        handler copy = w.prepare([&] { return h; });
        post(w, std::move(h));
        w.prepare([&] { ::new (place.data()) handler(std::move(copy)); });
    }));
}

BOOST_AUTO_TEST_SUITE_END()
