#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# syscalls_test.sh HOUSE : system calls that x86-64 has and newer architectures never had (poll, epoll_wait, stat ...) are
# named under an #if of theirs alone: else the tree does not build for aarch64, which nobody sees who builds for x86-64.
set -uo pipefail
cd -- "${1:-.}" || exit 1
find record store timeline blame tui formats -name '*.[ch]' -print0 | LC_ALL=C sort -z | xargs -0 awk '
BEGIN {
	names = "open|creat|link|unlink|mknod|chmod|chown|lchown|mkdir|rmdir|access|rename|readlink|symlink|utime|utimes|pipe|" \
		"dup2|epoll_create|epoll_wait|inotify_init|eventfd|signalfd|poll|select|fork|vfork|stat|lstat|getdents|" \
		"futimesat|alarm|getpgrp|pause|time|arch_prctl|iopl|ioperm|sendfile64|uselib|ustat"
	old = "(SYS|__NR)_(" names ")[^a-z0-9_]"
}
FNR == 1 { depth = 0 }
/^[ \t]*# *if/ { depth++; guarded[depth] = guarded[depth - 1] || /SYS_|__NR_|__x86_64__/; next }
/^[ \t]*# *(elif|else)/ { next }
/^[ \t]*# *endif/ { depth -= depth > 0; next }
($0 " ") ~ old && !guarded[depth] {
	print FILENAME ":" FNR ": a system call that not every architecture has; name it under #ifdef"
	failed = 1
}
END { exit failed }'
