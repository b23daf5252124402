# Copyright (c) 2026 The asio-wheel authors
# SPDX-License-Identifier: BSL-1.0

# Toolchain: Linux on s390x, which is big-endian, with 64 bits. Programs run on this system by QEMU,
# if it is installed.

set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR s390x)
set(CMAKE_CXX_COMPILER s390x-linux-gnu-g++)

# Only programs are taken from the system that builds. Its libraries are for another system.
set(CMAKE_FIND_ROOT_PATH /usr/s390x-linux-gnu)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)

# No library of that system is needed next to a program.
set(CMAKE_EXE_LINKER_FLAGS_INIT -static)

find_program(ASIO_WHEEL_QEMU_S390X NAMES qemu-s390x qemu-s390x-static NO_CMAKE_FIND_ROOT_PATH)
mark_as_advanced(ASIO_WHEEL_QEMU_S390X)
if(ASIO_WHEEL_QEMU_S390X)
    set(CMAKE_CROSSCOMPILING_EMULATOR "${ASIO_WHEEL_QEMU_S390X}")
endif()
