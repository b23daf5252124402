// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_WHEEL_TEST_SUPPORT_TRACKER_EXECUTOR_HPP
#define ASIO_WHEEL_TEST_SUPPORT_TRACKER_EXECUTOR_HPP

#include <boost/asio/execution/context.hpp>
#include <boost/asio/execution/outstanding_work.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/prefer.hpp>
#include <boost/asio/query.hpp>
#include <boost/asio/require.hpp>

#include <atomic>
#include <concepts>
#include <cstddef>
#include <memory>
#include <type_traits>
#include <utility>

namespace asio_wheel::test {

/// The records of all tracker_executors that share this.
class tracker {
public:
    /// The number of functions that ran through the executor.
    [[nodiscard]] std::size_t executed() const noexcept { return executed_; }

    /// The number of executors that track work now.
    [[nodiscard]] std::size_t work() const noexcept { return work_; }

    /// Returns whether the calling function runs through the executor.
    [[nodiscard]] bool running_here() const noexcept {
        for (const scope* s = scope::innermost; s != nullptr; s = s->outer) {
            if (s->of == this) {
                return true;
            }
        }
        return false;
    }

private:
    template <class>
    friend class tracker_executor;

    struct scope {
        static inline thread_local const scope* innermost = nullptr;

        explicit scope(const tracker& t) noexcept : of(&t) { innermost = this; }
        scope(const scope&) = delete;
        scope& operator=(const scope&) = delete;
        ~scope() { innermost = outer; }

        const tracker* of;
        const scope* outer = innermost;
    };

    std::atomic<std::size_t> executed_{0};
    std::atomic<std::size_t> work_{0};
};

/// An executor that records what runs through it, and otherwise behaves as `Inner`. Its type
/// differs from `Inner`, so handlers bound to it must go through it.
template <class Inner = boost::asio::io_context::executor_type>
class tracker_executor {
public:
    tracker_executor(std::shared_ptr<tracker> record, const Inner& inner)
        : inner_(inner), record_(std::move(record)) {}

    [[nodiscard]] const Inner& inner() const noexcept { return inner_; }

    template <class Function>
    void execute(Function function) const {
        inner_.execute([record = record_, f = std::move(function)]() mutable {
            ++record->executed_;
            const tracker::scope here(*record);
            std::move(f)();
        });
    }

    template <class Property>
        requires boost::asio::can_query_v<const Inner&, Property>
    [[nodiscard]] decltype(auto) query(const Property& p) const {
        return boost::asio::query(inner_, p);
    }

    template <class Property>
        requires boost::asio::can_require_v<const Inner&, Property>
    [[nodiscard]] auto require(const Property& p) const {
        using other = std::decay_t<decltype(boost::asio::require(inner_, p))>;
        tracker_executor<other> result(record_, boost::asio::require(inner_, p));
        if constexpr (std::same_as<Property, tracked>) {
            result.count_work();
        } else if constexpr (!std::same_as<Property, untracked>) {
            result.work_ = work_;
        }
        return result;
    }

    friend bool operator==(const tracker_executor& a, const tracker_executor& b) noexcept {
        return a.record_ == b.record_ && a.inner_ == b.inner_;
    }
    friend bool operator!=(const tracker_executor& a, const tracker_executor& b) noexcept {
        return !(a == b);
    }

private:
    template <class>
    friend class tracker_executor;

    using tracked = boost::asio::execution::outstanding_work_t::tracked_t;
    using untracked = boost::asio::execution::outstanding_work_t::untracked_t;

    // An executor and its copies share one unit.
    void count_work() {
        ++record_->work_;
        work_ = std::shared_ptr<void>(nullptr, [r = record_](void*) { --r->work_; });
    }

    Inner inner_;
    std::shared_ptr<tracker> record_;
    std::shared_ptr<void> work_;
};

/// A tracker_executor that runs functions on `ctx`.
[[nodiscard]] inline tracker_executor<> track(std::shared_ptr<tracker> record,
                                              boost::asio::io_context& ctx) {
    return {std::move(record), ctx.get_executor()};
}

} // namespace asio_wheel::test

#endif
