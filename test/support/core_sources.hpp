// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The core, compiled once more: for a source that defines ASIO_WHEEL_SYNC_HEADER. Its objects come
// before those of the library.

#ifndef ASIO_WHEEL_TEST_SUPPORT_CORE_SOURCES_HPP
#define ASIO_WHEEL_TEST_SUPPORT_CORE_SOURCES_HPP

#include "../src/core/block_pool.cpp"
#include "../src/core/book.cpp"
#include "../src/core/core.cpp"
#include "../src/core/core_delivery.cpp"
#include "../src/core/core_drain.cpp"
#include "../src/core/core_end.cpp"
#include "../src/core/core_stats.cpp"
#include "../src/core/core_time.cpp"
#include "../src/core/core_turn.cpp"
#include "../src/core/delivery.cpp"
#include "../src/core/listed_wheel.cpp"
#include "../src/core/pending_walk.cpp"
#include "../src/core/tag_meter.cpp"
#include "../src/core/tag_meter_all.cpp"
#include "../src/core/thread_counts.cpp"

#endif
