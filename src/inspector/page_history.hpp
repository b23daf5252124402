// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The script of the inspector's page, fourth part: what the program has kept of each minute.

#ifndef ASIO_WHEEL_SRC_INSPECTOR_PAGE_HISTORY_HPP
#define ASIO_WHEEL_SRC_INSPECTOR_PAGE_HISTORY_HPP

#include <string_view>

namespace asio_wheel::detail {

inline constexpr std::string_view page_history = R"js(
let past = null;     // /history.json, as it was last read.
let pastRead = -Infinity; // When that was.
let pastDrawn = [];  // Of what, and for which wheel and width, the charts are.

function readPast() {
  pastRead = performance.now();
  fetch("/history.json").then(answer => answer.json()).then(read => {
    past = read;
    draw();
  }, () => { pastRead = performance.now() - 25000; }); // Asks again in 5 s.
}

// The minutes of a wheel as objects.
function minutesOf(name) {
  const wheel = past?.wheels.find(w => w.name === name);
  return (wheel?.minutes ?? []).map(numbers =>
      Object.fromEntries(past.columns.map((column, i) => [column, numbers[i]])));
}

const clockTime = ms =>
    new Date(ms).toLocaleTimeString("en-GB", {hour: "2-digit", minute: "2-digit"});

// From `least` to the largest value, so that no spike flattens the others.
function logarithmicScale(values, least) {
  const most = Math.max(least * 10, ...values);
  return {most, top: most, marks: [least, Math.sqrt(least * most), most],
          share: v => v <= least ? 0 : Math.log(v / least) / Math.log(most / least)};
}

function linearScale(values) {
  const {most, top} = scaleOf(values);
  return {most, top, marks: [0, top / 2, top], share: v => Math.min(v / top, 1)};
}

// One column for each minute, and times of day below. The columns follow each other, whatever the
// wall clock says: it may have been set by years.
function minuteChart(svg, minutes, values, scale, text, shade) {
  const height = 120, width = clear(svg, height);
  const box = {left: 58, right: width - 6, top: 12, bottom: height - 20};
  const y = v => box.bottom - scale.share(v) * (box.bottom - box.top);
  for (const v of scale.marks) {
    svg.append(make("line", {class: "axis", x1: box.left, x2: box.right, y1: y(v), y2: y(v)}),
               make("text", {class: "end", x: box.left - 6, y: y(v) + 4}, text(v)));
  }
  const n = minutes.length, column = (box.right - box.left) / Math.max(n, 30);
  const end = i => box.right - (n - 1 - i) * column, wide = Math.max(1, column - .6);
  const step = 6e4 * ([10, 30, 60, 120, 360, 720].find(m => n <= 12 * m) ?? 1440);
  let free = box.left + 16;
  minutes.forEach((minute, i) => {
    const tall = Math.max(1, box.bottom - y(values[i]));
    const bar = make("rect", {class: shade(minute), x: (end(i) - column).toFixed(1),
                              y: (box.bottom - tall).toFixed(1),
                              width: wide.toFixed(1), height: tall.toFixed(1)});
    bar.append(make("title", {}, `${clockTime(minute.time_ms)}: ${text(values[i])}`));
    svg.append(bar);
    const label = Math.floor(minute.time_ms / step) * step;
    const x = end(i) - (minute.time_ms - label) / past.period_ms * column;
    if (label > minute.time_ms - past.period_ms && x > free && x < box.right - 16) {
      svg.append(make("text", {class: "mid", x, y: height - 4}, clockTime(label)));
      free = x + 40;
    }
  });
  nameSpike(svg, box, scale, minutes.map((_, i) => [end(i), values[i]]));
}

function drawPast() {
  if (performance.now() - pastRead > 30000) readPast();
  const minutes = minutesOf(chosen);
  byId("past-part").hidden = minutes.length === 0;
  const drawn = [past, chosen, byId("past-late").clientWidth];
  if (minutes.length === 0 || drawn.every((part, i) => part === pastDrawn[i])) return;
  pastDrawn = drawn;
  const worst = minute => Math.max(minute.longest_ns, minute.longest_lag_ns);
  const bad = minutes.reduce((a, b) => worst(b) > worst(a) ? b : a);
  setText(byId("past-note"), `What each of the last ${minutes.length} minutes was like, whether ` +
      "or not this page was open.");
  const lates = minutes.map(worst);
  minuteChart(byId("past-late"), minutes, lates, logarithmicScale(lates, 1e6),
              ns => shortTime(ns, 2), minute => `severity-${minute.severity}`);
  byId("past-late").setAttribute("aria-label",
      `The most: ${shortTime(worst(bad))}, at ${clockTime(bad.time_ms)}`);
  setText(byId("past-late-text"), worst(bad) < 1e6 ? "No minute was late."
      : `The most: ${shortTime(worst(bad))}, at ${clockTime(bad.time_ms)}.`);
  for (const [name, key] of [["past-pending", "pending"], ["past-fired", "fired"]]) {
    const most = minutes.reduce((a, b) => b[key] > a[key] ? b : a);
    const counts = minutes.map(minute => minute[key]);
    minuteChart(byId(name), minutes, counts, linearScale(counts), shortNumber, () => "b0");
    byId(name).setAttribute("aria-label",
        `The most: ${shortNumber(most[key])}, at ${clockTime(most.time_ms)}`);
  }
}
)js";

} // namespace asio_wheel::detail

#endif
