// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0
// expect: a handle is not a key. Write handle.cancel()

#include <asio_wheel/scheduler.hpp>

void cancel_a_handle_as_a_key(asio_wheel::scheduler& tasks, const asio_wheel::task_handle& h) {
#ifdef ASIO_WHEEL_TEST_MISTAKE
    tasks.cancel(h);
#else
    static_cast<void>(tasks);
    h.cancel();
#endif
}
