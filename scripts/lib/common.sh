# common.sh: what every script here begins with: the root of the tree, and how a script speaks and stops.
#
# Sourced, never run. A script says what it does in plain lines on standard output; what stops it is
# one line on standard error and exit code 2 (the user can mend it) or 1 (something failed).
# Read next: packages.sh.
# SPDX-License-Identifier: MIT
# shellcheck shell=bash

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)"
logs="$root/build/logs"

say() { printf '%s\n' "$*"; }

# stop TEXT: the user can mend this; says how and leaves with 2.
stop() {
  printf '%s: %s\n' "${0##*/}" "$*" >&2
  exit 2
}

# fail TEXT: something is not as it must be; leaves with 1.
fail() {
  printf '%s: %s\n' "${0##*/}" "$*" >&2
  exit 1
}

# usage: prints the comment at the head of the running script, from its second line to the first blank one.
usage() { sed -n '2,/^$/{/^# SPDX/d; s/^# \{0,1\}//; p}' "$0"; }

# need_number OPTION TEXT: refuses what is not a whole number of at least 1.
need_number() {
  [[ "$2" =~ ^[1-9][0-9]{0,8}$ ]] || stop "$1: expected a whole number of at least 1, found '$2'"
}

# logged NAME COMMAND...: runs it with its output in build/logs/NAME.log; shows the end of it on failure.
# Returns: the command's exit code.
logged() {
  local name="$1" code=0
  shift
  mkdir -p "$logs"
  "$@" >"$logs/$name.log" 2>&1 || code=$?
  if ((code != 0)); then
    tail -n 60 "$logs/$name.log" >&2
    say "  (the end of build/logs/$name.log)" >&2
  fi
  return "$code"
}

# job_count: processors this process may use.
job_count() { nproc; }

# run COMMAND...: shows the command, so that it can be repeated by hand, and runs it.
run() {
  say "\$ $*"
  "$@"
}
