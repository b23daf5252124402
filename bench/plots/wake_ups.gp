# Copyright (c) 2026 The asio-wheel authors
# SPDX-License-Identifier: BSL-1.0

# Wake-ups a second against the tick, while 10,000 waits expire a second.

set logscale xy
set xlabel "tick (ms)"
set ylabel "wake-ups a second"
set title "Wake-ups"
set key bottom left
plot series("wake_up/tick_us", "asio_wheel", "per_second") \
         using ($1 / 1000):2:3:4 with yerrorlines linetype 1 title "asio-wheel", \
     series("wake_up/tick_us", "asio", "per_second") \
         using ($1 / 1000):2:3:4 with yerrorlines linetype 2 title "Asio, which has no tick"
