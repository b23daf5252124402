# Copyright (c) 2026 The asio-wheel authors
# SPDX-License-Identifier: BSL-1.0

# Copies sources of asio-wheel, or of a program that uses it, for standalone Asio: the Asio that does
# not belong to Boost. Also a script:
#
#     cmake -D FROM=folder -D TO=folder -P cmake/standalone_copy.cmake
#
# Why a copy: Asio has another namespace, other names of headers and of macros, and other error codes
# there. These are in a thousand lines of the library. Each #include would need a macro, and each
# macro of Asio a second one, so everybody would have to read more for the sake of a few. The copy
# differs from its source in names only, and is as readable.

# The names in order: what is replaced, and by what.
set(asio_wheel_standalone_names
    "namespace asio = boost::asio" "namespace asio = ::asio"
    "boost::asio" "asio"
    "boost/asio" "asio"
    "BOOST_ASIO_" "ASIO_"
    "boost::system::errc::make_error_code" "std::make_error_code"
    "boost::system" "std"
    # Boost 1.N has the Asio of the last column: see boost/asio/version.hpp there.
    "<boost/version.hpp>" "<asio/version.hpp>"
    "BOOST_VERSION < 108100" "ASIO_VERSION < 102400"
    "BOOST_VERSION < 108700" "ASIO_VERSION < 103300"
    "BOOST_VERSION >= 108800" "ASIO_VERSION >= 103400"
    "needs Boost 1.81 or newer" "needs Asio 1.24 or newer"
    "Boost 1.81" "Asio 1.24")

# asio_wheel_standalone_copy(FROM TO [FILE...]): copies the files, or all sources of FROM, to TO.
# Leaves files alone that would not change.
function(asio_wheel_standalone_copy from to)
    set(files ${ARGN})
    if(NOT files)
        file(GLOB_RECURSE files RELATIVE "${from}"
            "${from}/*.hpp" "${from}/*.cpp" "${from}/*.cmake" "${from}/*.in"
            "${from}/CMakeLists.txt")
    endif()
    foreach(file IN LISTS files)
        file(READ "${from}/${file}" text)
        string(REGEX REPLACE "<boost/system/[a-z_]*\\.hpp>" "<system_error>" text "${text}")
        set(names ${asio_wheel_standalone_names})
        while(names)
            list(POP_FRONT names old new)
            string(REPLACE "${old}" "${new}" text "${text}")
        endwhile()
        set(before "")
        if(EXISTS "${to}/${file}")
            file(READ "${to}/${file}" before)
        endif()
        if(NOT text STREQUAL before)
            file(WRITE "${to}/${file}" "${text}")
        endif()
    endforeach()
endfunction()

if(CMAKE_SCRIPT_MODE_FILE)
    cmake_path(ABSOLUTE_PATH FROM)
    cmake_path(ABSOLUTE_PATH TO)
    asio_wheel_standalone_copy("${FROM}" "${TO}")
endif()
