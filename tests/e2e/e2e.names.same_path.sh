#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Binaries without build ids that follow each other at one path keep their own names: built anew, moved over, written
# over, plug-ins that are loaded again, other mount namespaces. What changed before anybody saw it has none, and that is said.
. "$(dirname -- "$0")/expect.sh"
need gcc
build() { # NUMBER OUT [OPTION...] : a program whose time is all work_NUMBER's; it ends when its argument, a file, is there
	local n=$1 out=$2
	shift 2
	printf '#include <unistd.h>
		double work_%d(double x){for(long i=0;i<60000000;i++)x=x*1.0000001+%d;return x;}
		int main(int c,char**v){int r=work_%d(c)==0;while(c>1&&access(v[1],F_OK))usleep(1000);return r;}' "$n" "$n" "$n" >"$out.c"
	gcc -O1 -g -Wl,--build-id=none "$@" -o "$out" "$out.c" || fail "cannot build $out"
}
as_other() { # COMMAND... : as a user who is not root, here
	chmod 1777 .
	setpriv --reuid=65534 --regid=65534 --clear-groups env -u XDG_RUNTIME_DIR -u XDG_CACHE_HOME TMPDIR=/tmp HOME=/ "$@"
}
names() { # RUN : functions of the program that have half a tenth of its time at least
	hpct-stats "$1.hpct" --format tsv | tsv '
		$c["key"] ~ /^(work|inner)_[0-9]$/ || $c["key"] ~ /\+0x/ { if ($c["time_ns"] > 2e7) print $c["key"] }' | sort | xargs
}
build 1 a1 && build 2 a2 && cp a2 large && head -c 200000 /dev/zero >>large
same "the programs have no build id" 0 "$(readelf -n a1 | grep -c 'Build ID')"
modules() { # RUN PATH : how many modules have a path that ends like this
	hpct-info --modules "$1.hpct" --format tsv 2>/dev/null | tsv '$c["path"] ~ "'"$2"'$" { n++ } END { print n + 0 }'
}
are_seen() { # RUN PATH COUNT : makes RUN.1 .. RUN.COUNT as the run comes to have so many
	local n wait
	for ((n = 1; n <= $3; n++)); do
		for ((wait = 0; wait < 500 && $(modules "$1" "$2") < n; wait++)); do sleep 0.1; done
		touch "$1.$n"
	done
}
are_seen moved /p 1 &
record moved -- sh -c 'cp a1 p; ./p moved.1; cp a2 q; mv q p; ./p'
wait
same "one moved over the other" "work_1 work_2" "$(names moved)"
are_seen sizes /p 1 &
record sizes -- sh -c 'cp a1 p; ./p sizes.1; cp large q; mv q p; ./p'
wait
same "files of different sizes" "work_1 work_2" "$(names sizes)"
are_seen over /r 1 &
record over -- sh -c 'cp a1 r; ./r over.1; cat a2 >r; ./r'
wait
same "one written over the other" "work_1 work_2" "$(names over)"
record again -- sh -c 'cp a1 s; ./s; cp s t; mv t s; ./s'
same "the same once more" "work_1" "$(names again)"
same "and one module for it" 1 "$(hpct-info --modules again.hpct --format tsv | tsv '$c["path"] ~ /\/s$/ { n++ } END { print n }')"
same "a content is no build id" "" "$(hpct-info --modules again.hpct --format tsv | tsv '$c["path"] ~ /\/s$/ { print $c["build_id"] }')"
mkdir m
if unshare -m true 2>/dev/null; then
	are_seen spaces m/app 2 &
	record spaces -- sh -c 'for n in 1 2; do unshare -m sh -c "mount -t tmpfs none m && cp a$n m/app && m/app $PWD/spaces.$n; true"; done'
	wait
	same "one path in two mount namespaces" "work_1 work_2" "$(names spaces)"
fi

