#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The critical path: of make -j2 it is the longest chain of what make runs, in that order, and what is beside the chain
# is not on it; of samples/causes.c it leads from each wait to the thread that handed over. The order is asserted, and
# that the parts sum to the window.
. "$(dirname -- "$0")/expect.sh"
need make awk

# path RUN : streams by name, one after the other, that have work of a millisecond or more on the path
path() {
	hpct-info "$1" --streams --format tsv | tsv '{ print $c["stream"] "\t" $c["name"] }' >names
	hpct-blame "$1" --critical-path --by segment --format tsv | tsv 'BEGIN { while ((getline line < "names") > 0) {
			split(line, part, "\t"); name[part[1]] = part[2] } }
		$c["state"] == "work" && $c["blame_ns"] >= 1e6 && name[$c["stream"]] != last {
			last = name[$c["stream"]]; print last }'
}

tool=$(readlink -f "$(command -v awk)")
for name in first second aside last; do
	ln -s "$tool" $name
done
echo 'BEGIN { for (i = 0; i < n; i++) x += i; print x > "/dev/null" }' >burn
cat >Makefile <<'END'
all: last_
first_:
	@./first -v n=3000000 -f burn
second_: first_
	@./second -v n=3000000 -f burn
aside_:
	@./aside -v n=300000 -f burn
last_: second_ aside_
	@./last -v n=1000000 -f burn
END
record made -- make -j2 || fail "make"
same "make -j2: the chain" "first second last" "$(path made.hpct | grep -v '^make$' | xargs)"
hpct-blame made.hpct --critical-path --by segment --format tsv | tsv '
	NR > 2 && $c["begin_ns"] != end { bad++ } { end = $c["end_ns"] } END { exit bad > 0 || NR < 3 }' ||
	fail "segments are one after the other"
whole=$(hpct-blame made.hpct --critical-path --by segment --format tsv | tsv '{ n += $c["blame_ns"] } END { printf "%.0f", n }')
for by in function path stream rank; do
	[ $by = stream ] || [ $by = rank ] || same "--by $by sums to the window" "$whole" \
		"$(hpct-blame made.hpct --critical-path --by $by --format tsv | tsv '{ n += $c["blame_ns"] } END { printf "%.0f", n }')"
	code "--by $by" 0 hpct-blame made.hpct --critical-path --by $by --top 3
done

record causes -- "$samples/causes" pipe socket eventfd condition semaphore piped >/dev/null || fail "causes"
same "each thread that hands over is on the path, in its turn" "pipe socket eventfd condition semaphore piped" \
	"$(path causes.hpct | grep -v '^causes$' | xargs)"
hpct-blame causes.hpct --critical-path --format tsv | tsv '
	$c["key"] == "make" { made = $c["blame_ns"]; half = $c["half_most_ns"] } END { exit !(made > 0 && half <= made / 2 + 1e4 && half > 0) }' ||
	fail "half of make saves at most half of its time: $(hpct-blame causes.hpct --critical-path --format tsv | grep make)"

# A pool's thread that the exit of the main thread wakes, which has no records any more, is not what the end waited for; one that
# goes on alone for long is.
pooled() { # POOL_END : a main thread that works until 500 ms, and a thread that waits for nobody known until just after
	rm -rf pooled.hpct
	{
		printf 'stream\ttrack\tbegin_ns\tend_ns\tpath\top\tweight\tmetric\n'
		printf 'cpu:h/-/7.0/%s\tspans\t%s\t%s\t\tmonitored\t\t\n' 0 0 500000000 1 10000000 "$1"
		printf 'cpu:h/-/7.0/1\tspans\t11000000\t500200000\tstart;help;wait\tblocked\t\t\n'
		printf 'cpu:h/-/7.0/1\tsamples\t%s\t\tstart;help\t\t5000000\tCPUTIME\n' "$1"
		for ((at = 5000000; at <= 500000000; at += 5000000)); do
			printf 'cpu:h/-/7.0/0\tsamples\t%s\t\tmain;work\t\t5000000\tCPUTIME\n' $at
		done
	} >pooled.tsv
	hpct-import --from tsv pooled.tsv -o pooled.hpct || fail "import"
	hpct-blame pooled.hpct --critical-path --by segment --format tsv | tsv '$c["state"] == "work" { print $c["stream"], $c["end_ns"] - $c["begin_ns"] }'
}
same "woken by the exit" "cpu:h/-/7.0/0 500000000" "$(pooled 501000000)"
same "goes on alone" "cpu:h/-/7.0/0 10000000
cpu:h/-/7.0/1 1000000
cpu:h/-/7.0/1 399800000" "$(pooled 900000000)"
