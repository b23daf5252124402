// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Runs a fuzz target, without libFuzzer and with any compiler, on files of bytes: what was found
// once stays found.
//
//     replay FILE|FOLDER...

#include "target.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <vector>

namespace {

namespace fs = std::filesystem;

std::vector<fs::path> files_of(int count, char** names) {
    std::vector<fs::path> files;
    for (int i = 1; i < count; ++i) {
        if (fs::is_directory(names[i])) {
            std::copy(fs::directory_iterator(names[i]), fs::directory_iterator(),
                      std::back_inserter(files));
        } else {
            files.emplace_back(names[i]);
        }
    }
    std::sort(files.begin(), files.end());
    return files;
}

bool passes(const fs::path& file) {
    std::ifstream in(file, std::ios::binary);
    const std::vector<char> text((std::istreambuf_iterator<char>(in)),
                                 std::istreambuf_iterator<char>());
    if (!in) {
        std::cerr << file << ": cannot be read\n";
        return false;
    }
    // A copy of just that size: reading beyond it is seen by AddressSanitizer.
    const std::vector<std::uint8_t> data(text.begin(), text.end());
    try {
        LLVMFuzzerTestOneInput(data.data(), data.size());
        return true;
    } catch (const std::exception& fault) {
        std::cerr << file << ": " << fault.what() << std::endl;
        return false;
    }
}

} // namespace

int main(int count, char** names) {
    const std::vector<fs::path> files = files_of(count, names);
    std::size_t failed = 0;
    for (const fs::path& file : files) {
        std::cout << file.filename().string() << std::endl; // A crash leaves the name.
        failed += passes(file) ? 0 : 1;
    }
    std::cout << files.size() << " inputs, " << failed << " failed\n";
    return files.empty() || failed != 0 ? 1 : 0;
}
