# Copyright (c) 2026 The asio-wheel authors
# SPDX-License-Identifier: BSL-1.0

# The wheel alone and other queues: time per operation against the number of timers.

if (measured("wheel") == 0) { exit status 1 }
eval page(960)
eval hundreds
set logscale y
set xrange [700:1.4e7]
set yrange [1:5000]
implementations = "asio_wheel asio_heap multimap libuv libevent"
array names[5] = ["the wheel", "Asio", "std::multimap", "libuv", "libevent"]
workloads = "schedule cancel re_arm idle_re_arm recurring expire"
array titles[6] = ["file an entry", "remove it", "move it", "move it, idle timeout", "expire and file again", "expire"]
do for [i = 1:5] { eval named(i, 5, names[i], 960) }
eval panels(3, 960, "What an operation of a queue of timers costs")
do for [j = 1:6] {
    set title titles[j]
    set xlabel j > 4 ? "entries" : ""
    set ylabel j % 2 == 1 ? "CPU time (ns)" : "" offset 1, 0
    plot for [i = 1:5] series("wheel/".word(workloads, j), word(implementations, i), "op") \
        using 1:2 linetype i notitle
    unset label
}
unset multiplot
