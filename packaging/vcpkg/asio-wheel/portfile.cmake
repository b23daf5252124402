# Copyright (c) 2026 The asio-wheel authors
# SPDX-License-Identifier: BSL-1.0

# A port of the tree that contains it:
#
#     vcpkg install asio-wheel --overlay-ports=asio-wheel/packaging/vcpkg
#
# Not tried with vcpkg itself. CI runs this file with stand-ins for vcpkg's functions, which do what
# their documentation says: see packaging/test/vcpkg.cmake.

get_filename_component(SOURCE_PATH "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)

if(VCPKG_TARGET_IS_WINDOWS)
    vcpkg_check_linkage(ONLY_STATIC_LIBRARY)
endif()
vcpkg_cmake_configure(
    SOURCE_PATH "${SOURCE_PATH}"
    OPTIONS
        -DBUILD_TESTING=OFF
        -DASIO_WHEEL_INSTALL_DOCS=OFF
)
vcpkg_cmake_install()
vcpkg_copy_pdbs()
vcpkg_cmake_config_fixup(PACKAGE_NAME asio_wheel CONFIG_PATH lib/cmake/asio_wheel)
vcpkg_fixup_pkgconfig()

file(REMOVE_RECURSE
    "${CURRENT_PACKAGES_DIR}/debug/include"
    "${CURRENT_PACKAGES_DIR}/debug/share"
    "${CURRENT_PACKAGES_DIR}/share/doc"
)
file(INSTALL "${CMAKE_CURRENT_LIST_DIR}/usage" DESTINATION "${CURRENT_PACKAGES_DIR}/share/${PORT}")
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE")
