// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0
// unity: off
// pch: off

// A program and a plugin that use timers on the same contexts. Each has its own copy of the
// library, with its own static and thread-local variables. They share the wheel of a context, which
// Asio finds by the name of its type.
//
// The wheel's code is in the module that has created it. So a plugin that may be unloaded while the
// context exists must not be the first: the program calls make_wheel() before.

#include "plugin/plugin.hpp"
#include "plugin/uses.hpp"

#include <asio_wheel/steady_timer.hpp>
#include <asio_wheel/wheel_service.hpp>

#include "support/backend.hpp"
#include "support/child_process.hpp"
#include "support/names.hpp"
#include "support/only_if.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/test/unit_test.hpp>

#include <dlfcn.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <deque>
#include <functional>
#include <iterator>
#include <optional>
#include <string>
#include <thread>

namespace {

using namespace asio_wheel::test;

struct kind_of_plugin {
    const char* name;
    const char* file;
};

// With and without -fvisibility=hidden. With libc++, hidden types are never those of the program.
// With io_uring, Asio ends the program if a module with hidden types runs a context that another
// has run: it looks for the thread's state in the other module.
const kind_of_plugin kinds[] = {
#if !defined(_LIBCPP_VERSION) && !defined(BOOST_ASIO_HAS_IO_URING_AS_DEFAULT)
    {"hidden", ASIO_WHEEL_TEST_HIDDEN_PLUGIN},
#endif
    {"visible", ASIO_WHEEL_TEST_VISIBLE_PLUGIN}};

class plugin {
public:
    explicit plugin(const kind_of_plugin& kind)
        : file_(kind.file), library_(::dlopen(kind.file, RTLD_NOW | RTLD_LOCAL)) {
        BOOST_TEST_REQUIRE(library_ != nullptr, ::dlerror());
        using entry = const plugin_functions*();
        functions_ = reinterpret_cast<entry*>(::dlsym(library_, "asio_wheel_test_plugin"))();
    }
    plugin(const plugin&) = delete;
    plugin& operator=(const plugin&) = delete;
    ~plugin() { ::dlclose(library_); }

