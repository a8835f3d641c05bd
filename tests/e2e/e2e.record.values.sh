#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Counters that are read at each sample (-e a,b:value): their sums are the kernel's, by call path and over time; they
# show in lanes, plots and formulas; a program that closes every descriptor it finds loses nothing and is harmed by nothing.
. "$(dirname -- "$0")/expect.sh"
tests=$HPCT_BIN/../tests

# counted RUN METRIC FUNCTION : inclusive, of the outermost row of that name
counted() {
	hpct-profile "$1.hpct" --format tsv | tsv '$c["name"] == "'"$3"'" { print $c["'"$2"':incl"]; exit }'
}

code "values" 0 hpct-record -o faults.hpct --summary summary -e CPUTIME@1000 -e page-faults,minor-faults:value,task-clock:value \
	-- "$tests/faults" 20000
! grep -q 'not counted' err summary || skip "no counters here: $(grep -h 'not counted' err summary | head -n 1)"
all=$(counted faults page-faults '<program root>')
near "a page fault for each page that is touched" 20000 "$(counted faults page-faults touch)" 500
if command -v perf >/dev/null && perf stat -x, -o stat -e page-faults -- "$tests/faults" 20000 >/dev/null 2>&1; then
	near "to 2 %, what perf stat counts" "$(sed -n 's/,.*page-faults.*//p' stat)" "$all" 400
fi
near "the same by the event beside it" "$all" "$(counted faults minor-faults '<program root>')" 20
near "task-clock is the CPU time" "$(counted faults CPUTIME '<program root>')" "$(counted faults task-clock '<program root>')" 20000000
same "its unit" ns "$(hpct-info faults.hpct --metrics --format tsv | tsv '$c["metric"] == "task-clock" { print $c["unit"] }')"
same "values in one list are read together" "$(hpct-slice faults.hpct --format tsv |
	tsv '$c["metric"] == "page-faults" { print $c["begin_ns"] }' | sort -u | wc -l)" \
	"$(hpct-slice faults.hpct --format tsv | tsv '$c["metric"] == "minor-faults" { print $c["begin_ns"] }' | sort -u | wc -l)"
same "without turns the whole time" "$(info faults values_enabled_ns)" "$(info faults values_running_ns)"
weights_agree faults
code "check" 0 hpct-info faults.hpct --check

# As a column of one's own, by names.
hpct-profile faults.hpct --metric 'per_ms = 1e6 * ${page-faults:incl} / ${task-clock:incl}' --format tsv >rates
check "a formula by names: $(head -n 2 rates | cut -c1-200)" calc "$(tsv '$c["name"] == "touch" { print $c["per_ms"]; exit }' <rates) > 10"
code "a name that is not there" 2 hpct-profile faults.hpct --metric 'x = ${nothing}'
sentence "a name that is not there"

# Over time.
code "plot" 0 hpct-plot faults.hpct page-faults --width 30 --format tsv
check "rates" calc "$(tsv '$c["mean"] > m { m = $c["mean"] } END { printf "%.0f", m }' <out) > 10000"
hpct-view faults.hpct --print 100x24 --lanes page-faults >screen || fail "no lane"
check "in a lane: $(grep page-fault screen)" grep -qE '^page-faul.* [0-9.]+[KM]? ' screen

# Threads, forks, and what may not be read.
code "threads" 0 hpct-record -o threads.hpct -e task-clock:value -- "$samples/threads8" 0.05
check "each thread counts for itself" [ "$(hpct-info threads.hpct --streams --format tsv |
	tsv '$c["values"] > 0 && $c["kind"] == "cpu" { n++ } END { print n + 0 }')" -ge 8 ]
near "and all of its time" 1 "$(hpct-profile threads.hpct --format tsv | tsv 'NR == 2 { print $c["task-clock:incl"] / $c["CPUTIME:incl"] }')" 0.1
ls /proc/self/fd >bare
code "a descriptor that is not one of the first" 0 hpct-record -o numbers.hpct -e page-faults:value -- ls /proc/self/fd
same "programs' own numbers" "$(sort bare | paste -sd' ')" "$(grep -v '^5[0-9][0-9]$' out | sort | paste -sd' ')"
cat >closes.py <<'EOF'
import os, time
os.closerange(3, 1024)
held = [os.open("/dev/zero", os.O_RDONLY) for _ in range(3)]
pipe = [os.pipe() for _ in range(300)]
for end in pipe:
    os.write(end[1], b"hello")
