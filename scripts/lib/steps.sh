# steps.sh: runs named steps one after the other, and says at the end how each went.
#
# step NAME COMMAND...  runs COMMAND with its output in build/logs/NAME.log, notes seconds and result;
#                       the first that fails ends the script with 1 and the command to try again
# skip NAME REASON      notes that a step does not run here
# summary               prints the table, and each skipped test with its reason
# Read next: skipped_tests.py, which finds those in the reports ctest writes.
# SPDX-License-Identifier: MIT
# shellcheck shell=bash

: "${root:?common.sh comes first}" "${logs:?}"
step_rows=()

step() {
  local name="$1" code=0 started=$SECONDS
  shift
  say "$name: $*"
  logged "$name" "$@" || code=$?
  if ((code == 0)); then
    step_rows+=("$name|$((SECONDS - started))|passed")
    return 0
  fi
  step_rows+=("$name|$((SECONDS - started))|FAILED ($code)")
  summary
  say "$name failed. To see it again: cd $root &&$(printf ' %q' "$@")" >&2
  exit 1
}

skip() {
  say "$1: SKIPPED: $2"
  step_rows+=("$1|0|SKIPPED: $2")
}

summary() {
  local row name seconds result
  printf '\n%-24s %8s  %s\n' step seconds result
  for row in "${step_rows[@]}"; do
    IFS='|' read -r name seconds result <<<"$row"
    printf '%-24s %8d  %s\n' "$name" "$seconds" "$result"
  done
  printf '%-24s %8d\n' total "$SECONDS"
  python3 "$root/scripts/lib/skipped_tests.py" "$logs"
}
