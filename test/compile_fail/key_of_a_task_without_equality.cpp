// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0
// expect: the key of a task needs an ==

#include <asio_wheel/scheduler.hpp>

#include <cstddef>
#include <functional>

struct session_id {
    int value;
#ifndef ASIO_WHEEL_TEST_MISTAKE
    friend bool operator==(const session_id&, const session_id&) = default;
#endif
};

template <>
struct std::hash<session_id> {
    std::size_t operator()(const session_id& id) const noexcept {
        return static_cast<std::size_t>(id.value);
    }
};

void key_of_a_task_without_equality(asio_wheel::scheduler& tasks) {
    tasks.cancel(session_id{1});
}
