#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Go with C: its code has no tables for unwinding, its stacks are switched at each call of C, its runtime puts calls of
# its own where a signal met a loop. Paths go through all of that down to the goroutine's function.
. "$(dirname -- "$0")/expect.sh"
need go gcc
export HOME=$work GOCACHE=$work/.cache GOFLAGS=-mod=mod GO111MODULE=off
cp "$HPCT_SOURCE/tests/e2e/calls.go" main.go
go build -o calls main.go >build.log 2>&1 || skip "no Go program with C can be built: $(tail -n 1 build.log)"

both calls ./calls
same "lost" 0 "$(info calls lost)"
check "whole stacks: $(info calls partial_stacks) partial of $(sample_count calls)" \
	calc "$(info calls partial_stacks) <= 0.002 * $(sample_count calls) + 2"
hpct-slice calls.hpct --format tsv | tsv '$c["track"] == "samples" && $c["weight"] {
		sub(/^<thread root>;/, "", $c["path"]); sub(/;runtime\.asyncPreempt$/, "", $c["path"])
		all += $c["weight"]; n[$c["path"]] += $c["weight"] }
	END { for (path in n) printf "%.1f %s\n", 100 * n[path] / all, path }' | sort -rn >paths
while read -r path; do # a fifth of the time and more each
	check "path $path: $(head -n 5 paths)" grep -qE "^([5-9]|[0-9]{2})\.[0-9] $path\$" paths
done <<'END'
main.main.func1;main.spin
main.main.func1;main._Cfunc_work;runtime.asmcgocall;_cgo_[0-9a-f]*_Cfunc_work;work
main.main.func1;main._Cfunc_back;runtime.asmcgocall;.*;runtime.cgocallback;.*;main.goBack;main.spin
END
