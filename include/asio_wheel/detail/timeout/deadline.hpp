// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// A deadline of one asynchronous operation.
//
// Ground rules.
//
//  1. The operation's handler stays in the operation, and the result never comes here. So the timer
//     can neither delay the result nor lose it. Only the deadline is shared. Its owners are the
//     operation's handler, the wait, and the outer cancellation slot. It is in the library's own
//     memory, because the last two may keep it longer than the handler's allocator may be used.
//  2. A cancellation and the end of the operation exclude each other. On different threads, the
//     second one waits for the first: for no longer than one call of the operation's cancellation
//     slot. After the end no cancellation reaches the slot. (If an operation ends inside its
//     cancellation, nobody waits.)
//  3. The wait starts after the operation has started. So no operation is cancelled before it has
//     begun. If the operation has ended meanwhile, on another thread, arm() or close() withdraws
//     the wait.
//  4. The wait's timer belongs to the thread that arms it, then to the thread that ends the
//     operation, then to the last owner. The last owner keeps the deadline for the next operation
//     of its thread. Then the timer is filed already, and starting a wait needs no lock.
//
// The state of a deadline is a set of bits:
//
//   bits                meaning
//   (none)              the operation is under way, without a wait
//   armed               the same; a wait was started
//   emitting            a thread is cancelling the operation
//   closed              the operation has ended
//   emitting | closed   the operation has ended inside its cancellation, which has not returned
//
//   function   changes                         what it finds, and what it does then
//   arm()      sets armed                      closed: withdraws the wait
//   emission   sets emitting, clears it later  closed: does not cancel the operation
//                                              emitting, by another thread: waits
//   close()    sets closed                     armed: withdraws the wait
//                                              emitting, by another thread: waits

#ifndef ASIO_WHEEL_DETAIL_TIMEOUT_DEADLINE_HPP
#define ASIO_WHEEL_DETAIL_TIMEOUT_DEADLINE_HPP

#include <asio_wheel/detail/asio/op_memory.hpp>
#include <asio_wheel/detail/service/spare_timers.hpp>
#include <asio_wheel/detail/service/timer_entry.hpp>
#include <asio_wheel/detail/service/wait_op.hpp>
#include <asio_wheel/detail/threads/sync.hpp>
#include <asio_wheel/error.hpp>

#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/cancellation_type.hpp>
#include <boost/asio/error.hpp>
#include <boost/system/errc.hpp>
#include <boost/system/error_code.hpp>

#include <atomic>
#include <thread>
#include <utility>

namespace asio_wheel::detail {

template <class Core>
class deadline;

/// Owns a deadline together with others.
template <class Core>
class deadline_ptr {
public:
    /// Takes over what an owner has been counted for.
    explicit deadline_ptr(deadline<Core>* d) noexcept : d_(d) {}
    deadline_ptr(const deadline_ptr& other) noexcept : d_(other.d_) { d_->add_owner(); }
    deadline_ptr(deadline_ptr&& other) noexcept : d_(std::exchange(other.d_, nullptr)) {}
    deadline_ptr& operator=(deadline_ptr&&) = delete;
    ~deadline_ptr() {
        if (d_ != nullptr) {
            d_->remove_owner();
        }
    }

    [[nodiscard]] explicit operator bool() const noexcept { return d_ != nullptr; }
    [[nodiscard]] deadline<Core>* operator->() const noexcept { return d_; }

private:
    deadline<Core>* d_;
};

template <class Core>
class deadline final : public spare_timer {
public:
    using timer = typename Core::state;

    deadline(const deadline&) = delete;
    deadline& operator=(const deadline&) = delete;

    /// The owners that each deadline has at the beginning.
    struct owners {
        deadline_ptr<Core> starter; ///< Who starts the operation and the wait.
        deadline_ptr<Core> handler; ///< The operation's.
        deadline_ptr<Core> wait;    ///< For the time.
    };

    [[nodiscard]] static owners make(Core& core, boost::asio::cancellation_type type) {
        auto* d = static_cast<deadline*>(core.take_spare());
        if (d == nullptr) {
            block_allocator<deadline> memory;
            d = ::new (static_cast<void*>(memory.allocate(1))) deadline(core);
        }
        d->reset(type);
        using ptr = deadline_ptr<Core>;
        return {ptr(d), ptr(d), ptr(d)};
    }

