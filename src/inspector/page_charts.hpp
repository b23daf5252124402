// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The script of the inspector's page, first part: numbers as text, histograms, and charts.

#ifndef ASIO_WHEEL_SRC_INSPECTOR_PAGE_CHARTS_HPP
#define ASIO_WHEEL_SRC_INSPECTOR_PAGE_CHARTS_HPP

#include <string_view>

namespace asio_wheel::detail {

inline constexpr std::string_view page_charts = R"js(
const byId = id => document.getElementById(id);

// Makes an element. Text is always set as text, so nothing in a name or a tag is markup.
function make(name, attributes = {}, ...children) {
  const svg = ["svg", "g", "path", "line", "rect", "text", "polyline", "circle", "title"];
  const element = svg.includes(name)
      ? document.createElementNS("http://www.w3.org/2000/svg", name)
      : document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
}

function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

// A number with three significant digits.
function shortNumber(x) {
  if (!Number.isFinite(x)) return "\u2013";
  for (const [size, unit] of [[1e9, " G"], [1e6, " M"], [1e4, " k"]]) {
    if (Math.abs(x) >= size) {
      const scaled = size === 1e4 ? x / 1e3 : x / size;
      return Number(scaled.toPrecision(3)) + unit;
    }
  }
  return String(x >= 100 ? Math.round(x) : Number(x.toPrecision(3)));
}

const wholeNumber = x => Math.round(x).toLocaleString("en");

function shortTime(ns, digits = 3) {
  const units = [["d", 864e11, 2], ["h", 36e11, 2], ["min", 6e10, 2], ["s", 1e9, 1], ["ms", 1e6, 1],
                 ["\u00b5s", 1e3, 1]];
  for (const [unit, size, least] of units) {
    if (ns >= least * size) return Number((ns / size).toPrecision(digits)) + " " + unit;
  }
  return Math.max(0, Math.round(ns)) + " ns";
}

// Histograms are lists of [largest value of a cell, count], in ascending order.
function difference(later, earlier) {
  const before = new Map(earlier);
  return later.map(([upTo, n]) => [upTo, n - (before.get(upTo) ?? 0)]).filter(cell => cell[1] > 0);
}

const sum = cells => cells.reduce((n, cell) => n + cell[1], 0);

function quantile(cells, q) {
  let left = q * sum(cells);
  for (const [upTo, n] of cells) {
    left -= n;
    if (left <= 0) return upTo;
  }
  return cells.length ? cells[cells.length - 1][0] : 0;
}

// The width of a chart in pixels, so that text in it has the size of other text.
function clear(svg, height) {
  const width = Math.max(200, Math.round(svg.clientWidth || svg.parentNode.clientWidth));
  svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
  svg.style.height = height + "px";
  svg.replaceChildren();
  return width;
}

// The next number above x that is 1, 2 or 5 times a power of ten.
function roundUp(x) {
  const power = 10 ** Math.floor(Math.log10(Math.max(x, 1)));
  return [1, 2, 5, 10].map(f => f * power).find(v => v >= x);
}

// The top of a scale. One spike must not flatten all else: it is cut off, and its value is written
// there, if it is more than four times what nine of ten values stay below.
function scaleOf(values) {
  const most = Math.max(1, ...values), some = values.filter(v => v > 0).sort((a, b) => a - b);
  const usual = some[Math.floor(some.length * .9)] ?? most;
  return {most, top: roundUp(Math.max(1, most > 4 * usual ? 1.5 * usual : most))};
}

// Names the largest value where it was cut off. The points are [x, value].
function nameSpike(svg, box, scale, points) {
  const spike = points.find(point => point[1] === scale.most);
  if (scale.most <= scale.top || !spike) return;
  const x = Math.min(Math.max(spike[0], box.left + 28), box.right - 28);
  svg.append(make("text", {class: "mid spike", x: x.toFixed(1), y: box.top + 3},
                  `\u25b2 ${shortNumber(scale.most)}`));
}

// A frame with the axis of values at the left, and of seconds below.
function frame(svg, width, height, most, seconds) {
  const box = {left: 44, right: width - 6, top: 8, bottom: height - 20};
  for (const share of [0, .5, 1]) {
    const y = box.bottom - share * (box.bottom - box.top);
    svg.append(make("line", {class: "axis", x1: box.left, x2: box.right, y1: y, y2: y}),
               make("text", {class: "end", x: box.left - 6, y: y + 4}, shortNumber(most * share)));
  }
  for (const [share, text] of [[0, `${seconds} s ago`], [.5, `${seconds / 2} s`], [1, "now"]]) {
    const x = box.left + share * (box.right - box.left);
    const place = share === 0 ? "" : share === 1 ? "end" : "mid";
    svg.append(make("text", {class: place, x, y: height - 4}, text));
  }
  return box;
}

// Lines over the last minute. Each series is {name, values}, where values are [seconds ago, value].
function lineChart(svg, series, seconds) {
  const height = 170, width = clear(svg, height);
  const scale = scaleOf(series.flatMap(s => s.values.map(v => v[1])));
  const box = frame(svg, width, height, scale.top, seconds);
  const x = ago => box.right - ago / seconds * (box.right - box.left);
  const y = value =>
      box.bottom - Math.min(value / scale.top, 1) * (box.bottom - box.top);
  series.forEach((s, i) => {
    const points = s.values.map(([ago, value]) => `${x(ago).toFixed(1)},${y(value).toFixed(1)}`);
    svg.append(make("polyline", {class: `series l${i}`, points: points.join(" ")}));
  });
  nameSpike(svg, box, scale, series.flatMap(s => s.values.map(([ago, v]) => [x(ago), v])));
}

// Stacked columns over the last minute, in the same form.
function columnChart(svg, series, seconds) {
  const height = 170, width = clear(svg, height);
  const totals = (series[0]?.values ?? []).map((_, at) =>
      series.reduce((n, s) => n + s.values[at][1], 0));
  const scale = scaleOf(totals);
  const box = frame(svg, width, height, scale.top, seconds);
  totals.forEach((_, at) => {
    let y = box.bottom;
    const [ago, , length] = series[0].values[at];
    const right = box.right - ago / seconds * (box.right - box.left);
    const wide = Math.max(1, length / seconds * (box.right - box.left) - .7);
    series.forEach((s, i) => {
      const tall = Math.min(s.values[at][1] / scale.top * (box.bottom - box.top), y - box.top);
      if (tall > 0) {
        y -= tall;
        svg.append(make("rect", {class: `b${i}`, x: (right - wide).toFixed(1), y: y.toFixed(1),
                                 width: wide.toFixed(1), height: tall.toFixed(1)}));
      }
    });
  });
  nameSpike(svg, box, scale, totals.map((total, at) =>
      [box.right - series[0].values[at][0] / seconds * (box.right - box.left), total]));
}

// A histogram over a scale of powers: each column counts what is up to `factor` times larger.
function histogramChart(svg, cells, least, factor) {
  const height = 112, width = clear(svg, height);
  const column = upTo => Math.max(0, Math.ceil(Math.log(upTo / least) / Math.log(factor) - 1e-9));
  const last = Math.max(11, ...cells.map(cell => column(cell[0])));
  const counts = new Array(last + 1).fill(0);
  for (const [upTo, n] of cells) counts[column(upTo)] += n;
  const most = Math.max(1, ...counts), bottom = height - 20, wide = width / counts.length;
  svg.append(make("line", {class: "axis", x1: 0, x2: width, y1: bottom, y2: bottom}));
  let free = -1;
  counts.forEach((n, i) => {
    const tall = n === 0 ? 0 : Math.max(2, n / most * (bottom - 18)), x = i * wide;
    if (n > 0) {
      svg.append(make("rect", {class: "b0", x: (x + 1).toFixed(1), y: (bottom - tall).toFixed(1),
                               width: Math.max(1, wide - 2).toFixed(1), height: tall.toFixed(1)}));
      if (wide > 30) {
        svg.append(make("text", {class: "mid", x: x + wide / 2, y: bottom - tall - 4},
                        shortNumber(n)));
      }
    }
    const label = shortTime(least * factor ** i, 2), space = label.length * 7;
    if (x + wide - space > free && x + wide - space >= 0) {
      svg.append(make("text", {class: "end", x: x + wide, y: height - 5}, label));
      free = x + wide + 8;
    }
  });
}

// The names of series, with their colours, their strokes and what they are now.
function drawKey(element, series, stroke) {
  element.replaceChildren(...series.map((s, i) => {
    const sample = stroke
        ? make("svg", {viewBox: "0 0 22 8", "aria-hidden": "true"},
               make("line", {class: `series l${i}`, x1: 0, x2: 22, y1: 4, y2: 4}))
        : make("i", {class: `s${i}`});
    return make("span", {}, sample, s.name, make("b", {}, s.now));
  }));
}

function drawRows(body, rows, empty) {
  const columns = body.parentNode.tHead.rows[0].cells.length;
  body.replaceChildren(...rows.map(row => make("tr", {}, ...row)));
  if (!rows.length) {
    body.append(make("tr", {}, make("td", {colspan: columns, class: "note"}, empty)));
  }
}

// A name or a tag: whatever is in it, the text around it keeps its direction.
const isolated = text => make("bdi", {}, text || "\u2013");
const cell = text => make("td", {}, text);
const numberCell = text => make("td", {class: "number"}, text);
)js";

} // namespace asio_wheel::detail

#endif
