#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Programs with a /tmp of their own reach the collector without its path; where the agent is out of their reach, too, their
# time is unmonitored, with command and CPU time, forked or spawned.
. "$(dirname -- "$0")/expect.sh"
unshare -m true 2>/dev/null || skip "mount namespaces are not to be had"
mkdir run && export XDG_RUNTIME_DIR=$work/run
cp "$samples/phases" there
hide='mount -t tmpfs none "$XDG_RUNTIME_DIR" &&' lose='mount -t tmpfs none "$HPCT_BIN/../lib" &&'
monitored() { # RUN : streams with samples of the program
	hpct-slice "$1.hpct" --format tsv | tsv '$c["op"] == "monitored" && $c["attributes"] ~ /command=[^,]*there/ &&
		$c["attributes"] !~ /command=(sh|unshare)/ { n++ } END { print n + 0 }'
}
record exec -- unshare -m sh -c "$hide exec ./there 0.2" >/dev/null
check "exec where the socket's path leads nowhere: it is measured" [ "$(monitored exec)" -ge 1 ]
record fork -- unshare -m sh -c "$hide ./there 0.2; true" >/dev/null
check "a child there: it is measured" [ "$(monitored fork)" -ge 1 ]
same "and none is missing" 0 "$(info fork children_unmonitored)"

# Without the agent nothing but the time is known.
cp "$samples/phases" lost
(hpct-record --summary - -o lost.hpct -- unshare -m sh -c "$lose ./lost 1; true") >/dev/null 2>err
hpct-slice lost.hpct --format tsv | tsv '$c["op"] == "unmonitored" { print $c["end_ns"] - $c["begin_ns"] "\t" $c["attributes"] }' >spans
check "a child without the agent is unmonitored: $(cat spans)" grep -q 'command=./lost 1' spans
check "its CPU time is told: $(cat spans)" grep -q 'cpu_ns=[0-9]' spans
check "coverage knows: $(info lost coverage_percent)" calc "$(info lost coverage_percent) < 90"
same "counted once" 1 "$(info lost children_unmonitored)"
check "the summary tells" grep -q '^unmonitored: 0 threads, 1 children (at least' err
same "the program's standard error is its own" 0 "$(grep -c 'cannot be preloaded' err)"

# Nobody but our user may come by the name that has no owner.
if [ "$(id -u)" -eq 0 ] && command -v python3 setpriv >/dev/null; then
	hpct-record -o live.hpct -- sleep 30 &
	await eval 'test -S run/hpct/*/s && pgrep -P $! -x sleep >pid'
	name=$(echo "$work"/run/hpct/*/s)
	setpriv --reuid 65534 --clear-groups python3 - "$name" <<'P'
import socket, sys
s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
s.settimeout(2)  # one of us who says nothing is let go after five seconds
s.connect("\0" + sys.argv[1])
try:
    data = s.recv(1)
except ConnectionError:
    data = b""
except TimeoutError:
    sys.exit(2)
sys.exit(0 if data == b"" else 1)
P
	same "another user is let go at once" 0 $?
	kill "$(cat pid)"
	wait
fi
