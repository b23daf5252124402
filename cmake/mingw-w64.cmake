# Copyright (c) 2026 The asio-wheel authors
# SPDX-License-Identifier: BSL-1.0

# Toolchain: Windows with 64 bits by mingw-w64, with the threads of POSIX (it has std::thread).
# Programs run on this system by Wine, if it is installed.

set(CMAKE_SYSTEM_NAME Windows)
set(CMAKE_SYSTEM_PROCESSOR x86_64)
set(CMAKE_CXX_COMPILER x86_64-w64-mingw32-g++-posix)

# Only programs are taken from the system that builds. Its libraries are for another system.
set(CMAKE_FIND_ROOT_PATH /usr/x86_64-w64-mingw32)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)

# No DLL of the compiler is needed next to a program.
set(CMAKE_EXE_LINKER_FLAGS_INIT -static)

find_program(ASIO_WHEEL_WINE NAMES wine64 wine64-stable wine
    PATHS /usr/lib/wine NO_CMAKE_FIND_ROOT_PATH)
mark_as_advanced(ASIO_WHEEL_WINE)
if(ASIO_WHEEL_WINE)
    set(CMAKE_CROSSCOMPILING_EMULATOR "${ASIO_WHEEL_WINE}")
endif()
