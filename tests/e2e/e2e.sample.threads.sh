#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Eight threads on few cores: the weights of each against the clock that the thread itself read.
. "$(dirname -- "$0")/expect.sh"
record threads -- "$samples/threads8" 0.15 >reading || fail "threads8 does not end well"
weights_agree threads
readings_agree threads <reading
same "streams" 9 "$(info threads streams)"
