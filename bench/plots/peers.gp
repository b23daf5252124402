# Copyright (c) 2026 The asio-wheel authors
# SPDX-License-Identifier: BSL-1.0

# Timers of other libraries and languages: processor time per operation against the number of
# pending timers. Peers that were not measured are omitted.

if (measured("peers") == 0) { exit status 1 }
eval page(860)
set logscale y
set format y '10^{%L}' # Narrow: gnuplot drops a label of the axis that has no room.
set xtics ("none" 0, "10^5" 1, "10^6" 2)
set xrange [-0.2:2.2]
place(n) = n == 0 ? 0 : log10(n) - 4
# Ours and Asio's come first, so that they have the same colours in all plots.
implementations = "asio_wheel asio ".system(sprintf("awk -F, '$1 ~ /^peers\\// && $2 !~ /^asio/ && !seen[$2]++ { print $2 }' '%s'", results))
name(i) = i == 2 ? "Asio" : word(implementations, i)
set key outside right top vertical
set multiplot layout 2, 1 title "Timers of other libraries and languages" margins 0.14, 0.7, 0.09, 0.88 spacing 0, 0.13
names = "start_cancel re_arm"
array titles[2] = ["start a timer and cancel it", "move a timer"]
do for [j = 1:2] {
    set title titles[j]
    set xlabel j == 2 ? "other timers that are pending" : ""
    set ylabel "CPU time (ns)"
    plot for [i = 1:words(implementations)] \
        series("peers/".word(names, j), word(implementations, i), "op") \
        using (place($1)):2 linetype i title j == 1 ? name(i) : "" noenhanced
    unset label 1
}
unset multiplot
