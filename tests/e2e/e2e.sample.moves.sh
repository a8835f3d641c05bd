#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# -e IO on samples/moves.c: each call that reads or writes is a span with its bytes, kept or counted as lost; sums by
# call path are exact whatever was lost, the agent's own calls are not among them; without -e IO there is nothing of it.
. "$(dirname -- "$0")/expect.sh"

# spans RUN FUNCTION : count and bytes of its io spans
spans() {
	hpct-slice "$1.hpct" --op io --format tsv | tsv '(";" $c["path"] ";") ~ /;'"$2"';/ { n++; b += $c["bytes"] }
		END { printf "%d %.0f\n", n, b }'
}

# bytes RUN METRIC [FUNCTION] : of the whole run, or of the paths through a function
bytes() {
	hpct-slice "$1.hpct" --format tsv | tsv '
		$c["track"] == "values" && $c["metric"] == "'"$2"'" && (";" $c["path"] ";") ~ /;'"${3-.*}"';/ { n += $c["value"] }
		END { printf "%.0f\n", n }'
}

code "moves, recorded" 0 hpct-record -o io.hpct -e IO -- "$samples/moves" ./file
read -r written got <out
while read -r function count sum; do
	same "$function" "$count $sum" "$(spans io "$function")"
done <<'END'
write_plain 100 100000
write_parts 10 40030
write_buffer 1000 24000
read_plain 26 100000
END
# A ring keeps half of itself for samples: of more calls at once the later ones may be lost.
same "spans kept and lost" 10140 "$(($(hpct-slice io.hpct --op io --format tsv | tail -n +2 | wc -l) + $(info io lost)))"
while read -r function in out; do
	same "$function reads" "$in" "$(bytes io IO:read "$function")"
	same "$function writes" "$out" "$(bytes io IO:written "$function")"
done <<'END'
write_plain 0 100000
write_parts 0 40030
write_buffer 0 24000
read_plain 100000 0
read_buffer 40030 0
read_lines 24000 0
echo 16000 16000
END
same "all that was read" "$got" "$(bytes io IO:read)"
same "all that was written" "$written" "$(bytes io IO:written)"
hpct-profile io.hpct --format tsv | tsv '$c["name"] == "write_parts" { print $c["IO:read:incl"], $c["IO:written:incl"]; exit }' >row
same "side by side in a profile" "0 40030" "$(cat row)"
check "the call and the descriptor" grep -q 'call=writev,fd=[0-9]*$' <<<"$(hpct-slice io.hpct --op io --format tsv)"
check "stdio's" grep -q 'call=fread,fd=[0-9]*$' <<<"$(hpct-slice io.hpct --op io --format tsv)"
weights_agree io

# Who was calm fills that half in less time than rings of a calm program are left alone.
code "bursts" 0 hpct-record -o bursts.hpct -e IO -- "$HPCT_BIN/../tests/bursts"
same "bursts: reads" "$(cat out)" "$(hpct-slice bursts.hpct --op io --format tsv | grep -c 'call=pread')"
same "bursts: lost" 0 "$(info bursts lost)"

same "not asked for, not there" 0 "$(hpct-record -o none.hpct -- "$samples/moves" ./file >out
	hpct-slice none.hpct --format tsv | tsv '$c["op"] == "io" || $c["metric"] ~ /^IO:/ { n++ } END { print n + 0 }')"
code "a period" 125 hpct-record -e IO@5 -- true
sentence "a period"
code "the list" 0 hpct-record -L
check "the list has both" [ "$(grep -cE '^(IO|MEMLEAK) ' out)" -eq 2 ]
printf 'a\nb\n' | hpct-record -o cat.hpct -e IO -- cat | cat >out
same "cat's output" 4 "$(wc -c <out)"
same "what cat wrote into a pipe" 4 "$(bytes cat IO:written)"
