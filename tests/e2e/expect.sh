# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# expect.sh - sourced first by every e2e.*.sh: a directory of its own, the programs on the PATH, and words to say
# what must hold. A check that does not hold is printed and the test goes on, so that one run tells all.
# In: HPCT_BIN, HPCT_SAMPLES, HPCT_POOL (directories of the build) and HPCT_SOURCE. Exit: 0 held, 1 not, 77 skipped.
set -uo pipefail
# Whoever started us may ignore signals, as nohup and shells in the background do; a shell cannot take that back.
if [ -z "${HPCT_SIGNALS-}" ] && env --default-signal true 2>/dev/null; then
	HPCT_SIGNALS=default exec env --default-signal bash "$0" "$@"
fi
unset HPCT_SIGNALS
: "${HPCT_BIN:?}" "${HPCT_SAMPLES:?}" "${HPCT_SOURCE:?}" "${HPCT_POOL:?}"
export LC_ALL=C PATH=$HPCT_BIN:/usr/bin:/bin:/usr/sbin:/sbin
unset DEBUGINFOD_URLS SLURM_JOB_ID PMIX_NAMESPACE PMI_JOBID HPCT_EVENTS
samples=$HPCT_SAMPLES
work=$(mktemp -d "${TMPDIR:-/tmp}/hpct-e2e.XXXXXX") || exit 1
cd "$work" || exit 1
export XDG_CACHE_HOME=$work/.cache HISTFILE=$work/.history # of shells on terminals
failed=0
undo=: # a command line that the end of the test runs
stolen_ns() { awk '/^cpu / { printf "%.0f", $9 * 1e7 }' /proc/stat; } # by the host of a virtual machine
stolen_before=$(stolen_ns) # the latest recording began

finish() {
	local code=$? job
	eval "$undo"
	[ ! -e "$work.failed" ] || failed=1 # also of a check in a subshell, or at the end of a pipe
	# also where a variable is not set, a line is no command of the shell, or set -e ended it
	[ "$failed" -ne 0 ] || [ "$code" -eq 0 ] || fail "the test ended with exit code $code, perhaps before its last line"
	for job in $(jobs -p); do
		kill -KILL "$job" 2>/dev/null
	done
	wait 2>/dev/null
	rm -f "$work.failed"
	if [ "$failed" -ne 0 ] && [ -n "${HPCT_KEEP-}" ]; then
		echo "kept: $work"
	else
		cd / && rm -rf "$work"
	fi
	exit "$failed"
}
trap finish EXIT

fail() {
	printf 'FAILED: %s\n' "$*"
	failed=1
	: >"$work.failed"
}

skip() {
	printf 'skipped: %s\n' "$*"
	[ "$failed" -ne 0 ] || failed=77
	exit
}

need() { # PROGRAM... : skips the test, saying why, where one is missing
	local program
	for program; do
		command -v "$program" >/dev/null || skip "$program is not installed"
	done
}

# python_with MODULE : into $python a Python that has it, the one on PATH or the system's; false: none
python_with() {
	for python in python3 /usr/bin/python3; do
		! "$python" -c "import $1" 2>/dev/null || return 0
	done
	return 1
}
check() { # SENTENCE COMMAND... : the command must succeed
	local sentence=$1
	shift
	"$@" || fail "$sentence"
}

same() { # SENTENCE WANT GOT
	[ "$2" = "$3" ] || fail "$1: expected '$2', got '$3'"
}

same_file() { # SENTENCE WANT GOT
	cmp -s "$2" "$3" && return
	fail "$1: $2 and $3 differ"
	diff -a "$2" "$3" | head -n 10 | cut -c1-300
}

calc() { # EXPRESSION : exit code 0 if it is true; awk does the arithmetic
	awk "BEGIN { exit !($1) }"
}

