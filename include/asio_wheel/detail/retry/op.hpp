// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The operation of async_retry(): a try, a pause, a try, and so on.
//
// A try is the user's operation with a deadline (timeout_at()), whose handler leads here. A pause
// is a wait on the wheel, whose handler leads here. That handler owns the operation: nothing else
// does while a try or a pause is under way.
//
//   state_    meaning
//   open      a try or a pause is under way; or its handler has been called, and goes on here
//   busy      the same, and a function here is starting or cancelling it
//   ended     its handler has been called
//   dropped   its handler was destroyed without being called
//
//   from      to        when, and who goes on
//   open      ended     the handler goes on
//   open      dropped   the handler destroys the operation: the context has ended
//   busy      open      the function has returned. The handler will go on
//   busy      ended     the function will go on, when it returns: so the handler's call does not
//                       destroy what is being used, be it on this thread or another one
//   busy      dropped   the same. If there is no memory, that is the result. Otherwise the
//                       function destroys the operation
//
// The first try starts in the user's call of async_retry(), where no handler may be called. So it
// starts in the state `open`, and the operation may end meanwhile on another thread. That is why
// the user's operation has an owner of its own while it is called.
//
// All of it is on the handler's executor, but for the first start.

#ifndef ASIO_WHEEL_DETAIL_RETRY_OP_HPP
#define ASIO_WHEEL_DETAIL_RETRY_OP_HPP

#include <asio_wheel/retry.hpp>

#include <asio_wheel/backoff.hpp>
#include <asio_wheel/detail/asio/handler_wrapper.hpp>
#include <asio_wheel/detail/asio/kept_memory.hpp>
#include <asio_wheel/detail/asio/misuse.hpp>
#include <asio_wheel/detail/asio/op_memory.hpp>
#include <asio_wheel/detail/exceptions.hpp>
#include <asio_wheel/detail/op/slot_link.hpp>
#include <asio_wheel/detail/retry/operation.hpp>
#include <asio_wheel/detail/scope_exit.hpp>
#include <asio_wheel/detail/service/refused_wait.hpp>
#include <asio_wheel/detail/service/start_wait.hpp>
#include <asio_wheel/detail/threads/sync.hpp>
#include <asio_wheel/detail/time/saturating.hpp>
#include <asio_wheel/detail/timeout/in_place_signal.hpp>
#include <asio_wheel/detail/timeout/timed_out.hpp>
#include <asio_wheel/timeout.hpp>
#include <asio_wheel/wait_kind.hpp>
#include <asio_wheel/wheel_service.hpp>

#include <boost/asio/associated_allocator.hpp>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/cancellation_type.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/wait_traits.hpp>
#include <boost/system/errc.hpp>
#include <boost/system/error_code.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>
#include <new>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>

namespace asio_wheel::detail {

/// Owns the operation `Op` until it is called. Has the associated types of the user's handler.
template <class Op>
class retry_handler {
public:
    using wrapped_handler = typename Op::handler_type;
    using executor_type = typename Op::bound_executor;
    using cancellation_slot_type = in_place_signal::slot_type;

    explicit retry_handler(Op& op) noexcept : op_(&op) {}
    retry_handler(retry_handler&& other) noexcept
        : op_(other.op_), owns_(std::exchange(other.owns_, false)) {}
    retry_handler& operator=(retry_handler&&) = delete;
    ~retry_handler() {
        if (owns_) {
            op_->drop();
        }
    }

    // Also after a move: Asio may ask a handler that was moved from.
    [[nodiscard]] const wrapped_handler& inner() const noexcept { return op_->handler(); }
    [[nodiscard]] executor_type get_executor() const noexcept { return op_->bound(); }
    [[nodiscard]] cancellation_slot_type get_cancellation_slot() const noexcept {
        return op_->slot();
    }

protected:
    [[nodiscard]] Op& release() noexcept {
        owns_ = false;
        return *op_;
    }
    [[nodiscard]] Op& op() const noexcept { return *op_; }

private:
    Op* op_;
    bool owns_ = true;
};

/// The handler of a try.
template <class Op>
class try_handler : public retry_handler<Op> {
public:
    using retry_handler<Op>::retry_handler;

    template <class... Results>
    void operator()(Results&&... results) {
        this->release().end_try(std::forward<Results>(results)...);
    }
};

/// The handler of a pause. The memory of the first pause serves all of them.
template <class Op>
class pause_handler : public retry_handler<Op> {
public:
    using allocator_type = kept_memory_allocator<void, typename Op::upstream>;
    static constexpr wait_kind kind_of_wait = wait_kind::sleep;

    using retry_handler<Op>::retry_handler;

    [[nodiscard]] allocator_type get_allocator() const noexcept {
        return allocator_type(this->op().pause_memory());
    }

