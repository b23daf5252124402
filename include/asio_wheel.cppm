// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// All of asio-wheel as a C++20 module: `import asio_wheel;`. Boost is included as usual, before the
// import. Macros, such as ASIO_WHEEL_TRACK_SOURCE, must be defined when the module is compiled.
//
//     clang++-19 -std=c++20 -pthread -Iinclude --precompile include/asio_wheel.cppm
//         -o asio_wheel.pcm
//     clang++-19 -pthread -c asio_wheel.pcm -o asio_wheel_module.o
//     clang++-19 -std=c++20 -pthread -fmodule-file=asio_wheel=asio_wheel.pcm server.cpp
//         asio_wheel_module.o -lasio_wheel

module;

#include <asio_wheel.hpp>

export module asio_wheel;

export namespace asio_wheel {
using asio_wheel::all_wait_kinds;
using asio_wheel::append_openmetrics;
using asio_wheel::associated_remaining_time;
using asio_wheel::associated_tag;
using asio_wheel::async_retry;
using asio_wheel::async_sleep_for;
using asio_wheel::async_sleep_until;
using asio_wheel::attempt;
using asio_wheel::backoff;
using asio_wheel::backoff_options;
using asio_wheel::basic_delay_queue;
using asio_wheel::basic_delayed_operations;
using asio_wheel::basic_heartbeat;
using asio_wheel::basic_idle_timer;
using asio_wheel::basic_interval;
using asio_wheel::basic_rate_limiter;
using asio_wheel::basic_scheduler;
using asio_wheel::basic_scheduler_options;
using asio_wheel::basic_task_handle;
using asio_wheel::basic_waitable_timer;
using asio_wheel::boottime_clock;
using asio_wheel::boottime_timer;
using asio_wheel::cancel_after;
using asio_wheel::cancel_after_t;
using asio_wheel::cancel_at;
using asio_wheel::cancel_result;
using asio_wheel::civil_times;
using asio_wheel::civil_zone;
using asio_wheel::counts_by_kind;
using asio_wheel::daily;
using asio_wheel::days_of_week;
using asio_wheel::deadline_executor;
using asio_wheel::debounce_options;
using asio_wheel::delay_queue;
using asio_wheel::delay_queue_entry;
using asio_wheel::delay_queue_options;
using asio_wheel::delayed_operations;
using asio_wheel::each_error;
using asio_wheel::error;
using asio_wheel::error_category;
using asio_wheel::fixed_offset;
using asio_wheel::handler_group;
using asio_wheel::heartbeat;
using asio_wheel::heartbeat_event;
using asio_wheel::heartbeat_options;
using asio_wheel::high_resolution_timer;
using asio_wheel::idle_timer;
using asio_wheel::idle_timer_options;
using asio_wheel::idle_timer_scale;
using asio_wheel::interval;
using asio_wheel::interval_options;
using asio_wheel::labelled_stats;
using asio_wheel::last_tick;
using asio_wheel::lateness_cause;
using asio_wheel::lateness_histogram;
using asio_wheel::lateness_limits;
using asio_wheel::lateness_severity;
using asio_wheel::local_zone;
using asio_wheel::make_error_code;
using asio_wheel::make_wheel;
using asio_wheel::map_result;
using asio_wheel::missed;
using asio_wheel::monthly;
using asio_wheel::no_deadline;
using asio_wheel::no_tag;
using asio_wheel::no_tick;
using asio_wheel::now;
using asio_wheel::on_cancel;
using asio_wheel::on_days;
using asio_wheel::on_weekdays;
using asio_wheel::partial_cancel_after;
using asio_wheel::partial_timeout;
using asio_wheel::pending_wait;
using asio_wheel::random_phase;
using asio_wheel::rate_limiter;
using asio_wheel::rate_limiter_options;
using asio_wheel::recent_lateness;
using asio_wheel::remaining_time;
using asio_wheel::retry_options;
using asio_wheel::retry_pause;
using asio_wheel::scale_idle_timers;
using asio_wheel::scheduler;
using asio_wheel::scheduler_options;
using asio_wheel::steady_timer;
using asio_wheel::system_scheduler;
using asio_wheel::system_timer;
using asio_wheel::tag;
using asio_wheel::tag_stats;
using asio_wheel::task_handle;
using asio_wheel::tick_scale;
using asio_wheel::tick_t;
using asio_wheel::time_of_day;
using asio_wheel::timeout;
using asio_wheel::timeout_at;
using asio_wheel::timeout_stream;
using asio_wheel::timeout_t;
using asio_wheel::to_openmetrics;
using asio_wheel::to_prometheus;
using asio_wheel::to_string;
using asio_wheel::token_rate;
using asio_wheel::use_wheel;
using asio_wheel::utc;
using asio_wheel::validate;
using asio_wheel::virtual_time;
using asio_wheel::virtual_time_options;
using asio_wheel::wait_kind;
using asio_wheel::wait_tag;
using asio_wheel::wake_ups_in_second;
using asio_wheel::weekly;
using asio_wheel::wheel;
using asio_wheel::wheel_already_exists;
using asio_wheel::wheel_entry;
using asio_wheel::wheel_occupancy;
using asio_wheel::wheel_options;
using asio_wheel::wheel_report;
using asio_wheel::wheel_service;
using asio_wheel::wheel_stats;
using asio_wheel::with_deadline;
using asio_wheel::yearly;
using asio_wheel::zone_changes;
using asio_wheel::zone_period;
} // namespace asio_wheel
