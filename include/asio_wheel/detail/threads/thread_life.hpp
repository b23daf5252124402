// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Whether a thread still runs, for what threads leave behind: an object that outlives the thread.
// Who asks it, and learns that the thread has ended, sees what the thread has done. A thread's
// number would not do: a new thread may have the same one.

#ifndef ASIO_WHEEL_DETAIL_THREADS_THREAD_LIFE_HPP
#define ASIO_WHEEL_DETAIL_THREADS_THREAD_LIFE_HPP

#include <asio_wheel/detail/attributes.hpp>
#include <asio_wheel/detail/threads/thread_exit.hpp>

#include <atomic>
#include <cstdint>
#include <new>
#include <utility>

namespace asio_wheel::detail {

class ASIO_WHEEL_ONE_INSTANCE thread_life {
public:
    /// The calling thread's. Null without memory, while the thread ends, and where no thread can
    /// tell its end.
    [[nodiscard]] static thread_life* mine() noexcept {
        if (gone_ || !has_thread_exit) {
            return nullptr;
        }
        static thread_local holder here;
        if (here.life == nullptr) {
            here.life = new (std::nothrow) thread_life;
        }
        return here.life;
    }

    /// Whether the calling thread ends: what it had of mine() may be gone.
    [[nodiscard]] static bool gone() noexcept { return gone_; }

    /// How many threads have ended that had called mine(). Read before ended(): if the number is
    /// the same as before, none of them has.
    [[nodiscard]] static std::uint64_t ends() noexcept {
        return ends_.load(std::memory_order_acquire); // Pairs with end().
    }

    /// Shares the object with its thread.
    class pointer {
    public:
        pointer() = default;
        explicit pointer(thread_life& life) noexcept : life_(&life) {
            life.users_.fetch_add(1, std::memory_order_relaxed);
        }
        pointer(const pointer&) = delete;
        pointer& operator=(const pointer&) = delete;
        ~pointer() { reset(); }

        void reset() noexcept {
            if (life_ != nullptr) {
                std::exchange(life_, nullptr)->release();
            }
        }
        void reset(thread_life& life) noexcept {
            life.users_.fetch_add(1, std::memory_order_relaxed);
            reset();
            life_ = &life;
        }

        [[nodiscard]] bool operator==(const thread_life* life) const noexcept {
            return life_ == life;
        }

        /// Whether the thread has ended. Then what it has done happens before.
        [[nodiscard]] bool ended() const noexcept {
            return life_ != nullptr && life_->ended_.load(std::memory_order_acquire);
        }

    private:
        thread_life* life_ = nullptr;
    };

private:
    thread_life() = default;
    ~thread_life() = default;

    struct holder {
        holder() = default;
        holder(const holder&) = delete;
        holder& operator=(const holder&) = delete;
        ~holder() {
            gone_ = true;
            if (life != nullptr) {
                life->ended_.store(true, std::memory_order_release); // Pairs with ended().
                ends_.fetch_add(1, std::memory_order_release);       // Pairs with ends().
                life->release();
            }
        }

        thread_life* life = nullptr;
    };

    void release() noexcept {
        if (users_.fetch_sub(1, std::memory_order_acq_rel) == 1) {
            delete this;
        }
    }

    static inline thread_local constinit bool gone_ = false; // Lives longer than the holder.
    static inline std::atomic<std::uint64_t> ends_{0};

    std::atomic<unsigned> users_{1}; // The thread, and the pointers.
    std::atomic<bool> ended_{false};
};

} // namespace asio_wheel::detail

#endif
