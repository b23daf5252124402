# Copyright (c) 2026 The asio-wheel authors
# SPDX-License-Identifier: BSL-1.0

# Common settings of all plots. `results` is the file with all figures, `file` the output file, and
# `kind` its format, svg or png.

set encoding utf8
set datafile separator whitespace
set key top left reverse Left samplen 2
set grid
set style data linespoints
set pointsize 0.7
set bars small

if (kind eq "svg") {
    set terminal svg size 1200, 800 font "sans-serif,14" background "white"
} else {
    set terminal pngcairo size 1200, 800 font "sans-serif,11"
}
set output file

# The lines `n median min max` of a figure; none if it was not measured.
series(workload, implementation, figure) = sprintf("< awk -F, '$1 == \"%s\" && $2 == \"%s\" && $4 == \"%s\" { print $3, $5, $6, $7 }' '%s' | sort -n", workload, implementation, figure, results)

# One colour for each implementation.
set linetype 1 lw 2 lc rgb "#c0392b" pt 7
set linetype 2 lw 2 lc rgb "#2c3e50" pt 5
set linetype 3 lw 2 lc rgb "#7f8c8d" pt 9
set linetype 4 lw 2 lc rgb "#2980b9" pt 11
set linetype 5 lw 2 lc rgb "#27ae60" pt 13
set linetype 6 lw 2 lc rgb "#8e44ad" pt 4
set linetype 7 lw 2 lc rgb "#d35400" pt 6
set linetype 8 lw 2 lc rgb "#16a085" pt 8
