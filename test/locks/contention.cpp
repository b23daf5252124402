// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Prints for each step of a timer's life how many locks it takes, how many atomic read-modify-writes
// it makes, and which cache lines it touches that other timers' steps touch too: what decides how
// timers scale with threads. All is done by one thread and counted, not timed. What must hold is
// checked by test/contention.cpp.

#define ASIO_WHEEL_SYNC_HEADER "support/counted_sync.hpp"

#include "counted_asio.hpp"

#include "support/timer_life.hpp"

#include "support/sync_tally.hpp"

#include <asio_wheel/steady_timer.hpp>

#include <boost/asio/detail/concurrency_hint.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/version.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace {

using namespace asio_wheel::test;

constexpr bool counts_asios_locks = ASIO_WHEEL_TEST_COUNTS_ASIOS_LOCKS != 0;

// What one round came to: `times` operations.
struct counts {
    std::size_t times = 1;
    sync_counts ours;
    std::map<std::string, std::size_t> asios_locks; // By the names of the mutexes.
    std::size_t asios_modifications = 0;

    bool operator==(const counts&) const = default;
};

// Counts what the library does, and what Asio does.
class counter final : public stretch {
public:
    template <class Timer>
    explicit counter(timer_life<Timer>& life) {
        boost::asio::io_context& ctx = life.context();
        if constexpr (std::is_same_v<Timer, asio_wheel::steady_timer>) {
            tally_.name_first_lock("valve", [&] { life.wheel().scale(1); });
        }
        name("registry", [&] { boost::asio::has_service<nobodys_service>(ctx); });
        name("queue", [&] { boost::asio::post(ctx, [] {}); });
        ctx.poll();
    }

    void begin() override {
        asio_ = {};
        asio_counts::here = &asio_;
        tally_.begin();
    }
    void end() override {
        tally_.end();
        asio_counts::here = nullptr;
    }

    [[nodiscard]] counts result(std::size_t times) const {
        counts c{times, tally_.counts(), {}, asio_.modifications};
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

    sync_tally tally_;
    asio_counts asio_;
    std::map<const void*, std::string> names_;
};

struct row {
    std::string name;
    counts with;
    std::optional<counts> bare; // What the operation does without a timer.
};

// Does a step again and again. When all is warmed up, each round has to come to the same.
template <class Timer>
counts measure(timer_life<Timer>& life, counter& c, const std::string& name,
               const typename timer_life<Timer>::step& step, int rounds) {
    for (int i = 0; i < 20; ++i) {
        step(life, c);
    }
    const births::part_of here("timer");
    std::optional<counts> first;
    for (int i = 0; i < rounds; ++i) {
        const std::size_t times = step(life, c);
        counts now = c.result(times);
        if (!first) {
            first = std::move(now);
        } else if (now != *first) {
            std::fprintf(stderr, "contention: %s: two rounds differ\n", name.c_str());
            std::exit(1);
        }
    }
    return *first;
}

template <class Timer>
std::vector<row> measure_all(int rounds) {
    timer_life<Timer> life;
    counter c(life);
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

// `total` for one of `times`.
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

// "1: the wheel's lock"
std::string lines(const counts& c, bool written) {
    std::vector<std::string> names;
    std::size_t n = 0;
    for (const auto& [address, line] : c.ours.lines) {
        if (line.written == written) {
            ++n;
            for (const auto& [name, under_lock] : line.objects) {
                names.push_back(name + (under_lock ? " °" : ""));
            }
        }
    }
    std::sort(names.begin(), names.end());
    names.erase(std::unique(names.begin(), names.end()), names.end());
    return n == 0 ? "0" : std::to_string(n) + ": " + joined(names, "");
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

// The width of UTF-8 text.
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
    int rounds = 50;
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

    const auto ours = measure_all<asio_wheel::steady_timer>(rounds);
    const auto asios = measure_all<boost::asio::steady_timer>(rounds);
    table t{{"step", "our locks", "our atomics", "shared lines written", "shared lines only read",
             "Asio's locks for it", "Asio's atomics", "Asio's timer: locks", "atomics"}};
    for (const row& r : ours) {
        t.push_back({r.name, locks(r.with), modifications(r.with), lines(r.with, true),
                     lines(r.with, false), asios_locks(r), asios_modifications(r)});
        const auto it = std::find_if(asios.begin(), asios.end(),
                                     [&](const row& other) { return other.name == r.name; });
        t.back().push_back(it != asios.end() ? asios_locks(*it) : "–");
        t.back().push_back(it != asios.end() ? asios_modifications(*it) : "–");
    }
    print(t, markdown);
    if (!markdown) {
        std::printf("\nBoost %d.%d. Atomics are read-modify-writes outside of locks. ° Under the "
                    "wheel's lock only.\n",
                    BOOST_VERSION / 100'000, BOOST_VERSION / 100 % 1'000);
    }
}
