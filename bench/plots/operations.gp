# Copyright (c) 2026 The asio-wheel authors
# SPDX-License-Identifier: BSL-1.0

# Timers: processor time per operation against the number of pending timers.

if (measured("api") == 0) { exit status 1 }
eval page(640)
eval hundreds
set logscale y
set xrange [700:1.4e7]
set yrange [10:5000]
eval named(1, 2, "asio_wheel", 640)
eval named(2, 2, "Asio", 640)
eval panels(2, 640, "What an operation of a timer costs")
names = "arm re_arm postpone cancel"
array titles[4] = ["start a wait", "move it: a new wait", "move it: postpone()", "cancel it"]
do for [i = 1:4] {
    set title titles[i]
    set xlabel i > 2 ? "pending timers" : ""
    set ylabel i % 2 == 1 ? "CPU time (ns)" : "" offset 1, 0
    plot series("api/".word(names, i), "asio_wheel", "op") using 1:2:3:4 with yerrorlines \
             linetype 1 notitle, \
         series("api/".word(names, i), "asio", "op") using 1:2:3:4 with yerrorlines \
             linetype 2 notitle
    unset label
}
unset multiplot