    void operator()(const boost::system::error_code& ec) { this->release().end_pause(ec); }
};

template <class Handler, class Attempt, class Options, class Executor, class Signature>
class retry_op : public slot_target {
    using clock = std::chrono::steady_clock;
    using time_point = clock::time_point;
    using core_type = wheel_core<clock, boost::asio::wait_traits<clock>>;
    using memory = op_memory<retry_op, Handler>;
    using results = retry_results<Signature>;

public:
    using handler_type = Handler;
    using bound_executor = boost::asio::associated_executor_t<Handler, Executor>;
    using upstream = boost::asio::associated_allocator_t<Handler, block_allocator<void>>;

    /// Starts the first try.
    static void start(Handler&& handler, const Executor& ex, Attempt&& attempt, Options&& options,
                      const backoff& pauses) {
        auto shared = std::allocate_shared<Attempt>(block_allocator<Attempt>(), std::move(attempt));
        auto* const op =
            memory::create(std::move(handler), ex, std::move(shared), std::move(options), pauses);
        connect_slot(*op, op->handler_,
                     [](retry_op& o, boost::asio::cancellation_type type) { o.cancel(type); });
        op->call_attempt();
    }

    retry_op(Handler&& handler, const Executor& ex, std::shared_ptr<Attempt>&& attempt,
             Options&& options, const backoff& pauses)
        : executor_(ex), wheel_(wheel_of<clock>(ex)), attempt_(std::move(attempt)),
          options_(std::move(options)), pauses_(pauses),
          end_(add_saturating(wheel_.now(), options_.timeout)),
          pause_memory_(boost::asio::get_associated_allocator(handler, block_allocator<void>())),
          handler_(std::move(handler)) {}

    /// Without calling the handler.
    void destroy() noexcept { memory::destroy(*this); }

    // For the handlers of tries and pauses.

    [[nodiscard]] Handler& handler() noexcept { return handler_; }
    [[nodiscard]] bound_executor bound() const noexcept {
        return boost::asio::get_associated_executor(handler_, executor_);
    }
    [[nodiscard]] in_place_signal::slot_type slot() noexcept { return signal_.slot(); }
    [[nodiscard]] kept_memory<upstream>& pause_memory() noexcept { return pause_memory_; }

    template <class... Results>
    void end_try(Results&&... values) {
        scope_exit undo([this] { drop(); });
        const std::size_t other = 1 - last_;
        // If it throws, those before stay.
        results_[other].emplace(std::forward<Results>(values)...);
        undo.release();
        results_[last_].reset();
        last_ = other;
        arrive();
    }

    void end_pause(const boost::system::error_code& ec) {
        pause_error_ = ec;
        arrive();
    }

    /// The handler was destroyed.
    void drop() noexcept {
        if (state_.exchange(dropped, std::memory_order_acq_rel) != busy) {
            destroy();
        }
    }

private:
    enum states : unsigned char { open, busy, ended, dropped };

    void arrive() {
        // Pairs with the exchange in settle(): whoever comes second goes on.
        if (state_.exchange(ended, std::memory_order_acq_rel) != busy) {
            proceed();
        }
    }

    // A function that was busy returns.
    void settle() {
        states seen = busy;
        if (!state_.compare_exchange_strong(seen, open, std::memory_order_acq_rel,
                                            std::memory_order_acquire)) {
            if (seen == ended) {
                proceed();
            } else {
                destroy();
            }
        }
    }

    void proceed() {
        signal_.slot().clear();
        if (std::exchange(in_pause_, false)) {
            on_pause_end();
        } else {
            on_try_end();
        }
    }

    void on_try_end() {
        scope_exit undo([this] { destroy(); }); // The user's functions may throw.
        const std::optional<time_point> next = next_try();
        undo.release();
        if (next) {
            start_pause(*next);
        } else {
            finish();
        }
    }

    void on_pause_end() {
        if (pause_error_) {
            finish_early(cancelled_ ? pause_error_ : why_refused(pause_error_));
        } else if (wheel_.now() < end_) {
            start_try();
        } else { // The pause has ended late.
            finish();
        }
    }

    // When another try begins; none if there is none.
    [[nodiscard]] std::optional<time_point> next_try() {
        if (!has_failed() || cancelled_ || tries_ == options_.max_tries ||
            !says_yes(options_.retry_if, std::as_const(last_results()))) {
            return std::nullopt;
        }
        retry_pause pause{.tries = tries_, .pause = pauses_.next()};
        if (cancelled_ || after(pause) >= end_) {
            return std::nullopt;
        }
        tell(options_.on_retry, pause, std::as_const(last_results()));
        if (cancelled_ || after(pause) >= end_) {
            return std::nullopt;
        }
        return after(pause);
    }

    [[nodiscard]] time_point after(const retry_pause& p) const {
        return add_saturating(wheel_.now(), p.pause);
    }

