# Copyright (c) 2026 The asio-wheel authors
# SPDX-License-Identifier: BSL-1.0

# The unity build of the tests: a few executables, each from one source that includes many test
# files. It takes a third of the time, because common templates are instantiated and linked once.
# Each file keeps its ctest entry. For daily work the default is better: one program for each file.
#
# The generated source includes all headers first, then each test file inside a test suite with the
# name of the file. A test suite is a namespace, so files cannot clash, and the #includes inside the
# suites have no effect. A file needs a tag only in these cases:
#
#   // unity: off               build a separate program, because the file specialises a template of
#                               another namespace or replaces a function of the whole program
#   // unity: operator_new      build it with the files that have the same word here: because these
#                               begin with the same header, which changes everything after it, or
#                               because they share templates that take long to compile
#
# `// pch: off` without such a word implies `// unity: off`.

option(ASIO_WHEEL_UNITY_TESTS "Build the tests as a few large sources" OFF)
# The larger the sources, the less time they take together, and the more memory each of them takes:
# 1.2 GB with 1,200 lines, 2.7 GB with 4,800. So it depends on the memory for each processor.
cmake_host_system_information(RESULT asio_wheel_memory QUERY TOTAL_PHYSICAL_MEMORY) # MB
cmake_host_system_information(RESULT asio_wheel_processors QUERY NUMBER_OF_LOGICAL_CORES)
math(EXPR asio_wheel_memory "${asio_wheel_memory} / ${asio_wheel_processors}")
if(asio_wheel_memory GREATER 5000)
    set(asio_wheel_unity_lines 4800)
elseif(asio_wheel_memory GREATER 3500)
    set(asio_wheel_unity_lines 2400)
else()
    set(asio_wheel_unity_lines 1200)
endif()
set(ASIO_WHEEL_UNITY_LINES ${asio_wheel_unity_lines} CACHE STRING
    "Lines of test code in one source of a unity build")
mark_as_advanced(ASIO_WHEEL_UNITY_LINES)

