# Copyright (c) 2026 The asio-wheel authors
# SPDX-License-Identifier: BSL-1.0

# The library for standalone Asio: asio_wheel::standalone. Its headers have the same names, and are
# installed in a folder of their own. Of Boost, it needs headers only: Intrusive, Assert, Config and
# ThrowException. Without Beast, it has no beast.hpp and no inspector.hpp.
#
# See standalone_copy.cmake for why its sources are a copy.

include(standalone_copy)

find_path(ASIO_INCLUDE_DIR asio/version.hpp REQUIRED)
file(STRINGS "${ASIO_INCLUDE_DIR}/asio/version.hpp" asio_version REGEX "define ASIO_VERSION ")
string(REGEX REPLACE ".*ASIO_VERSION ([0-9]+).*" "\\1" asio_version "${asio_version}")
if(asio_version LESS 102400)
    message(FATAL_ERROR "asio_wheel::standalone needs Asio 1.24 or newer; "
        "ASIO_VERSION is ${asio_version} in ${ASIO_INCLUDE_DIR}")
endif()

set(asio_wheel_copy "${PROJECT_BINARY_DIR}/standalone")
get_target_property(asio_wheel_copied asio_wheel_core SOURCES)
foreach(header IN LISTS asio_wheel_headers)
    file(RELATIVE_PATH header "${PROJECT_SOURCE_DIR}" "${header}")
    list(APPEND asio_wheel_copied "${header}")
endforeach()
list(FILTER asio_wheel_copied EXCLUDE REGEX "asio_wheel/(beast|inspector)\\.hpp$")
asio_wheel_standalone_copy("${PROJECT_SOURCE_DIR}" "${asio_wheel_copy}" ${asio_wheel_copied})
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${asio_wheel_copied})

list(TRANSFORM asio_wheel_copied PREPEND "${asio_wheel_copy}/")
set(asio_wheel_copied_headers ${asio_wheel_copied})
list(FILTER asio_wheel_copied INCLUDE REGEX "\\.cpp$")
list(FILTER asio_wheel_copied_headers INCLUDE REGEX "\\.hpp$")

add_library(asio_wheel_standalone ${asio_wheel_kind} ${asio_wheel_copied})
add_library(asio_wheel::standalone ALIAS asio_wheel_standalone)
target_sources(asio_wheel_standalone PUBLIC
    FILE_SET HEADERS
    BASE_DIRS "${asio_wheel_copy}/include"
    FILES ${asio_wheel_copied_headers})
target_compile_definitions(asio_wheel_standalone PUBLIC ASIO_STANDALONE)
target_include_directories(asio_wheel_standalone SYSTEM PUBLIC
    "$<BUILD_INTERFACE:${ASIO_INCLUDE_DIR}>") # asio_wheelConfig.cmake finds it where it is used.
set_target_properties(asio_wheel_standalone PROPERTIES EXPORT_NAME standalone)
asio_wheel_library(asio_wheel_standalone)

if(ASIO_WHEEL_INSTALL)
    install(TARGETS asio_wheel_standalone EXPORT asio_wheelTargets
        FILE_SET HEADERS DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/asio_wheel_standalone")
endif()
