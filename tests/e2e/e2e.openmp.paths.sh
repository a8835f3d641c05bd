#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# OpenMP by GNU's and by LLVM's runtime: one source gives the same paths with the same work, workers below the caller
# of their region, tasks below their creator; waiting has names; who came last is what the program counts itself.
. "$(dirname -- "$0")/expect.sh"
tried=0

near() { # SENTENCE WANT_MS GOT_MS : work by CPU time, sampled every millisecond in two threads
	check "$1: $3 ms of $2" calc "$3 > $2 * 0.88 - 4 && $3 < $2 * 1.12 + 4"
}

# The samples' paths without what the compilers call bodies, and without lines, which differ by one.
paths() { # RUN
	hpct-slice "$1.hpct" --format tsv | tsv '$c["track"] == "samples" && $c["metric"] == "CPUTIME" { print $c["weight"] "\t" $c["path"] }' |
		sed -E 's/;[^;]*(_omp_fn|omp_outlined|omp_task_entry)[^;]*//g; s/;(cpu_now|cpu_of|clock_gettime|__vdso)[^;]*//g; s/<(omp [a-z]+) openmp_paths.c:[0-9]+>/<\1>/g'
}

ms() { # PATH : of CPU time there and below
	awk -F '\t' -v path="$1" '$2 == path || index($2, path ";") == 1 { n += $1 } END { printf "%.0f", n / 1e6 }' paths
}

runs() { # MODE : recorded; what it says is said bare, too
	record "$runtime.$1" -e CPUTIME@1000 --overwrite -- "./$runtime" "$1" >out 2>err ||
		{ fail "$runtime $1: does not end well" && cat err; }
	paths "$runtime.$1" >paths
	# (The runtime begins in the first region, and ends behind main.)
	same "$runtime $1: frames of the runtime" 0 "$(grep '	\(main\|<thread root>\);' paths |
		grep -v '	main;first;' | grep -c 'lib[gi]*omp\|GOMP_\|__kmp')"
	same "$runtime $1: work that stands apart" 0 "$(grep 'burn' paths | grep -cv '	main;')"
	# Wherever a processor was taken away in between, a sample may be in the wrong place for a moment: not in these.
	hpct-info "$runtime.$1.hpct" --check >checked || fail "$runtime $1: hpct-info --check: $(tail -1 checked)"
}

shares() {
	runs shares
	near "$runtime: a region of two in a function" 320 "$(ms 'main;twice;<omp region>;burn')"
	hpct-slice "$runtime.shares.hpct" --format tsv | tsv '$c["path"] ~ /twice;<omp region openmp_paths.c:[0-9]+>;.*burn/ {
		match($c["path"], /<omp region [^>]*>;[^;]*/); n[substr($c["path"], RSTART, RLENGTH)] += $c["weight"] }
		END { for (k in n) print int(n[k] / 1e6) }' | sort -n >two
	same "$runtime: bodies of regions of the function" 2 "$(wc -l <two)"
	near "$runtime: its first region" 80 "$(sed -n 1p two)"
	near "$runtime: its second region" 240 "$(sed -n 2p two)"
	near "$runtime: called from a" 120 "$(ms 'main;caller_a;shared;<omp region>;burn')"
	near "$runtime: called from b" 200 "$(ms 'main;caller_b;shared;<omp region>;burn')"
	grep -o '	.*burn' paths | sort -u >"$runtime.set"
	check "$runtime: --runtime frames shows the runtime" grep -q 'omp.so' <(hpct-slice "$runtime.shares.hpct" --runtime frames --format tsv)
	same "$runtime: samples with --runtime frames" "$(hpct-slice "$runtime.shares.hpct" --format tsv | cut -f 1-4,8 | sha256sum)" \
		"$(hpct-slice "$runtime.shares.hpct" --runtime frames --format tsv | cut -f 1-4,8 | sha256sum)"
}

nested() {
	runs nested
	near "$runtime: nested" 240 "$(ms 'main;nested;<omp region>;inner;<omp region>;burn')"
	grep -o '	.*burn' paths | sort -u >>"$runtime.set"
}

