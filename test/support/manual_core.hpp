// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// A core without Asio: its context is a list of what is queued, its driver is a list of times, and
// its clock is a number. All of it is deterministic, so the real core can be tested with plain
// numbers, and in all interleavings of threads.

#ifndef ASIO_WHEEL_TEST_SUPPORT_MANUAL_CORE_HPP
#define ASIO_WHEEL_TEST_SUPPORT_MANUAL_CORE_HPP

#include <asio_wheel/detail/core/core.hpp>
#include <asio_wheel/detail/core/ports.hpp>
#include <asio_wheel/detail/core/timer_state.hpp>
#include <asio_wheel/detail/core/wait_list.hpp>
#include <asio_wheel/detail/core/wait_node.hpp>
#include <asio_wheel/detail/threads/sync.hpp>
#include <asio_wheel/wheel_options.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace asio_wheel::test {

/// One wait. It counts how it ends. core::bind() gives it a cancellation slot.
struct manual_wait : detail::slotted_node {
    explicit manual_wait(const form& f = {}) noexcept : slotted_node(f) {}

    int delivered = 0;
    int aborted = 0; ///< Or refused.
    int destroyed = 0;
    std::function<void()> then; ///< What its handler does, if anything.

    [[nodiscard]] int ended() const noexcept { return delivered + aborted + destroyed; }

    void complete() {
        ++(result == result_state::due ? delivered : aborted);
        if (then) {
            then();
        }
    }
};

/// The rows of the table of paths in docs/design.md.
enum class path : std::uint8_t {
    none,
    start,
    expire,
    deliver,
    cancel,
    rearm,
    postpone,
    cancel_by_slot,
    move,
    destroy,
    withdraw,
    dispatch,
    arrive,
    drain,
    shutdown,
    walk
};

/// While it exists, the calling thread is on that path.
class on_path {
public:
    explicit on_path(path p) noexcept : before_(std::exchange(current_, p)) {}
    on_path(const on_path&) = delete;
    on_path& operator=(const on_path&) = delete;
    ~on_path() { current_ = before_; }

    [[nodiscard]] static path current() noexcept { return current_; }

private:
    static inline thread_local constinit path current_ = path::none;

    const path before_;
};

/// What is queued: a wait, what stands for it, or a turn.
struct queued {
    enum class kind : std::uint8_t { wait, proxy, abort, turn };

    kind what;
    detail::wait_node* wait;
};

class manual_queue final : public detail::queue_port {
public:
    manual_queue() : queue_port(false, false) {}

    void push(std::span<detail::wait_node* const> waits) noexcept override {
        for (detail::wait_node* const wait : waits) {
            batch_.push_back({queued::kind::wait, wait});
        }
    }
    [[nodiscard]] bool push_proxy(detail::wait_node& wait, proxy p) noexcept override {
        if (has_memory) {
            batch_.push_back(
                {p == proxy::abort ? queued::kind::abort : queued::kind::proxy, &wait});
        }
        return has_memory;
    }
    void push_turn() noexcept override { batch_.push_back({queued::kind::turn, nullptr}); }

    [[nodiscard]] void* take_first() noexcept override {
        first_ = batch_.front();
        batch_.pop_front();
        return &first_;
    }

    void post(std::unique_lock<detail::optional_mutex>* lock, bool) noexcept override {
        std::deque<queued> ready(std::move(batch_));
        batch_.clear();
        if (lock != nullptr) {
            lock->unlock();
        }
        const std::lock_guard<detail::mutex> guard(mutex_);
        queue_.insert(queue_.end(), ready.begin(), ready.end());
    }
    /// Without the core's lock.
    void post(const queued& q) {
        const std::lock_guard<detail::mutex> guard(mutex_);
        queue_.push_back(q);
    }

    void work_started() noexcept override { add_work(1); }
    void work_finished() noexcept override { add_work(-1); }
    [[nodiscard]] bool running_in_this_thread() const noexcept override { return runs_here; }

    [[nodiscard]] std::optional<queued> next() {
        const std::lock_guard<detail::mutex> guard(mutex_);
        if (queue_.empty()) {
            return std::nullopt;
        }
        const queued q = queue_.front();
        queue_.pop_front();
        return q;
    }

    [[nodiscard]] long work() const {
        const std::lock_guard<detail::mutex> guard(mutex_);
        return work_;
    }

