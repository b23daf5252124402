// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Prints, for each step in a timer's life, how many locks and how many atomic read-modify-writes it
// takes, and which cache lines it shares with steps of other timers. These determine how timers
// scale with threads. One thread at a time takes the steps, which are counted, not timed.
// test/service/contention.cpp checks the invariants.

#define ASIO_WHEEL_SYNC_HEADER "support/counted_sync.hpp"

#include "support/core_sources.hpp"

#include "counted_asio.hpp"

#include "wheel_memory.hpp"

#include "support/timer_life.hpp"

#include "support/sync_counter.hpp"

#include <asio_wheel/idle_timer.hpp>
#include <asio_wheel/steady_timer.hpp>
#include <asio_wheel/wheel_service.hpp>

#include <boost/asio/execution_context.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/version.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

namespace {

using namespace asio_wheel::test;

constexpr bool counts_asios_locks = ASIO_WHEEL_TEST_COUNTS_ASIOS_LOCKS != 0;

// The result of one round: `times` operations.
struct counts {
    std::size_t times = 1;
    sync_counts ours;
    std::map<std::string, std::size_t> asios_locks; // By the names of the mutexes.
    std::size_t asios_modifications = 0;
    std::set<std::uintptr_t> changed; // Lines of the wheel's memory.

    // Ignores the changed lines, which depend on the time.
    bool operator==(const counts& other) const {
        return std::tie(times, ours, asios_locks, asios_modifications) ==
               std::tie(other.times, other.ours, other.asios_locks, other.asios_modifications);
    }
};

void require(bool condition, const std::string& what) {
    if (!condition) {
        std::fprintf(stderr, "contention: %s\n", what.c_str());
        std::exit(1);
    }
}

// Counts what the library does, and what Asio does.
class counter final : public section {
public:
    // Creates the wheel, whose memory blocks begin at an offset in a cache line.
    counter(boost::asio::io_context& ctx, std::size_t offset) {
        const boost::asio::steady_timer with_asios_services(ctx);
        memory_.add_blocks_of(offset, [&] { asio_wheel::use_wheel(ctx); });
        tally_.name_first_lock(
            "idle_scale", [&] { asio_wheel::scale_idle_timers(asio_wheel::use_wheel(ctx), 1); });
        name("registry", [&] { boost::asio::has_service<nobodys_service>(ctx); });
        name("queue", [&] { boost::asio::post(ctx, [] {}); });
        ctx.poll();
    }

    void begin() override {
        asio_ = {};
        memory_.remember();
        asio_counts::here = &asio_;
        tally_.begin();
    }
    void end() override {
        tally_.end();
        asio_counts::here = nullptr;
        changed_ = memory_.changed();
    }

    [[nodiscard]] counts result(std::size_t times) const {
        counts c{times, tally_.counts(), {}, asio_.modifications, changed_};
        for (const auto& [mutex, n] : asio_.locks) {
            const auto it = names_.find(mutex);
            c.asios_locks[it != names_.end() ? it->second : "reactor"] += n;
        }
        return c;
    }

private:
    struct nobodys_service : boost::asio::execution_context::service {
        using key_type = nobodys_service;
        static inline boost::asio::execution_context::id id;
    };

    // Names the mutexes of Asio that `f` locks.
    template <class Function>
    void name(const char* name, Function f) {
        begin();
        f();
        end();
        for (const auto& [mutex, n] : asio_.locks) {
            names_.emplace(mutex, name);
        }
    }

    sync_counter tally_;
    asio_counts asio_;
    wheel_memory memory_;
    std::set<std::uintptr_t> changed_;
    std::map<const void*, std::string> names_;
};

// All rounds of a step, with the same counts except for the changed lines.
struct measured : counts {
    std::vector<std::set<std::uintptr_t>> changes; // For each round.

