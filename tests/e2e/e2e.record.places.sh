#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Places where programs run, and names that they have: output and exit code as ever, and a measured run or one sentence.
. "$(dirname -- "$0")/expect.sh"
need gcc unshare setpriv
cat >works.c <<'END'
#include <stdio.h>
#include <sys/resource.h>
static volatile unsigned long x;
static long spent(void) { struct rusage u; getrusage(RUSAGE_SELF, &u); return u.ru_utime.tv_sec * 1000 + u.ru_utime.tv_usec / 1000; }
int main(int argc, char **argv)
{
	while (spent() < 100)
		for (int i = 0; i < 100000; i++)
			x += i;
	printf("worked %d\n", argc);
	return 7;
}
END
gcc -O1 -w -o works works.c || fail "works.c"
chmod 755 "$work"
measured() { # RUN : it is, all of it
	same "$1: the run" complete "$(info "$1" state)"
	same "$1: children that were not measured" 0 "$(info "$1" children_unmonitored)"
	check "$1: no samples" [ "$(sample_count "$1")" -ge 1 ]
}
place() { # RUN PROGRAM... : measured, nothing said
	code "$1" 7 record "$@"
	same "$1: stdout" "worked 1" "$(cat out)"
	same "$1: stderr" "" "$(cat err)"
	measured "$1"
}

# Names and arguments.
name=$(printf 'w\n\033[31mred\033[0m \t"x')
cp works "./$name" && cp works ./-w
place name "./$name"
check "name: its control bytes come out of a reader" [ "$(hpct-info name.hpct | tr -d '\n\t' | LC_ALL=C grep -c '[[:cntrl:]]')" -eq 0 ]
place dash ./-w
long=$(head -c 120000 /dev/zero | tr '\0' a)
record arguments -- ./works "$long" "$long" "$long" >out
same "arguments: exit code" 7 "$?"
same "arguments: stdout" "worked 4" "$(cat out)"
measured arguments

# Without a home; with a shell that is not the system's.
HOME='' XDG_CACHE_HOME='' place homeless env -u HOME -u TMPDIR -u XDG_RUNTIME_DIR ./works
if command -v busybox >/dev/null; then
	place busybox busybox sh -c './works; exit $?'
	place ash busybox ash -c './works | cat; ./works >/dev/null & wait $!'
fi
if unshare -Ur true 2>/dev/null; then
	place user unshare -Ur ./works
fi
if ! unshare -m mount -t tmpfs none /mnt 2>/dev/null; then
	echo "nothing can be mounted here: not root"
	exit
fi

# Mounts of one's own: no /tmp that can be written to, other users' processes hidden, a directory for reading.
inside() { # RUN SCRIPT [WORD...] : hpct-record, by WORDs, in a mount namespace that SCRIPT makes
	local run=$1 script=$2
	shift 2
	code "$run" 7 unshare -m sh -c "$script"'; exec "$@"' sh "$@" hpct-record -o "$work/runs/$run.hpct" -- ./works
	same "$run: stdout" "worked 1" "$(cat out)"
	same "$run: stderr" "" "$(cat err)"
	[ ! -d "runs/$run.hpct" ] || mv "runs/$run.hpct" .
	measured "$run"
}
mkdir runs && chmod 777 runs
inside temporary 'mount --bind /tmp /tmp; mount --bind "$PWD/runs" "$PWD/runs"; mount -o remount,ro,bind /tmp'
inside reading 'mkdir ro; cp works ro; mount --bind ro ro; mount -o remount,ro,bind ro; cd ro'
user="setpriv --reuid=65534 --regid=65534 --clear-groups env -u XDG_RUNTIME_DIR -u XDG_CACHE_HOME HOME=/"
if $user test -x "$HPCT_BIN/hpct-record"; then
	# shellcheck disable=SC2086
	inside hidden 'mount -t proc -o hidepid=2 proc /proc' $user
fi
code "unmade" 7 unshare -m sh -c 'mkdir -p ro; mount --bind ro ro; mount -o remount,ro,bind ro; cd ro; exec hpct-record ../works'
same "unmade: stdout" "worked 1" "$(cat out)"
sentence "unmade"
check "unmade: it does not say why: $(cat err)" grep -q 'cannot make the run' err

# Without /proc: measured, with switches and names, as elsewhere.
inside proc 'umount -l /proc'
check "no /proc: time in main, by its name" calc "$(share proc main) > 50"
same "no /proc: switch records" 0 "$(info proc switches_refused)"
check "no /proc: what is not known is not told otherwise" grep -q 'perf_event_paranoid.*not known: /proc is not mounted' \
	<(unshare -m sh -c 'umount -l /proc; exec hpct-doctor')

# As many processes as the program needs, and no more: it takes the place of hpct-record.
crowded() { # RUN MOST [OPTION]
	setpriv --reuid=54321 --regid=54321 --clear-groups env -u XDG_RUNTIME_DIR HOME=/ bash -c \
		'ulimit -u '"$2"'; exec hpct-record '"${3-}"' -o "$0" -- ./works' "$work/runs/$1.hpct"
}
if setpriv --reuid=54321 --regid=54321 --clear-groups test -x "$HPCT_BIN/hpct-record"; then
	for most in 1 2; do
		code "crowded by $most" 7 crowded "crowded$most" "$most"
		same "crowded by $most: stdout" "worked 1" "$(cat out)"
		check "crowded by $most: what it says: $(cat err)" grep -q 'runs unmeasured: cannot start a process' err
	done
	code "crowded, and --strict" 125 crowded strict 2 --strict
	same "crowded, and --strict: stdout" "" "$(cat out)"
fi

# Another root has no agent.
mkdir root && gcc -O1 -w -static -o root/works works.c 2>/dev/null || exit 0
code "another root" 7 record root -- sh -c 'chroot root /works; exit $?'
same "another root: stdout" "worked 1" "$(cat out)"
same "another root: stderr" "" "$(cat err)"
same "another root: children that were not measured" 1 "$(info root children_unmonitored)"
