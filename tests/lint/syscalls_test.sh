#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# syscalls_test.sh HOUSE : system calls that x86-64 has and newer architectures never had (poll, epoll_wait, stat ...) are
# named under an #if of theirs alone: else the tree does not build for aarch64, which nobody sees who builds for x86-64.
set -uo pipefail
cd -- "${1:-.}" || exit 1

# unguarded FILE... : prints where they are named for every architecture; false: somewhere
unguarded() {
	awk '
	BEGIN {
		names = "open|creat|link|unlink|mknod|chmod|chown|lchown|mkdir|rmdir|access|rename|readlink|symlink|utime|utimes|pipe|" \
			"dup2|epoll_create|epoll_wait|inotify_init|eventfd|signalfd|poll|select|fork|vfork|stat|lstat|getdents|" \
			"futimesat|alarm|getpgrp|pause|time|arch_prctl|iopl|ioperm|sendfile64|uselib|ustat"
		old = "(SYS|__NR)_(" names ")[^a-z0-9_]"
		test = "SYS_|__NR_|__x86_64__"
	}
	FNR == 1 { depth = 0 }
	/^[ \t]*# *if/ { depth++; guarded[depth] = guarded[depth - 1] || $0 ~ test; next }
	/^[ \t]*# *(elif|else)/ { guarded[depth] = guarded[depth - 1] || $0 ~ test; next }
	/^[ \t]*# *endif/ { depth -= depth > 0; next }
	($0 " ") ~ old && !guarded[depth] {
		print FILENAME ":" FNR ": a system call that not every architecture has; name it under #ifdef"
		failed = 1
	}
	END { exit failed }' "$@"
}

# planted WANT LINE... : so many of the lines are found
planted() {
	local want=$1
	shift
	[ "$(printf '%s\n' "$@" | unguarded | wc -l)" -eq "$want" ] ||
		{ echo "not $want found in: $*"; exit 1; }
}
planted 1 'f(SYS_poll);'
planted 0 '#ifdef SYS_poll' 'f(SYS_poll);' '#endif'
planted 1 '#ifdef __x86_64__' 'f(SYS_poll);' '#else' 'f(SYS_poll);' '#endif'
planted 1 '#if A' '#elif defined(__x86_64__)' 'f(__NR_stat);' '#else' 'f(__NR_stat);' '#endif'
planted 1 '#ifdef SYS_poll' '#endif' 'f(SYS_poll);'
planted 0 '#ifdef __x86_64__' '#if A' '#else' 'f(SYS_poll);' '#endif' '#endif' 'f(SYS_ppoll);'

mapfile -d '' -t files < <(find record store timeline blame tui formats -name '*.[ch]' -print0 | LC_ALL=C sort -z)
unguarded "${files[@]}"