    bool has_memory = true; ///< For proxies.
    bool runs_here = false; ///< Whether each thread is said to run the context.

private:
    void add_work(long n) {
        const std::lock_guard<detail::mutex> guard(mutex_);
        work_ += n;
    }

    std::deque<queued> batch_; // Guarded by the core's lock.
    queued first_{};           // One thread at a time has turns.
    mutable detail::mutex mutex_;
    std::deque<queued> queue_;
    long work_ = 0;
};

class manual_driver final : public detail::driver_port {
public:
    struct call {
        std::uint64_t turn;
        detail::time_count time;
        bool cancelled;
    };

    explicit manual_driver(manual_queue& queue) noexcept : queue_(queue) {}

    // A wait that is pending is work, as with Asio.
    [[nodiscard]] bool arm(std::uint64_t turn, detail::time_count time,
                           detail::time_count) noexcept override {
        if (has_memory) {
            queue_.work_started();
            const std::lock_guard<detail::mutex> guard(mutex_);
            calls_.push_back({turn, time, false});
        }
        return has_memory;
    }
    void cancel(std::uint64_t turn) noexcept override {
        const std::lock_guard<detail::mutex> guard(mutex_);
        for (call& c : calls_) {
            c.cancelled = c.cancelled || c.turn == turn;
        }
    }
    void after_fork() override {}

    /// The next call that is due.
    [[nodiscard]] std::optional<call> next(detail::time_count now) {
        const std::lock_guard<detail::mutex> guard(mutex_);
        for (auto it = calls_.begin(); it != calls_.end(); ++it) {
            if (it->cancelled || it->time <= now) {
                const call c = *it;
                calls_.erase(it);
                return c;
            }
        }
        return std::nullopt;
    }

    /// For when it is armed.
    [[nodiscard]] std::optional<detail::time_count> armed_for() const {
        const std::lock_guard<detail::mutex> guard(mutex_);
        std::optional<detail::time_count> time;
        for (const call& c : calls_) {
            if (!c.cancelled) {
                time = c.time;
            }
        }
        return time;
    }

    bool has_memory = true;

private:
    manual_queue& queue_;
    mutable detail::mutex mutex_;
    std::vector<call> calls_;
};

/// A core with a clock of nanoseconds and ticks of ten.
class manual_core {
public:
    static constexpr detail::time_count tick = 10;

    explicit manual_core(wheel_options options = {}) {
        time = 1'000;
        options.tick = std::chrono::nanoseconds(tick);
        options.slots = 8;
        options.stall = {};
        core_.emplace(options,
                      detail::clock_port{

                          .now = [] { return time; }, .tick = tick, .is_steady = true},
                      anchors_, queue, driver, nullptr);
        lifetime_.emplace(core_->lifetime());
    }
    manual_core(const manual_core&) = delete;
    manual_core& operator=(const manual_core&) = delete;
    ~manual_core() {
        if (core_) {
            end();
        }
    }

    [[nodiscard]] bool has_ended() const noexcept { return !core_.has_value(); }
    /// The end of the context. Only arrive_one() and abandon_one() may follow.
    void end() {
        const on_path here(path::shutdown);
        shut_down();
        while (const auto q = queue.next()) {
            if (q->what == queued::kind::wait && core_->prepare_destroy(*q->wait)) {
                ++static_cast<manual_wait*>(q->wait)->destroyed;
            }
        }
        core_->end();
        core_.reset();
    }

    /// Destroys what waits, as the end of a context does first.
    void shut_down() {
        const on_path here(path::shutdown);
        detail::wait_list doomed;
        while (core_->end(doomed)) {
            while (!doomed.empty()) {
                auto& wait = static_cast<manual_wait&>(doomed.front());
                doomed.erase(wait);
                wait.destroyed += core_->prepare_destroy(wait) ? 1 : 0;
            }
        }
    }

    [[nodiscard]] detail::core& operator*() noexcept { return *core_; }
    [[nodiscard]] detail::core* operator->() noexcept { return &*core_; }

    // What the service does for a timer.

    void start(detail::timer_state& s, manual_wait& wait) {
        const on_path here(path::start);
        queue.work_started();
        if (!core_->start_unlocked(s, wait)) {
            core_->start(s, wait);
        }
    }
    std::size_t cancel(detail::timer_state& s) {
        const on_path here(path::cancel);
        if (detail::wait_node* const ended = core_->end_unlocked(s)) {
            ended->finish_as_aborted();
            queue.post({queued::kind::wait, ended});
            return 1;
        }
        return s.life() == detail::timer_life::tombstone ? 0 : core_->abort_all(s);
    }

