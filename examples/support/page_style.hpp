// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

#ifndef DEMO_PAGE_STYLE_HPP
#define DEMO_PAGE_STYLE_HPP

namespace demo {

/// For light and dark screens, from the width of a telephone on.
inline constexpr char page_style[] = R"(
:root {
    color-scheme: light dark;
    --back: #fff; --text: #1d2733; --weak: #5b6875; --line: #d9dfe5;
    --ours: #c0392b; --theirs: #5b7083;
    --better: #1b7a43; --worse: #b3261e;
}
@media (prefers-color-scheme: dark) {
    :root {
        --back: #14191f; --text: #e4e9ee; --weak: #9aa7b4; --line: #323c46;
        --ours: #ef6a5b; --theirs: #8fa3b6;
        --better: #5fce8c; --worse: #ff8a80;
    }
}
body {
    background: var(--back); color: var(--text);
    font: 16px/1.4 system-ui, sans-serif;
    margin: 0 auto; max-width: 46rem; padding: 1rem;
}
h1 { font-size: 1.4rem; margin: .5rem 0; }
h2 { font-size: 1rem; margin: 0; }
p { margin: .5rem 0; }
.weak { color: var(--weak); font-size: .9rem; }
section { border-top: 1px solid var(--line); padding: .8rem 0; }
header { display: flex; flex-wrap: wrap; gap: 0 1rem; justify-content: space-between; }
.better { color: var(--better); font-weight: 600; }
.worse { color: var(--worse); font-weight: 600; }
.row {
    align-items: center; display: grid; font-size: .9rem; gap: .6rem;
    grid-template-columns: 5.5rem 1fr 5rem;
}
.row b { font-variant-numeric: tabular-nums; text-align: right; }
.bar { background: none; height: .8rem; position: relative; }
.bar i { background: var(--theirs); border-radius: .2rem; height: 100%; left: 0;
    position: absolute; }
.ours .bar i { background: var(--ours); }
.bar u { border: solid var(--text); border-width: 0 1px; box-sizing: border-box; height: 50%;
    position: absolute; top: 25%; }
.bar u::before { border-top: 1px solid var(--text); content: ""; left: 0; position: absolute;
    right: 0; top: 50%; }
)";

} // namespace demo

#endif
