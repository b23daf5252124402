# Copyright (c) 2026 The asio-wheel authors
# SPDX-License-Identifier: BSL-1.0

# What `cpack` makes of the installed files: an archive, and on Debian and its derivatives a package
# that contains everything. debian/ makes the packages that a distribution would have.

set(CPACK_PACKAGE_NAME asio-wheel)
set(CPACK_PACKAGE_VENDOR "The asio-wheel authors")
set(CPACK_PACKAGE_CONTACT "The asio-wheel authors <maintainers@asio-wheel.example>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_PACKAGE_DESCRIPTION "Timers, timeouts and streams with deadlines for Boost.Asio.")
set(CPACK_RESOURCE_FILE_LICENSE "${PROJECT_SOURCE_DIR}/LICENSE")
set(CPACK_PACKAGE_FILE_NAME
    "asio-wheel-${PROJECT_VERSION}-${CMAKE_SYSTEM_NAME}-${CMAKE_SYSTEM_PROCESSOR}")
set(CPACK_VERBATIM_VARIABLES ON)
set(CPACK_STRIP_FILES ON)

set(CPACK_GENERATOR TGZ)
if(WIN32)
    set(CPACK_GENERATOR ZIP)
elseif(EXISTS /etc/debian_version)
    list(APPEND CPACK_GENERATOR DEB)
endif()

set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_PACKAGE_DEPENDS "libboost-dev (>= 1.81) | libboost1.81-dev")
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_PROVIDES "libasio-wheel-dev (= ${PROJECT_VERSION})")
set(CPACK_DEBIAN_PACKAGE_CONFLICTS "libasio-wheel-dev, libasio-wheel-doc")
if(BUILD_SHARED_LIBS)
    # The same library as in Debian's package.
    set(library "libasio-wheel${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}")
    string(APPEND CPACK_DEBIAN_PACKAGE_PROVIDES ", ${library} (= ${PROJECT_VERSION})")
    string(APPEND CPACK_DEBIAN_PACKAGE_CONFLICTS ", ${library}")
endif()

set(CPACK_SOURCE_GENERATOR TGZ)
set(CPACK_SOURCE_PACKAGE_FILE_NAME "asio-wheel-${PROJECT_VERSION}")
# As a regular expression: a folder may be called c++.
string(REGEX REPLACE "([][+.*?^$()|])" "[\\1]" asio_wheel_tree "${PROJECT_SOURCE_DIR}")
string(REPLACE "[^]" "\\^" asio_wheel_tree "${asio_wheel_tree}")
set(CPACK_SOURCE_IGNORE_FILES
    # What .gitignore has.
    "^${asio_wheel_tree}/build/" "/[.]git/" "/[.]git$" "/[.]cache/" "~$" "[.]swp$"
    "/compile_commands[.]json$" "/CMakeUserPresets[.]json$"
    "/debian/([.]debhelper|build|tmp|libasio-wheel[^/]*)/" "/debian/(files|debhelper-build-stamp)$"
    "/debian/[^/]*[.](debhelper[^/]*|substvars)$")

include(CPack)