    std::size_t set_expiry(detail::timer_state& s, detail::time_count expiry) {
        const on_path here(path::rearm);
        detail::wait_node* const ended = core_->end_unlocked(s);
        std::size_t aborted = ended != nullptr ? 1 : 0;
        if (!core_->set_expiry_unlocked(s, expiry)) {
            aborted += core_->set_expiry(s, expiry);
        }
        if (ended != nullptr) {
            ended->finish_as_aborted();
            queue.post({queued::kind::wait, ended});
        }
        return aborted;
    }

    /// Runs what is queued, once. False if nothing is.
    bool run_one() {
        const std::optional<queued> q = queue.next();
        if (q) {
            run(*q);
            queue.work_finished();
        }
        return q.has_value();
    }
    /// Calls the core if the driver's time has come.
    bool wake_up() {
        const auto call = driver.next(time);
        if (call) {
            const on_path here(path::expire);
            complete(core_->on_wake_up(call->turn));
            queue.work_finished();
        }
        return call.has_value();
    }
    /// Both, until nothing is left that is due at `t`. Returns how many handlers that were.
    std::size_t run_until(detail::time_count t) {
        time = t;
        return run_all();
    }
    /// The same, while the time stands.
    std::size_t run_all() {
        std::size_t handlers = 0;
        while (run_one() || wake_up()) {
            ++handlers;
        }
        return handlers;
    }

    /// The executor of waits that are dispatched runs the next one. False if it has none.
    bool arrive_one() {
        manual_wait* const wait = next_elsewhere();
        if (wait != nullptr) {
            const on_path here(path::arrive);
            switch (detail::core::arrive(*lifetime_, *wait)) {
            case detail::core::arrival::waits:
                break;
            case detail::core::arrival::claimed:
                wait->complete();
                break;
            case detail::core::arrival::dropped:
                ++wait->destroyed;
            }
        }
        return wait != nullptr;
    }
    /// It drops the next one, as its context ends.
    bool abandon_one() {
        manual_wait* const wait = next_elsewhere();
        if (wait != nullptr) {
            const on_path here(path::arrive);
            detail::core::abandon(*lifetime_, *wait);
            ++wait->destroyed;
        }
        return wait != nullptr;
    }

    static inline detail::time_count time = 0;

    manual_queue queue;
    manual_driver driver{queue};
    manual_queue elsewhere;          ///< That executor's.
    unsigned elsewhere_refusals = 0; ///< How often there is no memory for dispatching to it.

private:
    void complete(void* first) {
        if (first != nullptr) {
            run(*static_cast<queued*>(first));
        }
    }

    void run(const queued q) {
        switch (q.what) {
        case queued::kind::turn: {
            const on_path here(path::expire);
            return complete(core_->on_turn());
        }
        case queued::kind::abort:
            q.wait->finish_as_aborted();
            break;
        case queued::kind::wait:
        case queued::kind::proxy:
            break;
        }
        auto& wait = static_cast<manual_wait&>(*q.wait);
        const on_path here(wait.is_dispatched ? path::dispatch : path::deliver);
        const detail::core::handler_scope scope(*core_);
        if (wait.is_dispatched) {
            dispatch(wait);
        } else if (wait.where() == detail::wait_node::location::queue_final ||
                   core_->claim_in_queue(wait)) {
            wait.complete();
        }
    }

    void dispatch(manual_wait& wait) {
        if (!core_->dispatch(wait)) {
            return;
        }
        if (elsewhere_refusals == 0) {
            elsewhere.post({queued::kind::wait, &wait});
        } else {
            --elsewhere_refusals;
            core_->dispatch_later(wait);
        }
    }

    [[nodiscard]] manual_wait* next_elsewhere() {
        const auto q = elsewhere.next();
        return q ? static_cast<manual_wait*>(q->wait) : nullptr;
    }

    static inline detail::wheel_anchor::list anchors_;

    std::optional<detail::core> core_;
    std::optional<detail::lifetime_ptr> lifetime_; // Waits elsewhere may outlive the core.
};

} // namespace asio_wheel::test

#endif
