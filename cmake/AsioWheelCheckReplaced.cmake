# Copyright (c) 2026 The asio-wheel authors
# SPDX-License-Identifier: BSL-1.0

# asio_wheel_check_replaced(<target>) makes the build of a program fail if a part of it has Asio's
# own timers inside, although the program links asio_wheel::replace_asio_timers. The parts are its
# objects, and the libraries that are linked. (Not those that it opens when it runs.)
#
# How: Asio has a service for each clock and traits. A wheel's own timer has traits of its own. So
# if all of Asio's timers are replaced, there is no symbol of the service for Asio's traits. Asio
# without Boost has names of its own, and is another library: it does no harm to a program with
# Boost.Asio.
#
# It needs nm, and symbols that were not stripped: not with Microsoft's compiler, nor for objects of
# link-time optimisation. There, the check passes.
#
# This file is also the script that the build runs.

if(NOT CMAKE_SCRIPT_MODE_FILE)
    set_property(GLOBAL PROPERTY asio_wheel_check_replaced_script "${CMAKE_CURRENT_LIST_FILE}")

    function(asio_wheel_check_replaced target)
        if(NOT CMAKE_NM)
            message(STATUS "asio_wheel_check_replaced: ${target} is not checked, there is no nm")
            return()
        endif()
        get_target_property(type ${target} TYPE)
        if(type MATCHES "STATIC|OBJECT|INTERFACE")
            message(FATAL_ERROR "asio_wheel_check_replaced: ${target} is linked by others, whose "
                "parts have to agree, too. Check the programs that link it")
        endif()
        get_property(script GLOBAL PROPERTY asio_wheel_check_replaced_script)
        # In a file: an argument of a command has 128 kB at most.
        set(objects "${CMAKE_CURRENT_BINARY_DIR}/${target}.objects$<CONFIG>")
        file(GENERATE OUTPUT "${objects}"
            CONTENT "$<JOIN:$<TARGET_OBJECTS:${target}>,\n>\n" TARGET ${target})
        add_custom_command(TARGET ${target} POST_BUILD
            COMMAND "${CMAKE_COMMAND}" "-DNM=${CMAKE_NM}" "-DPROGRAM=$<TARGET_FILE:${target}>"
                "-DOBJECTS_FILE=${objects}" -DREMOVE=ON "-DCROSS=${CMAKE_CROSSCOMPILING}"
                "-DSTANDALONE=$<IN_LIST:ASIO_STANDALONE,$<TARGET_PROPERTY:${target},COMPILE_DEFINITIONS>>"
                -P "${script}"
            VERBATIM)
    endfunction()
    return()
endif()

# The service for a clock and Asio's traits. The clock may have arguments, which may have some.
if(STANDALONE)
    set(asio asio)
else()
    set(asio boost::asio)
endif()
set(clock "[^<>,\n]*(<[^<>\n]*(<[^<>\n]*>[^<>\n]*)*>)?[^<>,\n]*")
string(CONCAT service_of_asio "deadline_timer_service<${asio}::detail::chrono_time_traits<${clock}, "
    "${asio}::wait_traits<")

# Sets <result> to those of the files that have symbols of Asio's own timers.
function(those_with_asio_timers result)
    set(found "")
    foreach(file IN LISTS ARGN)
        set(symbols "")
        foreach(kind IN ITEMS --extern-only --dynamic)
            execute_process(COMMAND "${NM}" --demangle ${kind} "${file}"
                OUTPUT_VARIABLE more ERROR_QUIET)
            string(APPEND symbols "${more}")
        endforeach()
        # Timers with clocks of Boost.Chrono are not replaced.
        string(REPLACE "chrono_time_traits<boost::chrono::" "" symbols "${symbols}")
        if(symbols MATCHES "${service_of_asio}")
            list(APPEND found "${file}")
        endif()
    endforeach()
    set(${result} "${found}" PARENT_SCOPE)
endfunction()

if(OBJECTS_FILE)
    file(STRINGS "${OBJECTS_FILE}" OBJECTS)
endif()
set(libraries "")
if(NOT CROSS) # Those of another system are not found here.
    file(GET_RUNTIME_DEPENDENCIES EXECUTABLES "${PROGRAM}"
        RESOLVED_DEPENDENCIES_VAR libraries
        UNRESOLVED_DEPENDENCIES_VAR ignored
        CONFLICTING_DEPENDENCIES_PREFIX conflicting
        POST_EXCLUDE_REGEXES "/(libc|libm|libgcc_s|libstdc\\+\\+|libc\\+\\+|ld-linux[^/]*)\\.so")
    foreach(name IN LISTS conflicting_FILENAMES)
        list(APPEND libraries ${conflicting_${name}})
    endforeach()
endif()
those_with_asio_timers(in_program ${PROGRAM})
those_with_asio_timers(parts ${OBJECTS})
those_with_asio_timers(in_libraries ${libraries})
if(in_program AND NOT parts)
    set(parts "an object of another target, or a static library, that is linked into ${PROGRAM}")
endif()
list(APPEND parts ${in_libraries})
if(parts)
    if(REMOVE) # So that the next build does not take it for finished.
        file(REMOVE "${PROGRAM}")
    endif()
    list(JOIN parts "\n  " parts)
    message(FATAL_ERROR "asio_wheel::replace_asio_timers: Asio's own timers are in\n  ${parts}\n"
        "All parts of a program must agree: let that one link asio_wheel::replace_asio_timers, too, "
        "or include <asio_wheel/replace_asio_timers.hpp> before all else in its sources.")
endif()
