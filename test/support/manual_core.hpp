// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// A core without Asio: its context is a list of what is queued, its driver is a list of times, its
// clock is a number, and another executor is a list of waits. All of it is deterministic, so the
// real core can be tested with plain numbers, and in all interleavings of threads.

#ifndef ASIO_WHEEL_TEST_SUPPORT_MANUAL_CORE_HPP
#define ASIO_WHEEL_TEST_SUPPORT_MANUAL_CORE_HPP

#include <asio_wheel/detail/core/clock_port.hpp>
#include <asio_wheel/detail/core/core.hpp>
#include <asio_wheel/detail/core/core_lock.hpp>
#include <asio_wheel/detail/core/ports.hpp>
#include <asio_wheel/detail/core/timer_state.hpp>
#include <asio_wheel/detail/core/wait_list.hpp>
#include <asio_wheel/detail/core/wait_node.hpp>
#include <asio_wheel/detail/threads/sync.hpp>
#include <asio_wheel/wheel_options.hpp>

#include <boost/container/small_vector.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace asio_wheel::test {

/// How a wait has ended.
struct wait_ends {
    int delivered = 0;
    int aborted = 0; ///< Or refused.
    int destroyed = 0;
    std::size_t number = 0; ///< The test's own.

    [[nodiscard]] int ended() const noexcept { return delivered + aborted + destroyed; }
};

/// One wait. It counts how it ends.
template <class Node>
struct manual_wait_of : Node, wait_ends {
    explicit manual_wait_of(const detail::wait_node::form& f = {}) noexcept : Node(f) {}
};

using manual_wait = manual_wait_of<detail::wait_node>;
using manual_slotted_wait = manual_wait_of<detail::slotted_node>;

[[nodiscard]] inline wait_ends& ends_of(detail::wait_node& wait) noexcept {
    return wait.has_slot ? static_cast<wait_ends&>(static_cast<manual_slotted_wait&>(wait))
                         : static_cast<manual_wait&>(wait);
}

/// Hears of each wait that ends, after that was counted. It may destroy the wait.
class wait_listener {
public:
    wait_listener() = default;
    wait_listener(const wait_listener&) = delete;
    wait_listener& operator=(const wait_listener&) = delete;

    virtual void called(detail::wait_node& wait) = 0;    ///< In place of its handler.
    virtual void destroyed(detail::wait_node& wait) = 0; ///< Its handler is not called.

protected:
    ~wait_listener() = default;
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
    explicit manual_queue(bool driver_counts = false, bool ends = false)
        : queue_port(driver_counts, ends) {}

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
        batch_.erase(batch_.begin());
        return &first_;
    }

    void post(std::unique_lock<detail::optional_mutex>* lock) noexcept override {
        const batch ready(std::move(batch_));
        batch_.clear();
        if (lock != nullptr) {
            lock->unlock();
        }
        const std::lock_guard<detail::mutex> guard(mutex_);
        for (const queued& q : ready) {
            queue_.push_back(q);
            turns_ += q.what == queued::kind::turn ? 1 : 0;
        }
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
        if (next_ == queue_.size()) {
            return std::nullopt;
        }
        const queued q = queue_[next_++];
        if (next_ == queue_.size()) {
            queue_.clear();
            next_ = 0;
        }
        turns_ -= q.what == queued::kind::turn ? 1 : 0;
        return q;
    }

    [[nodiscard]] std::size_t size() const {
        const std::lock_guard<detail::mutex> guard(mutex_);
        return queue_.size() - next_;
    }
    /// Whether a turn of the core is among them. There is one at most.
    [[nodiscard]] bool has_turn() const {
        const std::lock_guard<detail::mutex> guard(mutex_);
        return turns_ != 0;
    }

    [[nodiscard]] long work() const {
        const std::lock_guard<detail::mutex> guard(mutex_);
        return work_;
    }

    bool has_memory = true; ///< For proxies.
    bool runs_here = false; ///< What running_in_this_thread() says. For one thread only.

