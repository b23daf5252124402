// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// A deadline of one asynchronous operation: cancels the operation if it takes too long.
//
// Ground rules.
//
//  1. The operation's handler stays in the operation, and the result never comes here. So the timer
//     can neither delay the result nor lose it. Only the deadline is shared. Its owners are the
//     operation's handler, the wait, and the outer cancellation slot. It is in the library's own
//     memory, because the last two may keep it longer than the handler's allocator may be used.
//  2. A cancellation and the end of the operation exclude each other. On different threads, the
//     second one waits for the first: for no longer than one call of the operation's cancellation
//     slot. After the end no cancellation reaches the slot. If an operation ends inside its
//     cancellation, nobody waits: those who did go on.
//  3. The wait starts after the operation has started. So no operation is cancelled before it has
//     begun. If the operation has ended meanwhile, on another thread, arm() or close() withdraws
//     the wait.
//  4. The wait's timer belongs to the thread that arms it, then to the thread that ends the
//     operation, then to the last owner. The last owner keeps the deadline for the next operation
//     of its thread. Then the timer is filed already, and starting a wait needs no lock.
//     (timer_deadline.hpp has the deadline whose timer is the user's.)
//  5. A cancellation may throw: what the operation's slot throws, or its handler, if the operation
//     ends inside. That leaves the function that cancels, as it leaves Asio's emit().
//  6. The first cause of a cancellation is remembered: the expiry, or a cancellation from outside
//     that asks for no less. It decides what the operation reports. Only an emission writes it, and
//     emissions exclude each other and the end of the operation.
//
// The state of a deadline is a set of bits:
//
//   bits                meaning
//   (none)              the operation is under way, without a wait
//   armed               the same; a wait was started
//   emitting            a thread is cancelling the operation, or starting a wait on a user's timer
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

#include <asio_wheel/detail/asio/bound_to.hpp>
#include <asio_wheel/detail/asio/executors.hpp>
#include <asio_wheel/detail/asio/op_memory.hpp>
#include <asio_wheel/detail/core/spare_timers.hpp>
#include <asio_wheel/detail/core/timer_entry.hpp>
#include <asio_wheel/detail/exceptions.hpp>
#include <asio_wheel/detail/service/clock_counts.hpp>
#include <asio_wheel/detail/service/refused_wait.hpp>
#include <asio_wheel/detail/service/wait_op.hpp>
#include <asio_wheel/detail/threads/sync.hpp>
#include <asio_wheel/detail/time/saturating.hpp>
#include <asio_wheel/wait_kind.hpp>

#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/cancellation_type.hpp>
#include <boost/assert.hpp>
#include <boost/system/errc.hpp>
#include <boost/system/error_code.hpp>

#include <atomic>
#include <chrono>
#include <new>
#include <thread>
#include <utility>

namespace asio_wheel::detail {

/// A pointer that shares the ownership of a deadline.
template <class Deadline>
class deadline_owner {
public:
    /// Takes over an owner that is counted already.
    explicit deadline_owner(Deadline* d) noexcept : d_(d) {}
    deadline_owner(const deadline_owner& other) noexcept : d_(other.d_) { d_->add_owner(); }
    deadline_owner(deadline_owner&& other) noexcept : d_(std::exchange(other.d_, nullptr)) {}
    deadline_owner& operator=(deadline_owner&&) = delete;
    ~deadline_owner() {
        if (d_ != nullptr) {
            d_->remove_owner();
        }
    }

    [[nodiscard]] explicit operator bool() const noexcept { return d_ != nullptr; }
    [[nodiscard]] Deadline* operator->() const noexcept { return d_; }

private:
    Deadline* d_;
};

/// The owners that each deadline has at the beginning.
template <class Deadline>
struct deadline_owners {
    /// Takes over three owners that are counted already.
    explicit deadline_owners(Deadline* d) noexcept : starter(d), handler(d), wait(d) {}

    deadline_owner<Deadline> starter; ///< For the function that starts the operation and the wait.
    deadline_owner<Deadline> handler; ///< For the handler of the operation.
    deadline_owner<Deadline> wait;    ///< For the handler of the wait.
};

/// What deadlines share, whatever their timer. `Derived` has two functions: withdraw() ends the
/// wait, and release() frees the deadline.
template <class Derived>
class deadline_base {
    friend Derived;

    deadline_base() = default;

public:
    /// The slot through which the operation is cancelled.
    [[nodiscard]] boost::asio::cancellation_slot slot() noexcept { return signal_.slot(); }

