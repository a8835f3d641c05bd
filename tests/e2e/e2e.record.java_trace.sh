#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Java's stacks as its machine tells them (AsyncGetCallTrace): an oracle of the agent's own walk at random instructions, and
# what the agent takes where that walk ends; here as if the machine published nothing of its code (HPCT_JAVA_BLOBS). Under
# trouble at 5000 samples a second, for each collector, for HPCT_STRESS_SECONDS in all, the program is as without it.
. "$(dirname -- "$0")/expect.sh"
command -v java >/dev/null && command -v javac >/dev/null || skip "no Java kit is installed"
[ "$(uname -m)" = x86_64 ] || skip "frames of compiled code are known on x86-64 only"
cat >Calls.java <<'END'
import java.io.File;
import java.util.HashMap;
public class Calls {
	static volatile long sink;
	static int deep(int n) { if (n == 0) throw new IllegalStateException("bottom"); return deep(n - 1) + 1; }
	static long caught(int n) { try { return deep(n); } catch (IllegalStateException e) { return e.getMessage().length(); } }
	static long leaf(int n) { long s = 0; for (int i = 0; i < n; i++) s = s * 31 + i; return s; }
	static long c(int n, long x) { return leaf(n) + x; }
	static long b(int n, int y, long x) { return c(n + y, x) ^ y; }
	static long a(int n, double d, long x, int q, int r, int s, int t, int u) { long v = b(n, q, x); return v + (long) (d * (r + s + t + u)); }
	static long outer(int n) { long s = 0; for (int i = 0; i < 50; i++) s += a(n, 0.5 * i, s, i & 3, 1, 2, 3, i); return s; }
	static long maps(int n) { HashMap<Integer, Integer> m = new HashMap<>(); for (int i = 0; i < n; i++) m.merge(i % 100, i, Integer::sum); return m.size(); }
	static long all() { long s = 0; for (int i = 0; i < 200; i++) s += outer(200) + caught(12) + maps(500); return s; }
	public static void main(String[] x) {
		File enough = new File(x[0]);
		for (int i = 0; x.length > 1 ? i < Integer.parseInt(x[1]) : !enough.exists(); i++) sink = all();
		System.out.println("end");
	}
}
END
javac --release 11 -d . Calls.java "$HPCT_SOURCE/tests/e2e/Churn.java" >said 2>&1 || fail "javac: $(cat said)"

# The oracle: it makes the file that the program waits for once it has stopped it often enough.
oracle=${HPCT_BIN%/bin}/tests/java_oracle.so
for with in -XX:+UseSerialGC "-XX:+UseG1GC -XX:-Inline" -XX:TieredStopAtLevel=1 -Xint; do
	rm -f stops stops.enough
	# shellcheck disable=SC2086
	same "$with: output" end "$(java $with "-agentpath:$oracle=stops" -cp . Calls stops.enough)"
	read -r all compared different partial wrong told < <(tail -n 1 stops)
	echo "$with: $all stops, $compared compared, $different differ, $partial partial; wrong $wrong, as told $told"
	check "$with: compared" calc "${compared:-0} > 0.5 * ${all:-1}"
	check "$with: $different of $compared differ" calc "${different:-1} <= 0.02 * ${compared:-0}"
	check "$with: $wrong of $compared are wrong" calc "${wrong:-1} <= 0.001 * ${compared:-0}"
	check "$with: $partial of $all partial" calc "${partial:-1} <= 0.01 * ${all:-0}"
	[ "$failed" -eq 0 ] || head -n 8 stops | cut -c 1-300
done

# The fallback: names of all frames, those of the interpreter and what is inlined, too.
export HPCT_JAVA_BLOBS=0
code "without blobs" 0 hpct-record --overwrite --java -o calls.hpct -e CPUTIME@1000 -- java -XX:+UseSerialGC -cp . Calls none 150
same "without blobs: output" end "$(cat out)"
hpct-slice calls.hpct --format tsv | tsv '
	$c["track"] == "samples" && $c["path"] ~ /Calls[.]/ {
		all += $c["weight"]
		if ($c["path"] ~ /<partial>/) partial += $c["weight"]
		if ($c["path"] ~ /;Calls[.]leaf(;|$)/) leaf += $c["weight"]
		if ($c["path"] ~ /;Calls[.]main;Calls[.]all;Calls[.]outer;Calls[.]a;Calls[.]b;Calls[.]c;Calls[.]leaf(;|$)/) whole += $c["weight"]
	}
	END { printf "%.1f %.1f %.1f\n", 100 * partial / all, 100 * leaf / all, leaf ? 100 * whole / leaf : 0 }' >shares
read -r partial leaf whole <shares
echo "without blobs: partial $partial %, leaf $leaf %, whole chains $whole %"
check "without blobs: samples in the leaf $leaf %" calc "$leaf > 5"
check "without blobs: whole chains $whole %" calc "$whole > 90"

# Trouble. Shenandoah and Z move objects beside the program: there it is not asked.
seconds=${HPCT_STRESS_SECONDS:-14}
collectors=(Serial G1 Parallel Shenandoah Z)
for collector in "${collectors[@]}"; do
	java "-XX:+Use${collector}GC" -version >said 2>&1 || continue # this machine has none
	for with in "" -XX:-Inline -Xint; do
		# shellcheck disable=SC2086
		code "$collector $with" 4 hpct-record --overwrite --java -o churn.hpct -e CPUTIME@f5000 -- \
			java -Xmx96m "-XX:+Use${collector}GC" $with -cp . Churn "$(awk "BEGIN { print $seconds / 15 }")"
		same "$collector $with: output" churned "$(cat out)"
		told=$(hpct-slice churn.hpct --format tsv | grep -c 'Churn\.turn')
		echo "$collector $with: $told samples"
		case $collector in
		Serial | G1 | Parallel) check "$collector $with: the machine was asked, and told of its methods" [ "$told" -gt 0 ] ;;
		esac
	done
done
check "no machine crashed" [ -z "$(ls hs_err* 2>/dev/null)" ]
