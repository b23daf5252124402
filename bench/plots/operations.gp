# Copyright (c) 2026 The asio-wheel authors
# SPDX-License-Identifier: BSL-1.0

# Timers: processor time per operation against the number of pending timers.

set logscale xy
set format x "10^{%L}"
set xrange [700:1.4e7]
set yrange [10:5000]
set key font ",9"
set multiplot layout 2, 2 title "One operation of a timer (ns of processor time)"
do for [name in "api/arm api/re_arm api/postpone api/cancel"] {
    set title name noenhanced
    plot series(name, "asio_wheel", "op") using 1:2:3:4 with yerrorlines linetype 1 \
             title "asio\\_wheel::steady\\_timer", \
         series(name, "asio", "op") using 1:2:3:4 with yerrorlines linetype 2 \
             title "boost::asio::steady\\_timer"
}
unset multiplot
