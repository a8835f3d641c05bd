#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# More processes at once than the collector may have descriptors for: it goes on, measures those that it has room for,
# and accounts for the others. Without a limit, all are measured.
. "$(dirname -- "$0")/expect.sh"
cat >many.sh <<'END'
exec 8<>never 9<>gate
for ((i = 0; i < 60; i++)); do
	(read -r line <&9) &
done
read -r -t 1 line <&8
for ((i = 0; i < 60; i++)); do
	echo "$i" >&9
done
wait
END
mkfifo gate never
pids_of() { # RUN
	hpct-info "$1.hpct" --streams --format tsv | tsv '$c["kind"] == "cpu" { print $c["pid"] }' | sort -u | wc -l
}

# May who runs this pass on more descriptors than the limit? With CAP_SYS_RESOURCE or CAP_SYS_ADMIN, of the machine. Of others the
# kernel refuses what is on its way beyond it, and the collector does not hear of such a process.
passes_on() {
	[ $((16#$(awk '$1 == "CapEff:" { print $2 }' /proc/self/status) & 0x1200000)) -ne 0 ] &&
		grep -qE '^ *0 +0 +4294967295$' /proc/self/uid_map
}

for limit in 40 48 64; do
	code "limit $limit" 0 bash -c 'ulimit -n "$0"; exec hpct-record -o "few$0.hpct" -- bash many.sh' "$limit"
	check "limit $limit: it went on to the end" [ "$(info "few$limit" state)" = complete ]
	code "limit $limit: check" 0 hpct-info "few$limit.hpct" --check
	same "limit $limit: processes that have a stream" 61 "$(pids_of "few$limit")"
	measured=$(info "few$limit" processes) others=$(info "few$limit" children_unmonitored)
	refused=$(info "few$limit" processes_refused)
	check "limit $limit: some are measured, those not yet known leave them room: $measured" [ "$measured" -ge 4 ]
	same "limit $limit: measured ($measured) and not ($others)" 61 $((measured + others))
	check "limit $limit: $refused of $others were heard" [ "$refused" -le "$others" ]
	! passes_on || same "limit $limit: all were heard" "$others" "$refused"
done

record all -- bash many.sh
same "without a limit: measured" 61 "$(info all processes)"
same "without a limit: refused" 0 "$(info all processes_refused)"

# With none left for the pipe to it, the program takes hpct-record's place: what it was to ignore it ignores.
ignoring() { bash -c 'trap "" HUP; ulimit -n 4; exec "$@"' sh "$@" grep SigIgn /proc/self/status 2>/dev/null 3>&-; }
bare=$(ignoring)
check "no descriptor: $bare" [ -n "$bare" ]
same "no descriptor: ignored signals" "$bare" "$(ignoring hpct-record -o none.hpct --)"

# With next to none the program runs, one sentence says what to do, and nothing is left of it.
mkdir -m 700 place
for limit in 4 5 6 9 10 13; do
	code "limit $limit" 7 env XDG_RUNTIME_DIR="$PWD/place" bash -c 'exec 3>&- 4>&- 5>&- 6>&-; ulimit -n "$0"; exec hpct-record -o "next$0.hpct" -- "$1"/exits return 7' \
		"$limit" "$samples"
	sentence "limit $limit"
	check "limit $limit: what to do: $(cat err)" grep -q 'ulimit -n' err
	check "limit $limit: no empty run" [ ! -e "next$limit.hpct" ]
	nothing_left() { [ -z "$(find place/hpct -mindepth 1 -type d)" ]; }
	check "limit $limit: nothing is left: $(find place/hpct -type d)" await nothing_left
done
