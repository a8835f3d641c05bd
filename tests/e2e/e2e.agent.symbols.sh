#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The agent exports its wrappers and nothing else, needs no glibc newer than 2.28, and brings no library along.
. "$(dirname -- "$0")/expect.sh"
need nm readelf
agent=$HPCT_BIN/../lib/hpct/hpct-agent.so
nm -D --defined-only "$agent" | awk '{ print $3 }' | sort >exported
sed -e '/global:/,/local:/!d' -e '/:/d' "$HPCT_SOURCE/record/agent/agent.map" | tr -d ' \t\n' | tr ';' '\n' | sort >wanted
same_file "exported symbols" wanted exported
newer=$(nm -D --undefined-only --with-symbol-versions "$agent" | awk '$1 != "w"' | grep -oE 'GLIBC_[0-9.]+' |
	sort -uV | awk -F '[_.]' '$2 > 2 || $3 > 28')
same "versions newer than GLIBC_2.28" "" "$newer"
# A weak reference to a newer version still fails at load: the version itself must not be asked for.
newer=$(readelf -V "$agent" | grep -oE 'Name: GLIBC_[0-9.]+' | sort -u | awk -F '[_.]' '$2 > 2 || $3 > 28')
same "versions asked for, newer than GLIBC_2.28" "" "$newer"
same "libraries needed" "libc.so.6" "$(readelf -d "$agent" | sed -n 's/.*NEEDED.*\[\(.*\)\]/\1/p')"
check "thread-local storage is initial-exec" test -n "$(readelf -d "$agent" | grep STATIC_TLS)"
check "no lazy or dynamic TLS call" test -z "$(nm -D --undefined-only "$agent" | grep __tls_get_addr)"
