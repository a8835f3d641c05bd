/* SPDX-License-Identifier: Apache-2.0 */
/*
 * refuse.c - runs a command to which the kernel refuses perf_event_open, or the system call of a number and
 * all that came after it, as a kernel before them does, or that one alone: refuse ERRNO[:NUMBER|=NUMBER]
 * COMMAND ARGUMENTS... As containers do it, by a seccomp filter; nothing that the command starts gets out of
 * it.
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	const char *first = argc > 1 ? strpbrk(argv[1], ":=") : NULL;
	unsigned number = first ? (unsigned)atoi(first + 1) : SYS_perf_event_open;
	struct sock_filter rules[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | (first && *first == ':' ? BPF_JGE : BPF_JEQ) | BPF_K, number, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (argc > 1 ? (unsigned)atoi(argv[1]) : EPERM)),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog filter = {sizeof(rules) / sizeof(*rules), rules};

	if (argc < 3 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
		prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter)) {
		perror("refuse");
		return 77;
	}
	execvp(argv[2], argv + 2);
	perror(argv[2]);
	return 77;
}
