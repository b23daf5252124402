// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// How benchmarks are named and how results are reported. Where several implementations did the same
// work in the same run, the report shows them side by side with their ratio. Only the ratio is
// meaningful, because absolute numbers depend on the machine.
//
// The name of a benchmark is group/workload/implementation/n, where n is the number of timers. Each
// program accepts Google Benchmark's options, and --csv=FILE, which writes one line per figure.

#ifndef BENCH_REPORT_HPP
#define BENCH_REPORT_HPP

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace bench {

constexpr const char* ours = "asio_wheel";

/// The time per operation if each iteration does `operations` of them. Google Benchmark prints it
/// in seconds ("38.2n" is 38.2 ns); the table and CSV files have it in nanoseconds.
inline benchmark::Counter per_operation(std::size_t operations) {
    return {static_cast<double>(operations),
            benchmark::Counter::Flags(benchmark::Counter::kIsIterationInvariantRate |
                                      benchmark::Counter::kInvert)};
}

/// Registers run(state) under a name as described above. `run` sets the measured time itself.
template <class Run>
auto* add(const std::string& workload, const std::string& implementation, std::size_t n, Run run) {
    return benchmark::RegisterBenchmark(
               (workload + '/' + implementation + '/' + std::to_string(n)).c_str(), run)
        ->UseManualTime()
        ->Unit(benchmark::kMillisecond);
}

/// Returns true if a benchmark failed. Google Benchmark 1.8 renamed the member for that.
template <class Run>
bool failed(const Run& run) {
    if constexpr (requires { run.error_occurred; }) {
        return run.error_occurred;
    } else {
        return run.skipped != decltype(run.skipped){};
    }
}

/// The values of one figure in all repetitions.
class samples {
public:
    void add(double value) { values_.insert(std::ranges::upper_bound(values_, value), value); }

    [[nodiscard]] std::size_t size() const noexcept { return values_.size(); }
    [[nodiscard]] double min() const { return values_.front(); }
    [[nodiscard]] double max() const { return values_.back(); }
    [[nodiscard]] double median() const {
        const std::size_t middle = values_.size() / 2;
        return values_.size() % 2 == 1 ? values_[middle]
                                       : (values_[middle - 1] + values_[middle]) / 2;
    }

private:
    std::vector<double> values_; // sorted
};

/// The figures of all benchmarks.
class results {
public:
    void add(const benchmark::BenchmarkReporter::Run& run) {
        const std::string& name = run.run_name.function_name;
        const std::size_t number = name.rfind('/');
        const std::size_t side =
            number == std::string::npos || number == 0 ? number : name.rfind('/', number - 1);
        if (side == std::string::npos || failed(run) ||
            run.run_type != benchmark::BenchmarkReporter::Run::RT_Iteration) {
            return;
        }
        const std::string implementation = name.substr(side + 1, number - side - 1);
        for (const auto& [figure, counter] : run.counters) {
            const bool time = (counter.flags & benchmark::Counter::kInvert) != 0;
            rows_[{name.substr(0, side), std::stoul(name.substr(number + 1)), figure}]
                 [implementation]
                     .add(time ? counter.value * 1e9 : counter.value);
        }
    }

    /// Prints one line for each workload and peer that both did.
    void print_ratios(std::FILE* out) const {
        bool first = true;
        for (const auto& [key, sides] : rows_) {
            const auto& [workload, n, figure] = key;
            const auto we = sides.find(ours);
            if (we == sides.end()) {
                continue;
            }
            const double mine = we->second.median();
            for (const auto& [implementation, values] : sides) {
                if (implementation == ours) {
                    continue;
                }
                if (std::exchange(first, false)) {
                    print_head(out);
                }
                const double theirs = values.median();
                char ratio[32] = "-"; // Printed if ours is 0.
                if (mine > 0) {
                    std::snprintf(ratio, sizeof ratio, "%.2f", theirs / mine);
                }
                std::fprintf(out, "| %-28s | %9lu | %-13s | %-9s | %10.4g | %10.4g | %7s |\n",
                             workload.c_str(), n, figure.c_str(), implementation.c_str(), theirs,
                             mine, ratio);
            }
        }
        std::fflush(out);
    }

    void write_csv(std::FILE* out) const {
        std::fprintf(out, "workload,implementation,timers,figure,median,min,max,repetitions\n");
        for (const auto& [key, sides] : rows_) {
            const auto& [workload, n, figure] = key;
            for (const auto& [implementation, values] : sides) {
                std::fprintf(out, "%s,%s,%lu,%s,%.6g,%.6g,%.6g,%zu\n", workload.c_str(),
                             implementation.c_str(), n, figure.c_str(), values.median(),
                             values.min(), values.max(), values.size());
            }
        }
    }

private:
    static void print_head(std::FILE* out) {
        std::fprintf(out, "\n| %-28s | %9s | %-13s | %-9s | %10s | %10s | %7s |\n", "workload",
                     "timers", "figure", "peer", "peer", ours, "ratio");
        const auto line = [](std::size_t n) { return std::string(n, '-'); };
        std::fprintf(out, "|%s|%s:|%s|%s|%s:|%s:|%s:|\n", line(30).c_str(), line(10).c_str(),
                     line(15).c_str(), line(11).c_str(), line(11).c_str(), line(11).c_str(),
                     line(8).c_str());
    }

    // By workload, number of timers and figure; then by who did it.
    std::map<std::tuple<std::string, unsigned long, std::string>, std::map<std::string, samples>>
        rows_;
};

/// Prints Google Benchmark's console output without the suffixes that it adds to names (such as
/// "manual_time" and "iterations"), and then the table of ratios.
class ratio_reporter : public benchmark::ConsoleReporter {
public:
    void ReportRuns(const std::vector<Run>& runs) override {
        std::vector<Run> plain = runs;
        for (Run& run : plain) {
            run.run_name.iterations.clear();
            run.run_name.time_type.clear();
            run.run_name.min_time.clear();
            run.run_name.repetitions.clear();
            results_.add(run);
        }
        ConsoleReporter::ReportRuns(plain);
    }

    void Finalize() override {
        ConsoleReporter::Finalize();
        results_.print_ratios(stdout);
    }

    [[nodiscard]] const results& all() const noexcept { return results_; }

private:
    results results_;
};

/// Runs the registered benchmarks. Call this last in main().
inline int run_benchmarks(int argc, char** argv) {
    std::string csv;
    constexpr const char* option = "--csv=";
    const auto end = std::remove_if(argv + 1, argv + argc, [&](const char* argument) {
        const bool mine = std::strncmp(argument, option, std::strlen(option)) == 0;
        if (mine) {
            csv = argument + std::strlen(option);
        }
        return mine;
    });
    argc = static_cast<int>(end - argv);
    benchmark::Initialize(&argc, argv);
    if (benchmark::ReportUnrecognizedArguments(argc, argv)) {
        return 1;
    }
    ratio_reporter reporter;
    benchmark::RunSpecifiedBenchmarks(&reporter);
    benchmark::Shutdown();
    if (!csv.empty()) {
        std::FILE* const file = std::fopen(csv.c_str(), "w");
        if (file == nullptr) {
            std::perror(csv.c_str());
            return 1;
        }
        reporter.all().write_csv(file);
        if (std::fclose(file) != 0) {
            std::perror(csv.c_str());
            return 1;
        }
    }
    return 0;
}

} // namespace bench

#endif
