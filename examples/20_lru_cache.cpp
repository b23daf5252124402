// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// A cache whose entries expire, and which forgets the least recently used one when it is full.

#include <asio_wheel/delay_queue.hpp>
#include <asio_wheel/virtual_time.hpp>

#include <boost/asio/io_context.hpp>

#include <chrono>
#include <iostream>
#include <string>
#include <unordered_map>

using namespace std::chrono_literals;

// The time of an element is the time of its last use, and `lifetime` more. So the next one to
// expire is the least recently used one. `capacity` is at least 1: 0 would be no limit.
class cache {
public:
    cache(boost::asio::io_context& ctx, std::size_t capacity, std::chrono::seconds lifetime)
        : names_(ctx, {.max_pending = capacity}), lifetime_(lifetime) {}

    void put(const std::string& name, std::string value) {
        erase(name);
        expire();
        if (names_.size() == names_.max_pending()) {
            places_.erase(*names_.erase(*names_.next_key()));
        }
        places_[name] = {names_.push(lifetime_, name), std::move(value)};
    }

    const std::string* get(const std::string& name) {
        expire();
        const auto it = places_.find(name);
        const bool found = it != places_.end() && names_.postpone(it->second.key, lifetime_);
        return found ? &it->second.value : nullptr;
    }

    void erase(const std::string& name) {
        if (const auto it = places_.find(name); it != places_.end()) {
            names_.erase(it->second.key);
            places_.erase(it);
        }
    }

private:
    void expire() {
        while (const auto name = names_.try_pop()) {
            places_.erase(*name);
        }
    }

    struct place {
        asio_wheel::delay_queue<std::string>::key key;
        std::string value;
    };

    asio_wheel::delay_queue<std::string> names_;
    std::unordered_map<std::string, place> places_;
    std::chrono::seconds lifetime_;
};

int main() {
    boost::asio::io_context ctx;
    asio_wheel::virtual_time time(ctx);
    cache numbers(ctx, 2, 60s);
    numbers.put("one", "1");
    numbers.put("two", "2");
    const bool used = numbers.get("one") != nullptr;
    time.advance(30s);
    numbers.put("three", "3"); // "two" is the least recently used one.
    const bool forgotten = numbers.get("two") == nullptr && numbers.get("one") != nullptr;
    time.advance(60s);
    const bool expired = numbers.get("one") == nullptr && numbers.get("three") == nullptr;
    std::cout << "used " << used << ", forgotten " << forgotten << ", expired " << expired << '\n';
    return used && forgotten && expired ? 0 : 1;
}
