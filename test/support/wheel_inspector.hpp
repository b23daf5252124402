// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Looks inside a wheel and checks every invariant that is written down at the end of class wheel.

#ifndef ASIO_WHEEL_TEST_SUPPORT_WHEEL_INSPECTOR_HPP
#define ASIO_WHEEL_TEST_SUPPORT_WHEEL_INSPECTOR_HPP

#include <asio_wheel/wheel.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <sstream>
#include <string>

namespace asio_wheel {

struct wheel_inspector {
    /// The first invariant that does not hold, in words; empty if all do.
    [[nodiscard]] static std::string audit(const wheel& w) {
        if (w.now_ > w.told_ || w.told_ > last_tick) {
            return words("it is ", w.now_, ", but only ", w.told_, " was told");
        }
        std::size_t entries = 0;
        tick_t smallest = no_tick;
        for (std::uint32_t number = 0; number < w.opened_; ++number) {
            if (std::string fault = audit_slot(w, number, entries); !fault.empty()) {
                return fault;
            }
            smallest = std::min(smallest, w.earliest_[number]);
        }
        if (std::string fault = audit_opened(w, entries); !fault.empty()) {
            return fault;
        }
        if (std::string fault = audit_held(w, entries); !fault.empty()) {
            return fault;
        }
        smallest = std::min(smallest, w.earliest_[w.held_]);
        if (entries != w.size_) {
            return words("size() is ", w.size_, ", but ", entries, " entries are linked");
        }
        if (std::string fault = audit_spare_bits(w); !fault.empty()) {
            return fault;
        }
        const tick_t next = w.opened_empty() ? smallest : w.now_;
        if (w.next_ != wheel::stale && w.next_ != next) {
            return words("the next expiry is said to be ", w.next_, ", but is ", next);
        }
        return {};
    }

    /// The level on which a filed entry is, or nothing if it is held, or in the slot that is being
    /// emptied.
    [[nodiscard]] static std::optional<unsigned> level_of(const wheel& w,
                                                          const wheel_entry& entry) {
        if (entry.slot_ >= w.opened_) {
            return std::nullopt;
        }
        for (const auto& list : w.slots_[entry.slot_].lists) {
            for (const wheel_entry& other : list) {
                if (&other == &entry) {
                    return static_cast<unsigned>(entry.slot_ >> w.bits_);
                }
            }
        }
        return std::nullopt;
    }

    /// True if an entry is in the slot that is being emptied.
    [[nodiscard]] static bool in_opened(const wheel& w, const wheel_entry& entry) {
        const auto& lists = w.slots_[w.opened_].lists;
        return std::any_of(lists.begin(), lists.end(), [&](const auto& list) {
            return std::any_of(list.begin(), list.end(),
                               [&](const wheel_entry& other) { return &other == &entry; });
        });
    }

    /// How many slots hold something, not counting those that belong to no level.
    [[nodiscard]] static std::size_t occupied(const wheel& w) {
        return static_cast<std::size_t>(std::count_if(w.slots_.get(), w.slots_.get() + w.opened_,
                                                      [](const auto& s) { return !is_empty(s); }));
    }

private:
    using algorithms = wheel::entry_list::node_algorithms;
    using traits = wheel::entry_list::node_traits;

    template <class... Parts>
    [[nodiscard]] static std::string words(const Parts&... parts) {
        std::ostringstream text;
        (text << ... << parts);
        return text.str();
    }

    [[nodiscard]] static bool is_empty(const wheel::slot& s) {
        return std::all_of(s.lists.begin(), s.lists.end(), [](const auto& l) { return l.empty(); });
    }

    [[nodiscard]] static bool bit(const wheel& w, std::uint32_t number) {
        const std::size_t index = number & w.mask_;
        return (w.occupied_[(number >> w.bits_) * w.words_ + index / 64] >> (index % 64) & 1U) != 0;
    }

    // Calls check(entry), which returns a fault or nothing, for each entry of a slot; counts them
    // in `entries`, which can never pass the wheel's size but in a list that has become a knot.
    template <class Check>
    [[nodiscard]] static std::string walk(const wheel& w, std::uint32_t number,
                                          std::size_t& entries, Check check) {
        std::size_t i = 0;
        for (const auto& list : w.slots_[number].lists) {
            if ((w.filled_[number] >> i & 1U) == (list.empty() ? 1U : 0U)) {
                return words("slot ", number, ": the set of filled lists is wrong about list ", i);
            }
            ++i;
            const auto root = list.end().pointed_node();
            auto node = root;
            do {
                const auto next = traits::get_next(node);
                if (next == nullptr || traits::get_previous(next) != node) {
                    return words("slot ", number, ": a list's links disagree");
                }
                node = next;
                if (node == root) {
                    break;
                }
                if (++entries > w.size_) {
                    return words("slot ", number,
                                 ": more entries are linked than size() = ", w.size_);
                }
                const wheel_entry& entry = *wheel::entry_list::value_traits::to_value_ptr(node);
                if (std::string fault = check(entry); !fault.empty()) {
                    return fault;
                }
            } while (true);
        }
        return {};
    }

