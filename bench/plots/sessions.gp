# Copyright (c) 2026 The asio-wheel authors
# SPDX-License-Identifier: BSL-1.0

# A UDP relay: processor time per datagram against the number of sessions.

eval page(480)
eval tens
set xrange [700:1.4e6]
set yrange [0:*]
set key maxcols 2
set xlabel "sessions, each with an idle timeout"
set ylabel "CPU time of a datagram (ns)"
set title "A UDP relay whose sessions have timeouts"
plot series("sessions/active", "asio", "cpu_ns") \
         using 1:2:3:4 with yerrorlines linetype 2 title "Asio", \
     series("sessions/active", "postpone", "cpu_ns") \
         using 1:2:3:4 with yerrorlines linetype 7 title "asio\\_wheel, postpone() for each datagram", \
     series("sessions/active", "asio_wheel", "cpu_ns") \
         using 1:2:3:4 with yerrorlines linetype 1 title "asio\\_wheel", \
     series("sessions/active", "none", "cpu_ns") \
         using 1:2:3:4 with yerrorlines linetype 3 title "no timeouts"
