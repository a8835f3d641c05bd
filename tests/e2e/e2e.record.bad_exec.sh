#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Programs started with paths and environments that cannot be read fail as they do without a recorder.
. "$(dirname -- "$0")/expect.sh"
both bad_exec "$HPCT_BIN/../tests/bad_exec"
check "many attempts: $(wc -l <bare.out)" calc "$(grep -c 'ends 14' bare.out) > 20 && $(grep -c started bare.out) > 5"
same "state" complete "$(info bad_exec state)"
