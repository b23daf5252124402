// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

#ifndef ECHO_PRESENCE_HPP
#define ECHO_PRESENCE_HPP

#include <utility>

namespace echo {

/// Sets a flag as long as a coroutine lives that has this as an argument.
class presence {
public:
    explicit presence(bool& flag) : flag_(&flag) { *flag_ = true; }
    presence(presence&& other) noexcept : flag_(std::exchange(other.flag_, nullptr)) {}
    presence& operator=(presence&&) = delete;
    ~presence() {
        if (flag_ != nullptr) {
            *flag_ = false;
        }
    }

private:
    bool* flag_;
};

} // namespace echo

#endif
