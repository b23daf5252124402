# Copyright (c) 2026 The asio-wheel authors
# SPDX-License-Identifier: BSL-1.0

# Functions for building asio-wheel itself; nothing here is installed.
#
# Tests and examples are found by globbing. What a file needs beyond the usual is said by tags,
# one `// tag: values` line each, among its first lines:
#
#   // labels: threads          ctest labels; `threads` puts it into the TSan run,
#                               `real_time` keeps other tests from running beside it
#   // timeout: 600             seconds, instead of the default
#   // requires: context        needs Boost.Context; skipped with a message where it is missing
#   // requires: openssl        needs OpenSSL; likewise
#   // pch: off                 compile without the shared precompiled header
#
# A file with co_await, co_return or co_yield gets the label `coroutines` by itself.

set(ASIO_WHEEL_TEST_LAUNCHER "" CACHE STRING
    "Command put before every test command (a list), e.g. a script that redirects stderr")
option(ASIO_WHEEL_PCH "Share one precompiled header between the tests that use Asio" ON)

function(asio_wheel_warnings target)
    if(MSVC)
        target_compile_options(${target} PRIVATE /W4 $<$<BOOL:${ASIO_WHEEL_WERROR}>:/WX>)
    else()
        target_compile_options(${target} PRIVATE
            -Wall -Wextra -Wpedantic -Wshadow -Wconversion
            $<$<CXX_COMPILER_ID:Clang,AppleClang>:-Wno-sign-conversion> # as g++ has it
            $<$<BOOL:${ASIO_WHEEL_WERROR}>:-Werror>)
    endif()
endfunction()

# Sets asio_wheel_context to the target for Boost.Context, or to nothing. Only Asio's stackful
# coroutines (spawn) need it. It must be of the same version as the headers.
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

# asio_wheel_tags(<prefix> <file>) sets <prefix>_labels, _timeout, _requires and _pch.
function(asio_wheel_tags prefix file)
    foreach(tag IN ITEMS labels timeout requires pch)
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

# asio_wheel_program(<target> GROUP tests|examples TIMEOUT <seconds> SOURCES <file>...)
#
# Adds an executable and the ctest entry of the same name, obeying the tags of its first source.
# Whatever must be built for a label can be built alone: asio_wheel_<group> builds all of a group,
# asio_wheel_<group>_<label> those of one label.
function(asio_wheel_program target)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "GROUP;TIMEOUT" "SOURCES;LABELS")
    list(GET arg_SOURCES 0 first)
    asio_wheel_tags(tags "${first}")
    list(APPEND tags_labels ${arg_LABELS})
    list(REMOVE_DUPLICATES tags_labels)
    if("context" IN_LIST tags_requires AND NOT asio_wheel_context)
        message(STATUS "asio_wheel: ${target} skipped, Boost.Context was not found")
        return()
    endif()

    if("openssl" IN_LIST tags_requires AND NOT asio_wheel_openssl)
        message(STATUS "asio_wheel: ${target} skipped, OpenSSL was not found")
        return()
    endif()

    add_executable(${target} ${arg_SOURCES})
    target_link_libraries(${target} PRIVATE asio_wheel::asio_wheel)
    if("context" IN_LIST tags_requires)
        target_link_libraries(${target} PRIVATE ${asio_wheel_context})
    endif()
    if("openssl" IN_LIST tags_requires)
        target_link_libraries(${target} PRIVATE ${asio_wheel_openssl})
    endif()
    asio_wheel_warnings(${target})

    foreach(group IN ITEMS ${arg_GROUP} ${tags_labels})
        set(name asio_wheel_${arg_GROUP})
        if(NOT group STREQUAL arg_GROUP)
            string(APPEND name _${group})
        endif()
        if(NOT TARGET ${name})
            add_custom_target(${name})
        endif()
        add_dependencies(${name} ${target})
    endforeach()

    if(NOT tags_timeout)
        set(tags_timeout ${arg_TIMEOUT})
    endif()
    add_test(NAME ${target} COMMAND ${ASIO_WHEEL_TEST_LAUNCHER} $<TARGET_FILE:${target}>)
    set_tests_properties(${target} PROPERTIES
        TIMEOUT ${tags_timeout}
        LABELS "${arg_GROUP};${tags_labels}"
        ENVIRONMENT BOOST_TEST_COLOR_OUTPUT=0)
    if("real_time" IN_LIST tags_labels)
        set_tests_properties(${target} PROPERTIES RUN_SERIAL ON)
    endif()
endfunction()

# asio_wheel_test(<name> [TARGET <target>] [SOURCES <file>...] [LABELS <label>...] [REAL_TIME]
#                 [TIMEOUT <seconds>])
#
# test/<name>.cpp becomes the executable and ctest entry test_<name>, unless TARGET names it; where
# the name has folders, with _ for each /.
function(asio_wheel_test name)
    cmake_parse_arguments(PARSE_ARGV 1 arg "REAL_TIME" "TARGET;TIMEOUT" "SOURCES;LABELS")
    if(NOT arg_SOURCES)
        set(arg_SOURCES "${CMAKE_CURRENT_SOURCE_DIR}/${name}.cpp")
    endif()
    if(NOT arg_TIMEOUT)
        set(arg_TIMEOUT 300)
    endif()
    if(arg_REAL_TIME)
        list(APPEND arg_LABELS real_time)
    endif()
    if(arg_TARGET)
        set(target ${arg_TARGET})
    else()
        string(REPLACE "/" "_" target "test_${name}")
    endif()
    asio_wheel_program(${target}
        GROUP tests
        TIMEOUT ${arg_TIMEOUT}
        SOURCES ${arg_SOURCES}
        LABELS ${arg_LABELS})
    if(NOT TARGET ${target})
        return()
    endif()
    target_link_libraries(${target} PRIVATE asio_wheel_test_support)
    list(GET arg_SOURCES 0 first)
    asio_wheel_tags(tags "${first}")
    # The precompiled header brings Asio: the tests of floor 1 must not see it.
    file(STRINGS "${first}" uses_asio LIMIT_COUNT 1
        REGEX "#include <(boost/asio|asio_wheel/(wheel_service|[a-z_]*timer)\\.hpp)")
    if(ASIO_WHEEL_PCH AND uses_asio AND NOT tags_pch STREQUAL "off")
        target_precompile_headers(${target} REUSE_FROM asio_wheel_test_pch)
    endif()
endfunction()
