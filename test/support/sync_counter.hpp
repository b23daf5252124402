// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Counts how the library synchronises with other threads: its locks, its atomic read-modify-writes,
// and the cache lines of shared state that it touches. For one thread.
//
// A program that includes this defines ASIO_WHEEL_SYNC_HEADER as "support/counted_sync.hpp".

#ifndef ASIO_WHEEL_TEST_SUPPORT_SYNC_COUNTER_HPP
#define ASIO_WHEEL_TEST_SUPPORT_SYNC_COUNTER_HPP

#include "counted_sync.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace asio_wheel::test {

/// A section of a program that is measured.
class section {
public:
    section() = default;
    section(const section&) = delete;
    section& operator=(const section&) = delete;

    virtual void begin() = 0;
    virtual void end() = 0;

protected:
    ~section() = default;
};

/// A cache line that all timers of a context share, or the whole process.
struct shared_line {
    bool written = false;
    /// The objects touched in it, and whether each was touched under the wheel's lock only.
    std::map<std::string, bool> objects;

    bool operator==(const shared_line&) const = default;
};

/// The counts of one section.
struct sync_counts {
    std::map<std::string, std::size_t> locks; ///< By the names of their owners.
    std::size_t modifications = 0; ///< Atomic read-modify-writes, except for those of locks.
    std::map<std::uintptr_t, shared_line> lines;

    bool operator==(const sync_counts&) const = default;

    [[nodiscard]] std::size_t locks_of(const std::string& owner) const {
        const auto it = locks.find(owner);
        return it != locks.end() ? it->second : 0;
    }
};

/// The name of the wheel's lock. All locks of a wheel have it unless they were given another name.
inline constexpr const char* wheels_name = "wheel";

/// Counts from begin() to end().
///
/// The library's objects have no names. So names come from the header in which an object was
/// created, from births::part_of for an object of the program, or from name_first_lock().
class sync_counter final : public section, private sync_observer {
public:
    /// Names the first mutex of the wheel that `f` locks.
    template <class Function>
    void name_first_lock(const char* name, Function f) {
        watched_.clear();
        begin();
        f();
        end();
        if (!watched_.empty()) {
            names_[watched_.front()] = name;
        }
    }

    void begin() override {
        counts_ = {};
        held_ = 0;
        watched_.clear();
        here = this;
    }
    void end() override { here = nullptr; }

    /// Returns the counts of the last section.
    [[nodiscard]] const sync_counts& counts() const noexcept { return counts_; }

private:
    static constexpr std::uintptr_t line_size = 64;

    void saw(sync_event what, const void* object) override {
        const birth b = births::of(object);
        const bool is_mutex = what == sync_event::lock || what == sync_event::unlock;
        const std::string name = is_mutex ? lock_name(object, b) : object_name(b);
        if (what == sync_event::lock) {
            ++counts_.locks[name];
            held_ += name == wheels_name ? 1 : 0;
            watched_.push_back(object);
        } else if (what == sync_event::unlock) {
            held_ -= name == wheels_name ? 1 : 0;
        } else if (what == sync_event::modify) {
            ++counts_.modifications;
        }
        if (b.owner == nullptr) {
            // Locking a mutex writes only to its beginning.
            auto& line = counts_.lines[reinterpret_cast<std::uintptr_t>(object) / line_size];
            line.written |= what != sync_event::load;
            const bool under = !is_mutex && held_ != 0;
            bool& always = line.objects.emplace(is_mutex ? "the " + name + "'s lock" : name, under)
                               .first->second;
            always = always && under;
        }
    }

    [[nodiscard]] static std::string stem_of(std::string_view file) {
        file.remove_prefix(std::min(file.find_last_of("/\\") + 1, file.size()));
        return std::string(file.substr(0, file.find('.')));
    }

    [[nodiscard]] std::string lock_name(const void* object, const birth& b) const {
        if (const auto it = names_.find(object); it != names_.end()) {
            return it->second;
        }
        if (b.owner != nullptr) {
            return b.owner;
        }
        const std::string stem = stem_of(b.file);
        return stem == "block_pool" ? "pool" : wheels_name;
    }

    [[nodiscard]] static std::string object_name(const birth& b) {
        using pair = std::pair<std::string_view, const char*>;
        static constexpr std::array known{
            pair("core_lock", "the wheel's owners"),
            pair("wheel_time", "the clock's mode"),
            pair("wheel_core", "the wheel's state"),
            pair("visit_count", "the wheel's state"),
            pair("idle_scale", "the scale of idle timers"),
        };
        const std::string stem = stem_of(b.file);
        const auto* const it = std::find_if(known.begin(), known.end(),
                                            [&](const pair& p) { return p.first == stem; });
        return it != known.end() ? it->second : stem;
    }

    sync_counts counts_;
    std::size_t held_ = 0;             // How many locks of the wheel the thread holds.
    std::vector<const void*> watched_; // The mutexes that were locked, in order.
    std::map<const void*, std::string> names_;
};

} // namespace asio_wheel::test

#endif
