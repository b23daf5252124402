# Copyright (c) 2026 The asio-wheel authors
# SPDX-License-Identifier: BSL-1.0

"""The tables that bench/figures writes into documents, from the results of one run."""

import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
RESULTS = ROOT / "bench/measured/results.csv"


class Results:
    """What was measured: the median, the least and the most of each figure."""

    def __init__(self):
        lines = [line.split(",") for line in RESULTS.read_text().splitlines()[1:]]
        self.figures = {tuple(line[:4]): [float(cell) for cell in line[4:7]] for line in lines}

    def __contains__(self, key):
        return key in self.figures

    def median(self, *key):
        return self.all_of(*key)[0]

    def all_of(self, workload, who, timers, figure):
        key = workload, who, str(timers), figure
        if key not in self.figures:
            sys.exit(f"bench/figures: {RESULTS.name} has no {', '.join(key)}")
        return self.figures[key]

    def ratio(self, workload, timers, figure, ours, theirs):
        return self.median(workload, ours, timers, figure) / self.median(workload, theirs, timers,
                                                                         figure)


def digits(x):
    """Three significant digits or more."""
    return f"{x:,.0f}" if x >= 999.5 else f"{x:.3g}"


def row(*cells):
    return "| " + " | ".join(cells) + " |"


# The rows of the busy loop: the first cell, the workload, and how many timers.
BUSY = [
    ("50 sockets are always readable", "sockets_50", 4000),
    ("128 sockets", "sockets_128", 4000),
    ("256 sockets", "sockets_256", 4000),
    ("10,000 waits are due within a second", "over_a_second", 10000),
    ("10,000 waits are due at once", "at_once", 10000),
]


def both(theirs, ours, reached, form):
    """Asio's figure and ours. What does not reach the aim is bold."""
    mine = form(ours)
    return f"{form(theirs)} / " + (mine if reached else f"**{mine}**")


def late_or_many(results, workload, timers, figure, form):
    theirs, ours = (results.median(f"busy_loop/{workload}", who, timers, figure)
                    for who in ("asio", "asio_wheel"))
    late = figure.endswith("_ms")
    return both(theirs, ours, ours <= 1.5 * theirs if late else ours >= 0.95 * theirs, form)


def busy_loop(results):
    yield "| workload | threads | median | worst | expiries | requests |"
    yield "|---|--:|--:|--:|--:|--:|"
    for title, workload, timers in BUSY:
        for threads, suffix in (1, ""), (2, "_2"):
            figures = ["median_ms", "worst_ms", "expiries"]
            if workload.startswith("sockets"):
                figures.append("requests")
            cells = [late_or_many(results, workload + suffix, timers, figure, "{:,.0f}".format)
                     for figure in figures]
            yield row(title if threads == 1 else "", str(threads), *cells,
                      *(["–"] if len(figures) == 3 else []))


def polled_loop(results):
    yield "| call | median | worst | expiries | time of the calls |"
    yield "|---|--:|--:|--:|--:|"
    for call, workload in (("poll()", "poll"), ("poll_one()", "poll_one"),
                           ("run_for(1ms)", "run_for")):
        cells = [late_or_many(results, f"frames_{workload}", 1, figure, digits)
                 for figure in ("median_ms", "worst_ms", "expiries")]
        price = [results.median(f"busy_loop/frames_{workload}", who, 1, "poll_ms")
                 for who in ("asio", "asio_wheel")]
        yield row(f"`{call}`", *cells, both(*price, True, digits))


def public_functions(results):
    yield "| time, compared with the private interface | 1,000 timers | a million |"
    yield "|---|--:|--:|"
    for workload in "arm", "re_arm", "postpone", "cancel", "short_lived", "await_chain":
        cells = [f"{results.ratio(f'public/{workload}', timers, 'op', 'public', 'asio_wheel'):.2f}"
                 if (f"public/{workload}", "public", str(timers), "op") in results else ""
                 for timers in (1000, 1000000)]
        yield row(f"`{workload}`", *cells)
    for order in "ordered", "random":
        ratio = results.ratio(f"public/{order}", 1000000, "op", "public", "asio_wheel")
        yield row(f"expiry, `{order}`", "", f"{ratio:.2f}")


