// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

#ifndef ASIO_WHEEL_DETAIL_KEY_TABLE_HPP
#define ASIO_WHEEL_DETAIL_KEY_TABLE_HPP

#include <asio_wheel/detail/hash_seed.hpp>

#include <boost/intrusive/options.hpp>
#include <boost/intrusive/unordered_set.hpp>
#include <boost/intrusive/unordered_set_hook.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <new>
#include <utility>

namespace asio_wheel::detail {

struct key_table_tag;

/// A base class of an entry.
using key_table_hook =
    boost::intrusive::unordered_set_base_hook<boost::intrusive::tag<key_table_tag>>;

/// A hash table. It is intrusive, so only find() may throw, and only what functions of the user
/// throw. If there is no memory for more buckets, the table becomes slower.
///
/// `Entry` is derived from key_table_hook. Its key_hash() returns the hash of its key, without a
/// call of the user's hash function.
template <class Entry>
class key_table {
public:
    explicit key_table(hash_seed seed = hash_seed())
        : seed_(seed),
          table_(traits(single_bucket_.data(), single_bucket_.size()), hash_of_entry{seed}) {}
    key_table(const key_table&) = delete;
    key_table& operator=(const key_table&) = delete;
    ~key_table() { table_.clear(); }

    [[nodiscard]] std::size_t size() const noexcept { return table_.size(); }

    /// Returns the entry with this hash for which matches(entry) is true, or null.
    template <class Matches>
    [[nodiscard]] Entry* find(std::size_t hash, Matches matches) {
        const auto it = table_.find(hash, seed_, [&](std::size_t h, const Entry& entry) {
            return entry.key_hash() == h && matches(entry);
        });
        return it != table_.end() ? &*it : nullptr;
    }

    /// No entry in the table may have the same key.
    void insert(Entry& entry) noexcept {
        if (table_.size() >= table_.bucket_count()) {
            grow();
        }
        table_.insert(entry);
    }

    void erase(Entry& entry) noexcept { table_.erase(table_.iterator_to(entry)); }

    [[nodiscard]] static bool contains(const Entry& entry) noexcept {
        return entry.key_table_hook::is_linked();
    }

    /// How many entries find() may have to look at.
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
        [[nodiscard]] std::size_t operator()(const Entry& entry) const noexcept {
            return seed(entry.key_hash());
        }
    };
    // For insert(), which compares the new entry with those in its bucket. Keys are compared by
    // find(), which is called before.
    struct same_entry {
        [[nodiscard]] bool operator()(const Entry& a, const Entry& b) const noexcept {
            return &a == &b;
        }
    };
    using table = boost::intrusive::unordered_set<
        Entry, boost::intrusive::base_hook<key_table_hook>, boost::intrusive::hash<hash_of_entry>,
        boost::intrusive::equal<same_entry>, boost::intrusive::power_2_buckets<true>>;
    using traits = typename table::bucket_traits;
    using bucket = typename table::bucket_type;

    void grow() noexcept {
        const std::size_t n = (std::max<std::size_t>)(2 * table_.bucket_count(), 16);
        if (std::unique_ptr<bucket[]> more(new (std::nothrow) bucket[n]); more) {
            table_.rehash(traits(more.get(), n));
            buckets_ = std::move(more);
        }
    }

    const hash_seed seed_;
    std::array<bucket, 1> single_bucket_; // Most tables have no keys.
    std::unique_ptr<bucket[]> buckets_;
    table table_;
};

} // namespace asio_wheel::detail

#endif
