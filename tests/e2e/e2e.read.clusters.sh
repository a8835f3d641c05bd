#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# hpct-stats --by cluster: planted groups of ranks and an outlier are found and said; shares are those of hpct-stats.
. "$(dirname -- "$0")/expect.sh"

# Ranks 0 to 7 solve for about 80 % and wait, 8 to 10 solve for 40 % and read, 11 writes a log.
{
	printf 'stream\ttrack\tbegin_ns\tpath\tweight\tmetric\n'
	for rank in {0..11}; do
		more=$((rank * 7 % 5 * 8))
		case $rank in
		[0-7]) words="0-main;solve $((780 + more))-main;MPI_Wait 1000-main" ;;
		11) words="0-main;log 1000-main" ;;
		*) words="0-main;solve $((380 + more))-main;read 1000-main" ;;
		esac
		for word in $words; do
			printf 'cpu:n/%d/%d.0/0\tsamples\t%d000000\t%s\t1\tCPUTIME\n' $rank $((rank + 1)) "${word%%-*}" "${word#*-}"
		done
	done
} >planted.tsv
hpct-import --from tsv planted.tsv -o planted.hpct 2>err || fail "import: $(cat err)"
hpct-stats planted.hpct --by cluster --format tsv >out 2>err || fail "clusters: $(cat err)"
same "the groups" '0:0-7 1:8-10 2:11-11' "$(tsv '{ n = $c["rank"] + 0; k = $c["cluster"]
	if (!(k in least) || n < least[k]) least[k] = n; if (n > most[k]) most[k] = n; count[k]++ }
	END { for (k = 0; k < 3; k++) { if (count[k] != most[k] - least[k] + 1) exit; printf "%s%d:%d-%d", k ? " " : "", k, least[k], most[k] } }' <out)"
same "the outlier" 11 "$(tsv '$c["is_outlier"] == 1 { print $c["rank"] }' <out)"
same "a medoid each" '0 1 2' "$(tsv '$c["is_medoid"] == 1 { print $c["cluster"] }' <out | paste -sd ' ')"
same "what each does more of" 'main;solve main;read main;log' "$(tsv '$c["is_medoid"] == 1 { print $c["key"] }' <out | paste -sd ' ')"
share() { hpct-stats planted.hpct --by path --format tsv ${1:+--streams "$1"} | tsv '$c["key"] == "'"$2"'" { print $c["percent"] }'; }
same "the readers' share is hpct-stats'" "$(share rank=8-10 'main;read') $(share '' 'main;read')" \
	"$(tsv '$c["is_medoid"] == 1 && $c["cluster"] == 1 { print $c["percent"], $c["usual_percent"] }' <out)"
near "distances are the part of the window that differs" 1.6 \
	"$(tsv '$c["rank"] == 9 { print $c["distance_percent"] }' <out)" 0.01
code "a table" 0 hpct-stats planted.hpct --by cluster
check "its first line" grep -q '^12 streams in 3 groups of those that do alike; silhouette 0\.[89]' out
check "ranks in short" grep -Eq '^ +1 +3 +0 +8-10 ' out
check "the outlier's line" grep -Eq '^cpu:n/11/12.0/0 +2 +100.00' out
# On the page of hpct-report, and as a picture of who differs from whom.
hpct-report planted.hpct --format tsv >out 2>err || fail "report: $(cat err)"
same "groups on the page" '8:main;solve 3:main;read 1:main;log' "$(tsv '$c["section"] == "alike" { print $c["count"] ":" $c["path"] }' <out | paste -sd ' ')"
hpct-report planted.hpct --format html >out 2>err || fail "html: $(cat err)"
same "12 x 12 cells" 144 "$(grep -o ' % differ</title>' out | wc -l)"
check "rank 11 has nothing in common with rank 0" grep -q '<title>cpu:n/11/12.0/0 (group 2, outlier), cpu:n/0/1.0/0 (group 0): 100.0 % differ</title>' out
check "rank 0 and rank 1 have" grep -q '<title>cpu:n/0/1.0/0 (group 0), cpu:n/1/2.0/0 (group 0): 1.6 % differ</title>' out

hpct-stats planted.hpct --by cluster --streams rank=0-7 --format tsv >out
same "of alike ranks there is one group" 0 "$(tsv '{ print $c["cluster"] }' <out | sort -u | paste -sd ' ')"
hpct-stats planted.hpct --by cluster --time 0..300ms --format tsv >out
same "of a window" '0 1' "$(tsv '{ print $c["cluster"] }' <out | sort -u | paste -sd ' ')"
hpct-stats planted.hpct --by cluster --depth 0 --format tsv >out
same "at depth 0 all do the same" '0' "$(tsv '{ print $c["cluster"] }' <out | sort -u | paste -sd ' ')"
for bad in '--operations' '--metric BLOCKED' '--absent' '--when resident>1GB' '--metric x=$0'; do
	# shellcheck disable=SC2086 # words
	code "$bad" 2 hpct-stats planted.hpct --by cluster $bad
	sentence "$bad"
done
code "no time" 3 hpct-stats planted.hpct --by cluster --time 10s..11s

# More streams than are compared with each other, in which nothing is planted.
hpct-simulate -o many.hpct --shape mixed --records 20000 --streams 900 2>err || fail "simulate: $(cat err)"
hpct-stats many.hpct --by cluster --format tsv >out 2>err || fail "many: $(cat err)"
same "each thread is in a group" "$(hpct-info many.hpct --streams --format tsv | tsv '$c["kind"] == "cpu" { n++ } END { print n }')" "$(sed 1d out | wc -l)"
