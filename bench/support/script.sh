# shellcheck shell=bash
# Copyright (c) 2026 The asio-wheel authors
# SPDX-License-Identifier: BSL-1.0
#
# Shared parts of the benchmark scripts: options, a trial of a server under load, and the report.
# Source this from the root of the tree.
# shellcheck disable=SC2034 # The scripts use the variables.

# parse_options USAGE ARGUMENT...: sets quick, csv and most. USAGE names the options that are
# allowed.
parse_options() {
    local usage=$1
    shift
    quick=
    csv=
    most=
    while [ $# -gt 0 ]; do
        if [[ $1 != --quick && $1 != --csv && $1 != --most || $usage != *"[$1"* ]] ||
            { [ "$1" != --quick ] && [ $# -lt 2 ]; }; then
            echo "usage: $usage" >&2
            exit 2
        fi
        case $1 in
        --quick) quick=1 ;;
        --csv) csv=$2 && shift ;;
        --most) most=$2 && shift ;;
        esac
        shift
    done
}

# Creates the folder $scratch for this run. At exit, removes it and stops the server, if one runs.
make_scratch() {
    scratch=$(mktemp -d)
    server=
    trap '[ -z "$server" ] || kill "$server" 2>/dev/null || true; rm -rf "$scratch"' EXIT
}

# run_trial SERVER [OPTION...] -- LOAD [OPTION...]: runs a server and then its load. Their output is
# in $scratch/server and $scratch/load.
run_trial() {
    local port='' command=()
    while [ "$1" != -- ]; do
        command+=("$1")
        shift
    done
    shift
    : >"$scratch/server" # Clear it: the port of the previous server must not be read.
    "${command[@]}" >"$scratch/server" &
    server=$!
    for _ in $(seq 100); do
        port=$(sed -n 's/^listening on .*:\([0-9]*\)$/\1/p' "$scratch/server")
        [ -z "$port" ] || break
        sleep 0.05
    done
    [ -n "$port" ] || {
        echo "${command[0]}: does not listen" >&2
        return 1
    }
    "$@" --port "$port" >"$scratch/load"
    kill -TERM "$server"
    wait "$server"
    server=
}

# Prints the figures that both programs of the trial have reported, a line `name=value` for each.
trial_figures() {
    awk '$1 == "result" { for (i = 2; i <= NF; ++i) print $i }' "$scratch/server" "$scratch/load"
}

# report LINES: prints the medians of the figures in a file, and stores them in the file of --csv.
report() {
    local medians=${1%.csv}-medians.csv
    bench/medians <"$1" >"$medians"
    [ -z "$csv" ] || cp "$medians" "$csv"
    bench/side_by_side "$medians"
}
