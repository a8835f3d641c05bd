#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installed below DESTDIR and moved elsewhere, the programs find each other and the agent.
. "$(dirname -- "$0")/expect.sh"
DESTDIR=$work/stage cmake --install "$HPCT_BIN/.." --prefix /opt/hpct >log 2>&1 || fail "install: $(tail -n 3 log)"
mv stage/opt/hpct moved
for program in hpct hpct-record hpct-info hpct-profile hpct-stats hpct-slice hpct-stacks hpct-import hpct-export \
	hpct-view hpct-names hpct-blame; do
	check "$program is installed" [ -x "moved/bin/$program" ]
	check "its man page is installed" [ -f "moved/share/man/man1/$program.1" ]
done
PATH=$work/moved/bin:/usr/bin:/bin
record moved-run -- "$samples/exits" return 3 0.2
same "exit code" 3 "$?"
near "weights" 0.2e9 "$(weight_sum moved-run)" 12e6
near "names" 100 "$(share moved-run spend)" 10
same "hpct finds its verbs" "$(hpct-info moved-run.hpct)" "$(hpct info moved-run.hpct)"
