// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// A context's queue for tests of single objects of the core: it records what it is told.

#ifndef ASIO_WHEEL_TEST_SUPPORT_RECORDED_QUEUE_HPP
#define ASIO_WHEEL_TEST_SUPPORT_RECORDED_QUEUE_HPP

#include <asio_wheel/detail/core/ports.hpp>
#include <asio_wheel/detail/core/wait_node.hpp>
#include <asio_wheel/detail/threads/optional_mutex.hpp>

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <vector>

namespace asio_wheel::test {

class recorded_queue final : public detail::queue_port {
public:
    enum class kind : std::uint8_t { wait, proxy, abort, turn };

    struct element {
        kind what;
        const detail::wait_node* wait = nullptr;

        friend bool operator==(const element&, const element&) = default;
    };
    using elements = std::vector<element>;

    recorded_queue() : queue_port(false, false) {}

    void push(std::span<detail::wait_node* const> waits) noexcept override {
        pushed.push_back(waits.size());
        for (const detail::wait_node* const wait : waits) {
            batch.push_back({kind::wait, wait});
        }
    }
    [[nodiscard]] bool push_proxy(detail::wait_node& wait, proxy p) noexcept override {
        if (has_memory) {
            batch.push_back({p == proxy::abort ? kind::abort : kind::proxy, &wait});
        }
        return has_memory;
    }
    void push_turn() noexcept override { batch.push_back({kind::turn}); }

    [[nodiscard]] void* take_first() noexcept override {
        first = batch.front();
        batch.erase(batch.begin());
        return &first;
    }

    void post(std::unique_lock<detail::optional_mutex>* lock) noexcept override {
        posted.swap(batch);
        batch.clear();
        ++posts;
        if (lock != nullptr) {
            lock->unlock();
        }
    }

    void work_started() noexcept override { ++work; }
    void work_finished() noexcept override { --work; }
    [[nodiscard]] bool running_in_this_thread() const noexcept override { return false; }

    elements batch;
    elements posted;                 ///< By the last call of post().
    int posts = 0;                   ///< Calls of post().
    std::vector<std::size_t> pushed; ///< The lengths of the spans that were pushed.
    element first{};                 ///< The last one that was taken.
    long work = 0;
    bool has_memory = true; ///< For proxies.
};

} // namespace asio_wheel::test

#endif
