# Copyright (c) 2026 The asio-wheel authors
# SPDX-License-Identifier: BSL-1.0

# Functions for building asio-wheel itself. Nothing here is installed.
#
# Tests and examples are found by globbing. Tags describe special requirements of a file. Each is a
# line `// tag: values` among the first lines:
#
#   // labels: threads          ctest labels; `threads` adds it to the ThreadSanitizer run
#   // timeout: 600             seconds, instead of the default
#   // requires: context        needs Boost.Context; skipped with a message if it is missing
#   // requires: openssl        needs OpenSSL; skipped likewise
#   // requires: zones          needs the time zones of <chrono> or of date; skipped likewise
#   // requires: inspector      links the inspector, which is compiled once for all
#   // pch: off                 compiled without the shared precompiled header
#   // unity: ...               restricts unity builds: see AsioWheelUnity.cmake
#
# A file with co_await, co_return or co_yield gets the label `coroutines` automatically.

set(ASIO_WHEEL_TEST_LAUNCHER "" CACHE STRING
    "Command put before every test command (a list), e.g. a script that redirects stderr")
option(ASIO_WHEEL_PCH "Share one precompiled header between the tests that use Asio" ON)
set(ASIO_WHEEL_WHEEL_FLAGS "" CACHE STRING
    "Compiler flags (a list) for the wheel and its tests, such as -O2 in a build with -O0")
set(ASIO_WHEEL_TEST_FLAGS "" CACHE STRING
    "Compiler flags (a list) for all tests and examples, such as -O1 in a build with -O2")
include(AsioWheelUnity)

function(asio_wheel_warnings target)
    if(MSVC)
        # Never tried. Warning 5030 is of unknown attributes, such as [[gnu::noinline]]; 4324 is of
        # objects that alignas makes larger, which is its purpose.
        target_compile_options(${target} PRIVATE /W4 /wd5030 /wd4324
            $<$<BOOL:${ASIO_WHEEL_WERROR}>:/WX>)
    else()
        target_compile_options(${target} PRIVATE
            -Wall -Wextra -Wpedantic -Wshadow -Wconversion
            $<$<CXX_COMPILER_ID:Clang,AppleClang>:-Wno-sign-conversion> # as g++ has it
            # If g++ inlines where Asio deletes the frame of a coroutine, and not where it allocates
            # it, it warns that the two do not match.
            $<$<CXX_COMPILER_ID:GNU>:-Wno-mismatched-new-delete>
            $<$<BOOL:${ASIO_WHEEL_WERROR}>:-Werror>)
    endif()
endfunction()

# Sets asio_wheel_context to the target for Boost.Context, or to nothing. Only Asio's stackful
# coroutines (spawn) need it. Its version must be that of the headers.
macro(asio_wheel_find_context)
    set(Boost_NO_WARN_NEW_VERSIONS ON)
    find_package(Boost 1.81 QUIET OPTIONAL_COMPONENTS context)
    set(asio_wheel_context "")
    if(TARGET Boost::context)
        set(asio_wheel_context Boost::context)
    endif()
endmacro()

# Sets asio_wheel_openssl to the target for OpenSSL, or to nothing. Only Asio's TLS streams need it.
macro(asio_wheel_find_openssl)
    find_package(OpenSSL QUIET)
    set(asio_wheel_openssl "")
    if(TARGET OpenSSL::SSL)
        set(asio_wheel_openssl OpenSSL::SSL)
    endif()
endmacro()