    const plugin_functions* operator->() const { return functions_; }

private:
    std::string file_;
    void* library_;
    const plugin_functions* functions_ = nullptr;
};

bool is_loaded(const kind_of_plugin& kind) {
    void* const library = ::dlopen(kind.file, RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
    if (library != nullptr) {
        ::dlclose(library);
    }
    return library != nullptr;
}

// Consecutive contexts at the same address.
class place_for_contexts {
public:
    asio::io_context& renew() {
        context_.emplace();
        return *context_;
    }
    void clear() { context_.reset(); }

private:
    std::optional<asio::io_context> context_;
};

// The uses of a context, by the program (`p`) and by the plugin.
using use = std::function<void(asio::io_context&, const plugin_functions&)>;
const use uses_of_contexts[] = {
    [](auto& ctx, const auto& f) { BOOST_TEST(f.expire(ctx, 3) == 3U); },
    [](auto& ctx, const auto& f) { BOOST_TEST(f.cancel(ctx, 3) == 3U); },
    [](auto& ctx, const auto& f) {
        std::size_t pending = 1;
        BOOST_TEST(f.wheel_of(ctx, pending) == &asio_wheel::use_wheel(ctx));
        BOOST_TEST(pending == 0U);
    },
};

template <class Function>
void on_a_thread(Function f) {
    std::thread(f).join();
}

} // namespace

BOOST_AUTO_TEST_SUITE(fault_shared_objects)

BOOST_AUTO_TEST_CASE(a_plugin_and_the_program_use_one_wheel) {
    std::deque<plugin> plugins;
    std::array<int, 2 * std::size(kinds)> ended{}; // Of each context.
    {
        std::deque<asio::io_context> contexts; // Each has a new address.
        for (const kind_of_plugin& kind : kinds) {
            const plugin& theirs = plugins.emplace_back(kind);
            for (const bool plugin_first : {false, true}) {
                BOOST_TEST_CONTEXT(kind.name << (plugin_first ? ", which makes the wheel" : "")) {
                    int& ends = ended[contexts.size()];
                    asio::io_context& ctx = contexts.emplace_back();
                    (plugin_first ? theirs->leave : uses.leave)(ctx, ends);
                    (plugin_first ? uses.leave : theirs->leave)(ctx, ends);
                    std::size_t here = 0;
                    std::size_t there = 0;
                    BOOST_TEST(uses.wheel_of(ctx, here) == theirs->wheel_of(ctx, there));
                    BOOST_TEST(here == 2U);
                    BOOST_TEST(there == 2U);
                }
            }
        }
    }
    for (const int waits : ended) {
        BOOST_TEST(waits == 2); // The program's and the plugin's.
    }
}

// With io_uring, Asio needs all modules that run a context to share its thread-local objects.
BOOST_AUTO_TEST_CASE(contexts_may_follow_one_another_at_one_address, *only_if(!on_io_uring)) {
    for (const kind_of_plugin& kind : kinds) {
        BOOST_TEST_CONTEXT(kind.name) {
            const plugin theirs(kind);
            place_for_contexts place;
            for (int round = 0; round < 64; ++round) {
                BOOST_TEST_INFO_SCOPE("round " << round);
                asio::io_context& ctx = place.renew();
                // One, the other or both of them, in either order.
                const bool swapped = (round & 1) != 0;
                const plugin_functions& first = swapped ? *theirs.operator->() : uses;
                const plugin_functions& second = swapped ? uses : *theirs.operator->();
                if ((round & 2) != 0) {
                    uses_of_contexts[round % 3](ctx, first);
                }
                if ((round & 4) != 0) {
                    uses_of_contexts[round % 2](ctx, second);
                }
                if ((round & 8) != 0) {
                    first.expire(ctx, 1);
                }
                int ended = 0;
                second.leave(ctx, ended);
                place.clear();
                BOOST_TEST(ended == 1);
            }
        }
    }
}

BOOST_AUTO_TEST_CASE(another_thread_may_have_used_the_context_that_was_there) {
    for (const kind_of_plugin& kind : kinds) {
        BOOST_TEST_CONTEXT(kind.name) {
            const plugin theirs(kind);
            place_for_contexts place;
            for (int round = 0; round < 16; ++round) {
                // Destroyed by the module that has not used it.
                asio::io_context& ctx = place.renew();
                BOOST_TEST(theirs->expire(ctx, 2) == 2U);
                on_a_thread([&] {
                    uses.expire(ctx, 2);
                    place.clear();
                });
                asio::io_context& next = place.renew();
                if (round % 2 == 0) {
                    on_a_thread([&] { uses.expire(next, 2); });
                }
                BOOST_TEST(theirs->cancel(next, 2) == 2U);
                BOOST_TEST(uses.cancel(next, 2) == 2U);
            }
        }
    }
}

// This needs no plugin: while a wheel is destroyed, the destructor of a handler can call
// use_wheel().
BOOST_AUTO_TEST_CASE(what_asks_for_a_wheel_while_it_ends_does_not_find_it_afterwards) {
    struct asks {
        explicit asks(asio::io_context& c) : ctx(&c) {}
        asks(asks&& other) noexcept : ctx(std::exchange(other.ctx, nullptr)) {}
        asks& operator=(asks&&) = delete;
        ~asks() {
            if (ctx != nullptr) {
                const asio_wheel::steady_timer t(*ctx);
            }
        }
        void operator()(const error_code&) const {}
        asio::io_context* ctx;
    };
    // Destroyed with the context's queue, after the wheel's shutdown.
    struct starts {
        explicit starts(asio::io_context& c) : ctx(&c) {}
        starts(starts&& other) noexcept : ctx(std::exchange(other.ctx, nullptr)) {}
        starts& operator=(starts&&) = delete;
        ~starts() {
            if (ctx != nullptr) {
                asio_wheel::steady_timer t(*ctx, 1h);
                t.async_wait(asks(*ctx));
            }
        }
        void operator()() const {}
        asio::io_context* ctx;
    };
    place_for_contexts place;
    for (int round = 0; round < 3; ++round) {
        asio::io_context& ctx = place.renew();
        BOOST_TEST(uses.expire(ctx, 1) == 1U);
        asio_wheel::steady_timer t(ctx, 1h);
        t.async_wait(asks(ctx));
        asio::post(ctx, starts(ctx));
        place.clear();
    }
    BOOST_TEST(uses.expire(place.renew(), 1) == 1U);
}

BOOST_AUTO_TEST_CASE(a_plugin_may_be_unloaded_when_what_it_started_is_over) {
    for (const kind_of_plugin& kind : kinds) {
        BOOST_TEST_CONTEXT(kind.name) {
            {
                const plugin unused(kind);
            }
            if (is_loaded(kind)) { // Some compilers keep it loaded until the program ends.
                BOOST_TEST_MESSAGE("a plugin that was not even used cannot be unloaded");
                continue;
            }
            place_for_contexts place;
            for (int round = 0; round < 8; ++round) {
                asio::io_context& ctx = place.renew();
                asio_wheel::make_wheel(ctx);
                {
                    const plugin theirs(kind);
                    on_a_thread(
                        [&] { // A plugin stays loaded while a thread that has used it exists.
                            BOOST_TEST(theirs->expire(ctx, 1000) == 1000U);
                            BOOST_TEST(theirs->cancel(ctx, 1000) == 1000U);
                        });
                }
                BOOST_TEST(!is_loaded(kind), "the plugin is still there");
                BOOST_TEST(uses.expire(ctx, 3) == 3U);
                BOOST_TEST(outcome_in_child([&] {
                               // A new context, because the other one was not notified.
                               asio::io_context own;
                               return uses.expire(own, 1000) == 1000 &&
                                              uses.cancel(own, 1000) == 1000
                                          ? 0
                                          : 1;
                           }) == exited_well);
                BOOST_TEST(uses.cancel(ctx, 3) == 3U);
            }
        }
    }
}

BOOST_AUTO_TEST_SUITE_END()
