// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Tests a program that waits for weeks in no time: the test moves the time.

#include <asio_wheel/steady_timer.hpp>
#include <asio_wheel/virtual_time.hpp>

#include <boost/asio/io_context.hpp>

#include <chrono>
#include <cstdlib>
#include <iostream>

using namespace std::chrono_literals;

// The program: sends a reminder after 30 days, and then every day until the invoice is paid.
class invoice {
public:
    explicit invoice(boost::asio::io_context& ctx) : timer_(ctx, 30 * 24h) { wait(); }

    void paid() { timer_.cancel(); }
    int reminders() const { return reminders_; }

private:
    void wait() {
        timer_.async_wait([this](auto ec) {
            if (!ec) { // The loop ends on any error: a refused wait would not pause it.
                ++reminders_;
                timer_.expires_after(24h);
                wait();
            }
        });
    }

    asio_wheel::steady_timer timer_; // The same type as in production.
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
    asio_wheel::virtual_time time(ctx); // From now on, only this test moves time.
    invoice i(ctx);

    time.advance(30 * 24h - 1s);
    check(i.reminders() == 0, "no reminder is early");

    time.advance(1s);
    check(i.reminders() == 1, "a reminder comes after 30 days");

    time.advance(6 * 24h); // Through each deadline on the way.
    check(i.reminders() == 7, "another one comes on each of the next six days");

    i.paid();
    time.run(); // Until nothing waits.
    check(time.elapsed() == 36 * 24h, "no more reminders after the payment");
}
