// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// What becomes of handlers, counted by many threads at once: what was started must be what was
// called, and what was destroyed.

#ifndef ASIO_WHEEL_TEST_SUPPORT_TALLY_HPP
#define ASIO_WHEEL_TEST_SUPPORT_TALLY_HPP

#include "support/context.hpp"

#include <boost/system/error_code.hpp>
#include <boost/test/unit_test.hpp>

#include <atomic>
#include <cstdint>
#include <utility>

namespace asio_wheel::test {

/// Of all handlers of a kind.
struct tally {
    std::atomic<std::uint64_t> started{0};
    std::atomic<std::uint64_t> counted{0}; // by what calls returned
    std::atomic<std::uint64_t> expired{0};
    std::atomic<std::uint64_t> aborted{0};
    std::atomic<std::uint64_t> refused{0};
    std::atomic<std::uint64_t> destroyed{0};
    std::atomic<std::uint64_t> faults{0};

    [[nodiscard]] std::uint64_t called() const { return expired + aborted + refused; }
    /// They may still be called, or destroyed.
    [[nodiscard]] std::uint64_t pending() const { return started - called(); }

    /// Each was called once and destroyed once.
    void check_calls() const {
        BOOST_TEST(started > 0U);
        BOOST_TEST(called() == started);
        BOOST_TEST(destroyed == started);
        BOOST_TEST(faults == 0U);
    }
};

/// Called once and destroyed once, whatever becomes of the wait. Never called early.
template <class TimePoint>
class probe {
public:
    probe(tally& t, TimePoint not_before) : tally_(&t), not_before_(not_before) {
        ++tally_->started;
    }
    probe(probe&& other) noexcept
        : tally_(std::exchange(other.tally_, nullptr)), not_before_(other.not_before_),
          called_(other.called_) {}
    probe& operator=(probe&&) = delete;
    ~probe() {
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
    tally* tally_;
    TimePoint not_before_;
    bool called_ = false;
};

} // namespace asio_wheel::test

#endif
