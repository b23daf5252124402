// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_WHEEL_TEST_SUPPORT_ONE_WAIT_EPISODE_HPP
#define ASIO_WHEEL_TEST_SUPPORT_ONE_WAIT_EPISODE_HPP

#include "paused_episode.hpp"

#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/error.hpp>
#include <boost/system/error_code.hpp>

#include <cstddef>

namespace asio_wheel::test {

/// The episode of an object with one operation at a time: a new one aborts the previous one.
class one_wait_episode : public paused_episode {
public:
    /// Its handler was destroyed without being called.
    void dropped(std::size_t id) {
        note("wait % is destroyed", id);
        require(ended_, "a handler is destroyed uncalled by the end of the context only");
        require(id == pending_ || id < aborted_before_, "a handler is destroyed once");
        pending_ = id == pending_ ? nobody : pending_;
    }

protected:
    using paused_episode::paused_episode;

    static constexpr std::size_t nobody = 0;

    template <class Episode>
    [[nodiscard]] must_be_called<Episode> begin(Episode& episode) {
        abort();
        pending_ = ++started_;
        note("wait %", pending_);
        return {episode, pending_};
    }

    // The model's part of aborting. Returns the number.
    std::size_t abort() {
        if (pending_ == nobody) {
            return 0;
        }
        aborted_before_ = pending_ + 1;
        ++undelivered_;
        pending_ = nobody;
        return 1;
    }

    // Returns whether it has not been aborted.
    bool end(std::size_t id, const error_code& ec) {
        note("wait % completes, error %", id, ec.value());
        if (id < aborted_before_) {
            // (The next wait may complete before, if it is due.)
            require(id > last_aborted_, "what is aborted completes once, and in order");
            last_aborted_ = id;
            --undelivered_;
            require(ec == boost::asio::error::operation_aborted, "what was aborted says so");
            return false;
        }
        require(id == pending_, "a handler is called once");
        require(!ec, "what was not aborted succeeds");
        pending_ = nobody;
        return true;
    }

    void require_settled() const {
        require(undelivered_ == 0, "what was aborted is delivered");
        require(wheel_.pending() == (pending_ != nobody ? 1U : 0U), "one wait stands for it");
        require_work(pending_ != nobody);
    }

    // Aborts the pending wait if it has the signal.
    void emit() {
        if (with_signal_ != nobody && with_signal_ == pending_) {
            abort();
        }
        note("emit");
        signal_.emit(any_cancellation());
    }

    // Destroys the object and its context, in either order; possibly after end_the_wait(), which
    // leaves no wait.
    template <class Object, class Function>
    void finish(Object& object, Function end_the_wait) {
        if (coin()) {
            end_the_wait();
            require_work(false);
        }
        ended_ = true;
        if (coin()) {
            object.reset();
        }
        context_.reset();
        object.reset();
    }

    boost::asio::cancellation_signal signal_; // Of the last wait with a slot.
    std::size_t with_signal_ = nobody;
    std::size_t pending_ = nobody;
    bool ended_ = false;

private:
    std::size_t started_ = 0;
    std::size_t aborted_before_ = 0;
    std::size_t last_aborted_ = 0;
    std::size_t undelivered_ = 0;
};

} // namespace asio_wheel::test

#endif
