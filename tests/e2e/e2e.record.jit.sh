#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Code that a program makes itself: followed by frame pointers, named by the map that is written for perf, or by what is
# registered for a debugger.
. "$(dirname -- "$0")/expect.sh"
record jit -- "$samples/jit" 0.4 >map || fail "jit does not end well"
check "the map stays" rm "$(cat map)"
same "partial" 0 "$(info jit partial_stacks)"
near "time in main;run;jit outer;jit inner" 100 "$(hpct-slice jit.hpct --format tsv | tsv '
	$c["track"] == "samples" { all += $c["weight"]; if ($c["path"] == "main;run;jit outer;jit inner") n += $c["weight"] }
	END { printf "%.1f", all ? 100 * n / all : 0 }')" 25
weights_agree jit
# Named code that was made at run time is a script's, and has what it calls.
same "functions of scripts" "jit inner" "$(hpct-stats jit.hpct --by script --format tsv | tsv '$c["key"] ~ /^jit/ { print $c["key"]; exit }')"
# Recursion in such code is folded: where it calls itself is one place.
record deep -e CPUTIME@1000 -- "$samples/jit" 0.4 deep >map || fail "deep"
rm -f "$(cat map)"
same "deep: partial" 0 "$(info deep partial_stacks)"
same "deep: lost" 0 "$(info deep lost)"
# (Returns from so deep are dear on some processors: a third of the time is the recursion's own.)
hpct-slice deep.hpct --format tsv | tsv '
	$c["track"] == "samples" { all += $c["weight"] }
	$c["track"] == "samples" && $c["path"] ~ /^main;run;jit deep;jit deep;jit deep(;jit inner)?$/ { n += $c["weight"] }
	$c["path"] == "main;run;jit deep;jit deep;jit deep;jit inner" { inner += $c["weight"] }
	END { printf "%.1f %.1f\n", all ? 100 * n / all : 0, all ? 100 * inner / all : 0 }' >got
near "time in main;run;jit deep;jit deep;jit deep" 100 "$(cut -d' ' -f1 got)" 25
check "what the recursion ends in has $(cut -d' ' -f2 got) %" calc "$(cut -d' ' -f2 got) > 30"
hpct-record -o deleted.hpct -- "$samples/jit" 1000 >/dev/null & # as long as it takes
launcher=$!
is_named() { calc "$(share deleted 'jit inner' 2>/dev/null) > 0"; }
check "named while it runs" await is_named
program=$(pgrep -P "$launcher" -x jit)
rm "/tmp/perf-$program.map" || fail "jit's map is not there"
check "it goes on" await sampled deleted $(($(sample_count deleted) + 20))
kill "$program"
wait "$launcher"
near "named though its map was removed" 100 "$(share deleted 'jit inner')" 25

# The other form of perf's maps, found where the program maps it; what was moved has the name that it had.
record dump -- "$samples/jit" 0.4 dump >map || fail "jit dump"
check "the dump stays" [ -s "$(cat map)" ]
same "dump: functions" "jit inner" "$(hpct-stats dump.hpct --by script --format tsv | tsv '$c["key"] ~ /^jit/ { print $c["key"]; exit }')"
near "dump: time in main;run;jit outer;jit inner" 100 "$(hpct-slice dump.hpct --format tsv | tsv '
	$c["track"] == "samples" { all += $c["weight"]; if ($c["path"] == "main;run;jit outer;jit inner") n += $c["weight"] }
	END { printf "%.1f", all ? 100 * n / all : 0 }')" 25

# Nobody else's map, and no old one of this number.
cat >stale.sh <<'END'
printf '0 ffffffffffffffff stale\n' >/tmp/perf-$$.map
touch -d '2 days ago' /tmp/perf-$$.map
exec "$@"
END
record stale -- sh stale.sh "$samples/jit" 0.1 silent >map || fail "stale"
# Code without a name is one function, however many addresses it has.
hpct-stats stale.hpct --by function --format tsv | tsv '$c["key"] ~ /anonymous/ { print $c["key"] }' >rows
same "code without a name" "[anonymous code of jit]" "$(cat rows)"
same "it is of main and run" "main;run;[anonymous code of jit];[anonymous code of jit]" \
	"$(hpct-stats stale.hpct --by path --format tsv | tsv '$c["key"] ~ /anonymous/ { print $c["key"]; exit }')"
