#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# hpct-doctor: its output contract, and that it sees what is taken away from it. What it says of this machine holds:
# switch records are there exactly when it says so.
. "$(dirname -- "$0")/expect.sh"

# row CAPABILITY COLUMN : of ./rows
row() {
	tsv '$c["capability"] == "'"$1"'" { print $c["'"$2"'"] }' <rows
}

examine() { # SENTENCE COMMAND... : into ./rows; the exit code must be the one that the rows deserve
	local sentence=$1 got=0 want
	shift
	"$@" hpct-doctor --format tsv >rows 2>err || got=$?
	want=$(tsv '
		$c["state"] == "no" && $c["capability"] ~ /^(agent|a recording|C library|CPU timer|shared memory|handshake)$/ { code = 3 }
		$c["state"] ~ /^(no|partly)$/ && !code { code = 1 }
		END { print code + 0 }' <rows)
	same "$sentence: exit code" "$want" "$got"
	check "$sentence: says nothing on stderr: $(head -n 1 err)" [ ! -s err ]
	check "$sentence: what is not so has a reason and a remedy" \
		tsv '$c["reason"] == "" || ($c["state"] ~ /^(no|partly)$/ && $c["remedy"] == "") { bad = 1 } END { exit bad }' <rows
}

examine "here" env
same "columns" "capability state reason remedy" "$(head -n 1 rows | tr '\t' ' ')"
for capability in programs agent libraries 'a recording' 'CPU timer' perf_event_paranoid 'high rates (sigtrap)' 'switch records' seccomp descriptors \
	'shared memory' /dev/shm 'perf ring memory' 'reading hung threads' CUDA CUPTI 'Level Zero' OpenCL debuginfod terminal \
	'this folder' 'disk space' 'C library' libpfm4 PAPI; do
	check "a row for $capability" [ -n "$(row "$capability" state)" ]
done
same "agent" yes "$(row agent state)"
for capability in programs libraries 'a recording'; do
	same "$capability" yes "$(row "$capability" state)"
done
record true -- true || fail "true"
same "switch records, as a recording has them" "$([ "$(info true switches_refused)" = 0 ] && echo yes || echo no)" \
	"$(row 'switch records' state)"
switches=$(row 'switch records' state)

# What the agent was built without is not said to be there.
while IFS='|' read -r capability words; do
	[ "$(row "$capability" state)" != none ] || continue
	left_out=$(grep -c "hpct was built without $words" "$HPCT_BIN/../lib/hpct/hpct-agent.so")
	same "$capability: what the agent was built with" "$left_out" "$(row "$capability" reason | grep -c 'built without')"
done <<'END'
OpenCL|OpenCL's headers
Level Zero|Level Zero's headers
CUPTI|CUPTI's headers
END

hpct-doctor --format json >json
same "JSON: rows" "$(wc -l <rows)" "$(wc -l <json)"
[ ! -x /usr/bin/python3 ] || /usr/bin/python3 -c '
import json
rows = [json.loads(line) for line in open("json")]
assert rows[0] == {"schema": "hpct-doctor", "version": 1}, rows[0]
assert all(list(row) == ["capability", "state", "reason", "remedy"] for row in rows[1:])' || fail "JSON"
hpct-doctor >table
check "the table leaves out what is not here" [ "$(grep -c '^[^ ]' table)" -lt "$(wc -l <rows)" ]
same "hpct doctor" "$(wc -l <table)" "$(hpct doctor | wc -l)"

examine "64 descriptors" bash -c 'ulimit -n 64; exec "$@"' -
same "64 descriptors" partly "$(row descriptors state)"
examine "60 descriptors at most" bash -c 'ulimit -n 60; exec "$@"' -
check "60 descriptors at most: not to be lifted by ulimit: $(row descriptors remedy)" grep -q limits.conf <(row descriptors remedy)
examine "limited memory" bash -c 'ulimit -v 4000000; exec "$@"' -
same "limited memory" partly "$(row 'memory limits' state)"
examine "no perf events" "$HPCT_BIN/../tests/refuse" 1
same "no perf events: switch records" no "$(row 'switch records' state)"
same "no perf events: a filter" partly "$(row seccomp state)"
same "no perf events: the timer stays" yes "$(row 'CPU timer' state)"
# It is capabilities where a user's rights end that count: root of a container has few, and others may have one.
paranoid=$(cat /proc/sys/kernel/perf_event_paranoid 2>/dev/null)
nobody=(setpriv --reuid=65534 --regid=65534 --clear-groups)
bound() { # SENTENCE COMMAND... : paranoid binds what it starts, and is what would lift that
	examine "$@"
	same "$1: the level" partly "$(row perf_event_paranoid state)"
	for capability in 'kernel frames' 'paths of all waits'; do
		same "$1: $capability" 'no sysctl kernel.perf_event_paranoid=1' \
			"$(row "$capability" state) $(row "$capability" remedy)"
	done
	check "$1: its pinned memory is bound: $(row 'perf ring memory' reason)" \
		grep -qv 'does not apply' <(row 'perf ring memory' reason)
}
if [ "$paranoid" = 2 ] && [ "$switches" = yes ]; then
	unshare -Ur true 2>/dev/null && bound "root of a user namespace" unshare -Ur
	[ "$(id -u)" -ne 0 ] || bound "root without capabilities" setpriv --bounding-set=-all --inh-caps=-all
	if "${nobody[@]}" --inh-caps=+perfmon --ambient-caps=+perfmon "$HPCT_BIN/hpct-doctor" --format tsv >rows 2>err; [ -s rows ]; then
		same "a user with the capability" yes "$(row perf_event_paranoid state)"
	fi
fi
examine "one processor" taskset -c "$(taskset -cp $$ | sed 's/.*: //; s/[-,].*//')"
same "one processor" partly "$(row processors state)"
if [ "$(id -u)" -ne 0 ]; then
	mkdir closed && chmod 555 closed
	(cd closed && hpct-doctor --format tsv) >rows
	same "a folder that cannot be written" no "$(row 'this folder' state)"
fi
# What it claims of hpct, it has tried: an installation that lacks something.
mkdir -p set/bin set/lib/hpct tmp
cp "$HPCT_BIN"/hpct* set/bin/
cp "$HPCT_BIN"/../lib/hpct/*.so set/lib/hpct/
with() { # SENTENCE COMMAND : hpct-doctor of the set, after the command
	eval "$2"
	examine "$1" env TMPDIR="$work/tmp" "PATH=$work/set/bin:$PATH"
}
rows_say() { # SENTENCE CAPABILITY STATE WORDS
	same "$1: $2" "$3" "$(row "$2" state)"
	check "$1: $2 names it: $(row "$2" reason)" grep -qF -- "$4" <(row "$2" reason)
}
with "all there" true
rows_say "all there" programs yes "all $(ls set/bin/hpct* | grep -cv simulate) start"
same "all there: its recording is gone" "" "$(ls tmp)"
with "a missing program" "mv set/bin/hpct-diff kept"
rows_say "a missing program" programs partly hpct-diff
with "a program of another kind" "printf '#!/bin/sh\necho hpct-diff 0.0.1\n' >set/bin/hpct-diff; chmod +x set/bin/hpct-diff"
rows_say "a program of another version" programs no "hpct-diff: it is of another version"
with "a program without its library" "printf '#!/bin/sh\necho \"hpct-diff: error while loading shared libraries: libgone.so.0: no such file\" >&2; exit 127\n' >set/bin/hpct-diff"
rows_say "a program without its library" programs no libgone.so.0
mv kept set/bin/hpct-diff
with "a broken plug-in" "echo nonsense >set/lib/hpct/hpct-agent-papi.so"
rows_say "a broken plug-in" libraries partly hpct-agent-papi.so
rm set/lib/hpct/hpct-agent-papi.so
with "a broken agent" "echo nonsense >set/lib/hpct/hpct-agent.so"
rows_say "a broken agent" agent no hpct-agent.so
same "a broken agent: a recording" no "$(row 'a recording' state)"
cp "$HPCT_BIN/../lib/hpct/hpct-agent.so" set/lib/hpct/

code "no such option" 2 hpct-doctor --nonsense
sentence "no such option"
code "no such format" 2 hpct-doctor --format xml
sentence "no such format"
code "an operand" 2 hpct-doctor run.hpct
sentence "an operand"
[ ! -w /dev/full ] || { hpct-doctor >/dev/full 2>/dev/null; same "a full disk" 5 "$?"; }
