#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Who keeps a read-write lock from a writer: samples/readers.c, in which the last of two readers does, and a client waits
# for the writer in turn. It has the order from the kernel, so that no load changes it.
. "$(dirname -- "$0")/expect.sh"
both readers "$samples/readers"
rounds=$(cat measured.out)
hpct-info readers.hpct --streams --format tsv | tsv '{ print $c["name"], $c["stream"] }' >threads
for name in early late change client; do
	printf -v "$name" %s "$(awk -v n="$name" '$1 == n { print $2 }' threads)"
done
hpct-blame readers.hpct --of lock-pair --format tsv >pairs
waits() { # WAITER HOLDER
	tsv '$c["waiter"] == "'"$1"'" && $c["holder"] == "'"$2"'" { n += $c["waits"] } END { print n + 0 }' <pairs
}
# shellcheck disable=SC2154 # printf -v sets them
same "the writer waits for the last reader each time" "$rounds" "$(waits "$change" "$late")"
same "and never for the first" 0 "$(waits "$change" "$early")"
same "the client waits for the writer" "$rounds" "$(waits "$client" "$change")"
same "readers wait for nobody" "" "$(tsv 'NR > 1 && ($c["waiter"] == "'"$early"'" || $c["waiter"] == "'"$late"'") && $c["holder"] != "'"$change"'"' <pairs)"
hpct-blame readers.hpct --of lock --by chain --format tsv >chains
same "the chain" "client waits for change waits for late" "$(tsv 'NR == 2 { print $c["key"] }' <chains)"
same "its links" "$client;$change;$late" "$(tsv 'NR == 2 { print $c["streams"] }' <chains)"
same "each round has one" "$rounds" "$(tsv 'NR == 2 { print $c["waits"] }' <chains)"
tsv '$c["waiter"] == "'"$change"'" { all += $c["blame_ns"]; if ($c["holder"] == "'"$late"'") it += $c["blame_ns"] }
	END { printf "%.1f %% of the writer'"'"'s waiting is for the last reader\n", 100 * it / all; exit !(it >= 0.95 * all) }' <pairs ||
	fail "what the writer waited for"
