#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Level Zero through the real loader, on a driver of our own (tests/level0) that writes down what it ran and when:
# linked and dlopen'ed programs, every kind of list, clocks that wrap, drivers that lie. The same checks as for any
# other vendor, then every operation against the driver's own record.
. "$(dirname -- "$0")/expect.sh"
. "$(dirname -- "$0")/gpu_conformance.sh"
driver=$HPCT_BIN/../tests/level0_driver.so
[ -x "$samples/level0" ] && [ -f "$driver" ] || skip "built without the Level Zero loader (libze-dev)"
export ZE_ENABLE_ALT_DRIVERS=$driver

# level0 RUN WAY [PROGRAM] : as without hpct; RUN.truth is the driver's record, RUN.did what the program says it did
level0() {
	local run=$1 way=$2 program=$samples/${3-level0} bare=0 measured=0
	"$program" "$way" >"$run.bare" || bare=$?
	FAKE_LEVEL0_LOG=$PWD/$run.truth record "$run" -e gpu=level0 -- "$program" "$way" >"$run.did" || measured=$?
	same "$run: exit code" "$bare" "$measured"
	same_file "$run: stdout" "$run.bare" "$run.did"
}

# expected RUN : what it says it did, as a table for gpu_conformance
expected() {
	awk -F '\t' '
		$1 == "kernel" { print $3, $1, 0, "-", "<gpu kernel>;" $2 }
		$1 == "copy" || $1 == "set" { print $3, $1, $4 / $3, $2, "<gpu " $1 ">" }
		$1 == "alloc" || $1 == "free" { print $3, $1, $4 / $3, $2, "-" }
		$1 == "compile" { print $3, $1, $4 / $3, "-", "-" }' "$1.did"
}

# syncs RUN : the waits that it says, by kind
syncs() {
	awk -F '\t' '$1 == "sync" { print $2, $3 }' "$1.did" | sort >"$1.waits.want"
	grep -o 'kind=[A-Z]*' "$1.syncs" | sort | uniq -c | awk '{ sub("kind=", "", $2); print $2, $1 }' | sort >"$1.waits"
	same_file "$1: waits" "$1.waits.want" "$1.waits"
}

# truth RUN : each operation is the driver's, at the driver's time: all begin the same time, within 2 us, after the
# driver says, which is the origin; and each takes as long, within the clock's resolution
truth() {
	awk -F '\t' '$8 == 0 { print $5 "\t" $6 - $5 "\t" $1 "\t" $2 "\t" $3 "\t" $7 }' "$1.truth" | sort -n >"$1.want"
	awk -F '\t' '{
		n = split($4, frame, ";"); split($1, id, "/")
		print $2 "\t" $3 - $2 "\t" $5 "\t" ($5 == "kernel" ? frame[n] : "") "\t" id[4] "\t" $6 }' "$1.ops" |
		sort -n >"$1.got"
	same "$1: operations that the driver ran" "$(wc -l <"$1.want")" "$(wc -l <"$1.got")"
	paste "$1.want" "$1.got" | awk -F '\t' -v run="$1" '
		{ d = $1 - $7; if (NR == 1) first = d; d -= first }
		d > 2000 || d < -2000 || $2 - $8 > 1000 || $8 - $2 > 1000 || $3 != $9 || $4 != $10 || $5 != $11 ||
			$6 != $12 { print run ": " $0 " (" d " ns off)"; bad = 1 }
		END { exit bad }' >"$1.bad" || fail "not what the driver says: $(head -n 3 "$1.bad")"
}

# placed RUN : an operation that found its queue idle began while it was launched (most do not)
placed() {
	awk -F '\t' '
		FNR == NR { begin[$8] = $2; end[$8] = $3; next }
		$2 + 2000 >= begin[$8] && $2 <= end[$8] + 2000 { n++ }
		END { exit n == 0 }' "$1.launches" "$1.ops" || fail "$1: nothing began while it was launched"
}

whole() { # RUN : all of that
	gpu_conformance "$1" < <(expected "$1")
	syncs "$1"
	truth "$1"
	placed "$1"
}

for way in immediate regular replay burst devices events threads hurry leave fork; do
	level0 "$way" "$way"
	whole "$way"
done
level0 opened immediate level0_dlopen
whole opened

# Where operations of a list belong: below the call that executed it.
gpu_counts regular <<'END'
5 kernel 0 - main;regular;<gpu kernel>;axpy_300us
5 copy 65536 D2H main;regular;<gpu copy>
END
same "launches of ten replays" 10 "$(wc -l <burst.launches)"
same "operations of the last launch" 5 "$(cut -f8 burst.ops | sort -n | uniq -c | awk 'END { print $1 }')"
gpu_counts immediate <<'END'
10 kernel 0 - main;immediate;append_each;launch;<gpu kernel>;axpy_300us
1 kernel 0 - main;immediate;launch;<gpu kernel>;axpy_300us
3 alloc - - main;work_open
3 free - - main;work_close
END
same "what a kernel is like" 21 \
	"$(grep -c 'grid=16:4:1,block=64:2:1,shared_static=1024,local=96,module=' immediate.ops)"
