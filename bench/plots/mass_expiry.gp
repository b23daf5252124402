# Copyright (c) 2026 The asio-wheel authors
# SPDX-License-Identifier: BSL-1.0

# The longest pause of other work against the number of waits that expire at once.

eval page(480)
eval tens
set logscale y
set key maxcols 1
set xrange [700:1.4e7]
set format y "10^{%L}"
set xlabel "waits that expire at the same moment"
set ylabel "longest pause (µs)"
set title "How long other work waits meanwhile"
plot series("pause/posted_handler", "asio", "pause_us") \
         using 1:2:3:4 with yerrorlines linetype 2 title "Asio: a posted handler", \
     series("pause/foreign_async_wait", "asio", "pause_us") \
         using 1:2:3:4 with yerrorlines linetype 3 title "Asio: async\\_wait() of another thread", \
     series("pause/posted_handler", "asio_wheel", "pause_us") \
         using 1:2:3:4 with yerrorlines linetype 1 title "asio\\_wheel: a posted handler", \
     series("pause/foreign_async_wait", "asio_wheel", "pause_us") \
         using 1:2:3:4 with yerrorlines linetype 7 title "asio\\_wheel: async\\_wait() of another thread"