cat >host.c <<'C'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	char from[300], path[300] = "./here.so", command[900];
	for (int i = 1; argc > 1 && i <= 3; i++) {
		int descriptor, source;
		void *library;
		snprintf(from, sizeof(from), "./plug%d.so", i);
		if (!strcmp(argv[1], "memfd")) {
			descriptor = memfd_create("plugin", 0);
			source = open(from, O_RDONLY);
			while (sendfile(descriptor, source, NULL, 1 << 20) > 0)
				;
			snprintf(path, sizeof(path), "/proc/self/fd/%d", descriptor);
			close(source);
		} else {
			snprintf(command, sizeof(command), "cp %s here.new && mv here.new here.so", from);
			if (system(command))
				return 1;
		}
		library = dlopen(path, RTLD_NOW);
		if (!library)
			return 2;
		if (!strcmp(argv[1], "gone"))
			unlink(path);
		if (!strcmp(argv[1], "memfd"))
			close(descriptor);
		((double (*)(double))dlsym(library, "plugin"))(1);
		/* What is nobody's file can be read for as long as it is mapped. */
		snprintf(from, sizeof(from), "%s.%d", argv[argc - 1], i);
		for (int wait = 0; argc > 2 && access(from, F_OK) && wait < 60000; wait++)
			usleep(1000);
		dlclose(library);
	}
	return 0;
}
C
gcc -O1 -w -o host host.c -ldl || fail "cannot build host"
plugs() { # OPTION...
	local n
	for n in 1 2 3; do
		printf '__attribute__((noinline)) double inner_%d(double x){for(long i=0;i<60000000;i++)x=x*1.0000001+%d;return x;}
			double plugin(double x){return inner_%d(x)+1;}' $n $n $n >plug.c
		gcc -O1 -g -fPIC -shared "$@" -o plug$n.so plug.c || fail "cannot build plug$n.so"
	done
}
# Another user than root may not open mappings (/proc/PID/map_files): names come from the memory itself.
ways=(same gone memfd)
if [ "$(id -u)" -eq 0 ] && as_other test -x "$HPCT_BIN/hpct-record" 2>/dev/null; then
	ways+=(other_gone other_memfd other_same)
else
	echo "passed over: another user's plug-ins (only root becomes another user, who must reach the build)"
fi
for id in none sha1; do
	# Symbols are in a segment of their own, or beside the code; counted by one kind of hash table, or the other.
	[ $id = none ] && layout=-Wl,-z,separate-code || layout=-Wl,-z,noseparate-code,--hash-style=sysv
	plugs -Wl,--build-id=$id $layout
	for way in "${ways[@]}"; do
		are_seen "$way$id" "$([[ $way = *memfd ]] && echo memfd:plugin || echo here.so)" 3 &
		if [[ $way = other_* ]]; then
			as_other hpct-record -o "$way$id.hpct" -- ./host "${way#other_}" "$way$id" || fail "cannot record as another"
		else
			record "$way$id" -- ./host "$way" "$way$id"
		fi
		wait
		same "plug-ins, $way, build id $id" "inner_1 inner_2 inner_3" "$(names "$way$id")"
	done
done
same "a memfd is called by its name" 3 "$(modules memfdnone "^.memfd:plugin")"

# A file that is another by the time that names are asked for is not asked.
cp a1 late && record late -- ./late && cp a2 late
hpct-slice late.hpct --format tsv >sliced
check "names were stored while it was there" grep -q work_1 sliced
check "no name of the file that came later" [ "$(hpct-stats late.hpct | grep -c work_2)" -eq 0 ]
preload=$(gcc -print-file-name=libasan.so)
if [ -f "$preload" ]; then
	LD_PRELOAD=$preload hpct-record -o asan.hpct -- ./a1
	same "a sanitizer preloaded into the program" work_1 "$(names asan)"
fi

# Memory is copied where no file is to be had, and nowhere else: the collector holds no copy of what has its file.
record held -- sh -c 'mkfifo gate; ./a1; read -r line <gate' &
copies() { for pid in $(pgrep -x hpct-collector); do ls -l "/proc/$pid/fd"; done 2>/dev/null | grep -c memfd:hpct-module; }
for ((wait = 0; wait < 500 && $(modules held /a1) < 1; wait++)); do sleep 0.1; done
same "copies of modules that have files" "1 0" "$(modules held /a1) $(copies)"
echo >gate
wait
