// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// A pop that waits for an element of a delay queue. The queue owns it until it ends.

#ifndef ASIO_WHEEL_DETAIL_POP_OP_HPP
#define ASIO_WHEEL_DETAIL_POP_OP_HPP

#include <asio_wheel/detail/executors.hpp>
#include <asio_wheel/detail/op_memory.hpp>

#include <boost/asio/associated_allocator.hpp>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/bind_allocator.hpp>
#include <boost/asio/cancellation_type.hpp>
#include <boost/asio/post.hpp>
#include <boost/intrusive/list_hook.hpp>
#include <boost/system/error_code.hpp>

#include <optional>
#include <utility>

namespace asio_wheel::detail {

template <class T>
class pop_link;

/// What a queue knows of a pop; its handler is in a derived class.
template <class T>
class pop_op : public boost::intrusive::list_base_hook<
                   boost::intrusive::link_mode<boost::intrusive::normal_link>> {
public:
    pop_op() = default;
    pop_op(const pop_op&) = delete;
    pop_op& operator=(const pop_op&) = delete;

    /// Frees it, and posts its handler.
    virtual void complete(const boost::system::error_code& ec, std::optional<T>&& value) = 0;

    /// Frees it, and its handler.
    virtual void destroy() noexcept = 0;

protected:
    ~pop_op() {
        if (link_ != nullptr) {
            link_->pop_ = nullptr;
        }
    }

private:
    friend pop_link<T>;
    pop_link<T>* link_ = nullptr;
};

/// The thread of a cancellation slot that leads to a pop. Each knows of the other, for either may end
/// first: the slot may be given away.
template <class T>
class pop_link {
public:
    explicit pop_link(pop_op<T>& pop) noexcept : pop_(&pop) { pop.link_ = this; }
    pop_link(const pop_link&) = delete;
    pop_link& operator=(const pop_link&) = delete;

    /// Null when the pop has ended.
    [[nodiscard]] pop_op<T>* pop() const noexcept { return pop_; }

protected:
    ~pop_link() {
        if (pop_ != nullptr) {
            pop_->link_ = nullptr;
        }
    }

private:
    friend pop_op<T>;
    pop_op<T>* pop_;
};

/// What a cancellation slot holds for a pop: calls abort(pop).
template <class T, class Abort>
class pop_canceller : public pop_link<T> {
public:
    pop_canceller(pop_op<T>& pop, Abort abort) noexcept : pop_link<T>(pop), abort_(abort) {}

    void operator()(boost::asio::cancellation_type type) {
        if (this->pop() != nullptr && type != boost::asio::cancellation_type::none) {
            abort_(*this->pop());
        }
    }

private:
    Abort abort_;
};

template <class T, class Executor, class Handler>
class pop_op_of final : public pop_op<T> {
    using memory = op_memory<pop_op_of, Handler>;
    using handler_executor = boost::asio::associated_executor_t<Handler, Executor>;

public:
    pop_op_of(Handler&& handler, const Executor& ex)
        : own_work_(track_work(ex)),
          work_(track_work(boost::asio::get_associated_executor(handler, ex))),
          handler_(std::move(handler)) {}

    [[nodiscard]] Handler& handler() noexcept { return handler_; }

    void complete(const boost::system::error_code& ec, std::optional<T>&& value) override {
        const auto own_work(std::move(own_work_));
        const auto work(std::move(work_));
        const auto ex = executor_of<handler_executor>(work);
        Handler handler(memory::take_handler(*this));
        const auto allocator = boost::asio::get_associated_allocator(handler);
        boost::asio::post(
            ex, boost::asio::bind_allocator(allocator, [handler = std::move(handler), ec,
                                                        value = std::move(value)]() mutable {
                std::move(handler)(ec, value ? std::move(*value) : T());
            }));
    }

    void destroy() noexcept override { static_cast<void>(memory::take_handler(*this)); }

private:
    work_on<Executor> own_work_;
    work_on<handler_executor> work_;
    Handler handler_;
};

} // namespace asio_wheel::detail

#endif
