// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Counts what becomes of handlers, on many threads at once: each handler that was started must be
// called and destroyed.

#ifndef ASIO_WHEEL_TEST_SUPPORT_HANDLER_COUNTS_HPP
#define ASIO_WHEEL_TEST_SUPPORT_HANDLER_COUNTS_HPP

#include "support/context.hpp"

#include <boost/system/error_code.hpp>
#include <boost/test/unit_test.hpp>

#include <atomic>
#include <cstdint>
#include <utility>

namespace asio_wheel::test {

/// The counts of all handlers of a kind.
struct handler_counts {
    std::atomic<std::uint64_t> started{0};
    std::atomic<std::uint64_t> counted{0}; // As returned by calls.
    std::atomic<std::uint64_t> expired{0};
    std::atomic<std::uint64_t> aborted{0};
    std::atomic<std::uint64_t> refused{0};
    std::atomic<std::uint64_t> destroyed{0};
    std::atomic<std::uint64_t> faults{0};

    [[nodiscard]] std::uint64_t called() const { return expired + aborted + refused; }
    /// The handlers that may still be called or destroyed.
    [[nodiscard]] std::uint64_t pending() const { return started - called(); }

    /// Checks that each was called once and destroyed once.
    void check_calls() const {
        BOOST_TEST(started > 0U);
        BOOST_TEST(called() == started);
        BOOST_TEST(destroyed == started);
        BOOST_TEST(faults == 0U);
    }
};

/// A handler that checks that it is called once and destroyed once, and never called early.
template <class TimePoint>
class checked_handler {
public:
    checked_handler(handler_counts& t, TimePoint not_before) : tally_(&t), not_before_(not_before) {
        ++tally_->started;
    }
    checked_handler(checked_handler&& other) noexcept
        : tally_(std::exchange(other.tally_, nullptr)), not_before_(other.not_before_),
          called_(other.called_) {}
    checked_handler& operator=(checked_handler&&) = delete;
    ~checked_handler() {
        if (tally_ != nullptr) {
            ++tally_->destroyed;
        }
    }

    void operator()(const boost::system::error_code& ec) {
        tally_->faults += std::exchange(called_, true) ? 1U : 0U;
        if (!ec) {
            ++tally_->expired;
            tally_->faults += TimePoint::clock::now() < not_before_ ? 1U : 0U;
        } else if (ec == aborted) {
            ++tally_->aborted;
        } else {
            ++tally_->refused;
        }
    }

private:
    handler_counts* tally_;
    TimePoint not_before_;
    bool called_ = false;
};

} // namespace asio_wheel::test

#endif
