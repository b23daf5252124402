// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0
// expect: the key of a task needs a std::hash

#include <asio_wheel/scheduler.hpp>

#include <chrono>
#include <utility>

void key_of_a_task_without_hash(asio_wheel::scheduler& tasks) {
#ifdef ASIO_WHEEL_TEST_MISTAKE
    tasks.schedule_after(std::pair(1, 2), std::chrono::seconds(1), [] {});
#else
    tasks.schedule_after(12, std::chrono::seconds(1), [] {});
#endif
}
