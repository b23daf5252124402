// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// The list of a scheduler's tasks, and the hash table of those that have keys. Both are intrusive:
// their hooks are in the tasks.

#ifndef ASIO_WHEEL_DETAIL_SCHEDULER_KEY_TABLE_HPP
#define ASIO_WHEEL_DETAIL_SCHEDULER_KEY_TABLE_HPP

#include <asio_wheel/detail/exceptions.hpp>
#include <asio_wheel/detail/hash_seed.hpp>
#include <asio_wheel/detail/scheduler/task_key.hpp>

#include <boost/intrusive/list_hook.hpp>
#include <boost/intrusive/options.hpp>
#include <boost/intrusive/unordered_set.hpp>
#include <boost/intrusive/unordered_set_hook.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <new>
#include <vector>

namespace asio_wheel::detail {

struct task_list_tag;
struct key_table_tag;

/// The base class of a task. The registry's mutex guards the hooks. The key does not change before
/// the task is over.
struct registry_entry
    : boost::intrusive::list_base_hook<boost::intrusive::tag<task_list_tag>>,
      boost::intrusive::unordered_set_base_hook<boost::intrusive::tag<key_table_tag>> {
    using list_hook = boost::intrusive::list_base_hook<boost::intrusive::tag<task_list_tag>>;
    using table_hook =
        boost::intrusive::unordered_set_base_hook<boost::intrusive::tag<key_table_tag>>;

    const key_view* key = nullptr; ///< Null: it has none.
    bool has_place = false;        ///< It counts for max_pending: see task_registry.hpp.
};

/// A hash table of the tasks that have keys. If there is no memory for more buckets, the table
/// becomes slower. Only find() calls functions of the user, and may throw what they throw.
class key_table {
public:
    explicit key_table(hash_seed seed = hash_seed())
        : seed_(seed),
          table_(traits(single_bucket_.data(), single_bucket_.size()), hash_of_entry{seed}) {}
    key_table(const key_table&) = delete;
    key_table& operator=(const key_table&) = delete;
    ~key_table() { table_.clear(); }

    /// Returns the task with this key, or null.
    [[nodiscard]] registry_entry* find(const key_view& key) {
        const auto it = table_.find(
            key, [this](const key_view& k) noexcept { return seed_(k.hash()); },
            [](const key_view& k, const registry_entry& entry) { return k.equals(*entry.key); });
        return it != table_.end() ? &*it : nullptr;
    }

    /// No task in the table may have the same key.
    void insert(registry_entry& entry) noexcept {
        if (table_.size() >= table_.bucket_count()) {
            grow();
        }
        table_.insert(entry);
    }

    void erase(registry_entry& entry) noexcept { table_.erase(table_.iterator_to(entry)); }

    [[nodiscard]] static bool contains(const registry_entry& entry) noexcept {
        return entry.registry_entry::table_hook::is_linked();
    }

    /// How many tasks find() may have to look at.
    [[nodiscard]] std::size_t longest_bucket() const noexcept {
        std::size_t longest = 0;
        for (std::size_t i = 0; i != table_.bucket_count(); ++i) {
            longest = (std::max)(longest, table_.bucket_size(i));
        }
        return longest;
    }

private:
    struct hash_of_entry {
        hash_seed seed;
        [[nodiscard]] std::size_t operator()(const registry_entry& entry) const noexcept {
            return seed(entry.key->hash());
        }
    };
    // For insert(), which compares the new task with those in its bucket. Keys are compared by
    // find(), which is called before.
    struct same_entry {
        [[nodiscard]] bool operator()(const registry_entry& a,
                                      const registry_entry& b) const noexcept {
            return &a == &b;
        }
    };
    using table = boost::intrusive::unordered_set<
        registry_entry, boost::intrusive::base_hook<registry_entry::table_hook>,
        boost::intrusive::hash<hash_of_entry>, boost::intrusive::equal<same_entry>,
        boost::intrusive::power_2_buckets<true>>;
    using traits = table::bucket_traits;
    using bucket = table::bucket_type;

    void grow() noexcept {
        std::vector<bucket> buckets;
        if (!throws<std::bad_alloc>(
                [&] { buckets.resize(std::max<std::size_t>(2 * table_.bucket_count(), 16)); })) {
            table_.rehash(traits(buckets.data(), buckets.size()));
            buckets_.swap(buckets);
        }
    }

    const hash_seed seed_;
    std::array<bucket, 1> single_bucket_; // Most schedulers have no keys.
    std::vector<bucket> buckets_;
    table table_;
};

} // namespace asio_wheel::detail

#endif