    [[nodiscard]] static std::string audit_slot(const wheel& w, std::uint32_t number,
                                                std::size_t& entries) {
        const tick_t earliest = w.earliest_[number];
        std::string fault = walk(w, number, entries, [&](const wheel_entry& entry) {
            if (entry.slot_ != number) {
                return words("slot ", number, ": an entry says it is in slot ", entry.slot_);
            }
            if (entry.deadline_ < earliest || entry.deadline_ > last_tick) {
                return words("slot ", number, ": the earliest is said to be ", earliest,
                             ", but an entry is due at ", entry.deadline_);
            }
            return std::string();
        });
        if (!fault.empty()) {
            return fault;
        }
        const bool empty = is_empty(w.slots_[number]);
        if (bit(w, number) == empty) {
            return words("slot ", number, ": the bit says ", empty ? "occupied" : "empty");
        }
        if (empty) {
            return earliest == no_tick
                       ? std::string()
                       : words("slot ", number, ": is empty, but remembers ", earliest);
        }
        return earliest < w.now_ ? words("slot ", number, ": should have been opened at ", earliest,
                                         ", but it is ", w.now_)
                                 : audit_place(w, number, earliest);
    }

    // The rule: the slot is on the level of the highest group of bits in which its deadlines differ
    // from now.
    [[nodiscard]] static std::string audit_place(const wheel& w, std::uint32_t number,
                                                 tick_t earliest) {
        const auto level = static_cast<unsigned>(number >> w.bits_);
        const tick_t turn = earliest >> w.shift(level); // counts the slots of this level
        const tick_t now_turn = w.now_ >> w.shift(level);
        const tick_t index = number & w.mask_;
        const bool top = level + 1 == w.levels_;
        const auto place = [&](const char* what) {
            return words("slot ", number, " (level ", level, ", index ", index, ", earliest ",
                         earliest, ", now ", w.now_, "): ", what);
        };
        if ((turn & w.mask_) != index) {
            return place("the deadline belongs into another slot");
        }
        if (!top && (turn >> w.bits_) != (now_turn >> w.bits_)) {
            return place("the deadline belongs on a higher level");
        }
        if (level > 0 && turn <= now_turn) {
            return place("the deadline belongs on a lower level");
        }
        if (!top && index < (now_turn & w.mask_)) {
            return place("time has passed the slot");
        }
        return {};
    }

    [[nodiscard]] static std::string audit_opened(const wheel& w, std::size_t& entries) {
        return walk(w, w.opened_, entries, [&](const wheel_entry& entry) {
            if (entry.slot_ == w.opened_ || entry.slot_ > w.held_) {
                return words("opened slot: an entry says it came from slot ", entry.slot_);
            }
            if (entry.deadline_ < w.now_ || entry.deadline_ > last_tick) {
                return words("opened slot: it is ", w.now_, ", but an entry is due at ",
                             entry.deadline_);
            }
            return std::string();
        });
    }

    [[nodiscard]] static std::string audit_held(const wheel& w, std::size_t& entries) {
        const tick_t expected = is_empty(w.slots_[w.held_]) ? no_tick : w.told_;
        if (w.earliest_[w.held_] != expected) {
            return words("held: the earliest is said to be ", w.earliest_[w.held_], ", but ",
                         w.told_, " was told");
        }
        return walk(w, w.held_, entries, [&](const wheel_entry& entry) {
            if (entry.slot_ != w.held_) {
                return words("held: an entry says it is in slot ", entry.slot_);
            }
            if (entry.deadline_ < w.told_ || entry.deadline_ > last_tick) {
                return words("held: an entry is due at ", entry.deadline_, ", but ", w.told_,
                             " was told");
            }
            return std::string();
        });
    }

    // A word of the bitmap may have more bits than a level has slots.
    [[nodiscard]] static std::string audit_spare_bits(const wheel& w) {
        if (w.mask_ + 1 < 64) {
            for (const std::uint64_t word : w.occupied_) {
                if (word >> (w.mask_ + 1) != 0) {
                    return words("a bit is set beyond the last slot: word ", word);
                }
            }
        }
        return {};
    }
};

} // namespace asio_wheel

#endif
