// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The timer that drives wheels of the boot time.
//
// Asio's timers sleep by the monotonic clock, and that stands still during a suspend. So after a
// resume they would still sleep for what was left. A timerfd on CLOCK_BOOTTIME wakes up right after
// the resume. Elsewhere, and if there is none, an Asio timer looks at the clock each second.

#ifndef ASIO_WHEEL_DETAIL_SERVICE_BOOTTIME_DRIVER_TIMER_HPP
#define ASIO_WHEEL_DETAIL_SERVICE_BOOTTIME_DRIVER_TIMER_HPP

#include <asio_wheel/detail/scope_exit.hpp>
#include <asio_wheel/detail/service/driver_timer.hpp>
#include <asio_wheel/detail/time/boottime_clock.hpp>

#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/wait_traits.hpp>

#include <algorithm>
#include <chrono>

#if defined(__linux__) && defined(BOOST_ASIO_HAS_POSIX_STREAM_DESCRIPTOR)
#define ASIO_WHEEL_HAS_BOOTTIME_TIMERFD 1

#include <boost/asio/execution/context.hpp>
#include <boost/asio/execution_context.hpp>
#include <boost/asio/posix/descriptor_base.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/system/error_code.hpp>
#include <boost/system/system_category.hpp>
#include <boost/system/system_error.hpp>
#include <boost/throw_exception.hpp>

#include <cerrno>
#include <ctime>
#include <limits>
#include <new>
#include <optional>
#include <type_traits>
#include <utility>

#include <sys/timerfd.h>
#include <unistd.h>
#endif

namespace asio_wheel::detail {

/// As long as it sleeps, at most a second.
struct polled_boottime_traits {
    using duration = boottime_clock::duration;

    [[nodiscard]] static duration to_wait_duration(const duration& d) {
        return (std::min<duration>)(d, std::chrono::seconds(1));
    }
    [[nodiscard]] static duration to_wait_duration(const boottime_clock::time_point& t) {
        return to_wait_duration(t - (std::min)(t, boottime_clock::now()));
    }
};

using polled_boottime_timer =
    boost::asio::basic_waitable_timer<boottime_clock, polled_boottime_traits, context_executor>;

#if defined(ASIO_WHEEL_HAS_BOOTTIME_TIMERFD)

/// The handler of a wait for a timerfd. If the reactor can not wait, Asio passes the handler to its
/// immediate executor (from Boost 1.82 on). This one throws instead, so async_wait() does.
template <class Handler>
class descriptor_wait_handler {
public:
    class immediate_executor_type {
    public:
        explicit immediate_executor_type(boost::asio::execution_context& context) noexcept
            : context_(&context) {}

        template <class Function>
        void execute(Function&&) const {
            BOOST_THROW_EXCEPTION(std::bad_alloc()); // It has no memory for one more descriptor.
        }
        [[nodiscard]] boost::asio::execution_context&
        query(boost::asio::execution::context_t) const noexcept {
            return *context_;
        }
        friend bool operator==(const immediate_executor_type&,
                               const immediate_executor_type&) noexcept = default;

    private:
        boost::asio::execution_context* context_;
    };

    descriptor_wait_handler(Handler handler, boost::asio::execution_context& context)
        : handler_(std::move(handler)), context_(&context) {}

    [[nodiscard]] immediate_executor_type get_immediate_executor() const noexcept {
        return immediate_executor_type(*context_);
    }

    void operator()(const boost::system::error_code& ec) { handler_(ec); }

private:
    Handler handler_;
    boost::asio::execution_context* context_;
};

/// A timerfd, or else a timer that polls.
class boottime_driver_timer {
    using descriptor = boost::asio::posix::basic_stream_descriptor<context_executor>;

public:
    explicit boottime_driver_timer(const context_executor& ex) : descriptor_(ex) {
        // Its service in Asio must be older than the wheel's, also if a child process needs it.
        static_cast<void>(polled_boottime_timer(ex));
        if (!open()) {
            polled_.emplace(ex);
        }
    }

    /// For the next async_wait(). No wait is pending.
    void expires_at(boottime_clock::time_point t) {
        if (polled_) {
            polled_->expires_at(t);
        } else if (!set((std::max)(t.time_since_epoch(), boottime_clock::duration(1)))) {
            BOOST_THROW_EXCEPTION(boost::system::system_error(
                errno, boost::system::system_category(), "asio_wheel: timerfd_settime"));
        }
    }

    template <class Handler>
    void async_wait(Handler&& handler) {
        if (polled_) {
            polled_->async_wait(std::forward<Handler>(handler));
        } else {
            descriptor_.async_wait(
                boost::asio::posix::descriptor_base::wait_read,
                descriptor_wait_handler<std::decay_t<Handler>>(
                    std::forward<Handler>(handler),
                    descriptor_.get_executor().query(boost::asio::execution::context)));
        }
    }

    void cancel() {
        if (polled_) {
            polled_->cancel();
        } else {
            set(boottime_clock::duration::zero()); // Else it would wake the context up for nothing.
            descriptor_.cancel();
        }
    }

    /// In the child after fork(), which shares the timerfd with its parent.
    void after_fork() {
        if (!polled_) {
            ::close(descriptor_.release()); // A pending wait is aborted.
            if (!open()) {
                polled_.emplace(descriptor_.get_executor());
            }
        }
    }

private:
    // False if there is no such timer, no descriptor is free, or the context can not wait for it.
    [[nodiscard]] bool open() {
        const int fd = ::timerfd_create(CLOCK_BOOTTIME, TFD_NONBLOCK | TFD_CLOEXEC);
        if (fd < 0) {
            return false;
        }
        scope_exit undo([fd] { ::close(fd); });
        boost::system::error_code ec;
        static_cast<void>(descriptor_.assign(fd, ec)); // It reports by ec, or throws bad_alloc.
        if (!ec) {
            undo.release();
        }
        return !ec;
    }

    // Zero disarms the timer. What has passed expires at once.
    bool set(boottime_clock::duration since_boot) noexcept {
        using std::chrono::seconds;
        // Where time_t has 32 bits, it ends before a far deadline. To wake up too early is no harm.
        constexpr seconds most((std::numeric_limits<std::time_t>::max)() / 2);
        const auto whole = (std::min)(std::chrono::duration_cast<seconds>(since_boot), most);
        ::itimerspec t{};
        t.it_value.tv_sec = static_cast<std::time_t>(whole.count());
        t.it_value.tv_nsec = static_cast<long>((since_boot % seconds(1)).count());
        return ::timerfd_settime(descriptor_.native_handle(), TFD_TIMER_ABSTIME, &t, nullptr) == 0;
    }

    descriptor descriptor_;
    std::optional<polled_boottime_timer> polled_; // Set if there is no timerfd.
};

#else

using boottime_driver_timer = polled_boottime_timer;

#endif

template <>
struct driver_timer<boottime_clock, boost::asio::wait_traits<boottime_clock>> {
    using type = boottime_driver_timer;
    static constexpr std::chrono::seconds longest_sleep{1};
};

} // namespace asio_wheel::detail

#endif
