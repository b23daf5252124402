# Copyright (c) 2026 The asio-wheel authors
# SPDX-License-Identifier: BSL-1.0

# Runs the compiler command ${compile} (a list), which must fail. The first error must contain
# ${expect}, and there may be at most ${errors} errors, if that is set. In names, _ stands for a
# space.

execute_process(
    COMMAND ${compile}
    OUTPUT_VARIABLE output
    ERROR_VARIABLE output
    RESULT_VARIABLE status)
message("${output}")
if(status EQUAL 0)
    message(FATAL_ERROR "it compiles")
endif()

# g++ and clang print `file:line:column: error: ...` or `fatal error: ...`.
set(error_line "[^\n]*[: ]error: [^\n]*")
string(REGEX MATCHALL "${error_line}" all "${output}")
string(REGEX MATCH "${error_line}" first "${output}")
string(REPLACE "_" " " first "${first}")
string(REPLACE "_" " " expect "${expect}")
string(FIND "${first}" "${expect}" found)
if(found EQUAL -1)
    message(FATAL_ERROR "the first error does not say: ${expect}")
endif()
list(LENGTH all count)
if(errors AND count GREATER errors)
    message(FATAL_ERROR "${count} errors are reported, but no more than ${errors} are expected")
endif()
