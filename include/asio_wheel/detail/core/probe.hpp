// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Static probes for bpftrace, perf and SystemTap: see docs/guide/operations.md. Each is one nop and
// a note in the program file. There are none where <sys/sdt.h> is missing (on Debian, it is in
// systemtap-sdt-dev), and with ASIO_WHEEL_NO_PROBES.
//
//   probe                      when
//   arm(timer, expiry)         a wait starts
//   postpone(timer, expiry)    pending waits get another expiry
//   cancel(timer, waits)       waits are aborted
//   expire(timer, late)        a tick has found that a timer is due
//   deliver(timer, late)       the handler of a wait is called next
//   wake_up(lag)               the one Asio timer has expired, as wheel_stats::loop_lag counts it
//   stall(late)                the wheel gives way to data that has arrived
//
// `timer` is an address. An expiry is the count of its clock, or in nanoseconds if that counts in
// fractions. Times are in nanoseconds.

#ifndef ASIO_WHEEL_DETAIL_CORE_PROBE_HPP
#define ASIO_WHEEL_DETAIL_CORE_PROBE_HPP

#if defined(__linux__) && !defined(ASIO_WHEEL_NO_PROBES) && __has_include(<sys/sdt.h>)
#include <sys/sdt.h>
#define ASIO_WHEEL_PROBE1(name, a) STAP_PROBE1(asio_wheel, name, a)
#define ASIO_WHEEL_PROBE2(name, a, b) STAP_PROBE2(asio_wheel, name, a, b)
#else
#define ASIO_WHEEL_PROBE1(name, a) static_cast<void>(0)
#define ASIO_WHEEL_PROBE2(name, a, b) static_cast<void>(0)
#endif

#endif
