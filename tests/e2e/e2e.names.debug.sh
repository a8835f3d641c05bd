#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Debug information wherever it is: each form of one program must give the same functions, inlined calls, loops and
# lines for every address of it: compressed, DWARF 4, split (.dwo, .dwp), shared by dwz, by .gnu_debuglink and by build
# id, from a debuginfod server. All of it runs with the packages that build.sh installs.
. "$(dirname -- "$0")/expect.sh"
need g++ objcopy nm python3
cat >shapes.cc <<'CODE'
#include <cstdio>
#include <cstdlib>
#include <algorithm>
#include <vector>
namespace shapes {
template <typename T> static inline __attribute__((always_inline)) T twice(T value) { return value + value; }
struct box {
	std::vector<long> sides;
	__attribute__((noinline)) long grow(long by)
	{
		long sum = 0;
		for (long &side : sides)
			sum += side = twice(side) + by;
		return sum;
	}
};
}
__attribute__((noinline)) static long sorted(std::vector<long> &values, long pivot)
{
	std::sort(values.begin(), values.end(), [pivot](long a, long b) { return (a ^ pivot) < (b ^ pivot); });
	return values[0];
}
int main(int argc, char **)
{
	shapes::box box;
	for (long i = 0; i < 100; i++)
		box.sides.push_back(i * argc);
	long sum = box.grow(argc) + sorted(box.sides, argc);
	printf("%ld\n", sum);
	return 0;
}
CODE
g++ -g -gdwarf-5 -O2 -Wl,--build-id -o plain shapes.cc || fail "the program does not compile"
nm -S plain | awk '$3 ~ /[tTwW]/ && NF == 4 { print $1, $2 }' | while read -r begin size; do
	for ((at = 16#$begin; at < 16#$begin + 16#$size; at += 3)); do printf '%x\n' "$at"; done
done >addresses
rows() { # FILE OPTION... : what hpct-names says of all addresses
	local file=$1
	shift
	hpct-names --no-shared "$@" -e "$file" <addresses 2>notes | cut -f 1-7 | sed "s/$(basename "$file")/plain/g"
}
rows plain >want
check "lambdas are named" grep -q 'lambda' want
check "inlined templates are named" grep -q 'inline	std::sort<' want
[ "$(wc -l <want)" -gt 500 ] || fail "only $(wc -l <want) rows"

objcopy --compress-debug-sections=zlib plain zlib && rows zlib >got && same_file "compressed sections" want got
g++ -g -gdwarf-4 -O2 -o four shapes.cc && rows four >got && same_file "DWARF 4" want got
g++ -g -gdwarf-5 -gsplit-dwarf -O2 -c shapes.cc && g++ -o split shapes.o && rows split >got &&
	same_file "split: .dwo" want got
mkdir tmp && export TMPDIR=$PWD/tmp
dwp=$(command -v llvm-dwp-14 llvm-dwp | head -n 1)
if [ -n "$dwp" ]; then
	"$dwp" -e split -o split.dwp 2>dwp.log || fail "$(head -n 1 dwp.log)"
fi
mkdir away && mv ./*.dwo away
if [ -n "$dwp" ]; then
	mkdir -p tmp/hpct-dwp-{killed,going}/part && touch tmp/hpct-dwp-{killed,going}/{place,part/a.dwo}
	exec {going}<tmp/hpct-dwp-going/place && flock "$going" # as the process does whose directory it is
	rows split >got && same_file "split: .dwp" want got
	same "what a killed process left is removed, what one is using is not" hpct-dwp-going "$(ls tmp)"
	exec {going}<&- && rm -r tmp/hpct-dwp-going
	mv split.dwp away
fi
if command -v dwp >/dev/null; then # binutils' makes the older form
	mkdir -p old/part && (cd old && g++ -g -gdwarf-4 -gsplit-dwarf -O2 -c ../shapes.cc -o part/shapes.o &&
		g++ -o split part/shapes.o && dwp -e split -o split.dwp && rm part/*.dwo) || fail "no .dwp of DWARF 4"
	rows old/split >got && sed -i "s,$PWD/old/../,$PWD/,g" got && same_file "split: .dwp of DWARF 4" want got
	head -c 3000 old/split.dwp >cut && mv cut old/split.dwp
	rows old/split >got
	check "a cut .dwp: it is said" grep -q 'split off' notes
fi
check "nothing is left behind" test -z "$(ls tmp)"
rows split >got
check "no .dwo: the functions are named all the same" grep -q 'shapes::box::grow' got
check "no .dwo: it is said" grep -q 'split off' notes
if command -v dwz >/dev/null; then
	# the shared part must be worth a file of its own
	cp plain dwz1 && g++ -g -gdwarf-4 -O2 -Wl,--build-id -o dwz1 shapes.cc && cp dwz1 dwz2
	dwz -m common.debug dwz1 dwz2 2>dwz.log || fail "dwz shares nothing: $(head -n 1 dwz.log)"
	check "dwz moves parts to another file" grep -q gnu_debugaltlink <(readelf -S dwz1)
	rows dwz1 >got && same_file "shared by dwz" want got
	mv common.debug away
	rows dwz1 >got
	check "the shared part is gone: it is said" grep -q 'dwz' notes
else
	echo "dwz is not installed: nothing was shared by it"
fi

# beside the program, in a folder by build id, in one that is named: .gnu_debuglink and .build-id
objcopy --only-keep-debug plain link.debug && strip -o link plain && objcopy --add-gnu-debuglink=link.debug link
rows link >got && same_file "by .gnu_debuglink" want got
mkdir -p ids && mv link.debug ids/
rows link >got
check "the link leads nowhere: no lines" awk -F '\t' 'NR > 1 && $6 != "" { f = 1 } END { exit f }' got
id=$(readelf -n plain | sed -n 's/.*Build ID: //p')
mkdir -p "ids/.build-id/${id:0:2}" && mv ids/link.debug "ids/.build-id/${id:0:2}/${id:2}.debug"
rows link --debug-path "$PWD/ids" >got && same_file "by build id below --debug-path" want got
objcopy --compress-debug-sections=zlib "ids/.build-id/${id:0:2}/${id:2}.debug"
rows link --debug-path "$PWD/ids" >got && same_file "by build id, compressed" want got

# a server of debug information: /buildid/ID/debuginfo
mkdir -p "served/buildid/$id" client
objcopy --only-keep-debug plain "served/buildid/$id/debuginfo"
strip -o stripped plain
rows stripped >got
check "stripped: nothing is named by lines" awk -F '\t' 'NR > 1 && $6 != "" { f = 1 } END { exit f }' got
if [ -e /usr/lib/x86_64-linux-gnu/libdebuginfod.so.1 ] || ldconfig -p | grep -q libdebuginfod.so.1; then
	python3 -u -m http.server 0 --bind 127.0.0.1 --directory served >server.log 2>&1 &
	serves() { port=$(sed -n 's/.*port \([0-9]*\).*/\1/p' server.log) && [ -n "$port" ]; }
	check "the server starts: $(head -n 1 server.log)" await serves
	export DEBUGINFOD_URLS=http://127.0.0.1:$port DEBUGINFOD_CACHE_PATH=$work/client
	rows stripped --debuginfod >got && same_file "from a debuginfod server" want got
	rows stripped >got
	check "without --debuginfod no server is asked" awk -F '\t' 'NR > 1 && $6 != "" { f = 1 } END { exit f }' got
else
	echo "libdebuginfod is not installed: its server was not asked"
fi

# Rust: its own names, generic functions, closures and iterators inlined over many files
rustc=$(PATH=$PATH:$HOME/.cargo/bin:/usr/local/bin command -v rustc)
if [ -n "$rustc" ]; then
	cat >shapes.rs <<'CODE'
trait Shape {
    fn area(&self) -> f64;
}
struct Square(f64);
impl Shape for Square {
    #[inline(never)]
    fn area(&self) -> f64 {
        self.0 * self.0
    }
}
#[inline(never)]
fn total<T: Shape>(shapes: &[T], scale: f64) -> f64 {
    let mut sum = 0.0;
    for shape in shapes.iter() {
        sum += shape.area() * scale;
    }
    sum
}
#[inline(never)]
fn sorted(values: &mut Vec<u64>, pivot: u64) -> u64 {
    values.sort_by_key(|value| value ^ pivot);
    values.iter().map(|value| value.rotate_left(3)).fold(0, |a, b| a ^ b)
}
fn main() {
    let shapes: Vec<Square> = (0..100).map(|i| Square(i as f64)).collect();
    let mut values: Vec<u64> = (0..1000).map(|i| i * 7919 % 1000).collect();
    println!("{} {}", total(&shapes, 1.5), sorted(&mut values, 77));
}
CODE
	if "$rustc" -g -C opt-level=2 -o rust shapes.rs 2>rust.log; then
		at=$(nm rust | awk '/ t .*shapes.*total/ { print $1; exit }')
		same "Rust: a generic function" shapes::total "$(hpct-names --no-shared rust "$at" | tsv 'NR == 2 { print $c["name"] }')"
		python3 "$HPCT_SOURCE/tests/compare/lines.py" --names "$HPCT_BIN/hpct-names" --count 300 --floor 99 rust ||
			fail "Rust: fewer than 99 % of the chains are addr2line's"
	else
		echo "rustc does not compile: $(head -n 1 rust.log)"
	fi
else
	echo "rustc is not installed: no Rust was looked at"
fi
