#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Where switch records are not to be had the program runs and is measured as ever, and the summary says what is
# missing and why: no permission, no such call, few descriptors.
. "$(dirname -- "$0")/expect.sh"
refuse=$HPCT_BIN/../tests/refuse

for error in 1 13 38; do
	"$refuse" $error true || skip "no seccomp filters here"
	"$refuse" $error hpct-record -o refused$error.hpct --summary summary$error -- "$samples/waits" sleep >reading
	same "errno $error: exit code" 0 "$?"
	same "errno $error: interrupted calls" 0 "$(awk '$1 == "interrupted" { print $2 }' reading)"
	same "errno $error: processes without switch records" 1 "$(info refused$error switches_refused)"
	check "errno $error: samples" [ "$(sample_count refused$error)" -ge 2 ]
	check "errno $error: the summary says so: $(cat summary$error)" grep -q '^blocked time is not known in 1 process' summary$error
done
check "EACCES names the setting" grep -q perf_event_paranoid summary13

# Kernels as old as those that are in use, by their lack of system calls: 436 is close_range, Linux 5.9; before 5.3 (434,
# pidfd_open) a program runs, unmeasured. Whoever reads what it prints is not kept waiting, nor does anything stay behind.
measured() { # NUMBER : of the first call that is refused; what the end of a pipe got
	timeout -s KILL 120 "$refuse" "38:$1" hpct-record -o "old$1.hpct" --summary "summary$1" -- sh -c 'echo out; exit 3' 2>"err$1" | cat
	echo "${PIPESTATUS[0]}"
}
same "Linux before 5.9" "out 3" "$(measured 436 | tr '\n' ' ' | sed 's/ $//')"
check "Linux before 5.9: samples" [ "$(sample_count old436)" -ge 2 ]
same "Linux before 5.3" "out 3" "$(measured 434 | tr '\n' ' ' | sed 's/ $//')"
code "strictly" 125 "$refuse" 38:434 hpct-record --strict -o strict434.hpct -- true
check "Linux before 5.3: why it is not measured: $(cat err434)" grep -q 'Linux 5.3' err434

# With few descriptors the program is measured, and what it can open is what it could.
cat >open.sh <<'END'
n=0
for fd in $(seq 3 200); do { eval "exec $fd</dev/null"; } 2>/dev/null && n=$((n + 1)); done
echo $n
END
for limit in 8 16 64; do
	bare=$(bash -c "ulimit -Sn $limit; exec bash open.sh")
	measured=$(bash -c "ulimit -Sn $limit; exec hpct-record -o few$limit.hpct -- bash open.sh")
	same "$limit descriptors: opened by the program" "$bare" "$measured"
	check "$limit descriptors: samples" [ "$(sample_count few$limit)" -ge 1 ]
	echo "$limit descriptors: without switch records $(info few$limit switches_refused)"
done
for limit in 16 18 22; do
	bash -c "ulimit -Sn $limit; exec hpct-record -o named.hpct --summary summary -- '$samples/phases' 0.1" >/dev/null
	hpct-profile named.hpct --view flat --format tsv >flat # grep -q would end it early
	grep -q 'phases\.c' flat ||
		check "$limit descriptors: frames without names are told: $(cat summary)" grep -q 'hpct-names RUN' summary
	rm -rf named.hpct
done
record probe -- true || fail "true does not end well"
if [ "$(info probe switches_refused)" = 0 ]; then
	same "64 descriptors: switch records are there" 0 "$(info few64 switches_refused)"
else
	echo "the kernel allows no switch records here: $(info probe switches_refused)"
fi

# Without the calls that block signals (14) or tell processes apart (39) no sample would find its thread:
# the program runs unmeasured, and nothing is signalled that is not ours; one that refuses them to itself is measured up to there.
for number in 14 39; do
	same "refused $number: output and exit code" "out 3" "$("$refuse" 1=$number hpct-record -o without$number.hpct -- sh -c 'echo out; exit 3' 2>err | tr '\n' ' '; echo "${PIPESTATUS[0]}")"
	check "refused $number: why it is not measured: $(cat err)" grep -q 'seccomp filter refuses' err
	code "refused $number: strictly" 125 "$refuse" 1=$number hpct-record --strict -o strict$number.hpct -- true
	record within$number -- "$refuse" 1=$number sh -c 'exit 3'
	same "refused within, $number: exit code" 3 "$?"
	same "refused within, $number: unmonitored threads" 1 "$(info within$number threads_unmonitored)"
done
