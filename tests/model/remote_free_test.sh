#!/usr/bin/env bash
# remote_free_test.sh: checks docs/models/remote_free.pml exhaustively, and that every mutant of it
# is caught. Usage: remote_free_test.sh MODEL.pml. Exit code 77, "skipped", where spin is missing.
# SPDX-License-Identifier: MIT
set -euo pipefail
model=$(realpath "$1")
for tool in spin gcc; do
  command -v "$tool" > /dev/null || { echo "SKIP: $tool is not installed (apt-get install spin gcc)"; exit 77; }
done
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

# verdict OPTIONS...: "errors: N" of a complete search, or the first violation.
verdict() {
  spin "$@" -a "$model" > spin.log || { cat spin.log; exit 1; }
  gcc -O1 -DSAFETY -w pan.c -o pan
  ./pan -m20000 > pan.log
  if grep -q "max search depth too small\|out of memory" pan.log; then echo "incomplete"; return; fi
  grep -o "errors: [0-9]*" pan.log
}

failed=0
for options in "" "-DFREERS_MEET"; do
  found=$(verdict $options)
  echo "protocol ${options:-(one slab a freer)}: $found"
  [ "$found" = "errors: 0" ] || { failed=1; cat pan.log; }
done

mutants=$(grep -o "MUTANT_[A-Z_]*[A-Z]" "$model" | sort -u)
for mutant in $mutants; do
  caught=no
  for options in "-DFREERS_MEET" ""; do  # the smaller search first
    [ "$(verdict "-D$mutant" $options)" = "errors: 1" ] && { caught=yes; break; }
  done
  echo "$mutant caught: $caught"
  [ $caught = yes ] || failed=1
done
exit $failed
