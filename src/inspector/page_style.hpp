// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The style of the inspector's page, for narrow and wide windows, light and dark.

#ifndef ASIO_WHEEL_SRC_INSPECTOR_PAGE_STYLE_HPP
#define ASIO_WHEEL_SRC_INSPECTOR_PAGE_STYLE_HPP

#include <string_view>

namespace asio_wheel::detail {

inline constexpr std::string_view page_style = R"css(
:root {
  --back: #f3f5f8; --card: #ffffff; --line: #d9dfe7; --text: #18202c; --muted: #566173;
  --empty: #e6ebf1; --good: #0b7a4b; --bad: #b3261e; --wait: #8a5a00;
  --c0: #0a66b7; --c1: #c2500a; --c2: #0b7a5c; --c3: #94407a; --c4: #6a5f00; --c5: #4b4fa6;
  --h1: #a9cdf0; --h2: #6ca9e3; --h3: #2f80cd; --h4: #0b4f93;
}
@media (prefers-color-scheme: dark) {
  :root {
    --back: #0e131a; --card: #171e28; --line: #2b3543; --text: #e7ecf3; --muted: #9dabbd;
    --empty: #242e3b; --good: #4bd09a; --bad: #ff8a80; --wait: #f0bf5e;
    --c0: #62b2f5; --c1: #f5974e; --c2: #43cfa6; --c3: #e08cc4; --c4: #d3c65a; --c5: #a3a7f7;
    --h1: #2a659c; --h2: #3b86c9; --h3: #62aeea; --h4: #b5ddff;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0; background: var(--back); color: var(--text);
  font: 15px/1.45 system-ui, "Segoe UI", Roboto, "Helvetica Neue", "DejaVu Sans", sans-serif;
  font-variant-numeric: tabular-nums; -webkit-text-size-adjust: 100%;
}
header, main, footer { max-width: 1640px; margin: 0 auto; padding: 0 16px; }
header { display: flex; flex-wrap: wrap; align-items: center; gap: 8px 16px; padding-top: 14px; }
h1 { font-size: 19px; margin: 0; letter-spacing: -.01em; }
h1 span { color: var(--muted); font-weight: 400; }
h2 { font-size: 15px; margin: 0; }
h3 { font-size: 13px; margin: 14px 0 2px; color: var(--muted); font-weight: 600; }
.note { color: var(--muted); font-size: 13px; margin: 2px 0 8px; }
#verdict {
  margin: 14px 0 0; padding: 9px 14px; font-weight: 600; background: var(--card);
  border: 1px solid var(--line); border-radius: 10px; border-left: 6px solid var(--good);
}
#verdict:empty { display: none; }
#verdict[data-severity="warning"] { border-left-color: var(--wait); }
#verdict[data-severity="critical"] { border-left-color: var(--bad); }
.spacer { flex: 1; }
button {
  font: inherit; font-size: 14px; color: var(--text); background: var(--card); cursor: pointer;
  border: 1px solid var(--line); border-radius: 7px; padding: 4px 12px; min-height: 32px;
}
button:hover { border-color: var(--muted); }
button[aria-pressed="true"] { border-color: var(--c0); box-shadow: inset 0 0 0 1px var(--c0); }
button:focus-visible { outline: 2px solid var(--c0); outline-offset: 2px; }
#wheels { display: flex; flex-wrap: wrap; gap: 6px; }
#state {
  display: inline-flex; align-items: center; gap: 7px; font-size: 14px; font-weight: 600;
  color: var(--wait);
}
#state::before {
  content: ""; width: 9px; height: 9px; border-radius: 50%; background: currentColor;
}
#state[data-state="live"] { color: var(--good); }
#state[data-state="disconnected"] { color: var(--bad); }
.stale main { opacity: .55; }
#message {
  max-width: 1640px; margin: 10px auto 0; padding: 0 16px; font-weight: 600; color: var(--wait);
}
#message:empty { display: none; }
.tiles {
  display: grid; grid-template-columns: repeat(auto-fit, minmax(132px, 1fr)); gap: 10px;
  margin: 14px 0 12px;
}
.tiles > div, section {
  background: var(--card); border: 1px solid var(--line); border-radius: 10px; min-width: 0;
}
.tiles > div { padding: 9px 14px 10px; }
.tiles dt { color: var(--muted); font-size: 13px; }
.tiles dd { margin: 0; font-size: 22px; font-weight: 600; letter-spacing: -.02em; }
.tiles dd small { font-size: 13px; font-weight: 400; color: var(--muted); letter-spacing: 0; }
.grid { display: grid; gap: 12px; grid-template-columns: minmax(0, 1fr); align-items: start; }
.column { display: grid; gap: 12px; grid-template-columns: minmax(0, 1fr); }
.past { display: grid; gap: 4px 24px; grid-template-columns: minmax(0, 1fr); }
section { padding: 13px 16px 14px; }
@media (min-width: 800px) {
  .past { grid-template-columns: minmax(0, 2fr) repeat(2, minmax(0, 1fr)); }
  .grid { grid-template-columns: repeat(2, minmax(0, 1fr)); }
  .column:last-child { grid-column: span 2; }
}
@media (min-width: 1200px) {
  .grid { grid-template-columns: minmax(0, 1.1fr) repeat(2, minmax(0, 1fr)); }
  .column:last-child { grid-column: auto; }
}
[hidden] { display: none !important; }
svg { display: block; width: 100%; overflow: visible; }
svg text { fill: var(--muted); font-size: 11px; }
#dial { max-width: 520px; margin: 4px auto 8px; }
#dial path { fill: var(--empty); }
#dial path.f1 { fill: var(--h1); } #dial path.f2 { fill: var(--h2); }
#dial path.f3 { fill: var(--h3); } #dial path.f4 { fill: var(--h4); }
#dial .ring { transform-origin: 200px 200px; }
#dial .hand { stroke: var(--c1); stroke-width: 2; }
#dial .hand-head { fill: var(--c1); }
#dial .middle { fill: var(--text); font-size: 26px; font-weight: 600; text-anchor: middle; }
#dial .under { font-size: 12px; text-anchor: middle; }
#dial .now { fill: var(--c1); font-weight: 600; text-anchor: middle; }
.key { display: flex; flex-wrap: wrap; gap: 3px 14px; font-size: 13px; color: var(--muted); }
.key span { display: inline-flex; align-items: center; gap: 6px; }
.key i { width: 11px; height: 11px; border-radius: 3px; display: inline-block; }
.key svg { width: 22px; height: 8px; flex: none; }
.key b { color: var(--text); font-weight: 600; }
.k0 { background: var(--empty); } .k1 { background: var(--h1); } .k2 { background: var(--h2); }
.k3 { background: var(--h3); } .k4 { background: var(--h4); }
.s0 { background: var(--c0); } .s1 { background: var(--c1); } .s2 { background: var(--c2); }
.s3 { background: var(--c3); } .s4 { background: var(--c4); } .s5 { background: var(--c5); }
.l0 { stroke: var(--c0); } .l1 { stroke: var(--c1); } .l2 { stroke: var(--c2); }
.l3 { stroke: var(--c3); } .l4 { stroke: var(--c4); } .l5 { stroke: var(--c5); }
.b0 { fill: var(--c0); } .b1 { fill: var(--c1); } .b2 { fill: var(--c2); }
.b3 { fill: var(--c3); } .b4 { fill: var(--c4); } .b5 { fill: var(--c5); }
.series { fill: none; stroke-width: 2; stroke-linejoin: round; }
.l1 { stroke-dasharray: 7 3; } .l2 { stroke-dasharray: 2 3; } .l3 { stroke-dasharray: 9 3 2 3; }
.axis { stroke: var(--line); stroke-width: 1; }
svg .spike { fill: var(--c1); font-weight: 600; }
.end { text-anchor: end; } .mid { text-anchor: middle; }
table { border-collapse: collapse; width: 100%; font-size: 13.5px; }
caption { text-align: left; color: var(--muted); font-size: 13px; padding-bottom: 4px; }
th { text-align: left; font-weight: 600; color: var(--muted); font-size: 12.5px; }
th, td { padding: 3px 8px 3px 0; border-bottom: 1px solid var(--line); vertical-align: baseline; }
tr:last-child td { border-bottom: 0; }
td { overflow-wrap: anywhere; }
#waits td:first-child, #next td:first-child { white-space: nowrap; }
.number { text-align: right; white-space: nowrap; }
td.number + td, th.number + th { padding-left: 10px; }
.bar { width: 26%; }
.bar span {
  display: block; height: 9px; border-radius: 3px; background: var(--c0); min-width: 2px;
}
th button { font: inherit; color: inherit; border: 0; padding: 0; min-height: 0; background: none; }
th[aria-sort="ascending"] button::after { content: " \2191"; }
th[aria-sort="descending"] button::after { content: " \2193"; }
.tools { display: flex; gap: 8px; align-items: center; margin: 0 0 8px; font-size: 13px; }
input {
  font: inherit; color: var(--text); background: var(--back); border: 1px solid var(--line);
  border-radius: 7px; padding: 3px 9px; min-width: 0; flex: 1; max-width: 260px;
}
#hint:empty { display: none; }
#hint code { font-size: 12px; color: var(--text); overflow-wrap: anywhere; }
#past-part { margin-bottom: 12px; }
.severity-ok { fill: var(--good); } .severity-warning { fill: var(--wait); }
.severity-critical { fill: var(--bad); }
#tags small { color: var(--muted); display: block; }
#tags th { white-space: normal; }
#tags [data-severity="warning"], #tags [data-severity="warning"] small { color: var(--wait); }
#tags [data-severity="critical"], #tags [data-severity="critical"] small { color: var(--bad); }
.place { color: var(--muted); font-size: 12px; padding-left: 8px; }
footer { color: var(--muted); font-size: 13px; padding-top: 14px; padding-bottom: 22px; }
footer a { color: var(--c0); }
@media (max-width: 480px) {
  #waits .bar { display: none; }
  header, main, footer { padding-left: 10px; padding-right: 10px; }
  section { padding: 12px; }
  .tiles { grid-template-columns: 1fr 1fr; }
}
)css";

} // namespace asio_wheel::detail

#endif
