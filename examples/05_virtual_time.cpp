// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Testing a program that waits for weeks, in no time: the test moves the time.

#include <asio_wheel/steady_timer.hpp>
#include <asio_wheel/virtual_time.hpp>

#include <boost/asio/io_context.hpp>

#include <chrono>
#include <cstdlib>
#include <iostream>

using namespace std::chrono_literals;

// The program: reminds after 30 days, and then every day until it is paid.
class invoice {
public:
    explicit invoice(boost::asio::io_context& ctx) : timer_(ctx, 30 * 24h) { wait(); }

    void paid() { timer_.cancel(); }
    int reminders() const { return reminders_; }

private:
    void wait() {
        timer_.async_wait([this](auto ec) {
            if (!ec) { // A loop ends at any error: waiting again after a refusal would not pause.
                ++reminders_;
                timer_.expires_after(24h);
                wait();
            }
        });
    }

    asio_wheel::steady_timer timer_; // the type that runs in production
    int reminders_ = 0;
};

void check(bool holds, const char* what) {
    std::cout << (holds ? "passed: " : "FAILED: ") << what << '\n';
    if (!holds) {
        std::exit(1);
    }
}

int main() {
    boost::asio::io_context ctx;
    asio_wheel::virtual_time time(ctx); // From here on, time is what this test says.
    invoice i(ctx);

    time.advance(30 * 24h - 1s);
    check(i.reminders() == 0, "nobody is reminded early");

    time.advance(1s);
    check(i.reminders() == 1, "a reminder comes after 30 days");

    time.advance(6 * 24h); // Through each deadline on the way.
    check(i.reminders() == 7, "and one on each of the next six days");

    i.paid();
    time.run(); // Until nothing waits.
    check(time.elapsed() == 36 * 24h, "no more reminders after the payment");
}
