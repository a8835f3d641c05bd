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

# libhpct: the example, built by pkg-config and by CMake, shared and static, answers as the reader does.
if [ -f "$prefix/include/hpct_read.h" ] && command -v cc >/dev/null && command -v pkg-config >/dev/null; then
	export PKG_CONFIG_PATH
	PKG_CONFIG_PATH=$(find "$prefix" -name libhpct.pc -printf '%h\n')
	example=$HPCT_SOURCE/tests/e2e/columns.c libraries=$(pkg-config --variable=libdir libhpct)
	wanted=$(hpct-stats moved-run.hpct --by path --format tsv | cut -f 1,2,4)
	answers() { # SENTENCE COMMAND... : of the example, without the environment of the build
		same "$1" "$wanted" "$("${@:2}" moved-run.hpct stats by=path columns=key,time_ns,records)"
	}
	# shellcheck disable=SC2046 # several words
	cc -Wall -Werror "$example" $(pkg-config --cflags --libs libhpct) -o columns || fail "pkg-config libhpct"
	answers "shared" env LD_LIBRARY_PATH="$libraries" ./columns
	check "what is used has a version" grep -q 'HPCT_1' <(readelf -V columns)
	check "only what the header declares is seen" [ -z "$(nm -D --defined-only "$libraries/libhpct.so" | grep -v ' hpct_[a-z_]*@@HPCT_1$' | grep -v ' A HPCT_1')" ]
	same "every function of the header is there" "$(grep -oE '\bhpct_[a-z_]+\(' "$prefix/include/hpct_read.h" | tr -d '(' | sort -u)" \
		"$(nm -D --defined-only "$libraries/libhpct.so" | sed -n 's/.* T \(hpct_[a-z_]*\)@@HPCT_1$/\1/p' | sort -u)"
	# shellcheck disable=SC2046
	cc "$example" $(pkg-config --cflags libhpct) -Wl,-Bstatic "-L$libraries" -lhpct -Wl,-Bdynamic \
		$(pkg-config --static --libs libhpct | sed 's/-lhpct//') -o columns.static || fail "libhpct.a"
	answers "static" ./columns.static
	check "static: the shared one is not used" [ -z "$(ldd columns.static | grep libhpct)" ]
	same "static: no other name of ours is global" "" "$(nm --defined-only "$libraries/libhpct.a" | grep -E ' [TDBRV] ' | grep -v ' hpct_')"
	cat >include.cc <<-'END'
		#include <hpct_read.h>
		int main() { return hpct_read_version() == HPCT_READ_VERSION ? 0 : 1; }
	END
	if command -v c++ >/dev/null; then
		# shellcheck disable=SC2046
		c++ -Wall -Wextra -Werror -pedantic include.cc $(pkg-config --cflags --libs libhpct) -o include || fail "C++"
		code "C++" 0 env LD_LIBRARY_PATH="$libraries" ./include
	fi
	mkdir -p reading
	cat >reading/CMakeLists.txt <<-END
		cmake_minimum_required(VERSION 3.16)
		project(reading C)
		find_package(hpct 0.1 REQUIRED)
		add_executable(columns $example)
		target_link_libraries(columns PRIVATE hpct::read)
	END
	cmake -S reading -B reading/build -DCMAKE_PREFIX_PATH="$prefix" >log 2>&1 && cmake --build reading/build >>log 2>&1 ||
		fail "find_package(hpct), hpct::read: $(tail -n 3 log)"
	answers "CMake" reading/build/columns
fi
# The Python package finds the library of its own tree.
place=$(find "$prefix" -path '*-packages/hpct/__init__.py' -printf '%h\n' | head -n 1)
if [ -n "$place" ] && command -v python3 >/dev/null; then
	code "Python, installed" 0 env PATH=/usr/bin:/bin PYTHONPATH="${place%/hpct}" PYTHONDONTWRITEBYTECODE=1 python3 -c '
import hpct
from hpct import _library
print(sum(hpct.open("moved-run.hpct", frames=False).stats(by="path").time_ns), _library.place())'
	same "Python, installed: sum, library" "$(hpct-stats moved-run.hpct --by path --format tsv | awk -F '\t' 'NR > 1 { n += $2 } END { printf "%.0f", n }') $(
		realpath "$(find "$prefix" -name libhpct.so)")" "$(cat out)"
	check "typed" [ -f "$place/py.typed" ]
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
