// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The jobs of a server: backups at 03:30, reports on Monday, bills on the last day of the month. A
// year of them, in virtual time.

#include <asio_wheel/civil_time.hpp>
#include <asio_wheel/scheduler.hpp>
#include <asio_wheel/virtual_time.hpp>

#include <boost/asio/io_context.hpp>

#include <chrono>
#include <ctime>
#include <iostream>
#include <string>

using namespace std::chrono_literals;
using namespace asio_wheel;

namespace {

/// What a clock on the wall shows, in the zone of the system.
std::string on_the_wall(std::chrono::system_clock::time_point t) {
    const std::time_t seconds = std::chrono::system_clock::to_time_t(t);
    char text[32] = "";
    std::strftime(text, sizeof text, "%Y-%m-%d %H:%M %a", std::localtime(&seconds));
    return text;
}

class server {
public:
    explicit server(boost::asio::io_context& ctx) : jobs_(ctx) {
        jobs_.schedule("backup", daily(3h + 30min), [this] { ++backups_; });
        jobs_.schedule("report", weekly(std::chrono::Monday, 9h), [this] { ++reports_; });
        jobs_.schedule("bills", monthly(std::chrono::last, 18h, utc), [this] { ++bills_; });
        jobs_.schedule("tests", on_days(is_work_day, 7h), [this] { ++tests_; });
        for (const char* job : {"backup", "report", "bills", "tests"}) {
            std::cout << job << ": first at " << on_the_wall(jobs_.find(job).expiry()) << '\n';
        }
    }

    /// Returns whether a year has brought as many calls as it has days.
    [[nodiscard]] bool print() const {
        std::cout << backups_ << " backups, " << reports_ << " reports, " << bills_ << " bills, "
                  << tests_ << " tests\n";
        return backups_ >= 364 && backups_ <= 366 && reports_ >= 52 && reports_ <= 53 &&
               bills_ >= 11 && bills_ <= 12 && tests_ > 250 && tests_ < 263;
    }

private:
    static bool is_work_day(const std::chrono::year_month_day& date) {
        using namespace std::chrono;
        const bool holiday = date.month() == December && date.day() >= 24d && date.day() <= 26d;
        const weekday day(date);
        return !holiday && day != Saturday && day != Sunday;
    }

    system_scheduler jobs_;
    int backups_ = 0, reports_ = 0, bills_ = 0, tests_ = 0;
};

} // namespace

int main() {
    boost::asio::io_context ctx;
    virtual_time time(ctx);
    const server s(ctx);
    time.advance(365 * 24h);
    return s.print() ? 0 : 1;
}
