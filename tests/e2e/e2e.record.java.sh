#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Java: stacks are whole although compiled code keeps no frame pointers. --java names compiled methods, by the machine itself;
# without it they are one function, and the program is the same either way, also where it ends while it is asked.
. "$(dirname -- "$0")/expect.sh"
command -v java >/dev/null && command -v javac >/dev/null || skip "no Java kit is installed"
cat >Hot.java <<'END'
import java.util.HashMap;
public class Hot {
	static long inner(int n) { long s = 0; for (int i = 0; i < n; i++) s = (s * 31 + i) % 1000003; return s; }
	static long maps(int n) { HashMap<Integer, Integer> m = new HashMap<>(); for (int i = 0; i < n; i++) m.merge(i % 1000, i, Integer::sum); return m.size(); }
	static long outer(double seconds) {
		java.lang.management.ThreadMXBean clock = java.lang.management.ManagementFactory.getThreadMXBean();
		long end = clock.getCurrentThreadCpuTime() + (long) (seconds * 1e9), s = 0;
		while (clock.getCurrentThreadCpuTime() < end) s += inner(400000) + maps(20000);
		return s;
	}
	public static void main(String[] a) {
		System.out.println(outer(Double.parseDouble(a[0])) > 0);
		System.exit(3);
	}
}
END
cat >Chain.java <<'END'
public class Chain {
	static volatile long sink;
	static int deep(int n) { if (n == 0) throw new IllegalStateException("bottom"); return deep(n - 1) + 1; }
	static long caught(int n) { try { return deep(n); } catch (IllegalStateException e) { return e.getMessage().length(); } }
	static long leaf(int n) { long s = 0; for (int i = 0; i < n; i++) s = s * 31 + i; return s; }
	static long c(int n, long x) { return leaf(n) + x; }
	static long b(int n, int y, long x) { return c(n + y, x) ^ y; }
	static long a(int n, double d, long x, int q, int r, int s, int t, int u) { long v = b(n, q, x); return v + (long) (d * (r + s + t + u)); }
	static long outer(int n) { long s = 0; for (int i = 0; i < 50; i++) s += a(n, 0.5 * i, s, i & 3, 1, 2, 3, i); return s; }
	public static void main(String[] x) {
		long end = System.nanoTime() + (long) (Double.parseDouble(x[0]) * 1e9), s = 0;
		while (System.nanoTime() < end) { s += outer(200) + caught(12); sink = s; }
		System.out.println("end");
	}
}
END
javac --release 11 Hot.java Chain.java >said 2>&1 || fail "javac: $(cat said)"
share_of() { # RUN PATTERN : of the samples in code that was made at run time
	hpct-slice "$1.hpct" --format tsv | tsv '
		$c["track"] == "samples" && $c["weight"] > 0 && $c["path"] ~ /;Interpreter|anonymous code/ {
			all += $c["weight"]
			if ($c["path"] ~ /'"$2"'/) n += $c["weight"]
		}
		END { printf "%.1f", all ? 100 * n / all : 0 }'
}
for with in "" --java; do
	code "java $with" 3 hpct-record --overwrite --summary said.txt $with -o java.hpct -e CPUTIME@1000 -- java -cp . Hot 1.2
	same "the summary names --java, with '$with'" "$([ -z "$with" ] && echo 1 || echo 0)" "$(grep -c 'hpct-record --java' said.txt)"
	same "output $with" true "$(cat out)"
	if [ -z "$with" ]; then
		check "without --java: one function" [ "$(hpct-stats java.hpct --by function --format tsv | grep -c 'anonymous code of java')" -eq 1 ]
		same "without --java: no name" 0 "$(hpct-slice java.hpct --format tsv | grep -c 'Hot\.inner')"
		continue
	fi
	check "inner: $(share_of java ';Hot[.]inner') %" calc "$(share_of java ';Hot[.]inner') > 20"
	check "the library's: $(share_of java ';Hot[.]maps;.*java[.]util[.]HashMap[.]') %" calc "$(share_of java ';Hot[.]maps;.*java[.]util[.]HashMap[.]') > 2"
	check "code without a name: $(share_of java 'anonymous code') %" calc "$(share_of java 'anonymous code') < 2"
	same "a thread for us is none of the program's" 0 "$(hpct-info java.hpct --streams --format tsv | grep -c 'hpct-java')"
done
# One method a frame: what calls a leaf is known to the last of them, under each Java that is installed.
for java in java /usr/lib/jvm/*/bin/java; do
	[ "$java" = java ] || { [ -x "$java" ] && ! [ "$(readlink -f "$java")" -ef "$(readlink -f "$(command -v java)")" ]; } || continue
	code "$java: a chain" 0 hpct-record --overwrite --java -o chain.hpct -e CPUTIME@1000 -- "$java" -XX:-Inline -cp . Chain 1.2
	hpct-slice chain.hpct --format tsv | tsv '
		$c["track"] == "samples" {
			all += $c["weight"]
			if ($c["path"] ~ /<partial>/) partial += $c["weight"]
			if ($c["path"] ~ /;Chain[.]leaf(;|$)/) leaf += $c["weight"]
			if ($c["path"] ~ /;JavaCalls.*;(Chain[.]main|Interpreter);Chain[.]outer;Chain[.]a;Chain[.]b;Chain[.]c;Chain[.]leaf(;|$)/) whole += $c["weight"]
		}
		END { printf "%.1f %.1f %.1f\n", 100 * partial / all, 100 * leaf / all, leaf ? 100 * whole / leaf : 0 }' >shares
	read -r partial leaf whole <shares
	check "$java: partial $partial %" calc "$partial < 5"
	check "$java: samples in the leaf $leaf %" calc "$leaf > 10"
	check "$java: whole chains $whole %" calc "$whole > 95"
done
# It ends before the machine has started, and while it is asked.
for n in 1 2 3 4 5 6; do
	code "short, $n" 3 hpct-record --overwrite --java -o short.hpct -- java -XX:TieredStopAtLevel=1 -cp . Hot 0
	same "short, $n: output" false "$(cat out)"
done
check "no machine crashed" [ -z "$(ls hs_err* 2>/dev/null)" ]
# Another program is left alone.
code "--java with no Java" 0 hpct-record --overwrite --java -o none.hpct -- "$samples/threads8" 0.1
