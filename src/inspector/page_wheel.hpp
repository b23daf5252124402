// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The script of the inspector's page, second part: the dial with the levels of the wheel.

#ifndef ASIO_WHEEL_SRC_INSPECTOR_PAGE_WHEEL_HPP
#define ASIO_WHEEL_SRC_INSPECTOR_PAGE_WHEEL_HPP

#include <string_view>

namespace asio_wheel::detail {

inline constexpr std::string_view page_wheel = R"js(
const dial = {shape: "", rings: []};
const stillness = matchMedia("(prefers-reduced-motion: reduce)");

// A sector of a ring, in turns clockwise from the top.
function sector(inner, outer, from, to) {
  const at = (radius, turn) => {
    const angle = turn * 2 * Math.PI;
    return `${(200 + radius * Math.sin(angle)).toFixed(2)} ` +
           `${(200 - radius * Math.cos(angle)).toFixed(2)}`;
  };
  return `M${at(inner, from)}L${at(outer, from)}A${outer} ${outer} 0 0 1 ${at(outer, to)}` +
         `L${at(inner, to)}A${inner} ${inner} 0 0 0 ${at(inner, from)}Z`;
}

// At most 128 cells on a ring can be told apart; a cell shows the fullest of its slots.
function cellsOf(level) {
  const all = level.cells, size = Math.max(1, all.length / 128), cells = [];
  for (let i = 0; i < all.length; i += size) cells.push(Math.max(...all.slice(i, i + size)));
  return cells;
}

function makeDial(levels) {
  const svg = byId("dial"), thick = 136 / levels.length;
  svg.replaceChildren();
  dial.rings = levels.map((level, i) => {
    const inner = 50 + i * thick, outer = inner + thick - Math.min(5, thick / 4);
    const group = make("g", {class: "ring"}), n = cellsOf(level).length;
    const paths = Array.from({length: n}, (_, slot) => {
      const path = make("path", {d: sector(inner, outer, (slot + .06) / n, (slot + .94) / n)});
      group.append(path);
      return path;
    });
    svg.append(group);
    return {group, paths, turns: 0, drawn: new Array(n).fill(0), slot: -1};
  });
  svg.append(make("line", {class: "hand", x1: 200, x2: 200, y1: 152, y2: 12}),
             make("path", {class: "hand-head", d: "M200 20l-5 -9h10z"}),
             make("text", {class: "now", x: 200, y: 8}, "now"),
             make("text", {class: "middle", id: "dial-waits", x: 200, y: 204}, ""),
             make("text", {class: "under", x: 200, y: 222}, "waits"));
}

// Turns a ring until the slot of now is at the top: forwards, and smoothly if that is visible.
function turn(ring, level, period) {
  const slots = level.slots, target = level.current / slots;
  const now = ring.turns - Math.floor(ring.turns);
  const way = ((target - now) % 1 + 1) % 1;
  const smooth = !stillness.matches && ring.slot >= 0 && way < .25 &&
                 level.slot_ns * slots > 4 * period * 1e6;
  ring.turns += way;
  ring.slot = level.current;
  ring.group.style.transition = smooth ? `transform ${period}ms linear` : "none";
  ring.group.style.transform = `rotate(${(-360 * ring.turns).toFixed(3)}deg)`;
}

function drawDial(wheel, period) {
  const levels = wheel.levels ?? [];
  const shape = JSON.stringify(levels.map(l => [l.slots, l.slot_ns]));
  if (shape !== dial.shape) {
    dial.shape = shape;
    makeDial(levels);
  }
  levels.forEach((level, i) => {
    const ring = dial.rings[i];
    cellsOf(level).forEach((n, slot) => {
      const shade = n === 0 ? 0 : n < 3 ? 1 : n < 5 ? 2 : n < 8 ? 3 : 4;
      if (ring.drawn[slot] !== shade) {
        ring.drawn[slot] = shade;
        ring.paths[slot].setAttribute("class", shade ? `f${shade}` : "");
      }
    });
    turn(ring, level, period);
  });
  drawRows(byId("levels"), levels.map((level, i) => [
    cell(String(i + 1)), numberCell(shortTime(level.slot_ns)),
    numberCell(shortTime(level.slot_ns * level.slots)),
    numberCell(`${level.used} of ${level.cells.length}`)]), "");
  setText(byId("dial-waits"), shortNumber(wheel.counts.pending));
  byId("dial").setAttribute("aria-label", `${wheel.counts.pending} waits on ${levels.length} ` +
      `levels; in use: ${levels.map(level => level.used).join(", ")}`);
}
)js";

} // namespace asio_wheel::detail

#endif
