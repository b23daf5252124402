// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Sessions whose tasks run on a pool of threads. A session ends when none of its tasks is being
// called any more, so that nothing uses it after its end.

#include <asio_wheel/scheduler.hpp>

#include <boost/asio/thread_pool.hpp>
#include <boost/system/error_code.hpp>

#include <atomic>
#include <chrono>
#include <iostream>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

using namespace std::chrono_literals;

namespace {

std::atomic<int> live_sessions{0};

class session {
public:
    session(asio_wheel::scheduler& tasks, int number)
        : number_(number), tasks_(tasks), name_("session " + std::to_string(number)) {
        ++live_sessions;
    }
    session(const session&) = delete;
    session& operator=(const session&) = delete;
    ~session() { --live_sessions; }

    void start() {
        // A late report counts for all that were missed.
        tasks_.schedule_at_fixed_rate(1ms, 1ms, [this] { report(); });
        // What is cancelled is flushed now.
        tasks_.schedule_after(number_, 1h,
                              asio_wheel::on_cancel([this] { flush(); }, [this] { flush(); }));
    }

    /// Ends the session, which `self` owns.
    static void stop(std::unique_ptr<session> self) {
        session& s = *self;
        // The handler owns the session until the group is idle. The last call may be under way.
        s.tasks_.async_stop([self = std::move(self)](boost::system::error_code) {
            std::cout << self->name_ + (self->flushed_ ? " ends, flushed\n" : " ends\n");
        });
    }

private:
    void report() {
        std::this_thread::sleep_for(1ms); // Takes a while, and uses the session.
        reports_ += name_.empty() ? 0 : 1;
    }
    void flush() { flushed_ = true; }

    const int number_;
    asio_wheel::scheduler::group tasks_;
    std::string name_;
    std::atomic<int> reports_{0};
    std::atomic<bool> flushed_{false};
};

} // namespace

int main() {
    boost::asio::thread_pool pool(4);
    asio_wheel::scheduler tasks(pool);

    std::vector<std::unique_ptr<session>> sessions;
    for (int i = 0; i < 8; ++i) {
        sessions.push_back(std::make_unique<session>(tasks, i));
        sessions.back()->start();
    }
    std::this_thread::sleep_for(20ms); // The server runs.

    for (auto& s : sessions) {
        session::stop(std::move(s));
    }
    tasks.close();
    const bool idle = tasks.wait_idle(10s); // All calls have returned, all functions are destroyed.
    pool.join();                            // All handlers have been called.
    std::cout << live_sessions << " sessions are left\n";
    return idle && live_sessions == 0 ? 0 : 1;
}