until = time.process_time() + 0.3
while time.process_time() < until:
    bytearray(1 << 20)
print(all(os.read(end[0], 5) == b"hello" for end in pipe))
EOF
if command -v python3 >/dev/null; then
	code "a program that closes all it has" 0 hpct-record -o closes.hpct -e page-faults:value -- python3 closes.py
	same "its pipes, which have our number now, are untouched" True "$(cat out)"
	code "fork" 0 hpct-record -o fork.hpct -e task-clock:value -- python3 -c '
import os, time
pid = os.fork()
t = time.process_time() + 0.1
while time.process_time() < t: pass
if pid: os.waitpid(pid, 0)'
	same "parent and child" 2 "$(hpct-info fork.hpct --streams --format tsv | tsv '$c["values"] > 0 && $c["kind"] == "cpu" { n++ } END { print n + 0 }')"
fi
code "too many lists" 125 hpct-record -e cs:value -e page-faults:value -e minor-faults:value -e major-faults:value -e cpu-migrations:value true
sentence "too many lists"
if hpct-record -L | grep -q '^cycles.*not available here: '; then
	code "what this machine has not" 0 hpct-record -o none.hpct -e cycles,page-faults:value -- "$tests/faults" 2000
	check "is said: $(cat err)" grep -q '^hpct-record: cycles is not counted: ' err
	check "the rest of the list is read" calc "$(counted none page-faults '<program root>') > 1000"
fi

# More threads than the child of a fork can close descriptors for: those beyond are not counted, and said to be.
cat >crowd.c <<'END'
#include <dirent.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
static pthread_barrier_t here, done;
static void *wait_for_end(void *nothing)
{
	pthread_barrier_wait(&here);
	pthread_barrier_wait(&done);
	return nothing;
}
static int events(void)
{
	DIR *all = opendir("/proc/self/fd");
	struct dirent *entry;
	char link[64];
	int count = 0;

	while ((entry = readdir(all))) {
		ssize_t size = readlinkat(dirfd(all), entry->d_name, link, sizeof(link));

		count += size > 0 && memmem(link, (size_t)size, "[perf_event]", 12);
	}
	return count;
}
int main(void)
{
	pthread_t thread;

	pthread_barrier_init(&here, 0, 301);
	pthread_barrier_init(&done, 0, 301);
	for (int i = 0; i < 300; i++)
		if (pthread_create(&thread, 0, wait_for_end, 0))
			return 1;
	pthread_barrier_wait(&here);
	printf("%d\n", events());
	fflush(stdout);
	if (!fork()) {
		printf("%d\n", events());
		fflush(stdout);
		_exit(0);
	}
	wait(0);
	pthread_barrier_wait(&done);
	return 0;
}
END
if command -v cc >/dev/null && [ "$(ulimit -n)" -ge 1000 ]; then
	cc -D_GNU_SOURCE -pthread crowd.c -o crowd || fail "crowd.c does not compile"
	code "300 threads" 0 hpct-record -o crowd.hpct --summary crowd.txt -e page-faults:value -- ./crowd
	same "descriptors of parent and child" "256 1" "$(xargs <out)"
	check "is said: $(cat crowd.txt)" grep -q '^not counted: page-faults (' crowd.txt
fi

# Nothing is counted while sampling is off, in a thread that was there before, or is born then.
cat >off.c <<'END'
#include <pthread.h>
#include <stdio.h>
#include <sys/mman.h>
#include <time.h>
#include "record/program/hpct.h"
static void pages(int n)
{
	while (n--) {
		char *page = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		page[0] = 1;
		munmap(page, 4096);
	}
}
static void *born(void *nothing)
{
	pages(50000);
	hpct_start();
	pages(10000);
	return nothing;
}
int main(void)
{
	pthread_t thread;

	pages(10000);
	hpct_stop();
	pages(50000);
	pthread_create(&thread, 0, born, 0);
	pthread_join(thread, 0);
	pages(10000);
	return 0;
}
END
if command -v cc >/dev/null; then
	cc -pthread -I"$HPCT_SOURCE" off.c -o off || fail "off.c does not compile"
	code "off" 0 hpct-record -o off.hpct -e page-faults,task-clock:value -- ./off
	near "the pages that were touched while it was on" 30000 "$(counted off page-faults '<program root>')" 3000
	code "off from the begin" 0 hpct-record -ds -o delayed.hpct -e page-faults,task-clock:value -- ./off
	near "the pages after the start" 20000 "$(counted delayed page-faults '<program root>')" 2000
fi
