# Copyright (c) 2026 The asio-wheel authors
# SPDX-License-Identifier: BSL-1.0

# The wheel alone and other queues: time per operation against the number of timers.

set logscale xy
set format x "10^{%L}"
set xrange [700:1.4e7]
set yrange [1:5000]
set key font ",9"
implementations = "asio_wheel asio_heap multimap libuv libevent"
set multiplot layout 2, 3 title "One operation of a queue of timers (ns)"
do for [name in "schedule cancel re_arm idle_re_arm recurring expire"] {
    set title name noenhanced
    plot for [i = 1:words(implementations)] series("wheel/".name, word(implementations, i), "op") \
        using 1:2 linetype i title word(implementations, i) noenhanced
}
unset multiplot