    /// Cancels the operation, because the time has come; or because there can be no wait, for the
    /// reason `why`.
    void expire(const boost::system::error_code& why) {
        const emission scope(*this);
        if (scope) {
            if (first_cause_ == none) {
                first_cause_ = expiry;
                why_ = why;
            }
            signal_.emit(type_);
        }
    }

    /// The same, if there is no memory for the wait. If there is none for the cancellation, either,
    /// the operation goes on.
    void expire_for_lack_of_memory() noexcept {
        static_cast<void>(throws<std::bad_alloc>(
            [this] { expire(make_error_code(boost::system::errc::not_enough_memory)); }));
    }

    /// Cancels the operation, because its outer cancellation slot was signalled.
    void cancel(boost::asio::cancellation_type type) {
        const emission scope(*this);
        if (scope) {
            if (first_cause_ == none && (type & type_) == type_) {
                first_cause_ = cancellation; // A lesser cancellation may have no effect.
            }
            signal_.emit(type);
        }
    }

    /// Called once, when the operation has ended or its handler was destroyed.
    void close() noexcept {
        unsigned seen = armed; // A guess, which the loop corrects.
        for (;;) {
            if ((seen & emitting) == 0) {
                // Acquires what arm() has done to the timer. Releases to arm(), and to an emission
                // that comes too late.
                if (state_.compare_exchange_strong(seen, seen | closed, std::memory_order_acq_rel,
                                                   std::memory_order_relaxed)) {
                    signal_.slot().clear();
                    break;
                }
            } else if (emitter_.load(std::memory_order_relaxed) == std::this_thread::get_id()) {
                // This thread is cancelling the operation. The emission clears the slot when the
                // cancellation returns. Until then, nobody may wait for it: the end of another
                // deadline round the same operation might wait for this one.
                seen = state_.fetch_or(closed, std::memory_order_acq_rel);
                state_.notify_all();
                break;
            } else {
                state_.wait(seen, std::memory_order_relaxed);
                seen = state_.load(std::memory_order_relaxed);
            }
        }
        BOOST_ASSERT((seen & closed) == 0);
        if ((seen & armed) != 0) {
            derived().withdraw();
        }
    }

    /// Call it after close(). Whether the deadline expired before the operation was cancelled from
    /// outside.
    [[nodiscard]] bool expired() const noexcept { return first_cause_ == expiry; }

    /// Call it after close(). Why there could be no wait; no error if the time has come.
    [[nodiscard]] const boost::system::error_code& why() const noexcept { return why_; }

    void add_owner() noexcept { owners_.fetch_add(1, std::memory_order_relaxed); }
    void remove_owner() noexcept {
        // Acquires what the other owners have done, and pairs with their fetch_sub(). If the count
        // is one, this is the only owner, and nobody can add another one.
        if (owners_.load(std::memory_order_acquire) == 1 ||
            owners_.fetch_sub(1, std::memory_order_acq_rel) == 1) {
            derived().release();
        }
    }

protected:
    // The bits of state_: see the table above.
    enum : unsigned {
        open = 0,
        emitting = 1, ///< The operation is being cancelled, by the thread `emitter_`.
        closed = 2,   ///< The operation has ended.
        armed = 4     ///< A wait was started.
    };

    ~deadline_base() = default;

    // Sets the bit `emitting` while it lives. Converts to false if the operation has ended.
    class emission {
    public:
        explicit emission(deadline_base& d) noexcept : deadline_(d) {
            unsigned seen = armed; // A guess, which the loop corrects.
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
                    entered_ = true; // A cancellation inside another one of the same thread.
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
                BOOST_ASSERT((seen & emitting) != 0);
                if ((seen & closed) != 0) {
                    deadline_.signal_.slot().clear(); // close() could not do it.
                }
                deadline_.state_.notify_all(); // The deadline is still there: the caller owns it.
            }
        }
        explicit operator bool() const noexcept { return entered_; }

    private:
        deadline_base& deadline_;
        bool outermost_ = false;
        bool entered_ = false;
    };

    // Prepares the deadline for the next operation. No other thread knows it.
    void reset(boost::asio::cancellation_type type) noexcept {
        owners_.store(3, std::memory_order_relaxed); // Those of deadline_owners.
        state_.store(open, std::memory_order_relaxed);
        first_cause_ = none;
        type_ = type;
        why_ = {};
    }

    [[nodiscard]] boost::asio::cancellation_type type() const noexcept { return type_; }

    // The table above says which functions pair with each other.
    [[nodiscard]] atomic<unsigned>& state() noexcept { return state_; }

private:
    enum cause : unsigned char { none, expiry, cancellation };

    [[nodiscard]] Derived& derived() noexcept { return static_cast<Derived&>(*this); }

