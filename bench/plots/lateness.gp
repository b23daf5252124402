# Copyright (c) 2026 The asio-wheel authors
# SPDX-License-Identifier: BSL-1.0

# The distribution of lateness for several ticks, while 10,000 waits expire a second.

eval page(460)
set key maxcols 3
set logscale x
set xlabel "lateness: from the expiry to the handler (µs)"
set ylabel "handlers that are no later (%)"
set yrange [0:105]
set format x "%g"
quantiles(implementation, tick) = sprintf("< awk -F, '$1 == \"wake_up/tick_us\" && $2 == \"%s\" && $3 == %d && sub(/late_us_p/, \"\", $4) { print $5, $4 }' '%s' | sort -g -k2", implementation, tick, results)
set title "How late a handler is called"
plot quantiles("asio", 1000) using 1:2 linetype 2 title "Asio", \
     quantiles("asio_wheel", 100) using 1:2 linetype 5 title "tick 0.1 ms", \
     quantiles("asio_wheel", 1000) using 1:2 linetype 1 title "1 ms (default)", \
     quantiles("asio_wheel", 10000) using 1:2 linetype 7 title "10 ms", \
     quantiles("asio_wheel", 100000) using 1:2 linetype 6 title "100 ms"