check "each address has its row" grep -q 'anonymous code of jit, process [0-9]*\]+0x' <(hpct-stats stale.hpct --by instruction --format tsv)
same "an old map names nothing" 0 "$(hpct-slice stale.hpct --format tsv | grep -c ';stale')"
rm -f "$(cat map)"

command -v node >/dev/null || { echo "node is not installed: not tried"; exit; }
cat >hot.js <<'END'
function inner(n) { let s = 0; for (let i = 0; i < n; i++) s = (s * 31 + i) % 1000003; return s; }
function outer() { const t = process.cpuUsage().user; let s = 0; while (process.cpuUsage().user - t < 700000) s += inner(200000); return s; }
console.log(process.pid, outer() > 0, process.noDeprecation === true);
END
for form in --perf-basic-prof --perf-prof --node; do
	# The last is an option of the recorder; what the program has in NODE_OPTIONS stays.
	options=(--overwrite) arguments=("$form")
	[ "$form" != --node ] || { options+=("$form") arguments=() && export NODE_OPTIONS=--no-deprecation; }
	record node "${options[@]}" -- node "${arguments[@]}" hot.js >out || fail "node does not end well"
	rm -f "/tmp/perf-$(cut -d' ' -f1 out).map"
	same "$form: NODE_OPTIONS" "$([ "$form" = --node ] && echo true || echo false)" "$(cut -d' ' -f3 out)"
	hpct-slice node.hpct --format tsv | tsv '
		$c["track"] == "samples" { all += $c["weight"]; if ($c["path"] ~ /;JS:.inner [^;]*hot\.js/) n += $c["weight"] }
		END { printf "%.1f\n", all ? 100 * n / all : 0 }' >got
	check "node $form: share of inner is $(cat got) %" calc "$(cat got) > 30"
done

record node --overwrite --summary said.txt -- node hot.js >out || fail "node does not end well"
check "the summary names --node" grep -q 'hpct-record --node' said.txt

# What is registered for a debugger and nowhere else (GDB's JIT interface): LLVM's.
if command -v lli-14 >/dev/null; then
	cat >loops.ll <<'END'
define i64 @jitted_leaf(i64 %n, i64 %seed) noinline nounwind {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %s = phi i64 [ %seed, %entry ], [ %sum, %loop ]
  %m = mul i64 %s, 6364136223846793005
  %x = lshr i64 %m, 17
  %sum = xor i64 %x, %i
  %next = add i64 %i, 1
  %go = icmp ult i64 %next, %n
  br i1 %go, label %loop, label %done
done:
  ret i64 %sum
}
define i64 @jitted_caller(i64 %n) noinline {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %s = phi i64 [ 1, %entry ], [ %r, %loop ]
  %r = call i64 @jitted_leaf(i64 1000000, i64 %s)
  %next = add i64 %i, 1
  %go = icmp ult i64 %next, %n
  br i1 %go, label %loop, label %done
done:
  ret i64 %r
}
define i32 @main(i32 %argc, i8** %argv) {
  %r = call i64 @jitted_caller(i64 400)
  %t = trunc i64 %r to i32
  %z = and i32 %t, 0
  ret i32 %z
}
END
	code "lli" 0 hpct-record --overwrite -o lli.hpct -- lli-14 -jit-kind=mcjit loops.ll
	same "lli: partial" 0 "$(info lli partial_stacks)"
	share_of_lli=$(hpct-slice lli.hpct --format tsv | tsv '
		$c["track"] == "samples" { all += $c["weight"]; if ($c["path"] ~ /;main;jitted_caller;jitted_leaf(;|$)/) n += $c["weight"] }
		END { printf "%.1f", all ? 100 * n / all : 0 }')
	check "lli: named $share_of_lli %" calc "$share_of_lli > 60"
	same "lli: without a name" 0 "$(hpct-slice lli.hpct --format tsv | grep -c 'anonymous code')"
fi
