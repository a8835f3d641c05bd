#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# An ordinary user, whose perf events may not look into the kernel: user code is sampled as often as asked, system calls
# get what is left, no time counts twice.
. "$(dirname -- "$0")/expect.sh"
[ "$(id -u)" -eq 0 ] || skip "only root can become another user"
need setpriv
chmod 755 "$work"
install -d -m 777 mine
as_user() {
	setpriv --reuid=65534 --regid=65534 --clear-groups env -u XDG_RUNTIME_DIR TMPDIR=/tmp HOME=/ "$@"
}
as_user test -x "$HPCT_BIN/hpct-record" || skip "another user cannot reach the build"

for rate in 1000 10000; do
	code "as a user at $rate" 0 as_user hpct-record -o "$PWD/mine/u$rate.hpct" --summary "$PWD/mine/summary" \
		-e "CPUTIME@f$rate" -e page-faults@1 -- "$samples/phases"
	cp -r "mine/u$rate.hpct" . && cat mine/summary
	weights_agree "u$rate"
done
if [ "$(info u10000 sampler)" = trap ]; then
	code "system calls" 0 as_user hpct-record -o "$PWD/mine/calls.hpct" -e CPUTIME@f10000 -- \
		dd if=/dev/zero of=/dev/null bs=4M count=6000 status=none
	cp -r mine/calls.hpct .
	weights_agree calls
	hpct-slice calls.hpct --format tsv | tsv '$c["track"] == "samples" { all += $c["weight"]
		if ($c["path"] ~ /;(read|__libc_read|__GI___libc_read|__read)[^;]*$/) it += $c["weight"] }
		END { printf "%.1f %% in read\n", all ? 100 * it / all : 0; exit !(it > 0.7 * all) }' ||
		fail "time in system calls went elsewhere"
fi

# Waits for pages trap for everybody; those in system calls of the program's own need a look into the kernel.
chmod 755 . && dd if=/dev/urandom of=file bs=1M count=1 2>/dev/null && sync file && chmod 644 file
code "waits" 0 as_user hpct-record -o "$PWD/mine/waits.hpct" -e BLOCKTIME -e CPUTIME@f1000 -- \
	"$HPCT_BIN/../tests/kernel_frames" waits "$PWD/file"
same "waits: sleeps, none interrupted" 5 "$(cut -d ' ' -f 1 out)"
cp -r mine/waits.hpct .
hpct-slice waits.hpct --op blocked --format tsv | tsv '$c["op"] == "blocked" { print "path " $c["path"] }' >blocked
rows=$(grep -c . blocked) faults=$(grep -c '^path main;faults$' blocked)
echo "$rows waits, $faults of them for pages"
if [ "$(info waits switches_refused)" != 0 ] || [ "$(cat /proc/sys/kernel/perf_event_paranoid)" -lt 2 ]; then
	echo "no switch records here, or more than faults may trap"
elif [ "$rows" -lt 25 ]; then
	echo "hardly a page had to be waited for: the file lies in memory"
else
	# Beside them the program sleeps five times, and is started.
	check "faults have the path of the code that met them: $(sort blocked | uniq -c)" [ $((rows - faults)) -le 15 ]
	check "nothing else has it: $(sort blocked | uniq -c)" [ $((rows - faults)) -ge 5 ]
fi