code() { # SENTENCE CODE COMMAND... : its exit code; output in ./out and ./err
	local sentence=$1 want=$2 got=0
	shift 2
	"$@" >out 2>err || got=$?
	same "$sentence: exit code of '${*##*/}'" "$want" "$got"
	[ "$want" = "$got" ] || head -n 5 err
}

sentence() { # WHAT : ./err must be one sentence, for people
	[ "$(wc -l <err)" -eq 1 ] || { fail "$1: not one line on stderr:" && head -n 5 err; }
	! grep -qE 'Assertion|errno|mdb_|MDB_|\(null\)|core dumped|rror -?[0-9]+$' err ||
		fail "$1: not a sentence for people: $(cat err)"
}

await() { # COMMAND... : until it succeeds, for minutes if need be: a test waits for what comes, never for how long that takes
	local left=2400
	until "$@"; do
		[ $((left -= 1)) -gt 0 ] || return 1
		sleep 0.05
	done
}

record() { # RUN [OPTION...] [--] PROGRAM... : records into RUN.hpct here
	local run=$1
	shift
	stolen_before=$(stolen_ns)
	hpct-record -o "$run.hpct" "$@"
}

# both RUN COMMAND... : the command bare, then recorded with ./in (if there) as stdin: same stdout, same exit code,
# which is left in $measured. $event, if set, is what to sample.
both() {
	local run=$1 bare=0 input=/dev/null
	measured=0
	shift
	[ ! -f in ] || input=in
	"$@" <"$input" >bare.out || bare=$?
	record "$run" ${event:+-e "$event"} -- "$@" <"$input" >measured.out || measured=$?
	same "$run: exit code" "$bare" "$measured"
	same_file "$run: stdout" bare.out measured.out
}

# tsv AWK : an awk program over TSV on stdin, columns by name: $c["weight"]
tsv() {
	awk -F '\t' 'NR == 1 { for (i = 1; i <= NF; i++) c[$i] = i; next } '"$1"
}

info() { # RUN KEY
	hpct-info "$1.hpct" --format tsv | tsv '$c["key"] == "'"$2"'" { print $c["value"] }'
}

sample_count() { # RUN
	hpct-info "$1.hpct" --streams --format tsv | tsv '{ n += $c["samples"] } END { print n + 0 }'
}

sampled() { # RUN [COUNT] : so many samples are committed; of a run that is being recorded, or is not there yet
	[ "$(sample_count "$1" 2>/dev/null)" -ge "${2-1}" ]
}

# pool RUN : adds the run's sample and partial-stack counts to what e2e.record.pooled sums
pool() {
	local samples partial
	samples=$(sample_count "$1") partial=$(info "$1" partial_stacks)
	echo "$1: ${samples:-0} samples, ${partial:-no count of} partial stacks, $(info "$1" lost) lost"
	mkdir -p "$HPCT_POOL"
	printf '%s\t%s\t%s\n' "$1" "${samples:-0}" "${partial:-none}" >"$HPCT_POOL/$1.new" &&
		mv "$HPCT_POOL/$1.new" "$HPCT_POOL/$1"
}

