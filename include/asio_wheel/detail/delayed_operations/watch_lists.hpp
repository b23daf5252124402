// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Which operations watch which key.
//
// An operation has one watch for each of its keys, in its own memory, and one in the list of all
// operations. So an operation that completes leaves all lists in constant time for each key, and
// needs no memory for that. A key is in the table while anything watches it.
//
// While a list is walked, functions of the user run. They may add operations to the list, take any
// out, and walk it themselves. So a walk keeps its place in the list itself, by two marks: watches
// without an operation.

#ifndef ASIO_WHEEL_DETAIL_DELAYED_OPERATIONS_WATCH_LISTS_HPP
#define ASIO_WHEEL_DETAIL_DELAYED_OPERATIONS_WATCH_LISTS_HPP

#include <asio_wheel/detail/asio/op_memory.hpp>
#include <asio_wheel/detail/attributes.hpp>
#include <asio_wheel/detail/key_table.hpp>
#include <asio_wheel/detail/scope_exit.hpp>

#include <boost/intrusive/link_mode.hpp>
#include <boost/intrusive/list.hpp>
#include <boost/intrusive/options.hpp>

#include <cstddef>
#include <iterator>
#include <new>

namespace asio_wheel::detail {

template <class Op>
class watch_list;

/// A place in a list. Without an operation it is a mark.
template <class Op>
struct watch
    : boost::intrusive::list_base_hook<boost::intrusive::link_mode<boost::intrusive::normal_link>> {
    Op* op = nullptr;
    watch_list<Op>* list = nullptr; ///< Null: it is in none.
};

/// Operations in the order in which they were started.
template <class Op>
class watch_list {
public:
    watch_list() = default;
    watch_list(const watch_list&) = delete;
    watch_list& operator=(const watch_list&) = delete;

    [[nodiscard]] bool empty() const noexcept { return list_.empty(); }

    /// The operation that was added last; null if there is none, or a mark is behind it.
    [[nodiscard]] const Op* last() const noexcept {
        return list_.empty() ? nullptr : list_.back().op;
    }

    [[nodiscard]] std::size_t size() const noexcept {
        std::size_t n = 0;
        for (const watch<Op>& w : list_) {
            n += w.op != nullptr ? 1 : 0;
        }
        return n;
    }

    void push_back(watch<Op>& w) noexcept {
        list_.push_back(w);
        w.list = this;
    }

    void erase(watch<Op>& w) noexcept {
        list_.erase(list_.iterator_to(w));
        w.list = nullptr;
    }

    /// Visits the operations that are in the list when it begins, but for those that leave it
    /// before their turn.
    class walk {
    public:
        explicit walk(watch_list& list) noexcept : list_(list.list_) {
            list_.push_front(at_);
            list_.push_back(end_);
        }
        walk(const walk&) = delete;
        walk& operator=(const walk&) = delete;
        ~walk() {
            list_.erase(list_.iterator_to(at_));
            list_.erase(list_.iterator_to(end_));
        }

        /// Null at the end.
        [[nodiscard]] Op* next() noexcept {
            for (;;) {
                const auto it = std::next(list_.iterator_to(at_));
                if (&*it == &end_) {
                    return nullptr;
                }
                list_.erase(list_.iterator_to(at_));
                list_.insert(std::next(it), at_);
                if (it->op != nullptr) { // Else it is a mark of another walk.
                    return it->op;
                }
            }
        }

    private:
        boost::intrusive::list<watch<Op>, boost::intrusive::constant_time_size<false>>& list_;
        watch<Op> at_;
        watch<Op> end_;
    };

private:
    boost::intrusive::list<watch<Op>, boost::intrusive::constant_time_size<false>> list_;
};

/// A key, and what watches it.
template <class Key, class Op>
struct watched_key : watch_list<Op>, key_table_hook {
    watched_key(const Key& k, std::size_t h) : key(k), hash(h) {}

    [[nodiscard]] std::size_t key_hash() const noexcept { return hash; }

    const Key key;
    const std::size_t hash;
};

/// All keys that are watched. Only find() and find_or_add() call the user's Hash and Equal, and
/// only find_or_add() allocates.
template <class Key, class Op, class Hash, class Equal>
class watched_keys {
public:
    using entry = watched_key<Key, Op>;

    watched_keys(const Hash& hash, const Equal& equal) : hash_(hash), equal_(equal) {}

    [[nodiscard]] std::size_t size() const noexcept { return table_.size(); }

    /// Null if nothing watches the key.
    [[nodiscard]] entry* find(const Key& key) { return find(key, hash_(key)); }

    /// If this throws, nothing has changed.
    [[nodiscard]] entry& find_or_add(const Key& key) {
        const std::size_t hash = hash_(key);
        if (entry* const found = find(key, hash)) {
            return *found;
        }
        block_allocator<entry> memory;
        entry* const e = memory.allocate(1);
        scope_exit undo([&] { memory.deallocate(e, 1); });
        ::new (static_cast<void*>(e)) entry(key, hash);
        undo.release();
        table_.insert(*e);
        return *e;
    }

    /// Forgets a key that nothing watches.
    void remove_if_empty(entry& e) noexcept {
        if (e.empty()) {
            table_.erase(e);
            block_allocator<entry> memory;
            e.~entry();
            memory.deallocate(&e, 1);
        }
    }

private:
    [[nodiscard]] entry* find(const Key& key, std::size_t hash) {
        return table_.find(hash, [&](const entry& e) { return equal_(key, e.key); });
    }

    ASIO_WHEEL_NO_UNIQUE_ADDRESS Hash hash_;
    ASIO_WHEEL_NO_UNIQUE_ADDRESS Equal equal_;
    key_table<entry> table_;
};

} // namespace asio_wheel::detail

#endif
