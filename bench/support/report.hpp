// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// How results are shown: under their plain names and, where two implementations did the same work
// in the same run, side by side with their ratio. Only the ratio is a claim; absolute numbers say
// as much about the machine.

#ifndef BENCH_REPORT_HPP
#define BENCH_REPORT_HPP

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace bench {

/// The time of one of the `operations` that each iteration does, in seconds: "38.2n" is 38.2 ns.
inline benchmark::Counter per_operation(std::size_t operations) {
    return {static_cast<double>(operations),
            benchmark::Counter::Flags(benchmark::Counter::kIsIterationInvariantRate |
                                      benchmark::Counter::kInvert)};
}

/// Google Benchmark's console output, without the suffixes it adds to names (that the time is a
/// manual one, how many iterations); at the end a table of all pairs group/workload/asio/n and
/// group/workload/asio_wheel/n, each figure the median of its repetitions.
class pair_reporter : public benchmark::ConsoleReporter {
public:
    void ReportRuns(const std::vector<Run>& runs) override {
        std::vector<Run> plain = runs;
        for (Run& run : plain) {
            run.run_name.iterations.clear();
            run.run_name.time_type.clear();
            run.run_name.min_time.clear();
            run.run_name.repetitions.clear();
            if (!run.error_occurred) {
                collect(run);
            }
        }
        ConsoleReporter::ReportRuns(plain);
    }

    void Finalize() override {
        ConsoleReporter::Finalize();
        bool first = true;
        for (auto& [key, sides] : results_) {
            auto& [theirs, ours] = sides;
            if (theirs.empty() || ours.empty()) {
                continue;
            }
            if (std::exchange(first, false)) {
                std::printf("\n| %-28s | %9s | %-16s | %10s | %10s | %6s |\n|%s\n", "workload",
                            "waits", "figure", "Asio", "asio-wheel", "ratio",
                            "------------------------------|----------:|------------------|-------"
                            "----:|-----------:|-------:|");
            }
            const auto& [place, workload, waits, figure] = key;
            const double a = median(theirs);
            const double b = median(ours);
            std::printf("| %-28s | %9lu | %-16s | %10.4g | %10.4g | %6.2f |\n", workload.c_str(),
                        waits, figure.c_str(), a, b, b > 0 ? a / b : 0.0);
        }
        std::fflush(stdout);
    }

private:
    // In the order of appearance, by number of waits.
    using figure_of = std::tuple<std::size_t, std::string, unsigned long, std::string>;
    using pair = std::pair<std::vector<double>, std::vector<double>>;

    void collect(const Run& run) {
        const std::string& name = run.run_name.function_name;
        const std::size_t number = name.rfind('/');
        const std::size_t side = number == std::string::npos || number == 0
                                     ? std::string::npos
                                     : name.rfind('/', number - 1);
        if (side == std::string::npos) {
            return;
        }
        const std::string who = name.substr(side + 1, number - side - 1);
        const std::string workload = name.substr(0, side);
        if (who != "asio" && who != "asio_wheel") {
            return;
        }
        const std::size_t place = places_.try_emplace(workload, places_.size()).first->second;
        for (const auto& [figure, counter] : run.counters) {
            const bool time = (counter.flags & benchmark::Counter::kInvert) != 0;
            pair& sides = results_[{place, workload, std::stoul(name.substr(number + 1)), figure}];
            std::vector<double>& values = who == "asio" ? sides.first : sides.second;
            // The library's own median is taken where the single runs are not reported.
            if (run.run_type == Run::RT_Iteration ||
                (run.aggregate_name == "median" && values.empty())) {
                values.push_back(time ? counter.value * 1e9 : counter.value);
            }
        }
    }

    [[nodiscard]] static double median(std::vector<double>& values) {
        std::sort(values.begin(), values.end());
        const std::size_t middle = values.size() / 2;
        return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
    }

    std::map<std::string, std::size_t> places_;
    std::map<figure_of, pair> results_;
};

/// The rest of main() once all benchmarks are registered.
inline int run_benchmarks(int argc, char** argv) {
    benchmark::Initialize(&argc, argv);
    if (benchmark::ReportUnrecognizedArguments(argc, argv)) {
        return 1;
    }
    pair_reporter reporter;
    benchmark::RunSpecifiedBenchmarks(&reporter);
    benchmark::Shutdown();
    return 0;
}

} // namespace bench

#endif