    [[nodiscard]] std::set<std::uintptr_t> known_lines() const {
        std::set<std::uintptr_t> known;
        for (const auto& [address, line] : ours.lines) {
            if (line.written) {
                known.insert(address);
            }
        }
        return known;
    }
};

struct row {
    std::string name;
    measured with;
    std::optional<measured> bare; // The counts of the operation without a timer.
};

// Lines that any of the steps writes.
std::set<std::uintptr_t> written_lines(const std::vector<row>& rows) {
    std::set<std::uintptr_t> lines;
    for (const row& r : rows) {
        lines.merge(r.with.known_lines());
        for (const auto& change : r.with.changes) {
            lines.insert(change.begin(), change.end());
        }
    }
    return lines;
}

// Takes a step again and again. After the warm-up, each round must have the same counts.
template <class Timer>
measured measure(timer_life<Timer>& life, counter& c, const std::string& name,
                 const typename timer_life<Timer>::step& step, int rounds) {
    for (int i = 0; i < 8; ++i) {
        step(life, c);
    }
    const births::part_of here("timer");
    std::optional<measured> all;
    for (int i = 0; i < rounds; ++i) {
        const std::size_t times = step(life, c);
        counts now = c.result(times);
        if (!all) {
            all = measured{now, {}};
        }
        require(now == *all, name + ": two rounds differ");
        all->changes.push_back(std::move(now.changed));
    }
    return *all;
}

template <class Timer>
std::vector<row> measure_steps(timer_life<Timer>& life, counter& c, int rounds) {
    std::vector<row> rows;
    for (const auto& step : timer_life<Timer>::steps()) {
        row r{step.name, measure(life, c, step.name, step.does, rounds), {}};
        if (step.bare) {
            r.bare = measure(life, c, step.name, step.bare, rounds);
        }
        rows.push_back(std::move(r));
    }
    return rows;
}

// All steps, with the wheel at this offset in a cache line.
//
// A wheel may have lines for each thread, which are left out. They are those that a step changes
// without the wheel's lock, and that no step of another thread changes. (What the lock guards may
// be another line each time.)
template <class Timer>
std::vector<row> measure_all(int rounds, std::size_t offset = 0) {
    boost::asio::io_context ctx;
    counter c(ctx, offset);
    timer_life<Timer> life(ctx);
    std::vector<row> rows = measure_steps(life, c, rounds);
    std::set<std::uintptr_t> others;
    std::thread([&] { others = written_lines(measure_steps(life, c, 2)); }).join();

    std::set<std::uintptr_t> own;
    for (const row& r : rows) {
        if (r.with.ours.locks_of(wheels_name) == 0) {
            for (const auto& change : r.with.changes) {
                std::set_difference(change.begin(), change.end(), others.begin(), others.end(),
                                    std::inserter(own, own.end()));
            }
        }
    }
    for (row& r : rows) {
        for (auto& change : r.with.changes) {
            std::erase_if(change, [&](std::uintptr_t line) { return own.contains(line); });
        }
    }
    return rows;
}

// Returns `total` divided by `times`.
std::string each(std::ptrdiff_t total, std::size_t times) {
    const auto n = static_cast<std::ptrdiff_t>(times);
    char text[32];
    if (total % n == 0) {
        std::snprintf(text, sizeof text, "%td", total / n);
    } else {
        std::snprintf(text, sizeof text, "%.2f",
                      static_cast<double>(total) / static_cast<double>(n));
    }
    return text;
}

std::string joined(const std::vector<std::string>& parts, const char* otherwise) {
    std::string all;
    for (const std::string& p : parts) {
        all += (all.empty() ? "" : ", ") + p;
    }
    return all.empty() ? otherwise : all;
}

// "1 wheel, 2 stream"
std::string list(const std::map<std::string, std::ptrdiff_t>& totals, std::size_t times) {
    std::vector<std::string> parts;
    for (const auto& [name, n] : totals) {
        if (n != 0) {
            parts.push_back(each(n, times) + " " + name);
        }
    }
    return joined(parts, "0");
}

std::string locks(const counts& c) {
    return list({c.ours.locks.begin(), c.ours.locks.end()}, c.times);
}

// Returns the minimum and the maximum of some numbers.
struct range {
    std::size_t least = std::numeric_limits<std::size_t>::max();
    std::size_t most = 0;

    void add(std::size_t n) {
        least = std::min(least, n);
        most = std::max(most, n);
    }
    [[nodiscard]] std::string text() const {
        const std::string n = std::to_string(least);
        return least == most ? n : n + "–" + std::to_string(most);
    }
};

// The same step of the same timers, with different positions of the wheel in a cache line; and all
// lines that any step writes.
struct placed {
    const measured* step;
    const std::set<std::uintptr_t>* written_by_any;
};

// "2–3: counts of waits °, wheel's lock"
std::string lines(const std::vector<placed>& placements, bool written) {
    struct marks {
        bool under_lock = true;
        bool written_by_others = false;
    };
    range n;
    std::map<std::string, marks> names;
    for (const placed& p : placements) {
        std::size_t here = 0;
        for (const auto& [address, line] : p.step->ours.lines) {
            if (line.written == written) {
                ++here;
                for (const auto& [name, under_lock] : line.objects) {
                    marks& m = names[name];
                    m.under_lock = m.under_lock && under_lock;
                    m.written_by_others |= !written && p.written_by_any->contains(address);
                }
            }
        }
        n.add(here);
    }
    std::vector<std::string> parts;
    for (const auto& [name, m] : names) {
        parts.push_back(name + (m.under_lock ? " °" : "") + (m.written_by_others ? " †" : ""));
    }
    return n.most == 0 ? "0" : n.text() + ": " + joined(parts, "");
}

// Changed lines in addition to those in lines().
std::string further_lines(const std::vector<placed>& placements) {
    range n;
    for (const placed& p : placements) {
        const auto known = p.step->known_lines();
        for (const auto& change : p.step->changes) {
            n.add(static_cast<std::size_t>(
                std::count_if(change.begin(), change.end(),
                              [&](std::uintptr_t line) { return !known.contains(line); })));
        }
    }
    return n.text();
}

std::string asios_locks(const row& r) {
    if (!counts_asios_locks) {
        return "–";
    }
    std::map<std::string, std::ptrdiff_t> totals;
    for (const auto& [name, n] : r.with.asios_locks) {
        totals[name] += static_cast<std::ptrdiff_t>(n);
    }
    if (r.bare) {
        for (const auto& [name, n] : r.bare->asios_locks) {
            totals[name] -= static_cast<std::ptrdiff_t>(n);
        }
    }
    return list(totals, r.with.times);
}

std::string asios_modifications(const row& r) {
    auto total = static_cast<std::ptrdiff_t>(r.with.asios_modifications);
    if (r.bare) {
        total -= static_cast<std::ptrdiff_t>(r.bare->asios_modifications);
    }
    return each(total, r.with.times);
}

std::string modifications(const counts& c) {
    return each(static_cast<std::ptrdiff_t>(c.ours.modifications), c.times);
}

using table = std::vector<std::vector<std::string>>;

// Returns the width of UTF-8 text.
std::size_t width(const std::string& text) {
    return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
        return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
    }));
}

