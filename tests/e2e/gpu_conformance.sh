# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# gpu_conformance.sh - what must hold of every recorded GPU runtime, whoever the vendor; sourced after expect.sh.
#
#   gpu_conformance RUN [unordered] <<END      checks RUN.hpct
#   COUNT OP BYTES KIND PATH                   so many operations, each of so many bytes, kind=KIND, below a path that
#   END                                        ends in PATH (frames of the program, then `;<gpu ...>`); - : any
#
# Held: each operation has one launch, its path is the launch's with a placeholder, times are in the run and not
# before the launch, what a thread has waited for has ended, an in-order queue does one thing after the other in the
# order of launches; counts, bytes and kinds are those given; nothing is unmatched, untimed or lost.

# gpu_slice RUN : RUN.ops, RUN.launches, RUN.syncs as TSV without header: stream begin end path op bytes attributes link
gpu_slice() {
	hpct-slice "$1.hpct" --format tsv | tsv '
		BEGIN { OFS = "\t" }
		function attribute(text, key) {
			return match("," text, "," key "=[^,]*") ? substr(text, RSTART + length(key) + 1,
				RLENGTH - length(key) - 2) : "-"
		}
		$c["track"] == "spans" {
			gpu = $c["stream"] ~ /^gpu:/; op = $c["op"]
			to = op == "launch" ? "launches" : op == "sync" && !gpu ? "syncs" : \
				gpu && op ~ /^(kernel|copy|set|graph)$/ ? "ops" : \
				op ~ /^(alloc|free|compile|load)$/ ? "calls" : ""
			if (to != "")
				print to, $c["stream"], $c["begin_ns"], $c["end_ns"], $c["path"], op, \
					$c["bytes"] + 0, $c["attributes"], attribute($c["attributes"], "link")
		}' >"$1.spans"
	local kind
	for kind in ops launches syncs calls; do
		awk -F '\t' -v kind="$kind" '$1 == kind' OFS='\t' "$1.spans" | cut -f2- >"$1.$kind"
	done
}

gpu_links() { # RUN : operations to launches and back
	awk -F '\t' -v run="$1" '
		FNR == NR { if ($8 in path) { print run ": link " $8 " has two launches"; bad = 1 }
			path[$8] = $4; begin[$8] = $2; thread[$8] = $1; next }
		$8 == "-" || !($8 in path) { print run ": an operation without a launch: " $0; bad = 1; next }
		{ used[$8]++ }
		index($4, path[$8] ";<gpu ") != 1 {
			print run ": launched at " path[$8] ", shown at " $4; bad = 1 }
		$2 + 2000 < begin[$8] { print run ": begins " begin[$8] - $2 " ns before its launch: " $0; bad = 1 }
		$3 + 0 < $2 + 0 { print run ": ends before it begins: " $0; bad = 1 }
		END {
			for (l in path)
				if (!used[l]) { print run ": launch " l " has no operation: " path[l]; bad = 1 }
			exit bad
		}' "$1.launches" "$1.ops" | head -n 5 >"$1.bad"
	[ ! -s "$1.bad" ] || fail "links: $(cat "$1.bad")"
}

gpu_times() { # RUN : within the life of the process
	hpct-slice "$1.hpct" --op monitored --format tsv | tsv '
		$c["stream"] ~ /^cpu:.*\/0$/ { print $c["begin_ns"], $c["end_ns"] }' >"$1.life"
	local begin end
	read -r begin end <"$1.life"
	awk -F '\t' -v begin="$begin" -v end="$end" '
		$2 + 0 < begin + 0 || $3 + 0 > end + 0 { print; bad = 1 }
		END { exit bad }' "$1.ops" >"$1.bad" ||
		fail "$1: operations outside the process's life ($begin..$end): $(head -n 3 "$1.bad")"
}

gpu_order() { # RUN : one after the other, as launched; 2 us is what clocks may be off
	sort -t $'\t' -k1,1 -k8,8n -k2,2n "$1.ops" | awk -F '\t' -v run="$1" '
		$1 == stream && $2 + 2000 < end + 0 { print run ": on an in-order queue " $0 " begins before " end; bad = 1 }
		{ stream = $1; end = $3 }
		END { exit bad }' >"$1.bad" || fail "order: $(head -n 3 "$1.bad")"
}

# A thread that waited for a queue, or for all, comes back after what was launched before it waited.
gpu_waits() { # RUN
	awk -F '\t' -v run="$1" '
		FILENAME ~ /launches$/ { begin[$8] = $2; next }
		FILENAME ~ /ops$/ { o++; queued[o] = begin[$8]; ended[o] = $3; queue[o] = $1; next }
		$7 ~ /kind=(STR|CTX)(,|$)/ {
			q = ""
			if (match($7, /device=[0-9]*,context=[0-9]*,queue=[0-9]*/)) {
				q = substr($7, RSTART, RLENGTH); gsub(/[a-z]*=/, "", q); gsub(/,/, "/", q)
			}
			for (i = 1; i <= o; i++)
				if (queued[i] < $2 && ended[i] > $3 + 2000 && \
					(q == "" || substr(queue[i], length(queue[i]) - length(q)) == "/" q)) {
					print run ": ends " ended[i] - $3 " ns after a wait for it ended at " $3; bad = 1
				}
		}
		END { exit bad }' "$1.launches" "$1.ops" "$1.syncs" >"$1.bad" ||
		fail "waits: $(head -n 3 "$1.bad")"
}

gpu_counts() { # RUN, the table on stdin
	local count op bytes kind path got
	while read -r count op bytes kind path; do
		got=$(cat "$1.ops" "$1.calls" | awk -F '\t' -v op="$op" -v bytes="$bytes" -v kind="$kind" -v path="$path" '
			$5 != op || (bytes != "-" && $6 != bytes) { next }
			kind != "-" && !index("," $7 ",", ",kind=" kind ",") { next }
			path != "-" && substr($4, length($4) - length(path) + 1) != path { next }
			{ n++ }
			END { print n + 0 }')
		same "$1: $op of $bytes bytes, kind $kind, at ...$path" "$count" "$got"
	done
}

gpu_conformance() { # RUN [unordered]
	local run=$1 key
	gpu_counts_table=$(cat)
	gpu_slice "$run"
	check "$run: no operation on a GPU" [ -s "$run.ops" ]
	gpu_counts "$run" <<<"$gpu_counts_table"
	gpu_links "$run"
	gpu_times "$run"
	gpu_waits "$run"
	[ "${2-}" = unordered ] || gpu_order "$run"
	for key in gpu_unmatched gpu_untimed gpu_lost; do
		same "$run: $key" 0 "$(info "$run" "$key")"
	done
	same "$run: operations that are counted" "$(awk 'END { print NR }' "$run.ops")" "$(info "$run" gpu_operations)"
	code "$run: hpct-info --check" 0 hpct-info "$run.hpct" --check
}
