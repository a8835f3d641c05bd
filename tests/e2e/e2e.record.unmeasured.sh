#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Programs that cannot carry the agent run all the same, with their exit code: measured from outside, if that can be; if
# not, the run says so.
. "$(dirname -- "$0")/expect.sh"
cat >small.c <<'END'
#include <stdio.h>
#include <unistd.h>
int main(int argc, char **argv) { printf("%s %d\n", argc > 1 ? argv[1] : "-", geteuid() == getuid()); return 5; }
END
unmeasured() { # RUN WORD PROGRAM
	code "$1" 5 record "$1" -- "$3" hello
	same "$1: stdout" "$(cat out)" "$("$3" hello)"
	check "$1: stderr does not say '$2': $(cat err)" grep -qi -- "$2" err
	sentence "$1"
	hpct-slice "$1.hpct" --op unmonitored --format tsv | tsv '$c["op"] == "unmonitored" { n++ } END { exit !n }' ||
		fail "$1: no 'unmonitored' span in the run"
}
outside() { # RUN WORD PROGRAM : no agent can be in it, but it is measured from outside
	code "$1" 5 record "$1" -- "$3" hello
	same "$1: stdout" "$(cat out)" "$("$3" hello)"
	check "$1: stderr does not say '$2': $(cat err)" grep -qi -- "measured from outside: .*$2" err
	sentence "$1"
	same "$1: processes" 1 "$(info "$1" processes)"
	same "$1: 'unmonitored' spans" "" "$(hpct-slice "$1.hpct" --op unmonitored --format tsv | tsv '$c["op"] == "unmonitored" { print }')"
}
gcc -static -o static small.c 2>/dev/null || skip "no static libc (libc6-dev)"
record probe -- ./static >probe 2>&1
if grep -q 'measured from outside' probe; then
	outside static 'static.*hpct-link can' ./static
	printf '#include <stdio.h>\n#include <unistd.h>\nint main(void) { printf("%%ld\\n", sysconf(_SC_OPEN_MAX)); }\n' >limit.c
	gcc -static -o limit limit.c
	same "its limit of descriptors" 400 "$(ulimit -Sn 400 && hpct-record -o limit.hpct ./limit 2>/dev/null)"
	command -v musl-gcc >/dev/null && musl-gcc -o musl small.c && outside musl musl ./musl
fi
unmeasured_option() { # RUN : without samples there is nothing to see from outside
	code "$1" 5 record "$1" -e NONE -- ./static hello
	check "$1: it runs unmeasured: $(cat err)" grep -q 'runs unmeasured.*static' err
}
unmeasured_option none
if command -v musl-gcc >/dev/null && musl-gcc -static -o musl-static small.c; then
	[ ! -e musl.hpct ] || outside musl-static 'static.*not with glibc' ./musl-static
	code "hpct-link and musl" 125 hpct-link musl-gcc -static -o linked small.c
	check "it says why: $(cat err)" grep -q 'musl.*glibc' err
fi
if [ "$(id -u)" -eq 0 ] && gcc -o setuid small.c && chown nobody setuid && chmod 4755 setuid; then
	unmeasured setuid setuid "$work/setuid"
fi
if gcc -m32 -o narrow small.c 2>/dev/null; then
	unmeasured narrow 32-bit ./narrow
fi
code "an unmeasured program and --strict" 125 hpct-record --strict -e NONE -o strict.hpct -- ./static hello
same "it does not run" "" "$(cat out)"
code "an unmeasured child" 5 record child -- sh -c './static hello; exit $?'
same "an unmeasured child: stdout" "hello 1" "$(cat out)"
# dash and Python start programs by vfork, whose child cannot write into a ring.
if [ -x /usr/bin/python3 ]; then
	code "a child of vfork" 5 hpct-record -o vfork.hpct --summary summary -- /usr/bin/python3 -c '
import subprocess, sys
subprocess.run(["true"])
sys.exit(subprocess.run(["./static", "hello"]).returncode)'
	same "a child of vfork: stdout" "hello 1" "$(cat out)"
	same "a child of vfork: it is counted" 1 "$(info vfork children_unmonitored)"
	check "a child of vfork: the summary says so: $(cat summary)" grep -q '^unmonitored: .* 1 children' summary
fi
hpct-record -o rateless.hpct --summary summary -e NONE -- ./static hello >out 2>err
check "an unmeasured program has no rate: $(cat summary)" [ -z "$(grep -E '^(rate|samples by)' summary)" ]
