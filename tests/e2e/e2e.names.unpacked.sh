#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Compressed debug information is unpacked once and kept by build id: what is read there says the same, where it is
# damaged or of another file it is made anew, and it takes no more room than it may.
. "$(dirname -- "$0")/expect.sh"
need g++ objcopy nm
cat >shapes.cc <<'CODE'
#include <algorithm>
#include <cstdio>
#include <vector>
static inline __attribute__((always_inline)) long twice(long value) { return value + value; }
__attribute__((noinline)) static long sorted(std::vector<long> &values, long pivot)
{
	std::sort(values.begin(), values.end(), [pivot](long a, long b) { return (a ^ pivot) < (b ^ pivot); });
	return twice(values[0]);
}
int main(int argc, char **)
{
	std::vector<long> values;
	for (long i = 0; i < 100; i++)
		values.push_back(twice(i) * argc);
	printf("%ld\n", sorted(values, argc));
	return 0;
}
CODE
cache=$XDG_CACHE_HOME/hpct
kept=$cache/debug
g++ -g -gdwarf-5 -O2 -Wl,--build-id -o plain shapes.cc || fail "the program does not compile"
nm -S plain | awk '$3 ~ /[tTwW]/ && NF == 4 { print $1, $2 }' | while read -r begin size; do
	for ((at = 16#$begin; at < 16#$begin + 16#$size; at += 3)); do printf '%x\n' "$at"; done
done >addresses
rows() { # FILE OPTION... : what hpct-names says of all addresses; names that were kept are of no help
	local file=$1
	shift
	rm -rf "$cache/names"
	hpct-names "$@" -e "$file" <addresses 2>notes | cut -f 1-7 | sed "s/$(basename "$file")/plain/g"
}
build_id() { readelf -n "$1" | awk '/Build ID/ { print $3 }'; }

rows plain --no-shared >want
check "inlined templates are named" grep -q 'inline	std::sort<' want
[ "$(wc -l <want)" -gt 500 ] || fail "only $(wc -l <want) rows"
rows plain >got && same_file "not compressed" want got
check "what is not compressed is not kept" [ ! -e "$kept" ]

objcopy --compress-debug-sections=zlib plain zlib
file=$kept/$(build_id zlib)
rows zlib --no-shared >got && same_file "compressed" want got
check "with --no-shared nothing is kept" [ ! -e "$kept" ]
rows zlib >got && same_file "unpacked" want got
same "for the user alone" 600 "$(stat -c %a "$file")"
check "all that was compressed is not" [ "$(readelf -S -W "$file" | awk '$2 ~ /^\.debug/ && $8 ~ /C/' | wc -l)" -eq 0 ]
check "what nobody asks for is left out" bash -c "! readelf -S -W '$file' | grep -q debug_loclists"
cp "$file" whole
touch -d '2 days ago' "$file"
before=$(stat -c %i "$file")
rows zlib >got && same_file "kept" want got
same "it was not made again" "$before" "$(stat -c %i "$file")"
check "it was read" [ "$(stat -c %Y "$file")" -gt $(($(date +%s) - 86400)) ]

for damage in "printf x | dd of=$file bs=1 seek=5000 conv=notrunc" "truncate -s 3000 $file" "truncate -s 3 $file" \
	"truncate -s +1 $file" "cp zlib $file"; do
	bash -c "$damage" 2>/dev/null
	rows zlib >got && same_file "$damage" want got
	same_file "$damage: made anew" whole "$file"
done
# a section that is to be aligned to 256 MB: its header of compression says so
cp zlib far
place=$(readelf -S -W far | sed -n 's/^.*\] \.debug_line *PROGBITS *[0-9a-f]* \([0-9a-f]*\) .*/\1/p')
printf '\0\0\0\020' | dd of=far bs=1 seek=$((16#$place + 16)) conv=notrunc 2>/dev/null
rows far >got && same_file "far apart" want got
check "it is kept as near as it can" [ "$(stat -c %s "$file")" -lt 1000000 ]

touch -d '2 days ago' zlib
rows zlib >got && same_file "of an older file" want got
check "of another file it is made anew" bash -c "! cmp -s whole '$file'"

# a symbolic link is followed nowhere, and a place that cannot be written costs nothing
mv "$file" away && ln -s "$PWD/away" "$file"
rows zlib >got && same_file "a link" want got
rm -rf "$kept" && touch "$kept"
rows zlib >got && same_file "no place to keep it" want got
rm "$kept"
(unset XDG_CACHE_HOME && HOME=$PWD/nobody rows zlib >got)
same_file "no home" want got
check "no home is made" [ ! -e nobody ]

# those that nobody has read for longest make room
mkdir "$kept" && truncate -s 200M "$kept/aa" && truncate -s 100M "$kept/bb" && touch -d '2 days ago' "$kept/aa"
touch -d '3 days ago' "$kept/notes.txt" # not one of them
rows zlib >got && same_file "room" want got
check "the oldest is gone: $(ls "$kept")" [ ! -e "$kept/aa" -a -e "$kept/bb" -a -e "$file" ]
check "what is somebody's own stays" [ -e "$kept/notes.txt" ]

# nor where a link leads elsewhere
mv "$kept" elsewhere && ln -s "$PWD/elsewhere" "$kept" && truncate -s 200M elsewhere/aa && touch -d '2 days ago' elsewhere/aa
rm -f "elsewhere/$(basename "$file")"
rows zlib >got && same_file "the place is a link" want got
check "nothing goes behind a link" [ -e elsewhere/aa -a -e elsewhere/bb ]
rm "$kept" && rm -rf elsewhere

# what libdw looks for beside the file
g++ -g -gdwarf-5 -gsplit-dwarf -O2 -c shapes.cc && g++ -Wl,--build-id -o split shapes.o &&
	objcopy --compress-debug-sections=zlib split
for turn in made kept; do
	rows split >got && same_file "split: .dwo, $turn" want got
done
check "its half is kept" [ -s "$kept/$(build_id split)" ]
if command -v dwz >/dev/null; then
	g++ -g -gdwarf-4 -O2 -Wl,--build-id -o dwz1 shapes.cc && cp dwz1 dwz2
	dwz -m common.debug dwz1 dwz2 2>dwz.log || fail "dwz shares nothing: $(head -n 1 dwz.log)"
	objcopy --compress-debug-sections=zlib dwz1
	objcopy --compress-debug-sections=zlib common.debug
	for turn in made kept; do
		rows dwz1 >got && same_file "shared by dwz, $turn" want got
	done
	check "it is kept" [ -s "$kept/$(build_id dwz1)" ]
else
	echo "dwz is not installed: nothing was shared by it"
fi
