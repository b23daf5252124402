# Copyright (c) 2026 The asio-wheel authors
# SPDX-License-Identifier: BSL-1.0

# The longest pause of other work against the number of waits that expire at once.

set logscale xy
set format x "10^{%L}"
set xrange [700:1.4e7]
set xlabel "waits with one deadline"
set ylabel "longest pause (µs)"
set title "Mass expiry"
plot series("pause/posted_handler", "asio_wheel", "pause_us") \
         using 1:2:3:4 with yerrorlines linetype 1 title "asio-wheel, a posted handler", \
     series("pause/foreign_async_wait", "asio_wheel", "pause_us") \
         using 1:2:3:4 with yerrorlines linetype 7 title "asio-wheel, another thread's async\\_wait()", \
     series("pause/posted_handler", "asio", "pause_us") \
         using 1:2:3:4 with yerrorlines linetype 2 title "Asio, a posted handler", \
     series("pause/foreign_async_wait", "asio", "pause_us") \
         using 1:2:3:4 with yerrorlines linetype 3 title "Asio, another thread's async\\_wait()"
