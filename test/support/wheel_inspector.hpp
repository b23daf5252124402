// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Checks every invariant that is listed at the end of class wheel, from inside.

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
    /// Describes the first violated invariant; empty if all hold.
    [[nodiscard]] static std::string audit(const wheel& w) {
        if (w.elapsed_ > w.now_ || w.now_ > last_tick) {
            return words("it is ", w.elapsed_, ", but only ", w.now_, " was told");
        }
        std::size_t entries = 0;
        tick_t smallest = no_tick;
        for (std::uint32_t slot = 0; slot < w.opened_; ++slot) {
            if (std::string fault = audit_slot(w, slot, entries); !fault.empty()) {
                return fault;
            }
            smallest = std::min(smallest, w.earliest_[slot]);
        }
        if (std::string fault = audit_opened(w, entries); !fault.empty()) {
            return fault;
        }
        if (std::string fault = audit_held(w, entries); !fault.empty()) {
            return fault;
        }
        if (entries != w.size_) {
            return words("size() is ", w.size_, ", but ", entries, " entries are linked");
        }
        if (w.earliest_.smallest() != smallest) {
            return words("the smallest of all is said to be ", w.earliest_.smallest(), ", but is ",
                         smallest);
        }
        if (smallest != no_tick && w.earliest_[w.slot_of(smallest)] != smallest) {
            return words("the smallest of all, ", smallest, ", is not where the rule puts it");
        }
        return {};
    }

    /// Returns the level of a filed entry, or nothing if it is held or in the slot that is being
    /// emptied.
    [[nodiscard]] static std::optional<unsigned> level_of(const wheel& w,
                                                          const wheel_entry& entry) {
        const std::uint32_t slot = entry.slot_;
        if (slot >= w.opened_ || !is_in(w, slot, entry)) {
            return std::nullopt;
        }
        return static_cast<unsigned>(slot >> w.bits_);
    }

    /// Returns whether an entry is in the slot that is being emptied.
    [[nodiscard]] static bool in_opened(const wheel& w, const wheel_entry& entry) {
        return is_in(w, w.opened_, entry);
    }

    /// Returns the memory of a wheel in bytes. Only touched pages are resident.
    [[nodiscard]] static std::size_t memory(const wheel& w) { return w.memory_.size() + sizeof w; }

    /// Returns the address of the slots: the memory of a wheel, except for the wheel object itself.
    [[nodiscard]] static std::byte* slots(const wheel& w) { return w.memory_.begin(); }

    /// Returns how many slots are not empty, except for those that belong to no level.
    [[nodiscard]] static std::size_t occupied(const wheel& w) {
        std::size_t count = 0;
        for (std::uint32_t slot = 0; slot < w.opened_; ++slot) {
            count += is_empty(w, slot) ? 0 : 1;
        }
        return count;
    }

private:
    using traits = wheel::entry_list::node_traits;
    using node = wheel::node;

    template <class... Parts>
    [[nodiscard]] static std::string words(const Parts&... parts) {
        std::ostringstream text;
        (text << ... << parts);
        return text.str();
    }

    [[nodiscard]] static bool is_filled(const wheel& w, std::uint32_t slot, unsigned list) {
        return (w.states_[slot].filled >> list & 1U) != 0;
    }

    [[nodiscard]] static bool is_empty(const wheel& w, std::uint32_t slot) {
        return w.states_[slot].filled == 0;
    }

    [[nodiscard]] static bool is_in(const wheel& w, std::uint32_t slot, const wheel_entry& entry) {
        for (unsigned i = 0; i < wheel::stripes; ++i) {
            if (is_filled(w, slot, i)) {
                node* const list = &w.slots_[slot].lists[i];
                for (node* n = traits::get_next(list); n != list; n = traits::get_next(n)) {
                    if (&wheel::entry_of(n) == &entry) {
                        return true;
                    }
                }
            }
        }
        return false;
    }

    // Calls check(entry), which returns a violation or nothing, for each entry of a slot. Counts
    // the entries; the count can exceed the wheel's size only if a list is corrupt.
    template <class Check>
    [[nodiscard]] static std::string walk(const wheel& w, std::uint32_t slot, std::size_t& entries,
                                          Check check) {
        for (unsigned i = 0; i < wheel::stripes; ++i) {
            if (!is_filled(w, slot, i)) {
                continue;
            }
            node* const list = &w.slots_[slot].lists[i];
            if (traits::get_next(list) == list) {
                return words("slot ", slot, ": list ", i, " is said to be filled, but is empty");
            }
            node* n = list;
            do {
                node* const next = traits::get_next(n);
                if (next == nullptr || traits::get_previous(next) != n) {
                    return words("slot ", slot, ": a list's links disagree");
                }
                n = next;
                if (n == list) {
                    break;
                }
                if (++entries > w.size_) {
                    return words("slot ", slot,
                                 ": more entries are linked than size() = ", w.size_);
                }
                if (std::string fault = check(wheel::entry_of(n)); !fault.empty()) {
                    return fault;
                }
            } while (true);
        }
        return {};
    }

    [[nodiscard]] static std::string audit_slot(const wheel& w, std::uint32_t slot,
                                                std::size_t& entries) {
        const tick_t earliest = w.earliest_[slot];
        std::string fault = walk(w, slot, entries, [&](const wheel_entry& entry) {
            if (entry.slot_ != slot) {
                return words("slot ", slot, ": an entry says it is in slot ", entry.slot_);
            }
            if (entry.deadline_ < earliest || entry.deadline_ > last_tick) {
                return words("slot ", slot, ": the earliest is said to be ", earliest,
                             ", but an entry is due at ", entry.deadline_);
            }
            return std::string();
        });
        if (!fault.empty()) {
            return fault;
        }
        if (is_empty(w, slot)) {
            return earliest == no_tick
                       ? std::string()
                       : words("slot ", slot, ": is empty, but remembers ", earliest);
        }
        return earliest < w.elapsed_ ? words("slot ", slot, ": should have been opened at ",
                                             earliest, ", but it is ", w.elapsed_)
                                     : audit_place(w, slot, earliest);
    }

    // The rule: the level of a slot is that of the highest group of bits in which its deadlines
    // differ from now.
    [[nodiscard]] static std::string audit_place(const wheel& w, std::uint32_t number,
                                                 tick_t earliest) {
        const auto level = static_cast<unsigned>(number >> w.bits_);
        const tick_t turn = earliest >> w.shift(level); // Counts the slots of this level.
        const tick_t now_turn = w.elapsed_ >> w.shift(level);
        const tick_t index = number & w.mask_;
        const bool top = level + 1 == w.levels_;
        const auto place = [&](const char* what) {
            return words("slot ", number, " (level ", level, ", index ", index, ", earliest ",
                         earliest, ", now ", w.elapsed_, "): ", what);
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
            if (entry.deadline_ < w.elapsed_ || entry.deadline_ > last_tick) {
                return words("opened slot: it is ", w.elapsed_, ", but an entry is due at ",
                             entry.deadline_);
            }
            return std::string();
        });
    }

    [[nodiscard]] static std::string audit_held(const wheel& w, std::size_t& entries) {
        return walk(w, w.held_, entries, [&](const wheel_entry& entry) {
            if (entry.slot_ != w.held_) {
                return words("held: an entry says it is in slot ", entry.slot_);
            }
            if (entry.deadline_ < w.now_ || entry.deadline_ > last_tick) {
                return words("held: an entry is due at ", entry.deadline_, ", but ", w.now_,
                             " was told");
            }
            return std::string();
        });
    }
};

} // namespace asio_wheel

#endif
