// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

// Runs a fuzz target on files of input, without libFuzzer and with any compiler, so that fixed
// defects stay fixed.
//
//     replay FILE|FOLDER...

#include "target.hpp"

#include <algorithm>
#include <cstdint>
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

bool replay(const fs::path& file) {
    std::ifstream in(file, std::ios::binary);
    const std::vector<char> text((std::istreambuf_iterator<char>(in)),
                                 std::istreambuf_iterator<char>());
    if (!in) {
        std::cerr << file << ": cannot be read\n";
        return false;
    }
    // A copy of exactly that size, so that AddressSanitizer detects reads beyond it.
    const std::vector<std::uint8_t> data(text.begin(), text.end());
    LLVMFuzzerTestOneInput(data.data(), data.size());
    return true;
}

} // namespace

int main(int count, char** names) {
    const std::vector<fs::path> files = files_of(count, names);
    for (const fs::path& file : files) {
        std::cout << file.filename().string()
                  << std::endl; // If a failure follows, the name has been printed.
        if (!replay(file)) {
            return 1;
        }
    }
    std::cout << files.size() << " inputs\n";
    return files.empty() ? 1 : 0;
}
