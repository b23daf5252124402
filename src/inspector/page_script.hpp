// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The script of the inspector's page, last part: the stream of events, and what is drawn of each.

#ifndef ASIO_WHEEL_SRC_INSPECTOR_PAGE_SCRIPT_HPP
#define ASIO_WHEEL_SRC_INSPECTOR_PAGE_SCRIPT_HPP

#include <string_view>

namespace asio_wheel::detail {

inline constexpr std::string_view page_script = R"js(
const minute = 60;
let source = null;      // The stream of events, while it is wanted.
let lastEvent = 0;      // When it last said something.
let instance = "";      // Of the program that it comes from.
let period = 500;       // Between two events, in milliseconds.
let chosen = "";        // The name of the wheel that is shown.
let latest = null;
const histories = new Map(); // By wheel: what was counted, at most a minute and a bit of it.

function showState(state, text) {
  const element = byId("state");
  element.dataset.state = state;
  setText(element, text);
  document.body.classList.toggle("stale", state === "disconnected");
}

function connect() {
  source = new EventSource("/events");
  source.onmessage = event => receive(JSON.parse(event.data));
  source.onerror = () => {
    showState("disconnected", "disconnected, trying again");
    // The browser tries again, but not after every kind of failure.
    if (source.readyState === EventSource.CLOSED) {
      disconnect();
      setTimeout(follow, 2000);
    }
  };
  lastEvent = performance.now();
}

function disconnect() {
  source?.close();
  source = null;
}

const held = () => byId("hold").getAttribute("aria-pressed") === "true";

// A page that is not visible costs the program nothing.
function follow() {
  const wanted = !document.hidden && !held();
  if (wanted && source === null) {
    showState("connecting", "connecting");
    connect();
  } else if (!wanted) {
    disconnect();
    showState("paused", "paused");
  }
}

// The program answers, but is late: perhaps a handler blocks it.
function watch() {
  const silent = performance.now() - lastEvent;
  if (source?.readyState === EventSource.OPEN && silent > Math.max(2000, 3 * period)) {
    showState("late", `no numbers for ${Math.round(silent / 1000)} s`);
  }
}

function receive(data) {
  lastEvent = performance.now();
  if (data.instance !== instance) { // Another program, which counts from zero.
    instance = data.instance;
    histories.clear();
    past = null;
    pastRead = -Infinity;
  }
  period = data.period_ms;
  latest = data;
  showState("live", "live");
  for (const wheel of data.wheels) remember(wheel);
  draw();
}

function remember(wheel) {
  const history = histories.get(wheel.name) ?? [];
  histories.set(wheel.name, history);
  if (!wheel.ended) {
    const last = history[history.length - 1]?.wheel;
    if (wheel.counts.scheduled < last?.counts.scheduled) history.length = 0; // It is a new one.
    history.push({at: lastEvent / 1000, wheel});
    while (lastEvent / 1000 - history[0].at > minute + 5) history.shift();
  }
}

// The differences between neighbours in a history, per second: [seconds ago, value, seconds long].
function rates(history, count) {
  const now = history[history.length - 1].at;
  return history.slice(1).map((later, i) => {
    const length = Math.max(later.at - history[i].at, .001);
    return [now - later.at, Math.max(0, count(later.wheel) - count(history[i].wheel)) / length,
            length];
  }).filter(value => value[0] <= minute);
}

// The mean over the last seconds, so that numbers in text do not flicker.
function recentRate(values) {
  const recent = values.filter(value => value[0] < 3);
  const length = recent.reduce((n, value) => n + value[2], 0);
  return length ? recent.reduce((n, value) => n + value[1] * value[2], 0) / length : 0;
}

function drawChoice() {
  const names = latest.wheels.map(wheel => wheel.name);
  if (!names.includes(chosen)) chosen = names[0] ?? "";
  const group = byId("wheels"), shown = [...group.children].map(button => button.textContent);
  if (shown.join("\n") !== names.join("\n")) {
    group.replaceChildren(...names.map(name => {
      const button = make("button", {type: "button"}, name);
      button.addEventListener("click", () => { chosen = name; draw(); });
      return button;
    }));
  }
  group.hidden = names.length < 2;
  for (const button of group.children) {
    button.setAttribute("aria-pressed", String(button.textContent === chosen));
  }
}

function drawRates(history) {
  const of = (name, count) => {
    const values = rates(history, count);
    return {name, values, now: shortNumber(recentRate(values)) + "/s"};
  };
  const counted = key => wheel => wheel.counts[key];
  const series = [of("started", counted("scheduled")), of("expired", counted("fired")),
                  of("cancelled", counted("cancelled")), of("postponed", counted("postponed"))];
  lineChart(byId("rates"), series, minute);
  drawKey(byId("rates-key"), series, true);

  const causes = Object.keys(history[history.length - 1].wheel.wake_ups);
  const names = {due: "waits were due", nothing_due: "nothing was due any more"};
  const wakes = causes.map(cause => of(names[cause] ?? cause,
                                       wheel => wheel.wake_ups[cause] ?? 0));
  columnChart(byId("wakes"), wakes, minute);
  drawKey(byId("wakes-key"), wakes, false);

  const perSecond = text => [text.replace("/s", ""), make("small", {}, " /s")];
  byId("t-fired").replaceChildren(...perSecond(series[1].now));
  byId("t-cancelled").replaceChildren(...perSecond(series[2].now));
  const all = rates(history, wheel => wheel.counts.wake_ups);
  byId("t-wakes").replaceChildren(...perSecond(shortNumber(recentRate(all))));
}

function drawHistograms(history, wheel) {
  const first = history[0].wheel;
  byId("delay-part").hidden = wheel.handler_delay.count === 0; // It is measured on request only.
  for (const [name, key, tile, what] of [["late", "lateness", "t-late", "waits"],
                                         ["lag", "loop_lag", "t-lag", "wake-ups"],
                                         ["delay", "handler_delay", "", "handlers"]]) {
    if (wheel[key].count === 0 && !tile) continue;
    const cells = difference(wheel[key].buckets, history.length > 1 ? first[key].buckets : []);
    const count = sum(cells), largest = cells.length ? cells[cells.length - 1][0] : 0;
    // Of 10,000 short lags and a long one, the long one counts: as many waits were in its way.
    const lag = key === "loop_lag";
    const shown = lag ? cells.map(([upTo, n]) => [upTo, n * upTo / 1e6]) : cells;
    histogramChart(byId(name), shown, 8192, 2);
    const parts = [[wholeNumber(count), what], [lag ? "half up to" : "p50",
                                                shortTime(quantile(shown, .5))],
                   [lag ? "99 % up to" : "p99", shortTime(quantile(shown, .99))],
                   ["most", shortTime(largest)]];
    byId(name + "-text").replaceChildren(...parts.map(([a, b], i) =>
        i === 0 ? make("span", {}, make("b", {}, a), b) : make("span", {}, a, make("b", {}, b))));
    const number = lag ? largest : quantile(cells, .99);
    if (tile) setText(byId(tile), count ? shortTime(number) : "\u2013");
    byId(name).setAttribute("aria-label", parts.map(part => part.join(" ")).join(", "));
  }
}

function drawVerdict(verdict) {
  const element = byId("verdict");
  setText(element, verdict.text);
  element.dataset.severity = verdict.severity;
  setText(byId("limits"), `In the last minute. ${shortTime(verdict.warning_ns)} are a warning, ` +
      `${shortTime(verdict.critical_ns)} are critical.`);
}

function drawKinds(history, wheel) {
  const kinds = Object.entries(wheel.expired ?? {}).filter(kind => kind[1] > 0);
  kinds.sort((a, b) => b[1] - a[1]);
  drawRows(byId("kinds"), kinds.map(([kind, count]) => [
    cell(kind), numberCell(wholeNumber(count)),
    numberCell(shortNumber(recentRate(rates(history, w => w.expired?.[kind] ?? 0))))]),
    "Nothing has expired.");
}

function draw() {
  if (latest === null) return;
  drawChoice();
  const history = histories.get(chosen) ?? [];
  const wheel = latest.wheels.find(w => w.name === chosen);
  if (!wheel || history.length === 0) {
    setText(byId("message"), wheel ? "The context of this wheel has ended." : "No wheel.");
    return;
  }
  setText(byId("message"), wheel.ended
      ? "The context of this wheel has ended. These are its last numbers."
      : wheel.paused ? "Time is paused." : "");
  const shown = wheel.ended ? history[history.length - 1].wheel : wheel;
  byId("t-pending").replaceChildren(wholeNumber(shown.counts.pending));
  drawDial(shown, period);
  drawRates(history);
  drawHistograms(history, shown);
  drawVerdict(shown.verdict);
  drawWaits(shown);
  drawTags(history, shown);
  drawPast();
  drawKinds(history, shown);
  const stalls = shown.counts.stalls
      ? ` Stalls: ${shown.counts.stalls}, ${shortTime(shown.counts.stalled_ns)} together.` : "";
  byId("about").replaceChildren("Wheel \u201c", isolated(chosen), `\u201d: ticks of ` +
      `${shortTime(shown.tick_ns)}; at most ${wholeNumber(shown.counts.peak_pending)} waits at ` +
      `once so far.${stalls}`);
  document.body.dataset.drawn = latest.sequence;
}

byId("hold").addEventListener("click", () => {
  const hold = byId("hold"), on = !held();
  hold.setAttribute("aria-pressed", String(on));
  setText(hold, on ? "Go on" : "Pause");
  follow();
});
document.addEventListener("visibilitychange", follow);
addEventListener("resize", draw);
byId("filter").addEventListener("input", draw);
setInterval(watch, 500);
follow();
)js";

} // namespace asio_wheel::detail

#endif
