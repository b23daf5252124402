# Copyright (c) 2026 The asio-wheel authors
# SPDX-License-Identifier: BSL-1.0

# Wake-ups a second against the tick, while 10,000 waits expire a second.

eval page(440)
set logscale xy
set format y "%.0f"
set format x "%g"
set xlabel "tick of the wheel (ms)"
set ylabel "wake-ups in a second"
set title "How often 10,000 waits a second wake up a program"
plot series("wake_up/tick_us", "asio", "per_second") \
         using ($1 / 1000):2:3:4 with yerrorlines linetype 2 title "Asio, which has no tick", \
     series("wake_up/tick_us", "asio_wheel", "per_second") \
         using ($1 / 1000):2:3:4 with yerrorlines linetype 1 title "asio\\_wheel"
