#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The agent for aarch64 in programs for aarch64, under qemu-user, recorded by the collector of this machine: threads'
# weights as they read them themselves, whole and right call paths, static programs with an agent inside.
# qemu has no perf events, no process_vm_readv and no exec of other programs for aarch64: not tried here.
. "$(dirname -- "$0")/expect.sh"
cross=${HPCT_AARCH64:-$HPCT_SOURCE/build-aarch64}
agent=$cross/lib/hpct/hpct-agent.so
[ -r "$agent" ] || skip "no build for aarch64; ./build.sh aarch64 makes one and runs this"
need qemu-aarch64-static aarch64-linux-gnu-gcc

# emulated RUN PROGRAM... : a static qemu loads no agent of this machine's, the program the one for aarch64
emulated() {
	local run=$1
	shift
	record "$run" -r -- qemu-aarch64-static -cpu max -E LD_PRELOAD="$agent" "$@"
}
cat >deep.c <<'END'
#include <stdio.h>
#include <time.h>
#include <pthread.h>
static volatile unsigned long sink;
__attribute__((noinline)) static void spin(void) { for (int i = 0; i < 300000; i++) sink += i; }
__attribute__((noipa)) static int down(int n)
{
	volatile char room[64];
	room[n % 64] = (char)n;
	if (n) {
		int below = down(n - 1);
		__asm__ volatile("" : : "r"(room) : "memory"); /* no loop is made of this */
		return below + 1;
	}
	struct timespec now;
	do {
		spin();
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	} while (now.tv_sec * 1000 + now.tv_nsec / 1000000 < 400);
	return 0;
}
static void *work(void *n) { printf("%d\n", down((int)(long)n)); return NULL; }
int main(void)
{
	pthread_t thread;
	pthread_create(&thread, NULL, work, (void *)5L);
	pthread_join(thread, NULL);
	return work((void *)3L) != NULL;
}
END
# With frame pointers, without, with signed return addresses; dynamic and static.
for how in "-O2" "-O2 -fomit-frame-pointer -mbranch-protection=pac-ret+leaf" "-O1 -static"; do
	link=
	case $how in *static*) link="$HPCT_BIN/hpct-link --agent $cross/lib/hpct" ;; esac
	# shellcheck disable=SC2086
	$link aarch64-linux-gnu-gcc $how -g -o deep deep.c -pthread || fail "$how does not compile"
	rm -rf deep.hpct
	emulated deep ./deep >out 2>err || fail "$how: exit code $?: $(cat err)"
	same "$how: output" "5 3 " "$(tr '\n' ' ' <out)"
	weights_agree deep
	hpct-slice deep.hpct --format tsv | tsv '$c["track"] == "samples" && $c["weight"] > 0 && $c["path"] ~ /down/ {
		all += $c["weight"]
		sub(/;(spin|clock_gettime).*/, "", $c["path"])
		if ($c["path"] == "main;work;down;down;down;down" ||
			$c["path"] == "<thread root>;work;down;down;down;down;down;down") whole += $c["weight"]
		else print $c["path"] >"strange" }
		END { printf "%.1f\n", all ? 100 * whole / all : 0; print all / 1e6 }' >whole
	check "$how: $(head -n 1 whole) % of the time has its whole path; else: $(sort strange 2>/dev/null | uniq -c | head -n 3)" \
		calc "$(head -n 1 whole) >= 99"
	check "$how: $(tail -n 1 whole) ms in down()" calc "$(tail -n 1 whole) > 500"
done
