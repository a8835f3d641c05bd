/* SPDX-License-Identifier: Apache-2.0 */
/* page_fault.c - a kernel that faulted, see page_text.h: after it nothing ran, so the page begins with it. */
#include <string.h>

#include "blame/base/runtime_calls.h"
#include "blame/page/page_text.h"

#define KERNEL ";<gpu kernel>;"

struct fault {
	const char *name; /* of the kernel; NULL: the runtime gave none */
	const char *path; /* of its launch; NULL: not known */
	const char *text; /* without the name */
};

/* False: `finding` is another one, or memory is out. */
static bool fault_of(struct program_call *call, const struct finding *finding, struct fault *fault)
{
	const char *whole, *kernel;
	char *launch;

	if (finding->kind != FINDING_GPU_FAULT)
		return false;
	*fault = (struct fault){
		.text = finding->candidates > 1
				? arena_printf(&call->arena,
					  "One of %llu kernels faulted (%s); the first of them",
					  (unsigned long long)finding->candidates, finding->error)
				: arena_printf(&call->arena, "A kernel faulted (%s)", finding->error)};
	if (!fault->text || !finding->context)
		return fault->text;
	whole = run_context_path(call->run, finding->context, UINT32_MAX, &call->arena);
	kernel = whole ? strstr(whole, KERNEL) : NULL;
	fault->name = kernel ? kernel + strlen(KERNEL) : NULL;
	launch = run_context_path(
		call->run, runtime_calls_context(call->run, finding->context), UINT32_MAX, &call->arena);
	if (launch && strstr(launch, KERNEL)) /* no frame of the runtime is on it */
		*strstr(launch, KERNEL) = '\0';
	fault->path = launch;
	return true;
}

void page_faults_print(struct program_call *call, const struct findings *findings)
{
	struct fault fault;

	for (size_t i = 0; i < findings->count; i++) {
		if (!fault_of(call, &findings->list[i], &fault))
			continue;
		page_width_say(
			arena_printf(&call->arena, "%s: %s%s", fault.text, fault.name ? fault.name : "",
				!fault.path  ? "which one is not known"
				: fault.name ? ", launched at"
					     : "launched at"),
			2);
		if (fault.path)
			page_path_print(fault.path);
	}
}

void page_rows_faults(struct report *report, struct program_call *call, const struct findings *findings)
{
	struct fault fault;

	for (size_t i = 0; i < findings->count; i++)
		if (fault_of(call, &findings->list[i], &fault))
			page_row_put(report, call,
				&(struct page_row){.section = "fault",
					.key = fault.name ? fault.name : "<unknown>",
					.path = fault.path,
					.has_count = true,
					.count = findings->list[i].candidates,
					.text = fault.text});
}
