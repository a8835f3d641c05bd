#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The view on a real terminal: opens, survives a resize, leaves the terminal as it was.
. "$(dirname -- "$0")/expect.sh"
record view -- "$samples/phases" 0.3 >/dev/null
terminal 120 36
type_line "stty -a >before"
type_line "hpct-view view.hpct; echo code=\$?; stty -a >after"
check "the view opens: $(head -n 5 pane)" shows 'worker 4'
tm send-keys -t v '?'
check "? shows the help" shows 'I WANT TO'
tm send-keys -t v q
tm send-keys -t v w
tm resize-window -t v -x 90 -y 28
check "after a resize" shows 'worker 1'
tm resize-window -t v -x 20 -y 5
sleep 0.3
tm resize-window -t v -x 120 -y 36
check "after it was too small" shows 'worker 4'
tm send-keys -t v q
tm send-keys -t v q
check "q ends it with exit code 0" shows 'code=0'
await [ -s after ]
same_file "terminal settings before and after" before after
check "the shell's screen is back" grep -q 'ready>' pane
