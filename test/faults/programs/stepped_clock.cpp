// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// A program whose wall clock is stepped by an hour, forwards and backwards, while waits on
// system_timers are pending. The clock is stepped by libfaketime, which must be preloaded and takes
// the time from the file in FAKETIME_TIMESTAMP_FILE. Exits with 77 if that library is missing, or
// if it does not work with this build.
//
// As with Asio's timers, a step is noticed when the context wakes up for a timer of any clock, and
// otherwise within five minutes. So a short wait follows each step.

// libfaketime rejects the time by which Asio makes a timerfd expire at once. select() does not need
// that.
#define BOOST_ASIO_DISABLE_EPOLL 1

#include <asio_wheel/system_timer.hpp>
#include <asio_wheel/wheel_service.hpp>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/system_timer.hpp>
#include <boost/system/error_code.hpp>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;
using boost::system::error_code;
using std::chrono::system_clock;

constexpr int skipped = 77;

int faults = 0;

void expect(bool fact, const char* what) {
    if (!fact) {
        ++faults;
        std::printf("not so: %s\n", what);
    }
}

// Sets the wall clock to this offset from the real one.
void step_to(std::chrono::seconds ahead) {
    const std::filesystem::path file = std::getenv("FAKETIME_TIMESTAMP_FILE");
    const std::filesystem::path written = file.string() + ".new";
    std::ofstream(written) << std::showpos << ahead.count() << '\n';
    std::filesystem::rename(written, file);
}

// Checks that step_to() affects the wall clock, and not the steady clock.
bool clock_can_be_stepped() {
    if (std::getenv("FAKETIME_TIMESTAMP_FILE") == nullptr) {
        return false;
    }
    step_to(0s);
    const auto wall = system_clock::now();
    const auto steady = std::chrono::steady_clock::now();
    step_to(5h);
    const bool stepped = system_clock::now() - wall > 4h;
    const bool steady_too = std::chrono::steady_clock::now() - steady > 1h;
    step_to(0s);
    return stepped && !steady_too && system_clock::now() - wall < 1h;
}

template <class Timer>
class waits {
public:
    explicit waits(const char* name) : name_(name) {}

    // A wait that counts its deliveries, and must not be early by the wall clock.
    struct wait {
        wait(asio::io_context& ctx, system_clock::duration d) : timer(ctx, d) {
            timer.async_wait([this](const error_code& ec) {
                delivered += ec ? 100 : 1;
                expect(ec || system_clock::now() >= timer.expiry(), "no wait is early");
            });
        }
        Timer timer;
        int delivered = 0;
    };

    void run() {
        std::printf("%s\n", name_);
        step_to(0s);
        wait half_an_hour(ctx_, 30min);
        wait one_and_a_half(ctx_, 90min);
        wait day(ctx_, 24h);
        wake_up();
        expect(half_an_hour.delivered == 0, "30 min are not over at the beginning");

        step_to(1h);
        wake_up();
        expect(half_an_hour.delivered == 1, "30 min are over after a step of an hour");
        expect(one_and_a_half.delivered == 0, "90 min are not over after a step of an hour");

        step_to(0s);
        wait begun_before_it_was(ctx_, 10min);
        wake_up();
        expect(one_and_a_half.delivered == 0, "90 min are not over after a step back");
        expect(begun_before_it_was.delivered == 0, "10 min are not over after a step back");

        step_to(-1h);
        wake_up();
        expect(begun_before_it_was.delivered == 0, "10 min are not over after two steps back");

        wait begun_in_the_past(ctx_, 10ms);
        wake_up();
        expect(begun_in_the_past.delivered == 1, "10 ms are over after 20, after two steps back");

        step_to(11min);
        wake_up();
        expect(begun_before_it_was.delivered == 1, "10 min are over after 11 min");

        step_to(2h);
        wake_up();
        expect(one_and_a_half.delivered == 1, "90 min are over after 2 hours");
        expect(half_an_hour.delivered == 1, "what was delivered is not delivered again");
        expect(day.delivered == 0, "a day is not over after 2 hours");

        day.timer.cancel();
        ctx_.restart();
        ctx_.run_for(10s);
        expect(ctx_.stopped() && day.delivered == 100, "the context runs out of work");
    }

private:
    // Makes the context wake up for a timer that does not depend on the wall clock.
    void wake_up() {
        bool woken = false;
        asio::steady_timer moment(ctx_, 20ms);
        moment.async_wait([&](const error_code& ec) { woken = !ec; });
        const auto limit = std::chrono::steady_clock::now() + 20s;
        while (!woken && std::chrono::steady_clock::now() < limit) {
            ctx_.restart();
            ctx_.run_one_for(1s);
        }
        expect(woken, "a steady wait ends, wherever the clock was stepped to");
        moment.cancel();
        ctx_.restart();
        ctx_.poll();
    }

    const char* name_;
    asio::io_context ctx_;
};

} // namespace

int main() {
    if (!clock_can_be_stepped()) {
        std::printf("skipped: libfaketime does not step the clock of this program\n");
        return skipped;
    }
    waits<asio::system_timer>("Asio's timers").run();
    waits<asio_wheel::system_timer>("wheel timers").run();
    std::printf("%d faults\n", faults);
    return faults == 0 ? 0 : 1;
}
