# Copyright (c) 2026 The asio-wheel authors
# SPDX-License-Identifier: BSL-1.0
# shellcheck shell=bash disable=SC2034
#
# What the tests have in common. Their arguments are PORT WORKER PRODUCER. When a test ends, so do
# all processes that it has started.

set -u
here=$(dirname "$0")
port=$1
worker=$2
producer=$3

command -v redis-cli >/dev/null || {
    echo "skipped: redis-cli is not installed"
    exit 77
}

folder=$(mktemp -d)
# shellcheck disable=SC2046 # Several numbers.
trap 'kill -9 $(jobs -p) 2>/dev/null; rm -rf "$folder"' EXIT

redis() { redis-cli -p "$port" "$@" 2>/dev/null; }
record() { redis lrange record 0 -1; } # Lines `begun JOB WORKER TIME` and `done JOB WORKER TIME`.
left() { redis zcard '{jobs}:due'; }

# wait_for N: waits until N jobs are done, or all.
wait_for() {
    while [ "$(record | grep -c '^done')" -lt "$1" ] && [ "$(left)" -gt 0 ]; do
        sleep 0.05
    done
}

# wait_until_done JOB
wait_until_done() {
    until record | grep -q "^done $1 "; do
        sleep 0.05
    done
    echo "done: $1"
}

# finish PID...: ends workers, which complete their jobs before.
finish() {
    local pid
    kill -TERM "$@"
    for pid; do
        wait "$pid" || exit 1
    done
}
