// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// A comparison as a page: a file without scripts, which needs no network.

#ifndef DEMO_PAGE_HPP
#define DEMO_PAGE_HPP

#include "comparison.hpp"
#include "page_style.hpp"
#include "words.hpp"

#include <algorithm>
#include <fstream>
#include <stdexcept>
#include <string>

namespace demo {

inline const char* style_class(verdict v) {
    return v == verdict::better ? "better" : v == verdict::worse ? "worse" : "weak";
}

/// Returns a bar for the median, and a line from the least to the largest value.
inline std::string bar(const char* of, const char* name, const samples& values, double most,
                       int decimals) {
    const double share = most > 0 ? 100 / most : 0;
    const double least = std::ranges::min(values) * share;
    const double largest = std::ranges::max(values) * share;
    return text("<div class=\"row %s\"><span>%s</span><span class=\"bar\">", of, name) +
           text("<i style=\"width:%.2f%%\"></i>", median(values) * share) +
           text("<u style=\"left:%.2f%%;width:%.2f%%\"></u>", least, largest - least) +
           text("</span><b>%.*f</b></div>\n", decimals, median(values));
}

inline std::string section(const compared_figure& f) {
    const double most = std::max(std::ranges::max(f.ours), std::ranges::max(f.theirs));
    return text("<section><header><h2>%s</h2>", f.row->title) +
           text("<span class=\"%s\">%s</span></header>\n", style_class(f.result),
                words(f).c_str()) +
           bar("ours", "asio_wheel", f.ours, most, f.row->decimals) +
           bar("theirs", "Asio", f.theirs, most, f.row->decimals) + "</section>\n";
}

/// Returns the page. It leaves out figures that one of the timers does not have, or that are 0.
inline std::string page(const comparison& c, const std::string& settings) {
    std::string all = "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n"
                      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                      "<title>asio_wheel beside Asio</title>\n<style>";
    all += page_style;
    all += "</style>\n<h1>The same server on two timers</h1>\n<p>asio_wheel is <span class=\"";
    all += style_class(c.result());
    all += "\">" + words(c) + "</span></p>\n<p class=\"weak\">" + settings +
           ". A bar is the median of the runs, and the line across its end goes from the least to "
           "the largest. A figure is better or worse if each run of one timer is better than each "
           "run of the other, and the medians differ by more than a twentieth.</p>\n";
    for (const compared_figure& f : c.figures()) {
        if (median(f.ours) > 0 || median(f.theirs) > 0) {
            all += section(f);
        }
    }
    return all + "</html>\n";
}

inline void write_page(const std::string& file, const std::string& html) {
    std::ofstream out(file);
    if (!(out << html << std::flush)) {
        throw std::runtime_error("cannot write " + file);
    }
}

} // namespace demo

#endif