    /// The slot through which the operation is cancelled.
    [[nodiscard]] boost::asio::cancellation_slot slot() noexcept { return signal_.slot(); }

    /// Starts the wait by calling `start(timer)`, unless the operation has ended. If that throws,
    /// the deadline counts as passed: it is better to cancel the operation than to let it wait for
    /// ever.
    template <class Start>
    void arm(Start start) noexcept {
        if ((state_.load(std::memory_order_acquire) & closed) != 0) {
            return;
        }
        try {
            start(timer_);
        } catch (...) {
            expire(make_error_code(boost::system::errc::not_enough_memory));
            return;
        }
        // Either this finds that the operation has ended, or close() finds that there is a wait.
        // Only one of them withdraws the wait, so the timer has one owner. Pairs with close().
        if ((state_.fetch_or(armed, std::memory_order_acq_rel) & closed) != 0) {
            withdraw();
        }
    }

    /// The time has come; or there can be no wait, because of `why`.
    void expire(const boost::system::error_code& why) noexcept {
        const emission scope(*this);
        if (scope) {
            if (first_cause_ == none) {
                first_cause_ = expiry;
                why_ = why;
            }
            signal_.emit(type_);
        }
    }

    /// The operation is cancelled through its outer slot.
    void cancel(boost::asio::cancellation_type type) noexcept {
        const emission scope(*this);
        if (scope) {
            if (first_cause_ == none && (type & type_) == type_) {
                first_cause_ = cancellation; // A lesser cancellation may come to nothing.
            }
            signal_.emit(type);
        }
    }

    /// The operation has ended, or its handler was destroyed. Called once.
    void close() noexcept {
        unsigned seen = armed; // Most likely.
        for (;;) {
            if ((seen & emitting) == 0) {
                // Acquires what arm() has done to the timer; releases to it, and to the emission
                // that comes too late.
                if (state_.compare_exchange_strong(seen, seen | closed, std::memory_order_acq_rel,
                                                   std::memory_order_relaxed)) {
                    signal_.slot().clear();
                    break;
                }
            } else if (emitter_.load(std::memory_order_relaxed) == std::this_thread::get_id()) {
                // Inside its cancellation, which clears the slot when it returns.
                seen = state_.fetch_or(closed, std::memory_order_acq_rel);
                break;
            } else {
                state_.wait(seen, std::memory_order_relaxed);
                seen = state_.load(std::memory_order_relaxed);
            }
        }
        if ((seen & armed) != 0) {
            withdraw();
        }
    }

    /// After close(): whether the time had come before anybody else cancelled the operation,
    [[nodiscard]] bool expired() const noexcept { return first_cause_ == expiry; }

    /// and if there could be no wait, why not.
    [[nodiscard]] const boost::system::error_code& why() const noexcept { return why_; }

    void add_owner() noexcept { owners_.fetch_add(1, std::memory_order_relaxed); }
    void remove_owner() noexcept {
        // The last owner sees what the others have done. Nobody else can become an owner then.
        if (owners_.load(std::memory_order_acquire) == 1 ||
            owners_.fetch_sub(1, std::memory_order_acq_rel) == 1) {
            release();
        }
    }

    void free() noexcept override {
        block_allocator<deadline> memory;
        this->~deadline();
        memory.deallocate(this, 1);
    }

private:
    // The bits of state_: see the table above.
    enum : unsigned {
        open = 0,
        emitting = 1, ///< The operation is being cancelled, by the thread `emitter_`.
        closed = 2,   ///< The operation has ended.
        armed = 4     ///< There is a wait, or was.
    };
    enum cause : unsigned char { none, expiry, cancellation };

    explicit deadline(Core& core) noexcept : core_(core) {}
    ~deadline() = default;

