#!/usr/bin/env bash
# shellcheck_test.sh: every shell script of the tree passes shellcheck.
# SPDX-License-Identifier: MIT

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

if ! command -v shellcheck >/dev/null; then
  echo "SKIPPED: shellcheck is not installed"
  exit 77
fi
# By their first line, since most have no ending; *.sh are sourced parts and tests.
mapfile -t scripts < <({
  grep -rlI --exclude-dir=build --exclude-dir=.git --exclude-dir=node_modules '^#!.*\bbash$' .
  find scripts tests examples -name '*.sh'
} | sort -u)
echo "checking ${#scripts[@]} scripts"
((${#scripts[@]} >= 8)) || { echo "expected at least 8" && exit 1; }
shellcheck --external-sources --source-path=. "${scripts[@]}"
