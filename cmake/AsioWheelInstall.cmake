# Copyright (c) 2026 The asio-wheel authors
# SPDX-License-Identifier: BSL-1.0

# Installs the library for find_package(asio_wheel) and pkg-config, with licence and documents.

include(CMakePackageConfigHelpers)

# As a part of another project, that one's folder of documents is not ours.
set(asio_wheel_doc_dir "${CMAKE_INSTALL_DOCDIR}")
if(NOT PROJECT_IS_TOP_LEVEL)
    set(asio_wheel_doc_dir "${CMAKE_INSTALL_DATAROOTDIR}/doc/asio_wheel")
endif()

set(asio_wheel_config_dir "${CMAKE_INSTALL_LIBDIR}/cmake/asio_wheel")

install(TARGETS asio_wheel_core asio_wheel_utilities asio_wheel_inspector asio_wheel
    asio_wheel_replace_asio_timers
    EXPORT asio_wheelTargets FILE_SET HEADERS)
install(DIRECTORY "${PROJECT_SOURCE_DIR}/src/inspector/"
    DESTINATION "${asio_wheel_inspector_installed}")
install(FILES "${PROJECT_SOURCE_DIR}/include/asio_wheel.cppm"
    DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
install(EXPORT asio_wheelTargets
    NAMESPACE asio_wheel::
    DESTINATION "${asio_wheel_config_dir}")

configure_package_config_file(
    "${CMAKE_CURRENT_LIST_DIR}/asio_wheelConfig.cmake.in"
    "${PROJECT_BINARY_DIR}/asio_wheelConfig.cmake"
    INSTALL_DESTINATION "${asio_wheel_config_dir}"
    NO_SET_AND_CHECK_MACRO)
# Before 1.0, a new minor version may break its users.
write_basic_package_version_file(
    "${PROJECT_BINARY_DIR}/asio_wheelConfigVersion.cmake"
    COMPATIBILITY SameMinorVersion)
install(FILES
    "${PROJECT_BINARY_DIR}/asio_wheelConfig.cmake"
    "${PROJECT_BINARY_DIR}/asio_wheelConfigVersion.cmake"
    "${CMAKE_CURRENT_LIST_DIR}/AsioWheelCheckReplaced.cmake"
    DESTINATION "${asio_wheel_config_dir}")

# The prefix in the .pc file is relative to the file, so that an installed tree can be moved.
file(RELATIVE_PATH asio_wheel_pc_prefix
    "${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig" "${CMAKE_INSTALL_PREFIX}")
string(REGEX REPLACE "/$" "" asio_wheel_pc_prefix "\${pcfiledir}/${asio_wheel_pc_prefix}")
cmake_path(APPEND asio_wheel_pc_libdir "\${prefix}" "${CMAKE_INSTALL_LIBDIR}")
set(asio_wheel_pc_system "")
if(MINGW)
    set(asio_wheel_pc_system " -lws2_32 -lmswsock")
endif()

# asio_wheel_install_pc(<name> INCLUDE <folder> NEEDS <text> CFLAGS <flags> FOLDERS <folder>...)
# installs <name>.pc for the library of that name. Neither Boost nor Asio has a .pc file that is
# always there. If the folders of their headers are outside the compiler's search path, Cflags name
# them.
function(asio_wheel_install_pc name)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "INCLUDE;NEEDS;CFLAGS" "FOLDERS")
    cmake_path(APPEND includedir "\${prefix}" "${arg_INCLUDE}")
    list(REMOVE_DUPLICATES arg_FOLDERS)
    foreach(folder IN LISTS arg_FOLDERS)
        if(NOT folder IN_LIST CMAKE_CXX_IMPLICIT_INCLUDE_DIRECTORIES)
            string(REPLACE " " "\\ " folder "${folder}")
            string(APPEND arg_CFLAGS " -isystem ${folder}")
        endif()
    endforeach()
    configure_file(
        "${PROJECT_SOURCE_DIR}/cmake/asio_wheel.pc.in" "${PROJECT_BINARY_DIR}/${name}.pc" @ONLY)
    install(FILES "${PROJECT_BINARY_DIR}/${name}.pc"
        DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
endfunction()
asio_wheel_install_pc(asio_wheel
    INCLUDE "${CMAKE_INSTALL_INCLUDEDIR}"
    NEEDS "C++20, and the headers of Boost 1.81 or newer"
    CFLAGS "-pthread"
    FOLDERS ${Boost_INCLUDE_DIRS})
file(CONFIGURE OUTPUT "${PROJECT_BINARY_DIR}/asio_wheel_replace_asio_timers.pc" @ONLY CONTENT
"Name: asio_wheel_replace_asio_timers
Description: Asio's own timers on the wheel of asio_wheel, in each source of a program
Version: @PROJECT_VERSION@
Requires: asio_wheel
Cflags: -include asio_wheel/replace_asio_timers.hpp
")
install(FILES "${PROJECT_BINARY_DIR}/asio_wheel_replace_asio_timers.pc"
    DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
if(ASIO_WHEEL_STANDALONE)
    asio_wheel_install_pc(asio_wheel_standalone
        INCLUDE "${CMAKE_INSTALL_INCLUDEDIR}/asio_wheel_standalone"
        NEEDS "C++20, Asio 1.24 or newer without Boost, and some headers of Boost 1.81 or newer"
        CFLAGS "-DASIO_STANDALONE -pthread"
        FOLDERS ${ASIO_INCLUDE_DIR} ${Boost_INCLUDE_DIRS})
endif()

install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" DESTINATION "${asio_wheel_doc_dir}")
if(ASIO_WHEEL_INSTALL_DOCS)
    # Keep the layout of the source tree, so that the links between these files work. Those to tests
    # and sources lead nowhere.
    install(FILES
        "${PROJECT_SOURCE_DIR}/README.md"
        "${PROJECT_SOURCE_DIR}/CHANGELOG.md"
        "${PROJECT_SOURCE_DIR}/CONTRIBUTING.md"
        "${PROJECT_SOURCE_DIR}/SECURITY.md"
        DESTINATION "${asio_wheel_doc_dir}")
    install(DIRECTORY
        "${PROJECT_SOURCE_DIR}/docs"
        "${PROJECT_SOURCE_DIR}/examples"
        DESTINATION "${asio_wheel_doc_dir}"
        PATTERN CMakeLists.txt EXCLUDE
        PATTERN docs/site EXCLUDE)
    install(DIRECTORY
        "${PROJECT_SOURCE_DIR}/packaging/grafana"
        "${PROJECT_SOURCE_DIR}/packaging/prometheus"
        DESTINATION "${asio_wheel_doc_dir}/packaging")
endif()
