# Copyright (c) 2026 The asio-wheel authors
# SPDX-License-Identifier: BSL-1.0

# Timers of other libraries and languages: processor time per operation against the number of
# pending timers. Peers that were not measured are omitted.

set logscale y
set xtics ("none" 0, "10^5" 1, "10^6" 2)
set xrange [-0.2:2.2]
set xlabel "pending timers"
set key outside right top
place(n) = n == 0 ? 0 : log10(n) - 4
# Ours and Asio's come first, so that they have the same colours in all plots.
implementations = "asio_wheel asio ".system(sprintf("awk -F, '$1 ~ /^peers\\// && $2 !~ /^asio/ && !seen[$2]++ { print $2 }' '%s'", results))
measured = system(sprintf("grep -c ^peers/ '%s'", results)) + 0
if (measured == 0) { exit status 1 }
set multiplot layout 2, 1 title "Timers of other libraries (ns of processor time)"
do for [name in "start_cancel re_arm"] {
    set title name noenhanced
    plot for [i = 1:words(implementations)] series("peers/".name, word(implementations, i), "op") \
        using (place($1)):2 linetype i title word(implementations, i) noenhanced
}
unset multiplot
