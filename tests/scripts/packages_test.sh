#!/usr/bin/env bash
# packages_test.sh: what scripts/lib/packages.sh installs, when, and what it says where it may not.
#
# Method: a pretend Debian (support.sh); each test states what is installed and what the user may do.
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # the pretend commands expand their own words

set -euo pipefail
# shellcheck source=tests/scripts/support.sh
source "$(dirname "${BASH_SOURCE[0]}")/support.sh"

# everything_of GROUP...: the package names of the groups, optional ones too.
everything_of() {
  (
    # shellcheck source=scripts/lib/packages.sh
    source "$source_root/scripts/lib/packages.sh"
    for group in "$@"; do package_rows "$group"; done | sed 's/^?//; s/=.*//'
  )
}
without() { grep -vxF -- "$1"; }

test_nothing_missing_means_no_call_of_apt_get() {
  everything_of build bars checks >"$world/installed"
  packages build bars checks
  expect_code 0
  expect_output "packages: all there"
  expect_one_line
  expect_no_calls
}

test_without_rights_the_one_command_is_printed_and_the_code_is_2() {
  everything_of build | without libeigen3-dev | without zlib1g-dev >"$world/installed"
  packages build
  expect_code 2
  expect_output "sudo sh -c 'apt-get update && apt-get install -y --no-install-recommends libeigen3-dev zlib1g-dev'"
  expect_no_calls
}

test_sudo_that_wants_a_password_with_nobody_there_counts_as_no_rights() {
  everything_of build | without zlib1g-dev >"$world/installed"
  pretend sudo <<<'exit 1'
  packages build
  expect_code 2
  expect_no_calls
}

test_sudo_without_a_password_is_used() {
  everything_of build | without zlib1g-dev >"$world/installed"
  echo zlib1g-dev >"$world/known"
  pretend sudo <<<'if [[ "$1" == -n ]]; then exit 0; fi; echo "sudo $1" >>"$world/calls"; "$@"'
  packages build
  expect_code 0
  expect_call "sudo apt-get"
  expect_call "apt-get install -y --no-install-recommends zlib1g-dev"
}

test_root_installs_what_is_missing_and_a_second_call_does_nothing() {
  everything_of build | without zlib1g-dev >"$world/installed"
  echo zlib1g-dev >"$world/known"
  pretend id <<<'echo 0'
  packages build
  expect_code 0
  expect_call "apt-get update"
  expect_call "apt-get install -y --no-install-recommends zlib1g-dev"
  : >"$world/calls"
  packages build
  expect_code 0
  expect_no_calls
}

test_a_command_that_is_there_replaces_its_package() {
  everything_of build | without cmake >"$world/installed"
  pretend cmake <<<'exit 0'
  packages build
  expect_code 0
  expect_no_calls
}

test_a_removed_package_with_its_configuration_left_is_missing() {
  everything_of build | without zlib1g-dev >"$world/installed"
  pretend dpkg-query <<<'sed "s/^/ii  /" "$world/installed"; echo "rc  zlib1g-dev"'
  packages build
  expect_code 2
  expect_output zlib1g-dev
}

test_what_the_distribution_lacks_is_named_and_not_asked_for() {
  everything_of checks | without clang-14 >"$world/installed"
  packages checks
  expect_code 0
  expect_output "packages: all there but for clang-14, which this distribution does not have"
  expect_no_calls
}

test_a_failing_apt_get_is_one_clear_line_and_code_2() {
  everything_of build | without zlib1g-dev >"$world/installed"
  pretend id <<<'echo 0'
  packages build # apt does not know zlib1g-dev in this world
  expect_code 2
  expect_output "apt-get install failed"
}

test_without_apt_get_the_needed_packages_are_named() {
  rm "$world/bin/apt-get"
  packages build
  expect_code 2
  expect_output "no apt-get here"
  expect_output "libeigen3-dev"
  expect_output "DREY_SKIP_INSTALL=1"
  expect_one_line
}

test_the_step_can_be_left_out() {
  export DREY_SKIP_INSTALL=1
  packages build
  expect_code 0
  expect_output "not checked"
  expect_no_calls
}

run_all_tests
