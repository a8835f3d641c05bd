/* SPDX-License-Identifier: Apache-2.0 */
/*
 * findings_parts.h - inside the search for findings; for findings*.c alone. findings.c reads the spans once
 * and judges calls and queues, findings_use.c what a process makes of its devices, contexts, buffers and
 * arguments.
 */
#ifndef BLAME_FINDINGS_PARTS_H
#define BLAME_FINDINGS_PARTS_H

#include "blame/findings.h"
#include "blame/process.h"
#include "timeline/batch.h"
#include "timeline/numbering.h"

struct findings_use;

struct findings_search {
	struct run *run;
	const struct idle_question *question;
	struct numbering keys;
	struct finding *list; /* by number */
	uint64_t *longest_ns;
	uint32_t room;
	/* of the process being read */
	struct sweep_span *work;
	size_t work_count;
	struct findings_use *use;
};

/* One finding, complete: its save_ns, too. Those without a context are told apart by their stream. False:
 * memory is out. */
bool findings_put(struct findings_search *search, const struct finding *finding);

/* One process: every span of its streams, in any order of streams, then the judgement. */
struct findings_use *findings_use_new(const struct process *process);
void findings_use_free(struct findings_use *use);
bool findings_use_take(struct findings_search *search, const struct batch *batch, size_t row, bool is_gpu);
bool findings_use_judge(struct findings_search *search);

#endif
