#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The layer check must find what it is there for: each line plants one violation in a small copy of the
# house and looks for the sentence. The copy without a violation must pass.
set -euo pipefail
layers=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)/layers
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

house() { # a fresh copy that breaks no rule
	rm -rf "$work/house"
	mkdir -p "$work"/house/{record/agent/base,store/base,store/file,store/read,timeline/run,blame,tui/screen,tui/app,formats}
	mkdir -p "$work"/house/{tests/unit,samples}
	cd "$work/house"
	echo '# SPDX-License-Identifier: Apache-2.0' | tee CMakeLists.txt build.sh tui/CMakeLists.txt >record/CMakeLists.txt
	echo 'target_link_libraries(hpct_tui PUBLIC hpct_flags hpct_timeline)' >>tui/CMakeLists.txt
	local file
	for file in record/main.c record/agent/base/ring.c store/file/file.c store/read/reader.c timeline/run/run.c tui/screen/screen.c tui/screen/keys.c; do
		echo '/* SPDX-License-Identifier: Apache-2.0 */' >"$file"
	done
	echo '#include "store/ring/ring.h"' >>record/agent/base/ring.c
	echo '#include "timeline/run/run.h"' >>tui/screen/keys.c
	echo '#include <lmdb.h>' >>store/file/file.c
	echo '#include <ncurses.h>' >>tui/screen/screen.c
}

finds() { # FILE LINE-TO-ADD SENTENCE
	house
	printf '%s\n' "$2" >>"$1"
	if "$layers" "$work/house" >"$work/said"; then
		echo "not found in $1: $2"
		failed=1
	elif ! grep -qF -- "$3" "$work/said" || [ "$(wc -l <"$work/said")" -ne 1 ]; then
		echo "for $2 in $1, expected '$3', got:"
		cat "$work/said"
		failed=1
	fi
}

house
"$layers" "$work/house" || { echo "a house without violations is refused"; failed=1; }

finds store/file/file.c '#include "timeline/run/run.h"' 'store may not look at timeline'
finds timeline/run/run.c '#include "tui/session/view.h"' 'timeline may not look at tui'
finds tui/screen/keys.c '#include "formats/format.h"' 'tui may not look at formats'
finds record/main.c '	# include "timeline/run/run.h"' 'record may not look at timeline'
finds record/agent/base/ring.c '#include "store/base/error.h"' 'only store/ring/*.h'
finds record/agent/base/ring.c '#include "record/base/rendezvous.h"' 'only store/ring/*.h'
finds tui/screen/keys.c '#include "../store/key.h"' 'not written from the root'
finds tui/screen/keys.c '#include "view.h"' 'not written from the root'
finds timeline/run/run.c '#include <lmdb.h>' 'belongs in store/'
finds tui/screen/keys.c '#include <curses.h>' 'belongs in tui/screen/screen.c'
finds store/file/file.c '#include <elfutils/libdw.h>' 'belongs in timeline/'
finds record/agent/base/ring.c '#include <libunwind.h>' 'belongs in'
finds tui/CMakeLists.txt 'target_link_libraries(hpct_tui PUBLIC
  hpct_formats)' 'tui may not link hpct_formats'
finds record/CMakeLists.txt 'target_link_libraries(hpct_agent PRIVATE hpct_store)' 'the agent links nothing'
finds store/file/file.c '/* TO''DO: later */' 'unfinished'
finds store/file/file.c '#include "store/read/reader.h"' 'store/file may not look at store/read'
finds tui/screen/keys.c '#include "tui/app/actions.h"' 'tui/screen may not look at tui/app'
house
mkdir store/drawer && cp store/file/file.c store/drawer/file.c
if "$layers" "$work/house" >"$work/said" || ! grep -q 'store/drawer: no line' "$work/said"; then
	echo "a folder without a line in the rule is not found"
	failed=1
fi
house
echo 'int x;' >store/base/error.c
if "$layers" "$work/house" >"$work/said" || ! grep -q SPDX "$work/said"; then
	echo "a file without its licence line is not found"
	failed=1
fi
house
echo '# hpct' >README.md
if "$layers" "$work/house" >"$work/said" || ! grep -q 'map of the rooms' "$work/said"; then
	echo "a README without the map is not found"
	failed=1
fi
exit "$failed"
