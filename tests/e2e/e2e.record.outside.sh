#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Measuring from outside, the awkward cases: processes that end while they are attached to, a storm of children, many
# attachments one after the other to one program that looks for what they do to it; a control group.
. "$(dirname -- "$0")/expect.sh"
need gcc
gcc -O1 -g -fomit-frame-pointer -o attached "$HPCT_SOURCE/tests/e2e/attached.c" -pthread || skip "attached.c is not built"
unchanged='interrupted 0, foreign signals 0, at work 1'
start() { # OUTPUT : ./attached; $pid
	./attached >"$1" &
	pid=$!
	await has_both
}
has_both() { [ "$(ls "/proc/$pid/task" | wc -l)" -eq 2 ]; }
ends() { # OUTPUT : as it would alone
	local code=0
	kill -USR1 "$pid"
	wait "$pid" || code=$?
	same "$1: exit code" 7 "$code"
	same "$1: output" "$unchanged" "$(cat "$1")"
}
state() { # of $pid
	ls "/proc/$pid/task" | wc -l
	ls -l "/proc/$pid/fd" | awk '{ print $9, $10, $11 }'
	cut -d' ' -f1-5 "/proc/$pid/maps"
	grep -E '^(Sig|Shd|Tracer|Seccomp)' "/proc/$pid/status" | grep -v SigQ
}

start probe.out
hpct-record -p "$pid" -o probe.hpct --for 100ms 2>err || { grep -q forbidden err && skip "$(cat err)"; }
rm -rf probe.hpct

# In a root file system without /sys, as chroot makes one: every processor is measured, the last one, too.
if unshare -m mount -t tmpfs none /sys 2>/dev/null && command -v taskset >/dev/null; then
	last=$(($(getconf _NPROCESSORS_ONLN) - 1))
	for thread in /proc/"$pid"/task/*; do taskset -cp "$last" "${thread##*/}" >/dev/null; done
	unshare -m sh -c 'mount -t tmpfs none /sys && exec "$@"' - hpct-record -o bare.hpct --overwrite -p "$pid" 2>err &
	recorder=$!
	await sampled bare 5 || fail "without /sys, on processor $last: no samples"
	kill -INT "$recorder"
	wait "$recorder"
	for thread in /proc/"$pid"/task/*; do taskset -cp "0-$last" "${thread##*/}" >/dev/null; done
fi

# Again and again: nothing adds up in the program.
state >before
for i in {1..25}; do
	hpct-record -p "$pid" -o "again$i.hpct" --for 10ms 2>err || fail "attachment $i: $(cat err)"
done
state >after
same_file "the program after 25 attachments" before after
hpct-record -p "$pid" -o last.hpct -e CPUTIME@f500 2>err &
recorder=$!
await sampled last 50 || fail "the last attachment has no samples: $(cat err)"
kill -INT "$recorder"
wait "$recorder" || fail "the last attachment: $(cat err)"
ends probe.out
rm -rf again*.hpct

# One that ends in between: a run, or one sentence and none.
for i in {1..20}; do
	sh -c 'i=0; while [ $i -lt '"$((i * 300))"' ]; do i=$((i + 1)); done' &
	victim=$!
	got=0
	hpct-record -p "$victim" -o "ends$i.hpct" 2>err || got=$?
	case $got in
	0) check "ends $i: --check" hpct-info "ends$i.hpct" --check >/dev/null ;;
	125)
		sentence "ends $i"
		[ ! -e "ends$i.hpct" ] || fail "ends $i: a run is left behind"
		;;
	*) fail "ends $i: exit code $got: $(cat err)" ;;
	esac
	wait "$victim"
done

# A storm of children: the recorder keeps up, and each that did something is there.
cat >forks.c <<'END'
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>
int main(void)
{
	int count = 0;
	for (; access("over", F_OK) || count < 1000; count++) {
		int child = fork();
		if (!child)
			_exit(0);
		if (child < 0 || waitpid(child, NULL, 0) != child)
			return 1;
	}
	return 0;
}
END
gcc -O1 -o forks forks.c
./forks &
pid=$!
hpct-record -p "$pid" -o forks.hpct 2>err &
recorder=$!
sleep 3
touch over
code=0
wait "$pid" || code=$?
same "the program with a thousand children" 0 "$code"
code=0
wait "$recorder" || code=$?
same "its recorder" 0 "$code"
same "it says nothing but that children came too fast" "" "$(grep -v 'processes were not measured: they came by the hundred' err)"
same "its run is complete" complete "$(info forks state)"
check "its run: --check" hpct-info forks.hpct --check >/dev/null

# A control group, for who may make one.
group=hpct-e2e-$$
for mount in /sys/fs/cgroup/unified /sys/fs/cgroup; do
	[ -e "$mount/cgroup.controllers" ] && mkdir -p "$mount/$group/below" 2>/dev/null && break
done
if [ -d "$mount/$group/below" ]; then
	start one.out
	one=$pid
	start two.out
	two=$pid
	start outside.out
	if echo "$one" >"$mount/$group/cgroup.procs" && echo "$two" >"$mount/$group/below/cgroup.procs"; then
		code=0
		hpct-record --cgroup "$mount/$group" -o group.hpct -e CPUTIME@f500 2>err &
		recorder=$!
		both_there() {
			same_pids=$(hpct-info group.hpct --streams --format tsv 2>/dev/null | tsv '$c["kind"] == "cpu" && $c["samples"] > 5 { print $c["pid"] }' | sort -un | xargs)
			[ "$same_pids" = "$(printf '%s\n' "$one" "$two" | sort -n | xargs)" ]
		}
		check "the group's processes, and no other: ${same_pids-}" await both_there
		kill -INT "$recorder"
		wait "$recorder" || code=$?
		same "--cgroup: exit code: $(cat err)" 0 "$code"
		check "--cgroup: --check" hpct-info group.hpct --check >/dev/null
		code "--cgroup by its name" 0 hpct-record --cgroup "$group/below" --for 100ms -o named.hpct
		if [ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null; then
			chmod 777 .
			HOME=$work code "--cgroup of others" 125 setpriv --reuid=65534 --regid=65534 --clear-groups \
				hpct-record --cgroup "$mount/$group" --for 100ms -o foreign.hpct
			sentence "--cgroup of others"
		fi
	fi
	ends outside.out
	for pid in "$one" "$two"; do
		kill -USR1 "$pid"
		wait "$pid"
	done
	same "the group's first program" "$unchanged" "$(cat one.out)"
	rmdir "$mount/$group/below" "$mount/$group"
fi
for bad in '--cgroup no/such/group' '--cgroup / -a' '--cgroup / true'; do
	# shellcheck disable=SC2086 # words
	code "$bad" 125 hpct-record $bad
	sentence "$bad"
done