# in_use AT : GPU memory by who allocated it, kept by the frees that another function calls
in_use() {
	hpct-stats immediate.hpct --metric GPUMEM:live --at "$1" --by path --format tsv |
		tsv '{ print $c["key"], ($c["live_bytes"] > 0), ($c["allocated_bytes"] == $c["freed_bytes"]) }'
}
same "memory when most is in use" "main;work_open 1 0" "$(in_use peak)"
same "memory at the end" "main;work_open 0 1" "$(in_use -1ns)"
same "since when GPUs are used" first-use \
	"$(hpct-slice immediate.hpct --op monitored --streams kind=gpu --format tsv | grep -o 'since=[a-z-]*' | cut -d= -f2 | sort -u)"
same "devices that were used" "0 1" "$(cut -f1 devices.ops | cut -d / -f4 | sort -u | paste -sd ' ')"
same "streams of four threads' lists" 4 "$(cut -f1 threads.ops | sort -u | wc -l)"

# Clocks: one that wraps after 4 ms, one of which events hold the lower half, a host clock that is not ours.
for clock in "bits=28 kernel_bits=28 frequency=1000000000 offset=264435456" \
	"bits=36 kernel_bits=32 frequency=19200000 offset=4294900000" "host_offset=86400000000000"; do
	FAKE_LEVEL0=$clock level0 clock immediate
	whole clock
	rm -rf clock.*
done

# Drivers that report no times, or begin and end exchanged: counted, and given to the launch.
for odd in zero inverted; do
	for way in immediate replay; do
		FAKE_LEVEL0="$odd=3" level0 "$odd.$way" "$way"
		gpu_slice "$odd.$way"
		gpu_counts "$odd.$way" < <(expected "$odd.$way")
		same "$odd.$way: operations without times" "$(awk -F '\t' '$8 != 0' "$odd.$way.truth" | wc -l)" \
			"$(info "$odd.$way" gpu_untimed)"
		same "$odd.$way: lost" 0 "$(info "$odd.$way" gpu_lost)"
	done
done

# The loader's own layers, and two drivers at once.
cp "$driver" second.so
for setting in ZE_ENABLE_LOADER_INTERCEPT=1 ZE_ENABLE_TRACING_LAYER=1 ZE_ENABLE_VALIDATION_LAYER=1 \
	ZE_ENABLE_ALT_DRIVERS="$driver,$PWD/second.so"; do
	( export "${setting?}" && level0 layer events && whole layer && exit "$failed" ) || failed=1
	rm -rf layer.*
done

# No device, no driver; not asked for; no Level Zero at all.
FAKE_LEVEL0=fail=init level0 failing immediate
same "the program's word" "zeInit	0x78000001" "$(cat failing.did)"
ZE_ENABLE_ALT_DRIVERS=/nonexistent.so level0 driverless immediate
record off -e gpu=off -- "$samples/level0" immediate >/dev/null
record other -e gpu=opencl -- "$samples/level0" immediate >/dev/null
record none -- true
for run in failing driverless off other none; do
	same "$run: GPU streams" 0 "$(hpct-info $run.hpct --streams --format tsv | tsv '$c["kind"] == "gpu"' | wc -l)"
done
record auto -- "$samples/level0" immediate >/dev/null
same "operations by themselves" 51 "$(info auto gpu_operations)"

# Beside another runtime, whichever comes first: each operation is on its own runtime's device, and each device has its
# own name.
if [ -x "$samples/level0_opencl" ] && "$samples/level0_opencl" c >/dev/null 2>&1; then
	for order in cz zc czcz zcc; do
		record "runtimes_$order" -- "$samples/level0_opencl" $order
		hpct-info "runtimes_$order.hpct" --streams --format tsv |
			tsv '$c["kind"] == "gpu" { print $c["device"], $c["stream"] }' >"runtimes_$order.streams"
		same "$order: a runtime to a device" "2048 level0 4096 opencl" "$(
			hpct-slice "runtimes_$order.hpct" --op copy,monitored --streams kind=gpu --format tsv | tsv '
				{ split($c["stream"], s, "/") }
				$c["op"] == "copy" { bytes[s[4]] = bytes[s[4]] " " $c["bytes"] }
				$c["op"] == "monitored" { name[s[4]] = $c["attributes"] ~ /device=Fake GPU/ ? "level0" : "opencl" }
				END { for (d in bytes) { n = split(bytes[d], b, " "); for (i = 1; i <= n; i++) print b[i], name[d] } }' |
				sort -u | paste -sd ' ')"
		same "$order: devices" 2 "$(hpct-slice "runtimes_$order.hpct" --op copy --streams kind=gpu --format tsv |
			tsv '{ split($c["stream"], s, "/"); print s[4] }' | sort -u | wc -l)"
		same "$order: waits name queues that are there" "" "$(hpct-slice "runtimes_$order.hpct" --op sync --format tsv |
			grep -o 'device=[0-9]*,context=[0-9]*,queue=[0-9]*' | sed 's/[a-z]*=//g; s|,|/|g' | sort -u |
			while read -r queue; do grep -q "/$queue\$" "runtimes_$order.streams" || echo "$queue"; done)"
		code "$order: hpct-info --check" 0 hpct-info "runtimes_$order.hpct" --check
	done
fi
