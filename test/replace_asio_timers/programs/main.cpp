// Copyright (c) 2026 The asio-wheel authors
// SPDX-License-Identifier: BSL-1.0

void wait_for_a_while();

int main() {
    wait_for_a_while();
    return 0;
}
