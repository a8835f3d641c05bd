/* SPDX-License-Identifier: Apache-2.0 */
/* refusal_text.c - see refusal_text.h. */
#include "record/base/refusal_text.h"

#include <errno.h>
#include <string.h>

#include "store/ring/ring.h"

const char *refusal_text_perf(int error)
{
	switch (error) {
	case EACCES:
		return "kernel.perf_event_paranoid forbids it; set it to 2 or less, "
		       "to count inside the kernel to 1 or less";
	case EPERM:
		return "the kernel or a container's seccomp filter forbids it, or no more memory may be "
		       "pinned "
		       "(kernel.perf_event_mlock_kb, ulimit -l)";
	case EMFILE:
		return "no descriptors were left (ulimit -n)";
	case ENOENT:
	case ENODEV:
	case EOPNOTSUPP:
		return "this machine has no such counter";
	case ENOSYS:
		return "this kernel has no perf events";
	default:
		return error ? strerror(error) : "the collector could not map their rings";
	}
}

const char *refusal_text_sampler(int reason)
{
	switch (reason) {
	case EVENT_SAMPLER_OLD_KERNEL:
		return "this kernel is older than 5.18";
	case EVENT_SAMPLER_TRACED:
		return "a debugger would stop at each sample";
	case EVENT_SAMPLER_GO:
		return "Go's runtime handles all signals itself";
	default:
		return refusal_text_perf(-reason);
	}
}

const char *refusal_text_unsampled(uint32_t reason)
{
	switch (reason) {
	case EVENT_UNSAMPLED_REFUSED:
		return "no timer was to be had, and no perf event in its place (ulimit -i, a seccomp filter)";
	case EVENT_UNSAMPLED_READ:
		return "the program takes the sampling signal for itself";
	case EVENT_UNSAMPLED_GONE:
		return "the program deleted its sampling timer";
	case EVENT_UNSAMPLED_BLOCKED:
		return "it blocks the sampling signal";
	case EVENT_UNSAMPLED_MISSED:
		return "the sampling signals did not come (a system call of the program's own may block them)";
	default:
		return "it has no sampler";
	}
}

const char *refusal_text_counter(int error)
{
	switch (error) {
	case -EVENT_PAPI_MISSING:
		return "PAPI cannot be loaded into the program";
	case -EVENT_PAPI_FORKED:
		return "PAPI does not work in a fork child";
	default:
		break;
	}
	if (error <= -1000)
		return "PAPI refuses it";
	return error < 0 ? refusal_text_sampler(-error) : refusal_text_perf(error);
}