private:
    void add_work(long n) {
        const std::lock_guard<detail::mutex> guard(mutex_);
        work_ += n;
    }

    using batch = boost::container::small_vector<queued, 8>; // Most often, this is enough.

    batch batch_;    // Guarded by the core's lock.
    queued first_{}; // One thread at a time has turns.
    mutable detail::mutex mutex_;
    std::vector<queued> queue_; // What comes next is behind what has come.
    std::size_t next_ = 0;
    std::size_t turns_ = 0; // Of these.
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

    /// For the end of the context: takes out a call. False if there is none.
    bool drop_call() {
        const std::lock_guard<detail::mutex> guard(mutex_);
        if (calls_.empty()) {
            return false;
        }
        calls_.pop_back();
        return true;
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

/// The executor of waits whose form says that it is another one than the context's own.
class manual_executor {
public:
    void push(detail::wait_node& wait) {
        const std::lock_guard<detail::mutex> guard(mutex_);
        waits_.push_back(&wait);
    }
    /// Null if there is none.
    [[nodiscard]] detail::wait_node* next() {
        const std::lock_guard<detail::mutex> guard(mutex_);
        if (waits_.empty()) {
            return nullptr;
        }
        detail::wait_node* const wait = waits_.front();
        waits_.erase(waits_.begin());
        return wait;
    }

    [[nodiscard]] bool refuses() noexcept {
        const bool once = refusals != 0;
        refusals -= once ? 1 : 0;
        return once || !has_memory;
    }

    bool has_memory = true;
    unsigned refusals = 0;  ///< So many times it has none.
    bool is_inline = false; ///< It runs a wait at once, inside of the context's handler.

private:
    mutable detail::mutex mutex_;
    std::vector<detail::wait_node*> waits_;
};

/// What a manual_core has in place of an execution context.
struct manual_ports {
    detail::time_count begin = 1'000; ///< What its clock shows.
    bool is_steady = true;            ///< See clock_port.
    bool driver_is_work = false;      ///< See queue_port.
    bool ends_without_work = false;   ///< See queue_port.
};

/// A core with a clock of nanoseconds.
class manual_core {
public:
    static constexpr detail::time_count tick = 10; ///< Unless the options say otherwise.

    /// With ticks of ten, eight slots, and no stalls.
    [[nodiscard]] static wheel_options small(wheel_options options = {}) {
        options.tick = std::chrono::nanoseconds(tick);
        options.slots = 8;
        options.stall = {};
        return options;
    }

    /// A small one.
    explicit manual_core(const wheel_options& options = {})
        : manual_core(small(options), manual_ports()) {}

    /// With these options as they are.
    manual_core(const wheel_options& options, const manual_ports& ports)
        : queue(ports.driver_is_work, ports.ends_without_work) {
        time = ports.begin;
        core_.emplace(options,
                      detail::clock_port{.now = [] { return time; },
                                         .tick = options.tick.count(),
                                         .is_steady = ports.is_steady},
                      anchors_, queue, driver, nullptr);
        shared_.emplace(core_->shared_lock());
    }
    manual_core(const manual_core&) = delete;
    manual_core& operator=(const manual_core&) = delete;
    ~manual_core() {
        if (!has_ended()) {
            end();
        }
        while (abandon_elsewhere()) {
        }
    }

    [[nodiscard]] bool has_ended() const noexcept { return ended_; }

    /// Destroys what waits, as the end of a context does first.
    void shut_down() {
        const on_path here(path::shutdown);
        detail::wait_list doomed;
        while (core_->end(doomed)) {
            while (!doomed.empty()) {
                detail::wait_node& wait = doomed.front();
                doomed.erase(wait);
                drop(wait);
            }
        }
    }

    /// The end of the context. What is at the other executor outlives it.
    void end() {
        const on_path here(path::shutdown);
        shut_down();
        drop_queue();
        shut_down(); // What started while others were destroyed.
        drop_queue();
        core_->end();
        ended_ = true; // During its destructor, too: std::optional need not say so.
        core_.reset();
    }

    [[nodiscard]] detail::core& operator*() noexcept { return *core_; }
    [[nodiscard]] detail::core* operator->() noexcept { return &*core_; }

    // What the service does for a timer.

    void start(detail::timer_state& s, detail::wait_node& wait) {
        const on_path here(path::start);
        queue.work_started();
        if (!core_->start_unlocked(s, wait)) {
            core_->start(s, wait);
        }
    }
    std::size_t cancel(detail::timer_state& s) {
        const on_path here(path::cancel);
        if (detail::wait_node* const ended = core_->end_unlocked(s)) {
            post_aborted(*ended);
            return 1;
        }
        return s.life() == detail::timer_life::tombstone ? 0 : core_->abort_all(s);
    }
    std::size_t cancel_one(detail::timer_state& s) {
        const on_path here(path::cancel);
        if (detail::wait_node* const ended = core_->end_unlocked(s)) {
            post_aborted(*ended);
            return 1;
        }
        return core_->abort_first(s);
    }
    std::size_t set_expiry(detail::timer_state& s, detail::time_count expiry) {
        const on_path here(path::rearm);
        detail::wait_node* const ended = core_->end_unlocked(s);
        std::size_t count = ended != nullptr ? 1 : 0;
        if (!core_->set_expiry_unlocked(s, expiry)) {
            count += core_->set_expiry(s, expiry);
        }
        if (ended != nullptr) {
            post_aborted(*ended);
        }
        return count;
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

    // The next wait at the other executor arrives there, or is destroyed by it. False if there is
    // none. The core may have ended.

    bool run_elsewhere() {
        detail::wait_node* const wait = executor.next();
        if (wait != nullptr) {
            arrive(*wait);
        }
        return wait != nullptr;
    }
    bool abandon_elsewhere() {
        detail::wait_node* const wait = executor.next();
        if (wait != nullptr) {
            const on_path here(path::arrive);
            detail::core::abandon(detail::core_lock_ptr(*shared_), *wait);
            destroy(*wait);
        }
        return wait != nullptr;
    }

    static inline detail::time_count time = 0;

    manual_queue queue;
    manual_driver driver{queue};
    manual_executor executor;
    wait_listener* listener = nullptr;

private:
    void post_aborted(detail::wait_node& wait) {
        wait.finish_as_aborted();
        queue.post({queued::kind::wait, &wait});
    }

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
        const on_path here(q.wait->is_dispatched ? path::dispatch : path::deliver);
        detail::core::handler_scope scope(*core_);
        if (q.wait->is_dispatched) {
            dispatch(*q.wait);
        } else if (q.wait->where() == detail::wait_node::location::queue_final ||
                   core_->claim_in_queue(*q.wait, scope)) {
            call(*q.wait);
        }
    }

    void dispatch(detail::wait_node& wait) {
        if (!core_->dispatch(wait)) {
            return;
        }
        if (executor.refuses()) {
            core_->dispatch_later(wait);
        } else if (executor.is_inline) {
            arrive(wait);
        } else {
            executor.push(wait);
        }
    }

    void arrive(detail::wait_node& wait) {
        const on_path here(path::arrive);
        switch (detail::core::arrive(detail::core_lock_ptr(*shared_), wait)) {
        case detail::core::arrival::waits:
            break;
        case detail::core::arrival::claimed:
            return call(wait);
        case detail::core::arrival::dropped:
            return destroy(wait);
        }
    }

    void call(detail::wait_node& wait) {
        wait_ends& ends = ends_of(wait);
        ++(wait.result == detail::wait_node::result_state::due ? ends.delivered : ends.aborted);
        if (listener != nullptr) {
            listener->called(wait);
        }
    }

    void destroy(detail::wait_node& wait) {
        ++ends_of(wait).destroyed;
        if (listener != nullptr) {
            listener->destroyed(wait);
        }
    }

    // The context destroys a wait that is not at another executor.
    void drop(detail::wait_node& wait) {
        if (core_->prepare_destroy(wait)) {
            destroy(wait);
        }
    }

    // Where the end of a context destroys operations until no work is left, each one counts.
    void drop_queue() {
        const auto dropped = [this] {
            if (queue.ends_without_work) {
                queue.work_finished();
            }
        };
        while (driver.drop_call()) {
            dropped();
        }
        while (const auto q = queue.next()) {
            dropped();
            if (q->what == queued::kind::abort) {
                q->wait->finish_as_aborted();
            }
            if (q->what != queued::kind::turn) {
                drop(*q->wait);
            }
        }
    }

    static inline detail::wheel_anchor::list anchors_;

    std::optional<detail::core> core_;
    bool ended_ = false;
    std::optional<detail::core_lock_ptr> shared_;
};

} // namespace asio_wheel::test

#endif
