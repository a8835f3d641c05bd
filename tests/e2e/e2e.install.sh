#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installed below DESTDIR and moved elsewhere, the programs find each other and the agent.
. "$(dirname -- "$0")/expect.sh"
DESTDIR=$work/stage cmake --install "$HPCT_BIN/.." --prefix /opt/hpct >log 2>&1 || fail "install: $(tail -n 3 log)"
mv stage/opt/hpct moved
for program in hpct hpct-record hpct-info hpct-profile hpct-stats hpct-slice hpct-stacks hpct-import hpct-export \
	hpct-view hpct-names hpct-blame hpct-advise hpct-diff hpct-doctor hpct-link hpct-sql hpct-report; do
	check "$program is installed" [ -x "moved/bin/$program" ]
	check "its man page is installed" [ -f "moved/share/man/man1/$program.1" ]
	check "its completion is installed" [ -f "moved/share/bash-completion/completions/$program" ]
done
for page in moved/share/man/man1/*.1; do
	program=$(basename "$page" .1)
	check "$program, which has a page, is installed" [ -x "moved/bin/$program" ]
done
check "the extension of SQLite is installed" [ -f moved/lib/libhpct_sql.so ]
check "zsh's completion is installed" [ -f moved/share/zsh/site-functions/_hpct ]
PATH=$work/moved/bin:/usr/bin:/bin
record moved-run -- "$samples/exits" return 3 0.6
same "exit code" 3 "$?"
near "weights" 0.6e9 "$(weight_sum moved-run)" 30e6
near "names" 100 "$(share moved-run spend)" 10
same "hpct finds its verbs" "$(hpct-info moved-run.hpct)" "$(hpct info moved-run.hpct)"
# What a bug report begins with.
code "what it was built from" 0 hpct --version --build
same "its first line is the version" "$(hpct --version)" "$(head -n 1 out)"
same "its lines" "commit built with without formats" "$(sed 1d out | cut -d' ' -f1 | xargs)"
format=$(hpct-info moved-run.hpct --format tsv | tsv '$c["key"] == "format" { print $c["value"] }')
check "the format it writes is the one that was written" grep -qF "writes runs of format $format, reads" out
if [ -e "$HPCT_SOURCE/.git" ] && commit=$(git -C "$HPCT_SOURCE" rev-parse --short=12 HEAD 2>/dev/null); then
	check "its commit" grep -qE '^commit +[0-9a-f]{12}(, changed)?$' out
	HPCT_COMMIT='of "mine"; $x' cmake -DSOURCE="$HPCT_SOURCE" -DOUT="$work/commit.h" -P "$HPCT_SOURCE/tui/build_commit.cmake"
	same "without git" '#define HPCT_COMMIT "of mine x"' "$(cat commit.h)"
	rm commit.h
	cmake -DSOURCE="$HPCT_SOURCE" -DOUT="$work/commit.h" -P "$HPCT_SOURCE/tui/build_commit.cmake"
	check "with git: $(cat commit.h)" grep -qF "\"$commit" commit.h
fi
[ ! -x moved/bin/hpct-sql ] || check "what it was built with" grep -q '^with .*SQL' out
code "a word too many" 2 hpct --version --nonsense
sentence "a word too many"

# Programs find hpct.h, the Fortran source and their build files.
prefix=$work/moved
for file in include/hpct.h include/hpct.f90; do
	check "$file is installed" [ -f "$prefix/$file" ]
done
cat >marked.c <<'END'
#include <hpct.h>
int main(void)
{
	hpct_mark("here");
	return hpct_is_recorded() ? 4 : 5;
}
END
if command -v cc >/dev/null && command -v pkg-config >/dev/null; then
	pc=$(find "$prefix" -name hpct.pc -printf '%h\n')
	# shellcheck disable=SC2046 # several words
	PKG_CONFIG_PATH=$pc cc $(PKG_CONFIG_PATH=$pc pkg-config --cflags --libs hpct) marked.c -o marked || fail "pkg-config hpct"
	code "marked, not recorded" 5 ./marked
	code "marked, recorded" 4 hpct-record -o marked.hpct -- ./marked
	check "its mark" grep -q 'name=here' <(hpct-slice marked.hpct --op mark)
	same "pkg-config: the Fortran source" yes \
		"$([ -f "$(PKG_CONFIG_PATH=$pc pkg-config --variable=fortran_module_source hpct)" ] && echo yes)"
fi
if command -v cc >/dev/null; then
	mkdir -p project
	cat >project/CMakeLists.txt <<'END'
cmake_minimum_required(VERSION 3.20)
project(marked C)
find_package(hpct 0.1 REQUIRED)
add_executable(marked ../marked.c)
target_link_libraries(marked PRIVATE hpct::hpct)
if(NOT EXISTS ${hpct_FORTRAN_SOURCE})
  message(FATAL_ERROR "no Fortran source")
endif()
END
	cmake -S project -B project/build -DCMAKE_PREFIX_PATH="$prefix" >log 2>&1 && cmake --build project/build >>log 2>&1 ||
		fail "find_package(hpct): $(tail -n 3 log)"
	code "built by find_package" 5 project/build/marked
fi

# What was missing when a folder was first configured is looked for again.
if command -v cmake >/dev/null; then
	found() { grep -E '^HPCT_HAVE_[A-Z0-9_]*:' "$1/CMakeCache.txt" | sort; }
	cmake -S "$HPCT_SOURCE" -B fresh >log 2>&1 || fail "configure: $(tail -n 3 log)"
	found fresh >wanted
	sed -i -E 's/^(HPCT_HAVE_[A-Z0-9_]*:INTERNAL)=.*/\1=/' fresh/CMakeCache.txt
	cmake -S "$HPCT_SOURCE" -B fresh >log 2>&1 || fail "configure again: $(tail -n 3 log)"
	found fresh >again
	same_file "headers that came later" wanted again
fi
