#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What expect.sh promises of every test: what does not hold fails it wherever that stands, also where the test ends early;
# a skip hides no failure; nothing is left behind.
. "$(dirname -- "$0")/expect.sh"
mkdir tmp
# ends SENTENCE CODE LINE... : a test of these lines ends so
ends() {
	local sentence=$1 want=$2
	shift 2
	printf '%s\n' ". '$HPCT_SOURCE/tests/e2e/expect.sh'" "$@" >planted.sh
	code "$sentence" "$want" env TMPDIR="$work/tmp" bash planted.sh
	same "$sentence: left" "" "$(ls tmp)"
}
ends "all holds" 0 'check yes true' '! false'
ends "a check" 1 'check no false' true
ends "a check in a subshell" 1 '(check no false)' true
ends "a check at the end of a pipe" 1 'echo | while read -r; do same no a b; done' true
ends "a check in a substitution" 1 'echo "$(code no 1 true)"'
ends "a skip" 77 'skip why'
ends "a skip behind a failure" 1 'fail first' 'skip why'
ends "a skip behind a failure in a subshell" 1 '(fail first)' 'skip why'
# shellcheck disable=SC2016
ends "a variable that is not set" 1 'echo "$nowhere"' true
ends "a folder that is not there" 1 'cd nowhere 2>/dev/null || exit 1' true
ends "no line of a shell's" 1 'true' 'if then'
ends "a command of a test that wants all to succeed" 1 'set -e' false true
ends "something to undo" 0 'undo="echo undone; false"' true
check "it is undone" grep -qx undone out
