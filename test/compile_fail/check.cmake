# Copyright (c) 2026 The asio-wheel authors
# SPDX-License-Identifier: BSL-1.0

# Builds ${target} in ${folder}, which must fail: the first error contains ${expect}, and there are
# no more than ${errors} of them, if that is given.

execute_process(
    COMMAND "${CMAKE_COMMAND}" --build "${folder}" --target "${target}"
    OUTPUT_VARIABLE output
    ERROR_VARIABLE output
    RESULT_VARIABLE status)
message("${output}")
if(status EQUAL 0)
    message(FATAL_ERROR "it compiles")
endif()

# g++ and clang say `file:line:column: error: ...`, also `fatal error`; MSVC `error C1234: ...`.
set(error_line "[^\n]*[: ](error|error C[0-9]+): [^\n]*")
string(REGEX MATCHALL "${error_line}" all "${output}")
string(REGEX MATCH "${error_line}" first "${output}")
string(FIND "${first}" "${expect}" found)
if(found EQUAL -1)
    message(FATAL_ERROR "the first error does not say: ${expect}")
endif()
list(LENGTH all count)
if(errors AND count GREATER errors)
    message(FATAL_ERROR "${count} errors are reported, but no more than ${errors} are expected")
endif()
