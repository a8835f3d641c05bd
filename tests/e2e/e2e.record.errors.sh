#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# hpct-record's own failures: 125, 126, 127, one sentence each; a run that is there is never touched.
. "$(dirname -- "$0")/expect.sh"
code "not found" 127 record a -- ./no-such-program
sentence "not found"
code "not found on the PATH" 127 record a -- no-such-program-anywhere
sentence "not found on the PATH"
echo data >plain && chmod 644 plain
code "not executable" 126 record b -- ./plain
sentence "not executable"
check "not executable: what helps: $(cat err)" grep -q 'chmod' err
code "a directory" 126 record b -- /usr
sentence "a directory"
check "a directory: what helps: $(cat err)" grep -q 'name the program' err
check "a program that never ran left a run: $(ls -d ./*.hpct 2>/dev/null)" [ -z "$(ls -d ./*.hpct 2>/dev/null)" ]
code "no program" 125 hpct-record -o c.hpct
sentence "no program"
code "wrong option" 125 hpct-record --no-such-option -- true
sentence "wrong option"
code "wrong event" 125 hpct-record -e NOSUCH@5 -- true
sentence "wrong event"
code "wrong period" 125 hpct-record -e CPUTIME@0 -- true
sentence "wrong period"
code "a period that leaves no time for the program" 125 hpct-record -e CPUTIME@1 -- true
sentence "a period that leaves no time for the program"
code "wrong period text" 125 hpct-record -e CPUTIME@x -- true
sentence "wrong period text"

code "an event named twice" 125 record twice -e page-faults@1 -e minor-faults -e Page-Faults@5 -- true
sentence "an event named twice"
check "an event named twice: $(cat err)" grep -q 'given twice' err

code "first run" 0 record d -- true
hpct-slice d.hpct --format tsv >before
code "a run of that name exists" 125 record d -- false
sentence "a run of that name exists"
hpct-slice d.hpct --format tsv >after
same_file "a refused run changes nothing" before after
code "the summary to -" 0 record said --summary - -- echo mine
same "the program's output is its own" mine "$(cat out)"
check "and the summary on stderr: $(head -n 2 err)" grep -q '^processes 1 ' err
check "in lines of a terminal: $(awk 'NR > 1 && length > 79' err)" [ -z "$(sed 1d err | grep '^events\|^signals' | awk 'length > 79')" ]
check "no file is made of it" [ ! -e ./- ]
code "--overwrite" 1 record d --overwrite -- false
check "--overwrite: the new command is in the run" grep -q false <(info d command)
mkdir e.hpct && echo mine >e.hpct/notes
code "a directory that is not a run" 125 record e -- true
sentence "a directory that is not a run"
code "a directory that is not a run, --overwrite" 125 record e --overwrite -- true
same "what was in it" mine "$(cat e.hpct/notes)"

code "no such directory" 0 hpct-record -o /nowhere/at/all/f.hpct -- "$samples/exits" return 0
sentence "no such directory: the program runs unmeasured"
code "no such directory, --strict" 125 hpct-record --strict -o /nowhere/at/all/f.hpct -- true
mkdir full && if mount -t tmpfs -o size=64k none full 2>/dev/null; then
	code "full disk: the program's own exit code" 7 hpct-record -o full/g.hpct -- "$samples/exits" return 7
	sentence "full disk"
	umount full
fi

# Names by default and by pattern.
code "default name" 0 hpct-record -- true
check "default name true-PID.hpct: $(ls -d true-*)" [ -d "$(ls -d true-[0-9]*.hpct)" ]
SLURM_JOB_ID=4711 SLURM_STEP_ID=2 hpct-record -o 'x-%j-%h.hpct' -- true
check "%j and %h in the name: $(ls -d x-*)" [ -d "$(ls -d "x-4711"*"-$(hostname).hpct")" ]
printf '#!/bin/sh\nexit 5\n' >script && chmod +x script
code "a script" 5 record script -- ./script
check "a script: its interpreter is recorded" [ "$(info script streams)" -ge 1 ]

# What the dynamic loader refuses is not a matter of limits.
cc -shared -x c - -o libgone.so <<<'int gone(void) { return 0; }' &&
	cc -x c - -o needs -L. -lgone <<<'int gone(void); int main(void) { return gone(); }' && rm libgone.so
code "a library is missing" 127 hpct-record -o gone.hpct -- ./needs
check "the loader says so: $(cat err)" grep -q libgone.so err
check "hpct-record has no other advice: $(cat err)" grep -q 'ran unmeasured: its dynamic loader ended it' err

# Options that other profilers have get an answer.
for option in -p -a -g -F --pid=1 --call-graph; do
	code "$option" 125 hpct-record "$option" true
	sentence "$option"
	check "$option has no answer: $(cat err)" [ "$(grep -c 'unknown option' err)" -eq 0 ]
done

# A directory that was removed: the run goes elsewhere, and hpct-record says where; the program runs.
mkdir removed spare
(cd removed && rmdir ../removed && TMPDIR=$work/spare exec hpct-record -- "$samples/exits" return 7) 2>err
same "in a directory that was removed" 7 $?
sentence "in a directory that was removed"
check "the sentence names the run: $(cat err)" [ -d "$(grep -o '/[^ ]*\.hpct' err)" ]
check "it is in TMPDIR" [ -d "$(echo "$work"/spare/exits-*.hpct)" ]

# On a terminal the last line is the next command, and a share of two milliseconds is not told.
script -qec "hpct-record -o 'with blank.hpct' -- true" typed </dev/null >/dev/null
check "the next command" grep -q "^next: hpct-view 'with blank.hpct'" typed
same "no overhead of a program that hardly ran" 0 "$(grep -c overhead typed)"
