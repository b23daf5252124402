// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// A server whose memory and descriptors are checked once a second. The first third of the time is
// warm-up. Both are flat if their maximum in the last third is not higher than before, except for a
// tolerance, and if no descriptor is left after all clients have disconnected.

#ifndef ASIO_WHEEL_TEST_SOAK_WATCHED_SERVER_HPP
#define ASIO_WHEEL_TEST_SOAK_WATCHED_SERVER_HPP

#include "support/server_process.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace soak {

/// Memory may grow by this much from one third to the next, because allocators cache what was used.
constexpr double tolerated_memory = 1.05;
constexpr std::size_t tolerated_kilobytes = 512;
/// Descriptors may grow by one group of clients: which of these come at the same time is random.
constexpr std::size_t tolerated_descriptors = 400;

class watched_server {
public:
    watched_server(std::string name, std::vector<std::string> command)
        : name_(std::move(name)), server_(std::move(command)), at_rest_(server_.descriptors()) {}

    [[nodiscard]] std::uint16_t port() const noexcept { return server_.port(); }
    [[nodiscard]] bool is_alive() const { return server_.is_alive(); }

    void sample() {
        memory_.push_back(server_.status_of("VmRSS"));
        descriptors_.push_back(server_.descriptors());
    }

    /// Returns how many more descriptors it has than before its first connection.
    [[nodiscard]] std::size_t descriptors_left() const {
        const std::size_t now = server_.descriptors();
        return now > at_rest_ ? now - at_rest_ : 0;
    }

    /// Stops it, and prints its figures. Returns what is wrong.
    [[nodiscard]] int report() {
        const std::size_t left = descriptors_left();
        const auto counted = server_.stop();
        const auto [m1, m2, m3] = thirds(memory_);
        const auto [d1, d2, d3] = thirds(descriptors_);
        std::printf("%-12s %8zu %8zu %8zu kB %8zu %8zu %8zu descriptors, %zu left", name_.c_str(),
                    m1, m2, m3, d1, d2, d3, left);
        const bool memory_flat = static_cast<double>(m3) <=
                                 static_cast<double>(m2) * tolerated_memory + tolerated_kilobytes;
        const bool descriptors_flat = d3 <= std::max(d1, d2) + tolerated_descriptors;
        std::printf("%s%s%s%s\n", memory_flat ? "" : "; MEMORY GROWS",
                    descriptors_flat ? "" : "; DESCRIPTORS GROW",
                    left == 0 ? "" : "; SOME ARE LEFT",
                    counted.empty() ? "; IT DID NOT END WELL" : "");
        if (counted.empty()) {
            std::printf("%s", server_.complaints().c_str());
        }
        for (const auto& [what, number] : counted) {
            std::printf("    %s %.15g", what.c_str(), number);
        }
        std::printf("\n");
        counted_ = counted;
        return (memory_flat ? 0 : 1) + (descriptors_flat ? 0 : 1) + (left == 0 ? 0 : 1) +
               (counted.empty() ? 1 : 0);
    }

    /// After report(): its own figures.
    [[nodiscard]] double counted(const std::string& what) const {
        const auto found = counted_.find(what);
        return found == counted_.end() ? 0 : found->second;
    }

private:
    struct maxima {
        std::size_t first;
        std::size_t second;
        std::size_t third;
    };

    static maxima thirds(const std::vector<std::size_t>& samples) {
        const auto most = [&](std::size_t n) {
            const auto from = samples.begin() + static_cast<std::ptrdiff_t>(samples.size() * n / 3);
            const auto to =
                samples.begin() + static_cast<std::ptrdiff_t>(samples.size() * (n + 1) / 3);
            return from == to ? 0 : *std::max_element(from, to);
        };
        return {most(0), most(1), most(2)};
    }

    std::string name_;
    asio_wheel::test::server_process server_;
    std::size_t at_rest_;
    std::vector<std::size_t> memory_;
    std::vector<std::size_t> descriptors_;
    std::map<std::string, double> counted_;
};

} // namespace soak

#endif