    // Lives while the operation is being cancelled. False if the operation has ended.
    class emission {
    public:
        explicit emission(deadline& d) noexcept : deadline_(d) {
            unsigned seen = armed; // Most likely.
            while ((seen & closed) == 0) {
                if ((seen & emitting) == 0) {
                    if (d.state_.compare_exchange_strong(seen, seen | emitting,
                                                         std::memory_order_acquire)) {
                        d.emitter_.store(std::this_thread::get_id(), std::memory_order_relaxed);
                        outermost_ = entered_ = true;
                        return;
                    }
                } else if (d.emitter_.load(std::memory_order_relaxed) ==
                           std::this_thread::get_id()) {
                    entered_ = true; // A cancellation inside a cancellation.
                    return;
                } else {
                    d.state_.wait(seen, std::memory_order_relaxed);
                    seen = d.state_.load(std::memory_order_acquire);
                }
            }
        }
        emission(const emission&) = delete;
        emission& operator=(const emission&) = delete;
        ~emission() {
            if (outermost_) {
                deadline_.emitter_.store({}, std::memory_order_relaxed);
                const unsigned seen =
                    deadline_.state_.fetch_and(~unsigned{emitting}, std::memory_order_acq_rel);
                if ((seen & closed) != 0) {
                    deadline_.signal_.slot().clear(); // What close() could not do meanwhile.
                }
                deadline_.state_.notify_all(); // Still there: its caller is an owner.
            }
        }
        explicit operator bool() const noexcept { return entered_; }

    private:
        deadline& deadline_;
        bool outermost_ = false;
        bool entered_ = false;
    };

    // For the next operation.
    void reset(boost::asio::cancellation_type type) noexcept {
        owners_.store(3, std::memory_order_relaxed); // As make() gives them out.
        state_.store(open, std::memory_order_relaxed);
        first_cause_ = none;
        type_ = type;
        why_ = {};
    }

    // Called by the last owner. A timer that is not filed is not kept: its core may have ended.
    void release() noexcept {
        if (timer_.life() != timer_life::unknown) {
            if (core_.keep_spare(*this)) {
                return;
            }
            core_.remove(timer_);
        }
        free();
    }

    // Called by the owner of the timer. If the timer has no wait, its core may have ended.
    void withdraw() noexcept {
        if (timer_.life() != timer_life::unknown) {
            if (wait_op* const op = core_.withdraw(timer_)) {
                op->destroy();
            }
        }
    }

    timer timer_;
    atomic<unsigned> owners_{0};
    atomic<unsigned> state_{open};
    cause first_cause_ = none; // Written during an emission; read after close().
    boost::asio::cancellation_type type_{};
    Core& core_;
    atomic<std::thread::id> emitter_;
    boost::system::error_code why_;
    boost::asio::cancellation_signal signal_;
};

/// The handler of the wait for a deadline.
template <class Core>
class expire_deadline {
public:
    explicit expire_deadline(deadline_ptr<Core> d) noexcept : deadline_(std::move(d)) {}

    void operator()(const boost::system::error_code& ec) {
        // If the operation has ended and withdrawn its wait, this has no effect. Otherwise an
        // aborted wait means that the wheel was drained.
        const bool drained = ec == boost::asio::error::operation_aborted;
        deadline_->expire(drained ? error::wheel_stopped : ec);
    }

private:
    deadline_ptr<Core> deadline_;
};

/// The same on the executor on which the operation must be cancelled.
template <class Core, class Executor>
class expire_deadline_on : public expire_deadline<Core> {
public:
    using executor_type = Executor;

    expire_deadline_on(deadline_ptr<Core> d, const Executor& ex)
        : expire_deadline<Core>(std::move(d)), executor_(ex) {}

    [[nodiscard]] const executor_type& get_executor() const noexcept { return executor_; }

private:
    Executor executor_;
};

/// The function in the outer cancellation slot.
template <class Core>
class outer_cancellation {
public:
    explicit outer_cancellation(deadline_ptr<Core> d) noexcept : deadline_(std::move(d)) {}

    void operator()(boost::asio::cancellation_type type) {
        const deadline_ptr<Core> keep(deadline_); // The slot may be given away meanwhile.
        keep->cancel(type);
    }

private:
    deadline_ptr<Core> deadline_;
};

} // namespace asio_wheel::detail

#endif