# Adds the target asio_wheel_zones if there are time zones: those of the standard library, or of
# Howard Hinnant's library date, if that links with the standard library of this build. Zones of a
# standard library that are experimental, as those of libc++ 19, do not count.
function(asio_wheel_find_zones)
    include(CheckCXXSourceCompiles)
    set(CMAKE_CXX_STANDARD 20)
    set(program "int main() { return zones::locate_zone(\"UTC\")->name().empty(); }")
    check_cxx_source_compiles("#include <chrono>
        #if !defined(__cpp_lib_chrono) || __cpp_lib_chrono < 201907L
        #error incomplete
        #endif
        namespace zones = std::chrono;
        ${program}" ASIO_WHEEL_HAS_CHRONO_ZONES)
    if(NOT ASIO_WHEEL_HAS_CHRONO_ZONES)
        find_package(date QUIET)
        if(NOT TARGET date::date-tz)
            return()
        endif()
        set(CMAKE_REQUIRED_LIBRARIES date::date-tz)
        check_cxx_source_compiles("#include <date/tz.h>
            namespace zones = date;
            ${program}" ASIO_WHEEL_HAS_DATE_ZONES)
        if(NOT ASIO_WHEEL_HAS_DATE_ZONES)
            return()
        endif()
    endif()
    add_library(asio_wheel_zones INTERFACE)
    if(NOT ASIO_WHEEL_HAS_CHRONO_ZONES)
        target_link_libraries(asio_wheel_zones INTERFACE date::date-tz)
    endif()
endfunction()

# asio_wheel_tags(<prefix> <file>) sets <prefix>_labels, _timeout, _requires, _pch and _unity.
function(asio_wheel_tags prefix file)
    foreach(tag IN ITEMS labels timeout requires pch unity)
        file(STRINGS "${file}" lines LIMIT_INPUT 2000 REGEX "^// ${tag}: ")
        string(REGEX REPLACE "// ${tag}: *" "" value "${lines}")
        string(REGEX REPLACE "[ ,;]+" ";" value "${value}")
        set(${prefix}_${tag} "${value}" PARENT_SCOPE)
        set(tag_${tag} "${value}")
    endforeach()
    file(STRINGS "${file}" coroutine LIMIT_COUNT 1 REGEX "co_(await|return|yield)")
    if(coroutine)
        set(${prefix}_labels ${tag_labels} coroutines PARENT_SCOPE)
    endif()
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${file}")
endfunction()

# Sets <result> to whether everything that the tags require was found. Prints a message if not.
function(asio_wheel_found result name requires)
    set(${result} FALSE PARENT_SCOPE)
    if("context" IN_LIST requires AND NOT asio_wheel_context)
        message(STATUS "asio_wheel: ${name} skipped, Boost.Context was not found")
    elseif("openssl" IN_LIST requires AND NOT asio_wheel_openssl)
        message(STATUS "asio_wheel: ${name} skipped, OpenSSL was not found")
    elseif("zones" IN_LIST requires AND NOT TARGET asio_wheel_zones)
        message(STATUS "asio_wheel: ${name} skipped, neither <chrono> nor date has time zones")
    else()
        set(${result} TRUE PARENT_SCOPE)
    endif()
endfunction()

# asio_wheel_executable(<target> REQUIRES <tag>... SOURCES <file>...)
function(asio_wheel_executable target)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "REQUIRES;SOURCES")
    add_executable(${target} ${arg_SOURCES})
    target_link_libraries(${target} PRIVATE asio_wheel::asio_wheel)
    if("context" IN_LIST arg_REQUIRES)
        target_link_libraries(${target} PRIVATE ${asio_wheel_context})
    endif()
    if("openssl" IN_LIST arg_REQUIRES)
        target_link_libraries(${target} PRIVATE ${asio_wheel_openssl})
    endif()
    if("zones" IN_LIST arg_REQUIRES)
        target_link_libraries(${target} PRIVATE asio_wheel_zones)
    endif()
    if("inspector" IN_LIST arg_REQUIRES)
        target_link_libraries(${target} PRIVATE asio_wheel_compiled_inspector)
    endif()
    if(MINGW)
        target_compile_options(${target} PRIVATE -Wa,-mbig-obj) # Asio has many templates.
    endif()
    asio_wheel_warnings(${target})
endfunction()

# asio_wheel_register(<name> TARGET <target> GROUP tests|examples TIMEOUT <seconds>
#                     [LABELS <label>...] [ARGUMENTS <argument>...])
#
# Adds the ctest entry <name>, which runs the target. Also adds build targets: asio_wheel_<group>
# builds everything in a group, asio_wheel_<group>_<label> everything with a label.
function(asio_wheel_register name)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "TARGET;GROUP;TIMEOUT" "LABELS;ARGUMENTS")
    list(REMOVE_DUPLICATES arg_LABELS)
    foreach(label IN ITEMS ${arg_GROUP} ${arg_LABELS})
        set(all asio_wheel_${arg_GROUP})
        if(NOT label STREQUAL arg_GROUP)
            string(APPEND all _${label})
        endif()
        if(NOT TARGET ${all})
            add_custom_target(${all})
        endif()
        add_dependencies(${all} ${arg_TARGET})
    endforeach()

    add_test(NAME ${name}
        COMMAND ${ASIO_WHEEL_TEST_LAUNCHER} ${CMAKE_CROSSCOMPILING_EMULATOR}
            $<TARGET_FILE:${arg_TARGET}> ${arg_ARGUMENTS})
    set_tests_properties(${name} PROPERTIES
        TIMEOUT ${arg_TIMEOUT}
        LABELS "${arg_GROUP};${arg_LABELS}"
        ENVIRONMENT BOOST_TEST_COLOR_OUTPUT=0)
endfunction()

