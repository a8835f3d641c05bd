# SPDX-License-Identifier: Apache-2.0
# cells.sh - the cells of a row of docs/install.md's table, each from a recording: for matrix.sh and slurm.sh. Whoever reads it
# has a function `inside HOW COMMAND`, which runs a command of a shell where the row is about, with hpct's programs and
# $place/loop.sh, which takes a second or so, at hand.
# shellcheck shell=bash
fact() { awk -F '\t' -v key="$2" '$1 == key { print $2 }' <<<"$1"; }
cell() { if "${@:1}" 2>/dev/null; then cells+=(yes); else cells+=(no); fi; }
cells_head() {
	echo '| started as | CPU time | blocked time | paths of all waits | rates above the tick | running processes | read there |'
	echo '|---|---|---|---|---|---|---|'
}
# cells HOW : CPU time, blocked time, paths of all waits (as hpct-doctor tried it there), rates above the tick, a process
# that runs already, reading it there
cells() {
	local info doctor rate attached cells=()
	info=$(inside "$1" "hpct-record -o r --strict -- sh $place/loop.sh >/dev/null 2>&1 && hpct-view r.hpct --print 80x24 >/dev/null && hpct-profile r.hpct >/dev/null && hpct-info r.hpct --check >/dev/null && echo is_read; hpct-info r.hpct --format tsv" 2>/dev/null)
	doctor=$(inside "$1" 'hpct-doctor --format tsv' 2>/dev/null)
	rate=$(inside "$1" "hpct-record -o f -e CPUTIME@f5000 -- sh $place/loop.sh >/dev/null 2>&1 && hpct-info f.hpct --format tsv" 2>/dev/null)
	attached=$(inside "$1" "{ sh $place/loop.sh & hpct-record -o a -p \$! >/dev/null 2>&1; hpct-info a.hpct --format tsv; }" 2>/dev/null)
	cell [ "$(fact "$info" samples)" -gt 10 ]
	cell [ "$(fact "$info" switches_refused)" = 0 ]
	cell [ "$(fact "$doctor" 'paths of all waits')" = yes ]
	cell [ "$(fact "$rate" rate_got)" -gt 1000 ]
	cell [ "$(fact "$attached" samples)" -gt 10 ]
	cell grep -qx is_read <<<"$info"
	printf ' %s |' "${cells[@]}"
	echo
}
