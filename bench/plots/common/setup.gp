# Copyright (c) 2026 The asio-wheel authors
# SPDX-License-Identifier: BSL-1.0

# Common settings of all plots. `results` is the file with all figures, `file` the output file,
# `kind` its format, svg or png, and `note` a line to print below, or nothing.
#
# A plot begins with `eval page(height)`. It names both axes with their units, and what it shows in
# words: a reader does not know the names in results.csv. All plots are 640 pixels wide, with
# letters that are readable on a telephone.

set encoding utf8
set datafile separator whitespace
set key below reverse Left samplen 1.5
set grid linetype 1 linecolor rgb "gray" linewidth 0.5
set style data linespoints
set pointsize 0.6
set bars small

page(height) = (kind eq "svg" \
    ? sprintf("set terminal svg size 640, %d font 'sans-serif,17' background '#ffffff'", height) \
    : sprintf("set terminal pngcairo size 1280, %d font 'sans-serif,22'", 2 * height)). \
    "; set output file; set label 1 note at screen 0.988, 0.5 center rotate by -90 font ',12'"

# For panels in two columns, with one title. `height` is that of the page.
panels(rows, height, title) = sprintf( \
    "set multiplot layout %d, 2 title '%s' margins 0.14, 0.96, %g, %g spacing 0.1, %g", \
    rows, title, 80.0 / height, 1 - 110.0 / height, 92.0 / height). \
    "; unset key; set title offset 0, -0.5"
# Their key, above them, is a row of `n` coloured names. This is the one of linetype `i`.
named(i, n, name, height) = sprintf( \
    "set label %d '● %s' at screen %g, %g center noenhanced textcolor linetype %d font ',15'", \
    10 + i, name, 0.14 + 0.82 * (i - 0.5) / n, 1 - 52.0 / height, i)

# Numbers of timers, with one name for each ten or each hundred times.
tens = "set logscale x; set xtics ('10^3' 1e3, '10^4' 1e4, '10^5' 1e5, '10^6' 1e6, '10^7' 1e7)"
hundreds = "set logscale x; set xtics ('10^3' 1e3, '10^5' 1e5, '10^7' 1e7)"

# The lines `n median min max` of a figure; none if it was not measured.
series(workload, implementation, figure) = sprintf("< awk -F, '$1 == \"%s\" && $2 == \"%s\" && $4 == \"%s\" { print $3, $5, $6, $7 }' '%s' | sort -n", workload, implementation, figure, results)

# How many figures of a group were measured.
measured(group) = system(sprintf("grep -c '^%s/' '%s'", group, results)) + 0

# One colour for each implementation, for light and for dark screens.
set linetype 1 lw 2.5 lc rgb "#d9493a" pt 7
set linetype 2 lw 2.5 lc rgb "#5f7d9c" pt 5
set linetype 3 lw 2 lc rgb "#8a9597" pt 9
set linetype 4 lw 2 lc rgb "#2e8fd0" pt 11
set linetype 5 lw 2 lc rgb "#2aa35f" pt 13
set linetype 6 lw 2 lc rgb "#9b59b6" pt 4
set linetype 7 lw 2 lc rgb "#d98317" pt 6
set linetype 8 lw 2 lc rgb "#16a085" pt 8