def one_timer(results):
    def more(figure):
        return (results.median("compile/one_timer", "asio_wheel", 1, figure)
                - results.median("compile/one_timer", "asio", 1, figure))

    yield "| | beside Asio's timer |"
    yield "|---|--:|"
    time = results.ratio("compile/one_timer", 1, "compile_s", "asio_wheel", "asio")
    yield row("processor time of the compiler", f"{time:.1f} times")
    yield row("code and constant data of the program", f"{more('object_kb'):.0f} kB more")
    yield row("those of the library, linked into it",
              f"{more('text_kb') - more('object_kb'):.0f} kB more")


def looking(results):
    yield "| what | costs |"
    yield "|---|--:|"
    for waits, timers in ("a thousand", 1000), ("a million", 1000000):
        visit = results.median("api/visit", "asio_wheel", timers, "op")
        yield row(f"`for_each_pending()` and `report()`, for each of {waits} waits",
                  f"{visit:.0f} ns")
    price = (results.median("expiry/ordered", "measured", 1000000, "op")
             - results.median("expiry/ordered", "asio_wheel", 1000000, "op"))
    yield row("`measure_handlers`, for each wait that expires", f"{price:.0f} ns")


def server(results):
    yield "| timeouts | requests/s | µs each |"
    yield "|---|--:|--:|"
    for title, who in (("none", "none"), ("ours, `postpone()`", "asio_wheel"),
                       ("Asio's, set anew by each line", "asio"),
                       ("Asio's, the deadline only noted", "asio_lazy")):
        cells = [results.all_of("server/active", who, 10000, figure)
                 for figure in ("requests_per_s", "cpu_us")]
        yield row(title, *("{} ({} … {})".format(*map(digits, cell)) for cell in cells))


def from_script(title):
    """A table that a script prints under that heading."""
    def rows(_):
        out = subprocess.run([ROOT / "bench/table", RESULTS, ROOT / "bench/targets.tsv"],
                             check=True, capture_output=True, text=True).stdout
        parts = re.split(r"(?m)^### (.*)\n\n", out)
        found = dict(zip(parts[1::2], parts[2::2]))
        if title not in found:
            sys.exit(f"bench/figures: {RESULTS.name} has nothing for the table {title}")
        return found[title].strip("\n").split("\n")
    return rows


def replaced(number):
    """The table with that number that bench/replaced/table prints."""
    def rows(_):
        lines = [line for line in RESULTS.read_text().splitlines(keepends=True)
                 if line.startswith(("workload,", "replaced/"))]
        out = subprocess.run([ROOT / "bench/replaced/table"], input="".join(lines), check=True,
                             capture_output=True, text=True).stdout
        return out.strip("\n").split("\n\n")[number].split("\n")
    return rows


TABLES = {
    "A busy loop": busy_loop,
    "A loop that is polled": polled_loop,
    "With public functions of Asio only": public_functions,
    "A program with one timer": one_timer,
    "Looking at a wheel": looking,
    "A server": server,
    "Whole programs: figures": replaced(0),
    "Whole programs: changes": replaced(1),
}

MARKED = re.compile(r"(?m)^<!-- bench/table: (.*) -->\n+(?:\|.*\n)*\n*")


def with_tables(text):
    """The text of a document with each table below its line as it should be."""
    def marked(match):
        title = match.group(1)
        rows = TABLES.get(title) or from_script(title)
        return f"<!-- bench/table: {title} -->\n\n" + "\n".join(rows(Results())) + "\n\n"
    return MARKED.sub(marked, text)
