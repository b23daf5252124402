// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_WHEEL_TEST_SUPPORT_OWN_CONTEXT_HPP
#define ASIO_WHEEL_TEST_SUPPORT_OWN_CONTEXT_HPP

#include <boost/asio/execution/blocking.hpp>
#include <boost/asio/execution/context.hpp>
#include <boost/asio/execution_context.hpp>

#include <chrono>
#include <concepts>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>
#include <type_traits>
#include <utility>

namespace asio_wheel::test {

/// The minimal context for I/O objects: a queue, and an executor that adds functions to it.
class own_context : public boost::asio::execution_context {
public:
    class executor_type {
    public:
        explicit executor_type(own_context& context) noexcept : context_(&context) {}

        template <class Function>
        void execute(Function&& function) const {
            context_->push(
                std::make_unique<holder<std::decay_t<Function>>>(std::forward<Function>(function)));
        }

        [[nodiscard]] own_context& query(boost::asio::execution::context_t) const noexcept {
            return *context_;
        }
        [[nodiscard]] static constexpr boost::asio::execution::blocking_t
        query(boost::asio::execution::blocking_t) noexcept {
            return boost::asio::execution::blocking.never;
        }

        friend bool operator==(const executor_type&, const executor_type&) noexcept = default;

    private:
        own_context* context_;
    };

    own_context() = default;
    own_context(const own_context&) = delete;
    own_context& operator=(const own_context&) = delete;

    ~own_context() {
        shutdown(); // From here on, no other thread uses it.
        queue_.clear();
        destroy();
    }

    [[nodiscard]] executor_type get_executor() noexcept { return executor_type(*this); }

    [[nodiscard]] bool running_in_this_thread() const {
        return runner_ == std::this_thread::get_id();
    }

    /// Runs `count` functions. Returns false if there are not enough within a long time.
    bool run(std::size_t count) {
        runner_ = std::this_thread::get_id();
        for (; count != 0; --count) {
            std::unique_lock lock(mutex_);
            if (!filled_.wait_for(lock, std::chrono::seconds(20),
                                  [this] { return !queue_.empty(); })) {
                break;
            }
            const std::unique_ptr<function> next = std::move(queue_.front());
            queue_.pop_front();
            lock.unlock();
            next->call();
        }
        runner_ = {};
        return count == 0;
    }

private:
    struct function {
        virtual ~function() = default;
        virtual void call() = 0;
    };

    template <class F>
    struct holder final : function {
        template <class G>
        explicit holder(G&& g) : f(std::forward<G>(g)) {}
        void call() override { std::move(f)(); }
        F f;
    };

    void push(std::unique_ptr<function> f) {
        const std::lock_guard lock(mutex_);
        queue_.push_back(std::move(f));
        filled_.notify_one();
    }

    std::mutex mutex_;
    std::condition_variable filled_;
    std::deque<std::unique_ptr<function>> queue_;
    std::thread::id runner_;
};

} // namespace asio_wheel::test

#endif