tasks() {
	local base='main;tasks;<omp region>'
	runs tasks
	near "$runtime: tasks of a" 60 "$(ms "$base;creator_a;<omp task>;burn")"
	near "$runtime: tasks of b" 100 "$(ms "$base;creator_b;<omp task>;burn")"
	near "$runtime: taskloop" 160 "$(ms "$base;looped;<omp task>;burn")"
	near "$runtime: a task at once" 40 "$(ms "$base;undeferred;<omp task>;burn")"
	grep -o '	.*burn' paths | sort -u >>"$runtime.set"
}

waits() {
	OMP_WAIT_POLICY=$1 runs waits
	near "$runtime $1: in critical sections" 320 "$(ms 'main;locked;<omp region>;burn')" # half of it with the lock
	hpct-blame "$runtime.waits.hpct" --of waiting --by path --format tsv >blamed
	check "$runtime $1: both places of locks: $(grep -c '<omp lock' blamed)" calc "$(grep -o '<omp lock [^>]*>' blamed | sort -u | wc -l) == 2"
	check "$runtime $1: the wait for a group of tasks" grep -q '^main;grouped;<omp region[^;]*;\(.*;\)\?<omp taskwait' <(
		cut -f 1 blamed; cut -f 2 paths)
	# A worker that spins may have no processor, and does not wait then.
	check "$runtime $1: the idle worker" awk -F '\t' -v least="$([ "$1" = active ] && echo 1 || echo 250e6)" '
		$1 ~ /^<thread root>;<omp idle>/ { n += $2 } END { exit !(n > least) }' blamed
}

# The program's own count is right to a moment: it counts before the runtime does.
late() { # TIMES
	local i own theirs
	for ((i = 0; i < $1; i++)); do
		runs late
		own=$(awk '{ print $4 + $7 }' out | tr '\n' ' ')
		theirs=$(hpct-blame "$runtime.late.hpct" --late --format tsv |
			tsv '{ split($c["key"], at, "/"); n[at[4]] = $c["last"] } END { print n[0] + 0, n[1] + 0, "" }')
		same "$runtime: who came last" "$own" "$theirs"
		hpct-blame "$runtime.late.hpct" --of omp --format tsv >omp
		same "$runtime: regions, with the first" "11 20" "$(tsv '{ n += $c["regions"]; o += $c["occasions"] } END { print n, o }' <omp)"
		check "$runtime: work and waiting: $(sed -n 2p omp)" calc "$(tsv '
			$c["key"] ~ /^<omp region openmp_paths.c:/ && $c["work_ns"] >= 500e6 && $c["blame_ns"] >= 400e6 &&
			$c["imbalance"] > 1.2 && $c["imbalance"] <= 2 {
				# the thread that kept the other waiting longest: on a busy machine not always the second
				split("'"$own"'", last, " "); split($c["thread"], at, "/"); n += $c["last"] == last[at[4] + 1]
			} END { print n + 0 }' <omp) == 1"
	done
}

# Of two threads one waits as long as the other holds it. A worker learns of the last arrival in its next region.
brief() {
	runs brief
	hpct-profile "$runtime.brief.hpct" --metric 'OMP:*' --view flat --format tsv >sums
	tsv '$c["name"] ~ /^<omp region/ && $c["OMP:regions:excl"] == 2000 {
		printf "%.0f %.0f %.0f\n", $c["OMP:last:excl"], $c["OMP:held:excl"], $c["OMP:waited:excl"] }' <sums >brief
	same "$runtime: brief regions" 2000 "$(cut -d ' ' -f 1 brief)"
	same "$runtime: waited for who held" "$(cut -d ' ' -f 2 brief)" "$(cut -d ' ' -f 3 brief)"
}

for compiler in gcc clang-14; do
	command -v $compiler >/dev/null || continue
	runtime=by_${compiler%-*}
	$compiler -O2 -g -fopenmp -o "$runtime" "$HPCT_SOURCE/tests/e2e/openmp_paths.c" 2>log || continue
	tried=$((tried + 1))
	both "$runtime.fine" "./$runtime" fine
	shares
	nested
	tasks
	waits passive
	waits active
	late 5
	brief
done
[ "$tried" -gt 0 ] || skip "no compiler has OpenMP here"
[ "$tried" -lt 2 ] || same_file "both runtimes: one source, the same paths" <(sort -u by_gcc.set) <(sort -u by_clang.set)
echo "tried $tried runtimes"
