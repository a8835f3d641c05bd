/* SPDX-License-Identifier: Apache-2.0 */
/* names_worker_internal.h - one worker, shared by names_worker.c, its process, and names_question.c. */
#ifndef TIMELINE_NAMES_WORKER_INTERNAL_H
#define TIMELINE_NAMES_WORKER_INTERNAL_H

#include "timeline/names/names_stream.h"
#include "timeline/names/names_worker.h"

/* The worker's request holds these above its kind. */
#define NAMES_LEVEL_SHIFT 16
#define NAMES_LEVEL_MASK 0xffu
#define NAMES_PARTS_SHIFT 24

struct names_bad_module {
	uint8_t build_id_bytes;
	uint8_t build_id[NAMES_BUILD_ID_MAX];
	char *path;
	enum names_level level; /* level of the next request */
};

struct names_worker {
	const struct names_options *options;
	pid_t pid; /* 0: not running */
	struct names_stream stream;
	uint64_t heard_s, heard_cpu_s; /* times when it was last heard */
	struct names_bad_module *bad;
	size_t bad_count;
	struct names_question *question; /* NULL: idle */
};

struct names_question {
	const struct symbol_request *request;
	enum names_level level;
	unsigned parts;
	bool is_sent;
	uint32_t answered;
	names_take *take;
	void *context;
	int refusal; /* what `take` returned */
	char *note;
	struct symbol_answer answer;
};

/* 0, or negative: no process. */
int names_worker_start(struct names_worker *worker, struct error *error);
/* In order: lets it save its cache. */
void names_worker_stop(struct names_worker *worker, bool in_order);
/* Restarts the measurement of its silence. */
void names_worker_heard(struct names_worker *worker);
bool names_worker_is_late(const struct names_worker *worker);

#endif