# clocks RUN : per stream: stream, weights (ns), CPU clock kept in `monitored` less what was not sampled (ns or -), period (ns), name, the last sample's weight (ns),
# 1 if it was first measured from outside, how often it did not run
clocks() {
	hpct-slice "$1.hpct" --format tsv | tsv '
		function attribute(text, key) {
			return match("," text, "," key "=[^,]*") ? substr(text, RSTART + length(key) + 1,
				RLENGTH - length(key) - 2) : "-"
		}
		$c["track"] == "samples" { weight[$c["stream"]] += $c["weight"]; last[$c["stream"]] = $c["weight"] }
		$c["op"] == "blocked" || $c["op"] == "runnable" { stops[$c["stream"]]++ }
		$c["op"] == "monitored" {
			s = $c["stream"]; a = $c["attributes"]; seen[s] = 1
			b = attribute(a, "cpu_begin_ns"); e = attribute(a, "cpu_end_ns")
			p = attribute(a, "cpu_paused_ns")
			# Measured from outside until its agent came (an emulated program): both together are the clock.
			if (b != "-" && e == "-" && !(s in outside))
				outside[s] = b
			if (s in outside && e != "-")
				b = outside[s]
			clock[s] = b == "-" || e == "-" ? "-" : e - b - (p == "-" ? 0 : p)
			period[s] = attribute(a, "period_ns"); name[s] = attribute(a, "name"); begin[s] = $c["begin_ns"]
		}
		# an agent that came later did not sample it: it never saw that the thread takes its signal
		$c["op"] == "unmonitored" && $c["begin_ns"] == begin[$c["stream"]] { clock[$c["stream"]] = "-" }
		END {
			for (s in seen)
				printf "%s\t%.0f\t%s\t%s\t%s\t%.0f\t%d\t%d\n", s, weight[s], clock[s], period[s], name[s], last[s],
					s in outside, stops[s]
		}' | sort
}

# switch_ns : what a switch between processes takes of the CPU here, a microsecond or two; on some virtual machines it is seven. 0
# where there is no compiler
switch_ns() {
	[ -f switches ] || gcc -O1 -o switches "$HPCT_SOURCE/tests/e2e/switches.c" 2>/dev/null || { echo 0; return; }
	./switches
}

# weights_agree RUN [all] : each thread's weights against its own clock, within 1 % or one period; at least one has both. A
# thread that always gives way before the kernel's tick, on a busy machine, and never waits in a call that the agent knows,
# is met by no timer; if it is killed with its process, its last sample stands for two periods and 16 ticks (of 1 ms at
# least) and no more, and then its weights may be short. `all`: there is no such thread. From outside a thread runs between
# the kernel's switches, also while a host has taken the core away, which the thread's clock leaves out: so much since
# stolen_before, which who begins a recording by hand sets; and what the kernel takes for a switch is the thread's by its clock
# alone: twice for each time that it does not run, half as much again with cold caches
weights_agree() {
	local stolen=0 switch=0
	[ "$(info "$1" sampler)" != outside ] || stolen=$(($(stolen_ns) - stolen_before)) switch=$(switch_ns)
	clocks "$1" >"$1.clocks"
	check "$1: no thread has its CPU clock in 'monitored'" \
		awk -F '\t' '$3 != "-" { n++ } END { exit !n }' "$1.clocks"
	awk -F '\t' -v run="$1" -v all="${2-}" -v stolen="$stolen" -v switch_ns="$switch" '
		$3 == "-" { next }
		{ d = $2 - $3; if (d < 0) d = -d; limit = $3 / 100 > $4 ? $3 / 100 : $4; limit += $2 > $3 ? stolen : 3 * switch_ns * $8 }
		$7 { limit += $4 } # from the last sample taken from outside to the begin of the agent
		!all && $2 < $3 && $6 >= 2 * $4 + 16e6 { next }
		d > limit { printf "%s: %s (%s): weights %.0f, clock %.0f\n", run, $1, $5, $2, $3; bad = 1 }
		END { exit bad }' "$1.clocks" || fail "$1: weights differ from the thread's CPU clock"
}

# readings_agree RUN <READING : the weights of threads8's threads against what each has read itself, "name<TAB>ns", within 1 %
# or 5 ms (main, which was there before the agent, 20 ms); after weights_agree, and as there but for threads that no tick meets
readings_agree() {
	local run=$1 name ns least
	while IFS=$'\t' read -r name ns; do
		least=5e6
		[ "$name" != main ] || { name=threads8 least=20e6; }
		awk -F '\t' -v name="$name" -v ns="$ns" -v least="$least" '
			$5 != name { next }
			{ found = 1; d = $2 - ns; if (d < 0) d = -d; limit = ns / 100 > least ? ns / 100 : least }
			$2 < $3 && $6 >= 2 * $4 + 16e6 { next }
			d > limit { printf "%s: weights %.0f, its own reading %.0f\n", name, $2, ns; bad = 1 }
			END { exit bad || !found }' "$run.clocks" || fail "$run: weights of '$name' differ from its own reading"
	done
}