# asio_wheel_script_test(<name> GROUP tests|examples TIMEOUT <seconds> SCRIPT <file>
#                        [ARGUMENTS <argument>...])
#
# Adds a ctest entry, with the label `scripts`, that runs a script, which exits with 77 if it lacks something. The interpreter
# that its first line names is such a thing, too: a fresh system has no Python, for example.
function(asio_wheel_script_test name)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "GROUP;TIMEOUT;SCRIPT" "ARGUMENTS")
    file(STRINGS "${arg_SCRIPT}" interpreter LIMIT_COUNT 1)
    string(REGEX REPLACE "^#! *(/usr/bin/env +)?" "" interpreter "${interpreter}")
    string(REGEX REPLACE " .*" "" interpreter "${interpreter}")
    get_filename_component(program "${interpreter}" NAME)
    string(MAKE_C_IDENTIFIER "ASIO_WHEEL_INTERPRETER_${program}" found)
    find_program(${found} NAMES "${interpreter}" "${program}")
    mark_as_advanced(${found})
    if(NOT ${found})
        message(STATUS "asio_wheel: ${name} skipped, ${program} was not found")
        return()
    endif()
    add_test(NAME ${name} COMMAND "${${found}}" "${arg_SCRIPT}" ${arg_ARGUMENTS})
    set_tests_properties(${name} PROPERTIES
        SKIP_RETURN_CODE 77 TIMEOUT ${arg_TIMEOUT} LABELS "${arg_GROUP};scripts")
endfunction()

# asio_wheel_program(<target> GROUP tests|examples TIMEOUT <seconds> SOURCES <file>...
#                    [LABELS <label>...])
#
# Adds an executable and a ctest entry of the same name, according to the tags of its first source.
function(asio_wheel_program target)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "GROUP;TIMEOUT" "SOURCES;LABELS")
    list(GET arg_SOURCES 0 first)
    asio_wheel_tags(tags "${first}")
    asio_wheel_found(found ${target} "${tags_requires}")
    if(NOT found)
        return()
    endif()
    if(NOT tags_timeout)
        set(tags_timeout ${arg_TIMEOUT})
    endif()
    asio_wheel_executable(${target} REQUIRES ${tags_requires} SOURCES ${arg_SOURCES})
    asio_wheel_register(${target} TARGET ${target} GROUP ${arg_GROUP} TIMEOUT ${tags_timeout}
        LABELS ${tags_labels} ${arg_LABELS})
endfunction()

# Sets <result> to the ctest entry of a test: <prefix><name>, with _ for each /. What a folder is
# named after needs no second name: scheduler/scheduler is test_scheduler.
function(asio_wheel_test_entry result prefix name)
    get_filename_component(folder "${name}" DIRECTORY)
    if(name STREQUAL "${folder}/${folder}")
        set(name ${folder})
    endif()
    string(REPLACE "/" "_" entry "${prefix}${name}")
    set(${result} ${entry} PARENT_SCOPE)
endfunction()

# asio_wheel_test(<name> [TARGET <target>] [LABELS <label>...] [LIBRARIES <target>...])
#
# <name>.cpp in this folder becomes an executable and a ctest entry: that of
# asio_wheel_test_entry(), unless TARGET names it.
function(asio_wheel_test name)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "TARGET" "LABELS;LIBRARIES")
    set(file "${CMAKE_CURRENT_SOURCE_DIR}/${name}.cpp")
    if(NOT arg_TARGET)
        asio_wheel_test_entry(arg_TARGET test_ "${name}")
    endif()
    asio_wheel_program(${arg_TARGET} GROUP tests TIMEOUT 300 SOURCES "${file}"
        LABELS ${arg_LABELS})
    if(TARGET ${arg_TARGET})
        asio_wheel_use_test_support(${arg_TARGET} "${file}")
        target_link_libraries(${arg_TARGET} PRIVATE ${arg_LIBRARIES})
    endif()
endfunction()

# Sets <result> to whether a test includes Asio. The tests of layer 1 must not use the precompiled
# header, because it includes Asio.
function(asio_wheel_uses_asio result file)
    file(STRINGS "${file}" uses_asio LIMIT_COUNT 1
        REGEX "#include <(boost/asio|asio_wheel/(wheel_service|[a-z_]*timer)\\.hpp)")
    if(uses_asio)
        set(${result} TRUE PARENT_SCOPE)
    else()
        set(${result} FALSE PARENT_SCOPE)
    endif()
endfunction()

# Links Boost.Test. Tests that use Asio also use the precompiled header, unless a tag forbids that.
function(asio_wheel_use_test_support target file)
    target_link_libraries(${target} PRIVATE asio_wheel_test_support)
    if(CMAKE_SIZEOF_VOID_P EQUAL 4 AND NOT MSVC)
        # Tests use ticks and random numbers, which have 64 bits, as indices. The headers are
        # checked without tests there: see .ci/cross.
        target_compile_options(${target} PRIVATE -Wno-conversion)
    endif()
    asio_wheel_tags(tags "${file}")
    asio_wheel_uses_asio(uses_asio "${file}")
    if(NOT uses_asio)
        target_compile_options(${target} PRIVATE ${ASIO_WHEEL_WHEEL_FLAGS})
    elseif(ASIO_WHEEL_PCH AND NOT tags_pch STREQUAL "off")
        target_precompile_headers(${target} REUSE_FROM asio_wheel_test_pch)
    endif()
endfunction()