void print(const table& t, bool markdown) {
    std::vector<std::size_t> widths(t.front().size());
    for (const auto& cells : t) {
        for (std::size_t i = 0; i < cells.size(); ++i) {
            widths[i] = std::max(widths[i], width(cells[i]));
        }
    }
    for (std::size_t n = 0; n < t.size(); ++n) {
        for (std::size_t i = 0; i < t[n].size(); ++i) {
            const std::string& text = t[n][i];
            if (markdown) {
                std::printf("| %s ", text.c_str());
            } else {
                std::printf("%s%*s", text.c_str(), static_cast<int>(widths[i] - width(text) + 2),
                            "");
            }
        }
        std::printf("%s\n", markdown ? "|" : "");
        if (markdown && n == 0) {
            for (std::size_t i = 0; i < t[n].size(); ++i) {
                std::printf("|%s", i == 0 ? "---" : "--");
            }
            std::printf("|\n");
        }
    }
}

} // namespace

int main(int argc, char** argv) {
    bool markdown = false;
    int rounds = 20;
    for (int i = 1; i < argc; ++i) {
        if (std::strcmp(argv[i], "--markdown") == 0) {
            markdown = true;
        } else if (std::strcmp(argv[i], "--quick") == 0) {
            rounds = 2;
        } else {
            std::fprintf(stderr, "usage: contention [--quick] [--markdown]\n");
            return 2;
        }
    }

    // malloc() aligns to 16 bytes or more.
    constexpr std::array<std::size_t, 4> offsets{0, 16, 32, 48};
    std::array<std::vector<row>, offsets.size()> ours;
    std::array<std::set<std::uintptr_t>, offsets.size()> written;
    for (std::size_t i = 0; i < offsets.size(); ++i) {
        ours[i] = measure_all<asio_wheel::steady_timer>(rounds, offsets[i]);
        written[i] = written_lines(ours[i]);
    }
    const auto asios = measure_all<boost::asio::steady_timer>(rounds);

    table t{{"step", "locks", "atomics", "lines written", "further lines that change",
             "lines only read", "Asio's locks for it", "Asio's atomics", "Asio's timer: locks",
             "atomics"}};
    for (std::size_t n = 0; n < ours[0].size(); ++n) {
        const row& r = ours[0][n];
        std::vector<placed> placements;
        for (std::size_t i = 0; i < offsets.size(); ++i) {
            const measured& here = ours[i][n].with;
            require(here.ours.locks == r.with.ours.locks &&
                        here.ours.modifications == r.with.ours.modifications,
                    r.name + ": the counts depend on where the wheel is");
            placements.push_back({&here, &written[i]});
        }
        t.push_back({r.name, locks(r.with), modifications(r.with), lines(placements, true),
                     further_lines(placements), lines(placements, false), asios_locks(r),
                     asios_modifications(r)});
        const auto it = std::find_if(asios.begin(), asios.end(),
                                     [&](const row& other) { return other.name == r.name; });
        t.back().push_back(it != asios.end() ? asios_locks(*it) : "–");
        t.back().push_back(it != asios.end() ? asios_modifications(*it) : "–");
    }
    print(t, markdown);
    if (!markdown) {
        std::printf("\nBoost %d.%d. Atomics are read-modify-writes outside of locks. ° Under the "
                    "wheel's lock only. † Another step may write into the line.\n",
                    BOOST_VERSION / 100'000, BOOST_VERSION / 100 % 1'000);
    }
}