weight_sum() { # RUN
	hpct-slice "$1.hpct" --format tsv | tsv '
		$c["track"] == "samples" { n += $c["weight"] } END { printf "%.0f\n", n }'
}

# share_limit RUN : how far (in points) a share may be off: 2 where the samples came as often as asked, or twice the most
# that one of them stands for; on a machine so busy that most are late, 3.5 standard errors of as many independent samples
# as there were
share_limit() {
	hpct-slice "$1.hpct" --format tsv | tsv '
		function attribute(text, key) {
			return match("," text, "," key "=[^,]*") ? substr(text, RSTART + length(key) + 1,
				RLENGTH - length(key) - 2) : "-"
		}
		$c["op"] == "monitored" { period = attribute($c["attributes"], "period_ns") }
		$c["track"] == "samples" { w += $c["weight"]; w2 += $c["weight"] ^ 2; if ($c["weight"] > most) most = $c["weight"] }
		END {
			n = w2 ? w * w / w2 : 1
			limit = period > 0 && n > 0.7 * w / period ? 2 : 175 / sqrt(n)
			edge = w ? 200 * most / w : 100
			limit = limit > edge ? limit : edge
			print(limit > 2 ? limit : 2)
		}'
}

# edge RUN NS : how far the time of a part of a thread may be off, NS, or on a busy machine twice the most that lay between
# two of its samples: where it begins and where it ends is known by samples
edge() {
	hpct-slice "$1.hpct" --format tsv | tsv '$c["track"] == "samples" && $c["weight"] > most { most = $c["weight"] }
		END { printf("%.0f\n", 2 * most > '"$2"' ? 2 * most : '"$2"') }'
}

# near SENTENCE WANT GOT LIMIT : |GOT - WANT| <= LIMIT
near() {
	calc "($3) - ($2) <= ($4) && ($2) - ($3) <= ($4)" || fail "$1: expected $2 within $4, got $3"
}

# share RUN FUNCTION : its inclusive percentage of the run's weights, summed over outermost occurrences in paths
share() {
	hpct-slice "$1.hpct" --format tsv | tsv '
		$c["track"] == "samples" {
			all += $c["weight"]
			n = split($c["path"], frame, ";")
			for (i = 1; i <= n; i++)
				if (frame[i] == "'"$2"'") { in_it += $c["weight"]; break }
		}
		END { printf "%.3f\n", all ? 100 * in_it / all : -1 }'
}

# terminal COLUMNS ROWS : a shell in tmux, with our programs on its PATH, that waits for keys in the test's directory. After
# it `tm` is that tmux, its pane is v, and what is on the screen is in ./pane
terminal() {
	need tmux
	undo='tm kill-server 2>/dev/null'
	tm -f /dev/null new-session -d -s v -x "$1" -y "$2" \
		"env PATH='$PATH' LC_ALL=C.UTF-8 PS1='ready> ' bash --norc --noprofile -i" || skip "tmux does not start here"
	shows 'ready>' || skip "no shell in tmux"
	type_line "cd $work; clear"
}
tm() { SHELL=$BASH tmux -L "hpct-e2e-$$" "$@"; } # whatever the user's own is
type_line() { tm send-keys -t v "$1" Enter; }
pane_has() { tm capture-pane -p -t v >pane 2>/dev/null && grep -qF -- "$1" pane; }
pane_lacks() { tm capture-pane -p -t v >pane 2>/dev/null && ! grep -qF -- "$1" pane; }
shows() { await pane_has "$1"; } # TEXT : waits until the pane shows it