# asio_wheel_unity_source(<target> PREFIX <prefix> NAMES <name>... [LABELS <label>...])
#
# Adds an executable with these tests, and a ctest entry for each test.
function(asio_wheel_unity_source target)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "PREFIX" "NAMES;LABELS")
    set(headers "")
    set(suites "")
    set(requires "")
    foreach(name IN LISTS arg_NAMES)
        set(file "${CMAKE_CURRENT_SOURCE_DIR}/${name}.cpp")
        asio_wheel_test_entry(entry "${arg_PREFIX}" "${name}")
        file(STRINGS "${file}" includes REGEX "^ *# *include ")
        list(APPEND headers ${includes})
        string(APPEND suites "\n"
            "BOOST_AUTO_TEST_SUITE(${entry})\n"
            "#include \"${file}\"\n"
            "BOOST_AUTO_TEST_SUITE_END()\n")
        asio_wheel_tags(tags "${file}")
        list(APPEND requires ${tags_requires})
        if(NOT tags_timeout)
            set(tags_timeout 300)
        endif()
        # Used below, when the executable exists.
        list(APPEND entries ${entry})
        set(timeout_of_${entry} ${tags_timeout})
        set(labels_of_${entry} ${tags_labels} ${arg_LABELS})
    endforeach()

    list(TRANSFORM headers REPLACE "^ *# *include +([<\"][^>\"]*[>\"]).*" "\\1")
    list(REMOVE_DUPLICATES headers)
    # A header that a file includes conditionally may not exist.
    list(TRANSFORM headers REPLACE "(.+)" "#if __has_include(\\1)\n#include \\1\n#endif\n")
    list(JOIN headers "" headers)
    set(source "${CMAKE_CURRENT_BINARY_DIR}/${target}.cpp")
    file(CONFIGURE OUTPUT "${source}" CONTENT "${headers}${suites}" @ONLY)

    asio_wheel_executable(${target} REQUIRES ${requires} SOURCES "${source}")
    # g++ warns of anonymous namespaces in included files, which it takes for headers.
    target_compile_options(${target} PRIVATE
        $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
    list(GET arg_NAMES 0 first)
    asio_wheel_use_test_support(${target} "${CMAKE_CURRENT_SOURCE_DIR}/${first}.cpp")
    foreach(entry IN LISTS entries)
        asio_wheel_register(${entry} TARGET ${target} GROUP tests TIMEOUT ${timeout_of_${entry}}
            LABELS ${labels_of_${entry}} ARGUMENTS --run_test=${entry})
    endforeach()
endfunction()

# Sets <result> to the kind of a test, or to nothing if it is built alone. Only tests of the same
# kind are built together: tests without Asio must not see it, and tests labelled `threads` are also
# built without the others.
function(asio_wheel_unity_kind result file)
    asio_wheel_tags(tags "${file}")
    asio_wheel_uses_asio(uses_asio "${file}")
    set(kind "")
    if(tags_unity STREQUAL "off")
        # Alone. (elseif(tags_unity) would take this word for false.)
    elseif(tags_unity)
        set(kind ${tags_unity})
    elseif(uses_asio AND NOT tags_pch STREQUAL "off")
        set(kind asio)
    elseif(NOT tags_pch STREQUAL "off")
        set(kind no_asio)
    endif()
    if(kind AND "threads" IN_LIST tags_labels)
        string(APPEND kind _threads)
    endif()
    set(${result} ${kind} PARENT_SCOPE)
endfunction()

# asio_wheel_tests(<group> NAMES <name>... [PREFIX <prefix>] [LABELS <label>...]
#                  [LIBRARIES <target>...])
#
# The tests <name>.cpp of this folder. Their ctest entries are those of asio_wheel_test_entry(); the
# prefix is test_ by default. In a unity build, neighbours of one kind are built together, in
# sources of about equal size, called <group>_<kind>_<number>.
function(asio_wheel_tests group)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "PREFIX" "NAMES;LABELS;LIBRARIES")
    if(NOT arg_PREFIX)
        set(arg_PREFIX test_)
    endif()
    set(kinds "")
    foreach(name IN LISTS arg_NAMES)
        set(file "${CMAKE_CURRENT_SOURCE_DIR}/${name}.cpp")
        asio_wheel_test_entry(entry "${arg_PREFIX}" "${name}")
        asio_wheel_tags(tags "${file}")
        asio_wheel_unity_kind(kind "${file}")
        if(NOT kind OR NOT ASIO_WHEEL_UNITY_TESTS)
            asio_wheel_test(${name} TARGET ${entry} LABELS ${arg_LABELS}
                LIBRARIES ${arg_LIBRARIES})
            continue()
        endif()
        asio_wheel_found(found ${entry} "${tags_requires}")
        if(NOT found)
            continue()
        endif()
        if(NOT kind IN_LIST kinds)
            list(APPEND kinds ${kind})
            set(${kind}_names "")
            set(${kind}_middles "")
            set(${kind}_lines 0)
        endif()
        file(STRINGS "${file}" lines)
        list(LENGTH lines lines)
        list(APPEND ${kind}_names ${name})
        math(EXPR middle "${${kind}_lines} + ${lines} / 2")
        list(APPEND ${kind}_middles ${middle})
        math(EXPR ${kind}_lines "${${kind}_lines} + ${lines}")
    endforeach()

    foreach(kind IN LISTS kinds)
        math(EXPR count "${${kind}_lines} / ${ASIO_WHEEL_UNITY_LINES} + 1")
        foreach(number RANGE 1 ${count})
            set(batch_${number} "")
        endforeach()
        # The position of a file's middle line among all lines determines its source.
        foreach(name middle IN ZIP_LISTS ${kind}_names ${kind}_middles)
            math(EXPR number "${middle} * ${count} / ${${kind}_lines} + 1")
            list(APPEND batch_${number} ${name})
        endforeach()
        foreach(number RANGE 1 ${count})
            if(batch_${number})
                set(target ${group}_${kind}_${number})
                asio_wheel_unity_source(${target} PREFIX ${arg_PREFIX} NAMES ${batch_${number}}
                    LABELS ${arg_LABELS})
                target_link_libraries(${target} PRIVATE ${arg_LIBRARIES})
            endif()
        endforeach()
    endforeach()
endfunction()
