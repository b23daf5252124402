# Copyright (c) 2026 The asio-wheel authors
# SPDX-License-Identifier: BSL-1.0

# usage: cmake -DOUT=<folder> -P packaging/test/vcpkg.cmake
#
# Runs the port of vcpkg without vcpkg, as for the triplet x64-linux: <folder>/packages is then what
# vcpkg would install. The functions below stand in for those of vcpkg. Each does what its
# documentation says, as far as the port needs it.

cmake_minimum_required(VERSION 3.24)

get_filename_component(port_dir "${CMAKE_CURRENT_LIST_DIR}/../vcpkg/asio-wheel" ABSOLUTE)
get_filename_component(out "${OUT}" ABSOLUTE)
file(READ "${port_dir}/vcpkg.json" manifest)
string(JSON PORT GET "${manifest}" name)
set(CURRENT_PACKAGES_DIR "${out}/packages")
file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}")

function(run)
    execute_process(COMMAND ${ARGV} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

# Fails if the port passes arguments that the function does not have.
function(no_more_arguments function rest)
    if(rest)
        message(FATAL_ERROR "${function}: unknown arguments: ${rest}")
    endif()
endfunction()

# Configures a release in <out>/rel, and a debug version in <out>/dbg.
function(vcpkg_cmake_configure)
    cmake_parse_arguments(PARSE_ARGV 0 arg "" "SOURCE_PATH" "OPTIONS")
    no_more_arguments(vcpkg_cmake_configure "${arg_UNPARSED_ARGUMENTS}")
    foreach(kind IN ITEMS rel dbg)
        set(prefix "${CURRENT_PACKAGES_DIR}")
        set(type Release)
        if(kind STREQUAL "dbg")
            string(APPEND prefix "/debug")
            set(type Debug)
        endif()
        run("${CMAKE_COMMAND}" -S "${arg_SOURCE_PATH}" -B "${out}/${kind}" -G Ninja
            -DCMAKE_BUILD_TYPE=${type} "-DCMAKE_INSTALL_PREFIX=${prefix}" -DBUILD_SHARED_LIBS=OFF
            -DCMAKE_INSTALL_LIBDIR:STRING=lib -DCMAKE_INSTALL_BINDIR:STRING=bin
            -DCMAKE_ERROR_ON_ABSOLUTE_INSTALL_DESTINATION=ON ${arg_OPTIONS})
    endforeach()
endfunction()

function(vcpkg_cmake_install)
    no_more_arguments(vcpkg_cmake_install "${ARGV}")
    foreach(kind IN ITEMS rel dbg)
        run("${CMAKE_COMMAND}" --build "${out}/${kind}" --target install)
    endforeach()
endfunction()

# Only for Windows.
function(vcpkg_copy_pdbs)
endfunction()

# Moves the files of CMake to share/<package>, those of the debug version too, and mends the paths
# in them, which are relative to the files.
function(vcpkg_cmake_config_fixup)
    cmake_parse_arguments(PARSE_ARGV 0 arg "" "PACKAGE_NAME;CONFIG_PATH" "")
    no_more_arguments(vcpkg_cmake_config_fixup "${arg_UNPARSED_ARGUMENTS}")
    set(share "${CURRENT_PACKAGES_DIR}/share/${arg_PACKAGE_NAME}")
    set(debug "${CURRENT_PACKAGES_DIR}/debug/${arg_CONFIG_PATH}")
    file(GLOB files "${CURRENT_PACKAGES_DIR}/${arg_CONFIG_PATH}/*")
    file(COPY ${files} DESTINATION "${share}")
    file(GLOB files "${debug}/*-debug.cmake")
    foreach(file IN LISTS files)
        file(READ "${file}" text)
        string(REPLACE "\${_IMPORT_PREFIX}/lib" "\${_IMPORT_PREFIX}/debug/lib" text "${text}")
        get_filename_component(name "${file}" NAME)
        file(WRITE "${share}/${name}" "${text}")
    endforeach()
    foreach(folder IN ITEMS "${CURRENT_PACKAGES_DIR}/${arg_CONFIG_PATH}" "${debug}")
        get_filename_component(parent "${folder}" DIRECTORY)
        get_filename_component(name "${parent}" NAME)
        if(name STREQUAL "cmake")
            set(folder "${parent}")
        endif()
        file(REMOVE_RECURSE "${folder}")
    endforeach()

    # The prefix is two folders above share/<package>.
    set(up "get_filename_component(_IMPORT_PREFIX \"\${_IMPORT_PREFIX}\" PATH)\n")
    file(GLOB files "${share}/*.cmake")
    foreach(file IN LISTS files)
        file(READ "${file}" text)
        string(REPLACE "${up}${up}${up}" "${up}${up}" text "${text}")
        string(REGEX REPLACE "(\\(PACKAGE_PREFIX_DIR \"[^\"]*LIST_DIR})/[./]*\"" "\\1/../../\""
            text "${text}")
        file(WRITE "${file}" "${text}")
    endforeach()
endfunction()

# The headers of the debug version are those of the release.
function(vcpkg_fixup_pkgconfig)
    no_more_arguments(vcpkg_fixup_pkgconfig "${ARGV}")
    file(GLOB files "${CURRENT_PACKAGES_DIR}/debug/lib/pkgconfig/*.pc")
    foreach(file IN LISTS files)
        file(READ "${file}" text)
        string(REPLACE "\${prefix}/include" "\${prefix}/../include" text "${text}")
        file(WRITE "${file}" "${text}")
    endforeach()
endfunction()

function(vcpkg_install_copyright)
    cmake_parse_arguments(PARSE_ARGV 0 arg "" "" "FILE_LIST")
    no_more_arguments(vcpkg_install_copyright "${arg_UNPARSED_ARGUMENTS}")
    file(INSTALL ${arg_FILE_LIST} DESTINATION "${CURRENT_PACKAGES_DIR}/share/${PORT}"
        RENAME copyright)
endfunction()

# A portfile refers to its own folder by this name.
set(CMAKE_CURRENT_LIST_DIR "${port_dir}")
include("${port_dir}/portfile.cmake")

# What vcpkg checks after an installation.
foreach(file IN ITEMS share/${PORT}/copyright share/${PORT}/usage include/asio_wheel.hpp)
    if(NOT EXISTS "${CURRENT_PACKAGES_DIR}/${file}")
        message(FATAL_ERROR "${file} is not installed")
    endif()
endforeach()
foreach(file IN ITEMS debug/include debug/share lib/cmake debug/lib/cmake share/doc)
    if(EXISTS "${CURRENT_PACKAGES_DIR}/${file}")
        message(FATAL_ERROR "${file} is installed")
    endif()
endforeach()
