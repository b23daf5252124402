// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The script of the inspector's page, third part: tables that can be sorted and filtered, and what
// they show.

#ifndef ASIO_WHEEL_SRC_INSPECTOR_PAGE_TABLES_HPP
#define ASIO_WHEEL_SRC_INSPECTOR_PAGE_TABLES_HPP

#include <string_view>

namespace asio_wheel::detail {

inline constexpr std::string_view page_tables = R"js(
const sorting = new Map(); // By table: the number of a column, and whether it descends.

// A table whose heads sort it. Each column is {name, value, cell, kind}: value(item) is compared,
// and cell(item) shown. Numbers begin with the largest.
function drawTable(name, items, columns, empty) {
  const table = byId(name), order = sorting.get(name) ?? {by: -1, down: false};
  if (table.tHead.rows[0].cells.length !== columns.length) {
    table.tHead.rows[0].replaceChildren(...columns.map((column, by) => {
      const button = make("button", {type: "button"}, column.name);
      button.addEventListener("click", () => {
        const now = sorting.get(name);
        sorting.set(name, {by, down: now?.by === by ? !now.down : column.kind === "number"});
        draw();
      });
      return make("th", {class: column.kind ?? "", scope: "col"}, button);
    }));
  }
  [...table.tHead.rows[0].cells].forEach((head, by) => head.setAttribute("aria-sort",
      by !== order.by ? "none" : order.down ? "descending" : "ascending"));
  const sorted = [...items];
  if (order.by >= 0) {
    const value = columns[order.by].value, sign = order.down ? -1 : 1;
    sorted.sort((a, b) => value(a) < value(b) ? -sign : value(a) > value(b) ? sign : 0);
  }
  drawRows(table.tBodies[0], sorted.map(item => columns.map(column => make("td",
      {class: column.kind ?? ""}, column.cell(item)))), empty);
}

// What the filter leaves. It looks for its text in kinds and tags.
function filtered(rows) {
  const wanted = byId("filter").value.trim().toLowerCase();
  return rows.filter(row => `${row.kind} ${row.tag}`.toLowerCase().includes(wanted));
}

const kindColumn = {name: "Kind", value: row => row.kind, cell: row => row.kind};
const tagColumn =
    {name: "Tag", value: row => row.tag.toLowerCase(), cell: row => isolated(row.tag)};
const soon = ns => ns > 0 ? "in " + shortTime(ns) : "now";

function drawWaits(wheel) {
  const waits = wheel.waits;
  if (!waits) {
    setText(byId("waits-note"), "There are too many waits to visit all of them while the program " +
        "waits. An inspector on its own thread shows up to two million.");
    for (const id of ["next", "left", "left-text", "hint"]) byId(id).replaceChildren();
    byId("waits").tBodies[0].replaceChildren();
    return;
  }
  const age = waits.age_ms < 3000 ? "" : `, ${shortTime(waits.age_ms * 1e6)} ago`;
  const more = waits.more_rows ? ` ${waits.more_rows} smaller groups are not shown.` : "";
  setText(byId("waits-note"), `${wholeNumber(waits.total)} waits, by kind and tag${age}.${more}`);
  drawTable("waits", filtered(waits.rows), [kindColumn, tagColumn,
    {name: "Waits", kind: "number", value: row => row.count, cell: row => wholeNumber(row.count)},
    {name: "Next", kind: "number", value: row => -row.next_ns, cell: row => soon(row.next_ns)},
    {name: "Share", kind: "bar", value: row => row.count, cell: row => {
      const bar = make("span");
      bar.style.width = `${100 * row.count / Math.max(1, waits.total)}%`;
      return bar;
    }}], waits.rows.length ? "Nothing has that in its kind or tag." : "Nothing waits.");
  drawHint(waits);
  drawNext(waits.next);
  const left = waits.remaining.map(([upTo, n]) => [Math.max(1e6, upTo), n]);
  histogramChart(byId("left"), left, 1e6, 4);
  const parts = [["half are due in", .5], ["99 % in", .99]].map(([text, q]) =>
      make("span", {}, text, make("b", {}, shortTime(quantile(waits.remaining, q)))));
  byId("left-text").replaceChildren(...(waits.total ? parts : []));
}

// How to name waits without a tag. A user's own timers are worth it, and sleeps.
function drawHint(waits) {
  const untagged = waits.rows.filter(row => !row.tag).reduce((n, row) => n + row.count, 0);
  if (untagged === 0) {
    byId("hint").replaceChildren();
  } else {
    byId("hint").replaceChildren(`${wholeNumber(untagged)} of these have no tag. To see what ` +
        "they are for, name them: ",
        make("code", {}, "timer.async_wait(tag(\"session idle\", handler))"),
        ". For timers and sleeps, ASIO_WHEEL_TRACK_SOURCE shows where they were started.");
  }
}

const until = group => shortTime(group.until_ns) === shortTime(group.remaining_ns) ? ""
    : " \u2013 " + shortTime(group.until_ns);

// Neighbours that are the same, but for their times, are one row.
function drawNext(waits) {
  const groups = [];
  for (const wait of waits) {
    const last = groups[groups.length - 1];
    if (last && ["kind", "tag", "place"].every(key => last[key] === wait[key])) {
      last.count += 1;
      last.until_ns = wait.remaining_ns;
    } else {
      groups.push({...wait, count: 1, until_ns: wait.remaining_ns});
    }
  }
  drawRows(byId("next"), groups.map(group => [
    cell(group.kind),
    make("td", {}, isolated(group.tag),
         ...(group.count > 1 ? [" ", make("b", {}, `\u00d7 ${group.count}`)] : []),
         ...(group.place ? [" ", make("span", {class: "place"}, group.place)] : [])),
    numberCell(soon(group.remaining_ns) + until(group))]), "Nothing waits.");
}

// What was measured by kind and tag: rates and means of the last minute, and the most so far.
function drawTags(history, wheel) {
  byId("tags-part").hidden = wheel.tags.length === 0;
  if (wheel.tags.length === 0) return;
  const same = row => other => other.kind === row.kind && other.tag === row.tag;
  const seconds = Math.max(history[history.length - 1].at - history[0].at, .001);
  const rows = wheel.tags.map(row => {
    const first = history.length > 1 ? history[0].wheel.tags.find(same(row)) : undefined;
    const since = key => row[key] - (first ? first[key] : 0);
    const mean = (sum, count) => since(count) > 0 ? since(sum) / since(count) : 0;
    return {...row, rate: since("fired") / seconds, wakes: since("wake_ups") / seconds,
            meanLate: mean("late_ns", "fired"), meanRun: mean("ran_ns", "handlers")};
  });
  const number = (name, value, cell) => ({name, kind: "number", value, cell});
  const bad = ns => ns >= wheel.verdict.critical_ns ? "critical"
      : ns >= wheel.verdict.warning_ns ? "warning" : "ok";
  const times = (mean, most) => make("span", {"data-severity": bad(most)},
      mean ? shortTime(mean, 2) : "\u2013", make("small", {}, `most ${shortTime(most, 2)}`));
  const named = {...tagColumn, cell: row =>
      make("span", {}, isolated(row.tag), make("small", {}, row.kind))};
  drawTable("tags", filtered(rows), [named,
    number("Handler", row => row.longest_run_ns, row => row.handlers
        ? times(row.meanRun, row.longest_run_ns) : "\u2013"),
    number("Late", row => row.longest_late_ns, row => times(row.meanLate, row.longest_late_ns)),
    number("Expired /s", row => row.rate, row => shortNumber(row.rate)),
    number("Wake-ups /s", row => row.wakes, row => shortNumber(row.wakes))],
    "Nothing has that in its kind or tag.");
}
)js";

} // namespace asio_wheel::detail

#endif
