# Copyright (c) 2026 The asio-wheel authors
# SPDX-License-Identifier: BSL-1.0

# Installs the library for find_package(asio_wheel) and pkg-config, with licence and documents.

include(CMakePackageConfigHelpers)

set(asio_wheel_config_dir "${CMAKE_INSTALL_LIBDIR}/cmake/asio_wheel")

install(TARGETS asio_wheel EXPORT asio_wheelTargets FILE_SET HEADERS)
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
    DESTINATION "${asio_wheel_config_dir}")

# The prefix in the .pc file is relative to the file, so that an installed tree can be moved.
file(RELATIVE_PATH asio_wheel_pc_prefix
    "${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig" "${CMAKE_INSTALL_PREFIX}")
string(REGEX REPLACE "/$" "" asio_wheel_pc_prefix "\${pcfiledir}/${asio_wheel_pc_prefix}")
cmake_path(APPEND asio_wheel_pc_libdir "\${prefix}" "${CMAKE_INSTALL_LIBDIR}")
cmake_path(APPEND asio_wheel_pc_includedir "\${prefix}" "${CMAKE_INSTALL_INCLUDEDIR}")
# Boost has no .pc file. If its headers are outside the compiler's search path, name their folder.
set(asio_wheel_pc_boost "")
foreach(dir IN LISTS Boost_INCLUDE_DIRS)
    if(NOT dir IN_LIST CMAKE_CXX_IMPLICIT_INCLUDE_DIRECTORIES)
        string(APPEND asio_wheel_pc_boost " -isystem ${dir}")
    endif()
endforeach()
configure_file(
    "${CMAKE_CURRENT_LIST_DIR}/asio_wheel.pc.in"
    "${PROJECT_BINARY_DIR}/asio_wheel.pc"
    @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/asio_wheel.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")

install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" DESTINATION "${CMAKE_INSTALL_DOCDIR}")
if(ASIO_WHEEL_INSTALL_DOCS)
    # Keep the layout of the source tree, so that the links between these files work.
    install(FILES
        "${PROJECT_SOURCE_DIR}/README.md"
        "${PROJECT_SOURCE_DIR}/CHANGELOG.md"
        DESTINATION "${CMAKE_INSTALL_DOCDIR}")
    install(DIRECTORY
        "${PROJECT_SOURCE_DIR}/docs"
        "${PROJECT_SOURCE_DIR}/examples"
        DESTINATION "${CMAKE_INSTALL_DOCDIR}"
        PATTERN CMakeLists.txt EXCLUDE
        PATTERN docs/site EXCLUDE)
endif()
