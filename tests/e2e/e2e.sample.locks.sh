#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Who held the lock: samples/locks.c, mutex, read-write lock, C11's mutex and spin lock: the holder is named by the waits themselves,
# and blamed by what it did meanwhile (as exactly as it is sampled).
. "$(dirname -- "$0")/expect.sh"
event=CPUTIME@1000 both locks "$samples/locks"
rounds=$(cat measured.out)
hpct-info locks.hpct --streams --format tsv | tsv '{ print $c["name"], $c["tid"], $c["stream"] }' >threads
tid=$(awk '$1 == "holder" { print $2 }' threads) holder=$(awk '$1 == "holder" { print $3 }' threads)
hpct-slice locks.hpct --op lock --format tsv | tsv '$c["op"] == "lock" { print $c["stream"] "\t" $c["path"] "\t" $c["attributes"] }' >spans
for call in pthread_mutex_lock pthread_rwlock_wrlock mtx_lock pthread_spin_lock; do
	named=$(grep -c "look_up;.*call=$call,lock=0x[0-9a-f]*,holder=$tid\$" spans)
	echo "$call: $named waits for the holder, of $((rounds / 2))"
	check "$call: waits name the holder" [ "$named" -ge $((rounds / 4)) ]
done
same "waits of others than reader and writer" 0 "$(grep -vc 'look_up;' spans)"
for of in lock lock-holder lock-pair; do
	code "--of $of" 0 hpct-blame locks.hpct --of $of --format tsv
	mv out $of.tsv
	echo "$of: $(sed -n 2p $of.tsv)"
done
same "the site" "take" "$(tsv '{ print $c["key"] }' <lock.tsv | xargs)"
same "the most is waited for" "$holder" "$(tsv 'NR == 2 { print $c["holder"] }' <lock-pair.tsv)"
tsv '$c["key"] == "rebuild" { it = $c["blame_ns"] } $c["key"] != "<unknown holder>" { all += $c["blame_ns"] }
	END { printf "rebuild has %.1f %% of what is known\n", all ? 100 * it / all : 0; exit !(it > 0.8 * all) }' <lock-holder.tsv ||
	fail "what the holder did"
hpct-blame locks.hpct --of lock --summary --format tsv | tsv '{ v[$c["key"]] = $c["value"] }
	END { exit !(v["waits"] > 0 && v["held_ns"] + v["unknown_ns"] == v["waited_ns"]) }' || fail "waited = held + unknown"
for of in lock lock-holder lock-pair; do
	same "$of: rows sum to what was waited" "$(hpct-blame locks.hpct --of lock --summary --format tsv | tsv '$c["key"] == "waited_ns" { print $c["value"] }')" \
		"$(tsv '{ n += $c["blame_ns"] } END { printf "%.0f", n }' <$of.tsv)"
done
code "--of lock without locks" 0 hpct-blame locks.hpct --of lock --streams "name=holder"
