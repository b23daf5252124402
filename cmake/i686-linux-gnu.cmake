# Copyright (c) 2026 The asio-wheel authors
# SPDX-License-Identifier: BSL-1.0

# Toolchain: Linux on i686, which has pointers of 32 bits and a time_t of 32 bits, and where a
# 64-bit member of a struct needs an address that is a multiple of 4 only. An x86-64 machine runs
# the programs itself. (QEMU 7.2 does not always: its qemu-i386 may search for memory for ever.)

set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR i686)
set(CMAKE_CXX_COMPILER i686-linux-gnu-g++)

# Only programs are taken from the system that builds. Its libraries are for another system.
set(CMAKE_FIND_ROOT_PATH /usr/i686-linux-gnu)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)

# No library of that system is needed next to a program.
set(CMAKE_EXE_LINKER_FLAGS_INIT -static)
