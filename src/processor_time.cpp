// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

#include <asio_wheel/detail/core/processor_time.hpp>

#ifdef __linux__
#include <array>
#include <cstdio>
#include <memory>

#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace asio_wheel::detail {

#ifdef __linux__

long this_thread_number() noexcept {
    return ::syscall(SYS_gettid);
}

// The file has two numbers of nanoseconds, and one that counts turns. What cannot be read is zero.
processor_time processor_time_of(long thread) noexcept {
    if (thread == 0) {
        return {};
    }
    std::array<char, 64> path;
    std::snprintf(path.data(), path.size(), "/proc/self/task/%ld/schedstat", thread);
    const auto close = [](std::FILE* f) { static_cast<void>(std::fclose(f)); };
    const std::unique_ptr<std::FILE, decltype(close)> file(std::fopen(path.data(), "re"), close);
    long long ran = 0;
    long long waited = 0;
    [[maybe_unused]] const int numbers =
        file == nullptr ? 0 : std::fscanf(file.get(), "%lld %lld", &ran, &waited);
    return {std::chrono::nanoseconds(ran), std::chrono::nanoseconds(waited)};
}

#else

long this_thread_number() noexcept {
    return 0;
}

processor_time processor_time_of(long) noexcept {
    return {};
}

#endif

} // namespace asio_wheel::detail
