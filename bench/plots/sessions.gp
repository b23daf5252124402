# Copyright (c) 2026 The asio-wheel authors
# SPDX-License-Identifier: BSL-1.0

# A UDP relay: processor time per datagram against the number of sessions.

set logscale x
set format x "10^{%L}"
set xrange [700:1.4e6]
set yrange [0:*]
set xlabel "sessions"
set ylabel "processor time per datagram (ns)"
set title "A relay whose sessions have timeouts"
plot series("sessions/active", "asio", "cpu_ns") \
         using 1:2:3:4 with yerrorlines linetype 2 title "boost::asio::steady\\_timer", \
     series("sessions/active", "postpone", "cpu_ns") \
         using 1:2:3:4 with yerrorlines linetype 7 title "asio-wheel, postpone() with each datagram", \
     series("sessions/active", "asio_wheel", "cpu_ns") \
         using 1:2:3:4 with yerrorlines linetype 1 title "asio\\_wheel::steady\\_timer", \
     series("sessions/active", "none", "cpu_ns") \
         using 1:2:3:4 with yerrorlines linetype 3 title "no timeouts"
