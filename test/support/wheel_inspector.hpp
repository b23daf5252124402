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
        for (std::uint32_t slot = 0; slot <= unplaced(w); ++slot) {
            if (std::string fault = audit_slot(w, slot, entries); !fault.empty()) {
                return fault;
            }
            smallest = std::min(smallest, earliest(w, slot));
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
        if (w.smallest_ != smallest) {
            return words("the smallest of all is said to be ", w.smallest_, ", but is ", smallest);
        }
        if (smallest != no_tick && earliest(w, unplaced(w)) != smallest &&
            earliest(w, place_of(w, smallest)) != smallest) {
            return words("the smallest of all, ", smallest, ", is not where the rule puts it");
        }
        return {};
    }

    /// Returns the level of a filed entry, or nothing if it is held or in the slot that is being
    /// emptied.
    [[nodiscard]] static std::optional<unsigned> level_of(const wheel& w,
                                                          const wheel_entry& entry) {
        const std::uint32_t slot = entry.slot_;
        if (slot >= unplaced(w) || !is_in(w, slot, entry)) {
            return std::nullopt;
        }
        return static_cast<unsigned>(slot >> w.bits_);
    }

    /// Returns whether an entry is in the slot that is being emptied.
    [[nodiscard]] static bool in_opened(const wheel& w, const wheel_entry& entry) {
        return is_in(w, opened(w), entry);
    }

    /// Returns whether there was no memory for the level of an entry.
    [[nodiscard]] static bool is_unplaced(const wheel& w, const wheel_entry& entry) {
        return is_in(w, unplaced(w), entry);
    }

    /// Returns the memory of a wheel in bytes. Only touched pages are resident.
    [[nodiscard]] static std::size_t memory(const wheel& w) {
        return sizeof w + levels_made(w) * level_size(w);
    }

    /// Returns how many levels a wheel has memory for.
    [[nodiscard]] static unsigned levels_made(const wheel& w) {
        unsigned count = 0;
        for (unsigned number = 0; number < w.levels_; ++number) {
            count += level(w, number) == nullptr ? 0U : 1U;
        }
        return count;
    }

    /// Returns the memory of a level, which is one block; null if it has none.
    [[nodiscard]] static const void* level(const wheel& w, unsigned number) {
        return w.level_number(number);
    }
    [[nodiscard]] static std::size_t level_size(const wheel& w) {
        return wheel::wheel_level::size(w.slots());
    }

    /// Returns how many slots are not empty, except for those that belong to no level.
    [[nodiscard]] static std::size_t occupied(const wheel& w) {
        std::size_t count = 0;
        for (std::uint32_t slot = 0; slot < unplaced(w); ++slot) {
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

    [[nodiscard]] static std::uint32_t unplaced(const wheel& w) {
        return w.own_.first + static_cast<std::uint32_t>(wheel::unplaced);
    }
    [[nodiscard]] static std::uint32_t opened(const wheel& w) {
        return w.own_.first + static_cast<std::uint32_t>(wheel::opened);
    }
    [[nodiscard]] static std::uint32_t held(const wheel& w) {
        return w.own_.first + static_cast<std::uint32_t>(wheel::held);
    }

    // The level that a slot is on; null if that has not been made.
    [[nodiscard]] static const wheel::wheel_level* level_with(const wheel& w, std::uint32_t slot) {
        return slot >= w.own_.first ? &w.own_ : w.level_number(slot >> w.bits_);
    }

    [[nodiscard]] static tick_t earliest(const wheel& w, std::uint32_t slot) {
        const auto* const l = level_with(w, slot);
        return l == nullptr ? no_tick : l->earliest[slot - l->first];
    }

    // The number of the slot where the rule puts a deadline.
    [[nodiscard]] static std::uint32_t place_of(const wheel& w, tick_t deadline) {
        const unsigned number = w.level_number_of(deadline);
        return static_cast<std::uint32_t>((number << w.bits_) +
                                          (deadline >> w.shift(number) & w.mask_));
    }

    [[nodiscard]] static bool is_filled(const wheel& w, std::uint32_t slot, unsigned list) {
        const auto* const l = level_with(w, slot);
        return l != nullptr && (l->states[slot - l->first].filled >> list & 1U) != 0;
    }

    [[nodiscard]] static bool is_empty(const wheel& w, std::uint32_t slot) {
        const auto* const l = level_with(w, slot);
        return l == nullptr || l->states[slot - l->first].filled == 0;
    }

    [[nodiscard]] static node* list_of(const wheel& w, std::uint32_t slot, unsigned list) {
        const auto* const l = level_with(w, slot);
        return &l->slots[slot - l->first].lists[list];
    }

    [[nodiscard]] static bool is_in(const wheel& w, std::uint32_t slot, const wheel_entry& entry) {
        for (unsigned i = 0; i < wheel::stripes; ++i) {
            if (is_filled(w, slot, i)) {
                node* const list = list_of(w, slot, i);
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
            node* const list = list_of(w, slot, i);
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
        const tick_t earliest = wheel_inspector::earliest(w, slot);
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
        if (earliest < w.elapsed_) {
            return words("slot ", slot, ": should have been opened at ", earliest, ", but it is ",
                         w.elapsed_);
        }
        return slot == unplaced(w) ? std::string() : audit_place(w, slot, earliest);
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
        return walk(w, opened(w), entries, [&](const wheel_entry& entry) {
            if (entry.slot_ == opened(w) || entry.slot_ > held(w)) {
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
        return walk(w, held(w), entries, [&](const wheel_entry& entry) {
            if (entry.slot_ != held(w)) {
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