    [[nodiscard]] bool has_failed() noexcept {
        const auto& error = std::get<0>(last_results());
        if constexpr (std::is_same_v<std::decay_t<decltype(error)>, std::exception_ptr>) {
            return error != nullptr;
        } else {
            return static_cast<bool>(error); // std::error_code has no failed().
        }
    }

    // May destroy the operation before it returns.
    void call_attempt() {
        ++tries_;
        if (options_.tries != nullptr) {
            *options_.tries = tries_;
        }
        const time_point limit =
            (std::min)(add_saturating(wheel_.now(), options_.try_timeout), end_);
        const std::shared_ptr<Attempt> owner = attempt_;
        (*owner)(timeout_at(limit, try_handler<retry_op>(*this)));
    }

    void start_try() {
        if (lacks_memory([this] { call_attempt(); })) {
            assign_error(std::get<0>(last_results()), no_memory());
            on_try_end();
        }
    }

    void start_pause(time_point end) {
        in_pause_ = true;
        const bool native = native_context(executor_) != nullptr;
        if (lacks_memory([&] {
                start_wait(core_access::of(wheel_), own_timer<core_type>(end, native), executor_,
                           pause_handler<retry_op>(*this));
            })) {
            in_pause_ = false;
            finish_early(no_memory());
        }
    }

    // Starts a try or a pause. Returns whether there is no memory for it. If it does not, the
    // operation may be gone.
    template <class Start>
    [[nodiscard]] bool lacks_memory(Start start) {
        state_.store(busy, std::memory_order_relaxed);
        scope_exit undo([this] { settle_thrown(); });
        const bool thrown = throws<std::bad_alloc>(start);
        undo.release();
        if (thrown && state_.load(std::memory_order_acquire) == dropped) {
            return true;
        }
        settle();
        return false;
    }

    // The user's operation, or its cancellation, has thrown, and the exception goes on.
    void settle_thrown() noexcept {
        states seen = busy;
        if (!state_.compare_exchange_strong(seen, open, std::memory_order_acq_rel)) {
            destroy();
        }
    }

    void cancel(boost::asio::cancellation_type type) {
        cancelled_ = true;
        states seen = open;
        if (state_.compare_exchange_strong(seen, busy, std::memory_order_acquire)) {
            scope_exit undo([this] { settle_thrown(); });
            signal_.emit(type);
            undo.release();
            settle();
        } else if (seen == busy) {
            signal_.emit(type);
        }
    }

    [[nodiscard]] static boost::system::error_code no_memory() noexcept {
        return make_error_code(boost::system::errc::not_enough_memory);
    }

    [[nodiscard]] results& last_results() noexcept { return *results_[last_]; }

    // The results are those of the last try, but for the error.
    void finish_early(const boost::system::error_code& why) {
        assign_error(std::get<0>(last_results()), why);
        finish();
    }

    void finish() {
        disconnect_slot();
        scope_exit undo([this] { destroy(); });
        results values(std::move(last_results()));
        undo.release();
        // The memory is free before the upcall.
        Handler handler(memory::take_handler(*this));
        std::apply(std::move(handler), std::move(values));
    }

    Executor executor_;
    wheel_service<clock>& wheel_;
    std::shared_ptr<Attempt> attempt_;
    Options options_;
    backoff pauses_;
    time_point end_; // Of all tries.
    std::size_t tries_ = 0;
    std::array<std::optional<results>, 2> results_; // One has those of the last try that has ended.
    std::size_t last_ = 0;                          // That one.
    boost::system::error_code pause_error_;
    atomic<states> state_{open}; // See the table above.
    bool in_pause_ = false;
    bool cancelled_ = false;
    in_place_signal signal_; // Leads to the try or pause that is under way.
    kept_memory<upstream> pause_memory_;
    Handler handler_;
};

/// The initiation of async_retry().
template <class Executor, class Signature>
class initiate_async_retry {
public:
    using executor_type = Executor;

    explicit initiate_async_retry(const Executor& ex) : executor_(ex) {}

    [[nodiscard]] const executor_type& get_executor() const noexcept { return executor_; }

    template <class Handler, class Attempt, class Options>
    void operator()(Handler&& handler, Attempt&& attempt, Options&& options,
                    const backoff& pauses) const {
        expect_storable<Handler>();
        using decayed = std::decay_t<Handler>;
        using op =
            retry_op<decayed, std::decay_t<Attempt>, std::decay_t<Options>, Executor, Signature>;
        op::start(decayed(std::forward<Handler>(handler)), executor_,
                  std::decay_t<Attempt>(std::forward<Attempt>(attempt)),
                  std::decay_t<Options>(std::forward<Options>(options)), pauses);
    }

private:
    Executor executor_;
};

} // namespace asio_wheel::detail

#endif
