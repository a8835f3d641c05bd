#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Hundreds of processes at once that call exec, some in vain ahead of it (a shell tries each directory of PATH):
# the collector, late for all of them, hears their generations in order.
. "$(dirname -- "$0")/expect.sh"

for round in 1 2 3; do
	record "run$round" -- bash -c 'for ((i = 0; i < 200; i++)); do (exec dash -c "exec true") & done; wait'
	same "exit code" 0 "$?"
	same "its end" complete "$(info "run$round" state)"
	same "bash, and thrice each child" 601 "$(info "run$round" processes)"
	same "children taken for unmonitored" 0 "$(info "run$round" children_unmonitored)"
	hpct-info "run$round.hpct" --streams --format tsv | tsv '
		$c["kind"] == "cpu" { split($c["stream"], at, /[.\/]/); print at[4] " " $c["name"] }' | sort | uniq -c >streams
	same "generations" "201 0 bash, 200 1 dash, 200 2 true" "$(sed 's/^ *//' streams | paste -sd, | sed 's/,/, /g')"
	code "check" 0 hpct-info "run$round.hpct" --check
done