    atomic<unsigned> owners_{0};   // How many; see remove_owner().
    atomic<unsigned> state_{open}; // See state().
    cause first_cause_ = none;     // Written during an emission; read after close().
    boost::asio::cancellation_type type_{};
    // The thread that has set `emitting`. A thread that reads its own id has stored it itself, so
    // this pairs with nothing.
    atomic<std::thread::id> emitter_;
    boost::system::error_code why_;
    boost::asio::cancellation_signal signal_;
};

/// The deadline whose timer is a part of it. It is used for one operation after the other.
template <class Core>
class deadline final : public spare_timer, public deadline_base<deadline<Core>> {
    using base = deadline_base<deadline>;
    friend base;

public:
    using timer = typename Core::state;
    using owners = deadline_owners<deadline>;

    [[nodiscard]] static owners make(Core& core, boost::asio::cancellation_type type) {
        auto* d = static_cast<deadline*>(core.take_spare());
        if (d == nullptr) {
            block_allocator<deadline> memory;
            d = ::new (static_cast<void*>(memory.allocate(1))) deadline(core);
        }
        d->reset(type);
        return owners(d);
    }

    /// Starts the wait by calling start(timer), unless the operation has ended. If start() throws,
    /// the deadline expires now: an operation that might otherwise wait for ever is cancelled. The
    /// operation has started, so nothing leaves this function.
    template <class Start>
    void arm(Start start) noexcept {
        if ((this->state().load(std::memory_order_acquire) & base::closed) != 0) {
            return;
        }
        if (throws([&] { start(timer_); })) {
            this->expire_for_lack_of_memory();
            return;
        }
        // Either this finds that the operation has ended, or close() finds that there is a wait.
        // Only one of them withdraws the wait, so the timer has one owner. Releases the timer to
        // close(), or acquires what happened before close().
        const unsigned seen = this->state().fetch_or(base::armed, std::memory_order_acq_rel);
        BOOST_ASSERT((seen & base::armed) == 0);
        if ((seen & base::closed) != 0) {
            withdraw();
        }
    }

    [[nodiscard]] Core& core() const noexcept { return core_; }

    /// Before the operation starts. `native`: see timer_entry.
    void set_expiry(typename Core::time_point t, bool native) noexcept {
        timer_.native = native;
        core_.set_idle_expiry(timer_, t);
    }

    /// By an owner, while the core exists. Zero when the time has come.
    [[nodiscard]] std::chrono::nanoseconds remaining() const noexcept {
        return remaining_until(core_.now(),
                               clock_counts<typename Core::clock>::at(timer_.expiry.get()));
    }

    void free() noexcept override {
        block_allocator<deadline> memory;
        this->~deadline();
        memory.deallocate(this, 1);
    }

private:
    explicit deadline(Core& core) noexcept : core_(core) {}
    ~deadline() = default;

    // Called by the last owner. A timer that is not filed is not kept, because its core may have
    // ended.
    void release() noexcept {
        if (timer_.life() != timer_life::inactive) {
            if (core_.keep_spare(*this)) {
                return;
            }
            core_.remove(timer_);
        }
        free();
    }

    // Called by the owner of the timer. If the timer has no wait, its core may have ended.
    void withdraw() noexcept {
        if (timer_.life() != timer_life::inactive) {
            if (wait_node* const wait = core_.withdraw(timer_)) {
                operation_of(*wait).destroy();
            }
        }
    }

    timer timer_;
    Core& core_;
};

template <class Core>
using deadline_ptr = deadline_owner<deadline<Core>>;

/// The handler of a deadline's wait, with the executor on which the operation must be cancelled.
template <class Core, class Executor = unassociated>
class expire_deadline : public bound_to<Executor> {
public:
    static constexpr wait_kind kind_of_wait = wait_kind::timeout;

    explicit expire_deadline(deadline_ptr<Core> d, bound_to<Executor> ex = {})
        : bound_to<Executor>(std::move(ex)), deadline_(std::move(d)) {}

    void operator()(const boost::system::error_code& ec) {
        // If the operation has ended and withdrawn its wait, this has no effect.
        deadline_->expire(why_refused(ec));
    }

private:
    deadline_ptr<Core> deadline_;
};

/// The handler in the operation's outer cancellation slot.
template <class Deadline>
class outer_cancellation {
public:
    explicit outer_cancellation(deadline_owner<Deadline> d) noexcept : deadline_(std::move(d)) {}

    void operator()(boost::asio::cancellation_type type) {
        // The operation may end meanwhile, and the slot get another handler in place of *this.
        const deadline_owner<Deadline> self(deadline_);
        self->cancel(type);
    }

private:
    deadline_owner<Deadline> deadline_;
};

} // namespace asio_wheel::detail

#endif
