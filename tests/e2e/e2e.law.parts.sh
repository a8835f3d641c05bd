#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Parts sum to the whole, over time, streams and views; deleting caches changes no answer.
. "$(dirname -- "$0")/expect.sh"
record parts -- "$samples/phases" 0.4 >/dev/null
whole=$(weight_sum parts)
profile_sum() { hpct-profile parts.hpct --format tsv "$@" | tsv '{ n += $c["CPUTIME:excl"] } END { printf "%.0f\n", n }'; }
same "exclusive time over the top-down view" "$whole" \
	"$(hpct-profile parts.hpct --view top-down --format tsv | tsv '
		$c["depth"] == 0 { n += $c["CPUTIME:incl"] } END { printf "%.0f\n", n }')"
sum=0
for window in ..300ms 300ms..301ms 301ms..900ms 900ms..; do
	sum=$((sum + $(hpct-profile parts.hpct --view top-down --format tsv --time "$window" |
		tsv '$c["depth"] == 0 { n += $c["CPUTIME:incl"] } END { printf "%.0f\n", n }')))
done
same "inclusive time over a partition of time" "$whole" "$sum"
sum=0
for name in 'phases' 'worker*'; do
	sum=$((sum + $(hpct-profile parts.hpct --view top-down --format tsv --streams "name=$name" |
		tsv '$c["depth"] == 0 { n += $c["CPUTIME:incl"] } END { printf "%.0f\n", n }')))
done
same "inclusive time over a partition of streams" "$whole" "$sum"
hpct-stats parts.hpct --by function --format tsv --time 200ms..700ms >stats
same "hpct-stats: rows sum to streams x window" $((5 * 500000000)) \
	"$(tsv '{ n += $c["time_ns"] } END { printf "%.0f\n", n }' <stats)"
hpct-stats parts.hpct --by stream --format tsv --time 200ms..700ms >stats.stream
hpct-profile parts.hpct --format tsv >profile
rm -f parts.hpct/cache.mdb* parts.hpct/marks.tsv
hpct-stats parts.hpct --by stream --format tsv --time 200ms..700ms >again
same_file "hpct-stats without caches" stats.stream again
hpct-profile parts.hpct --format tsv >again
same_file "hpct-profile without caches" profile again
chmod -R a-w parts.hpct
hpct-profile parts.hpct --format tsv >again
same_file "hpct-profile of a run that is read-only" profile again
chmod -R u+w parts.hpct
