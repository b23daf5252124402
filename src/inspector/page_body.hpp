// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The text of the inspector's page. The script fills in the numbers.

#ifndef ASIO_WHEEL_SRC_INSPECTOR_PAGE_BODY_HPP
#define ASIO_WHEEL_SRC_INSPECTOR_PAGE_BODY_HPP

#include <string_view>

namespace asio_wheel::detail {

inline constexpr std::string_view page_body = R"html(
<header>
  <h1>asio-wheel <span>inspector</span></h1>
  <div id="wheels" role="group" aria-label="Wheels"></div>
  <div class="spacer"></div>
  <span id="state" role="status" data-state="connecting">connecting</span>
  <button id="hold" type="button" aria-pressed="false">Pause</button>
</header>
<p id="message" role="status"></p>
<main>
  <p id="verdict" role="status"></p>
  <dl class="tiles">
    <div><dt>Waits pending</dt><dd id="t-pending">&ndash;</dd></div>
    <div><dt>Expired</dt><dd id="t-fired">&ndash;</dd></div>
    <div><dt>Cancelled</dt><dd id="t-cancelled">&ndash;</dd></div>
    <div><dt>Wake-ups</dt><dd id="t-wakes">&ndash;</dd></div>
    <div><dt>Lateness, p99</dt><dd id="t-late">&ndash;</dd></div>
    <div><dt>Longest loop lag</dt><dd id="t-lag">&ndash;</dd></div>
  </dl>
  <section id="past-part" aria-labelledby="h-past" hidden>
    <h2 id="h-past">The last hours</h2>
    <p id="past-note" class="note"></p>
    <div class="past">
      <div><h3>How late a wait or the loop was at most, on a logarithmic scale</h3>
        <svg id="past-late" role="img" aria-label="Lateness"></svg>
        <p id="past-late-text" class="key"></p></div>
      <div><h3>Waits pending</h3>
        <svg id="past-pending" role="img" aria-label="Waits pending"></svg></div>
      <div><h3>Expired, per minute</h3>
        <svg id="past-fired" role="img" aria-label="Expired, per minute"></svg></div>
    </div>
  </section>
  <div class="grid">
    <div class="column">
    <section aria-labelledby="h-wheel">
      <h2 id="h-wheel">The wheel</h2>
      <p class="note">Each ring is a level, and turns with time. Clockwise from the top: the slots
        from now on. Waits move inwards as their time comes.</p>
      <svg id="dial" viewBox="0 0 400 400" role="img" aria-label="The levels of the wheel"></svg>
      <p class="key"><span><i class="k0"></i>no waits</span><span><i class="k1"></i>few</span>
        <span><i class="k2"></i></span><span><i class="k3"></i></span>
        <span><i class="k4"></i>many waits in a slot</span></p>
      <h3>Levels, from the innermost ring</h3>
      <table>
        <thead><tr><th>Level</th><th class="number">A slot spans</th>
          <th class="number">All span</th><th class="number">In use</th></tr></thead>
        <tbody id="levels"></tbody>
      </table>
    </section>
    <section aria-labelledby="h-kinds">
      <h2 id="h-kinds">Expired, by kind</h2>
      <p class="note">Since the program began.</p>
      <table>
        <thead><tr><th>Kind</th><th class="number">Expired</th><th class="number">Per second</th>
          </tr></thead>
        <tbody id="kinds"></tbody>
      </table>
    </section>
    </div>
    <div class="column">
    <section aria-labelledby="h-rates">
      <h2 id="h-rates">Waits per second</h2>
      <p class="note">The last minute.</p>
      <svg id="rates" role="img" aria-label="Waits per second"></svg>
      <p id="rates-key" class="key"></p>
    </section>
    <section aria-labelledby="h-late">
      <h2 id="h-late">Lateness</h2>
      <p id="limits" class="note"></p>
      <h3>How many waits were how late, from the deadline to the tick that found it</h3>
      <svg id="late" role="img" aria-label="Lateness"></svg>
      <p id="late-text" class="key"></p>
      <h3>Loop lag: how long the context kept the wheel waiting, in milliseconds, in lags of which
        length</h3>
      <svg id="lag" role="img" aria-label="Loop lag"></svg>
      <p id="lag-text" class="key"></p>
      <div id="delay-part" hidden>
        <h3>Handler delay: from that tick to the handler</h3>
        <svg id="delay" role="img" aria-label="Handler delay"></svg>
        <p id="delay-text" class="key"></p>
      </div>
    </section>
    <section aria-labelledby="h-left">
      <h2 id="h-left">Time that remains</h2>
      <p class="note">How many pending waits have how much time left.</p>
      <svg id="left" role="img" aria-label="Time that remains"></svg>
      <p id="left-text" class="key"></p>
    </section>
    </div>
    <div class="column">
    <section aria-labelledby="h-wakes">
      <h2 id="h-wakes">Wake-ups per second, by cause</h2>
      <p class="note">How often the wheel wakes this process up, in the last minute.</p>
      <svg id="wakes" role="img" aria-label="Wake-ups per second"></svg>
      <p id="wakes-key" class="key"></p>
    </section>
    <section aria-labelledby="h-waits">
      <h2 id="h-waits">Who waits</h2>
      <p id="waits-note" class="note"></p>
      <p class="tools"><label for="filter">Filter</label>
        <input id="filter" type="search" placeholder="kind or tag" autocomplete="off"></p>
      <table id="waits"><thead><tr></tr></thead><tbody></tbody></table>
      <p id="hint" class="note"></p>
    </section>
    <section id="tags-part" aria-labelledby="h-tags" hidden>
      <h2 id="h-tags">Measured by tag</h2>
      <p class="note">The mean in the last minute, and the most since the program began. How long
        handlers ran, how late waits were found due, and whose wait has woken the process up.</p>
      <table id="tags"><thead><tr></tr></thead><tbody></tbody></table>
    </section>
    <section aria-labelledby="h-next">
      <h2 id="h-next">The next to expire</h2>
      <table>
        <thead><tr><th>Kind</th><th>Tag</th><th class="number">Remaining</th></tr></thead>
        <tbody id="next"></tbody>
      </table>
    </section>
    </div>
  </div>
</main>
<footer>
  <span id="about"></span>
  Also here: <a href="/wheel.json">/wheel.json</a>, <a href="/history.json">/history.json</a>,
  <a href="/metrics">/metrics</a>
</footer>
<noscript>This page needs JavaScript. /metrics and /wheel.json do not.</noscript>
)html";

} // namespace asio_wheel::detail

#endif
