#!/usr/bin/env bash
# lint_test.sh: every shell script of the tree passes shellcheck.
# SPDX-License-Identifier: MIT

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

if ! command -v shellcheck >/dev/null; then
  echo "SKIPPED: shellcheck is not installed"
  exit 77
fi
# By their first line, since most have no ending; *.sh are sourced parts and tests.
mapfile -t scripts < <(find . \( -name build -o -name .git -o -name node_modules \) -prune -o -type f \
  \( -name '*.sh' -o -perm -u+x -exec sh -c 'head -n 1 "$1" | grep -q "^#!.*bash"' sh {} \; \) -print | sort)
echo "checking ${#scripts[@]} scripts"
((${#scripts[@]} >= 8)) || { echo "expected at least 8" && exit 1; }
shellcheck --external-sources --source-path=. "${scripts[@]}"
