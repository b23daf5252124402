// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

#ifndef ECHO_SCOPED_FLAG_HPP
#define ECHO_SCOPED_FLAG_HPP

#include <utility>

namespace echo {

/// Sets a flag while this exists, for example as an argument of a coroutine.
class scoped_flag {
public:
    explicit scoped_flag(bool& flag) : flag_(&flag) { *flag_ = true; }
    scoped_flag(scoped_flag&& other) noexcept : flag_(std::exchange(other.flag_, nullptr)) {}
    scoped_flag& operator=(scoped_flag&&) = delete;
    ~scoped_flag() {
        if (flag_ != nullptr) {
            *flag_ = false;
        }
    }

private:
    bool* flag_;
};

} // namespace echo

#endif
