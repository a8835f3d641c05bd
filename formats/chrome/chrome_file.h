/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chrome_file.h - writes a Chrome Trace Event file (JSON): processes, threads and events. Knows only the
 * file format; chrome.c maps records to events.
 */
#ifndef FORMATS_CHROME_FILE_H
#define FORMATS_CHROME_FILE_H

#include <stdio.h>

#include "store/base/bytes.h"
#include "store/base/error.h"

struct chrome_file {
	FILE *out;
	uint64_t origin_ns;
	bool has_event, has_args, failed;
	bool has_record;	 /* an event that is no metadata */
	struct store_bytes line; /* the event being written */
};

/* Process, thread and time of an event. */
struct chrome_place {
	uint32_t pid, tid;
	uint64_t time_ns;
};

/* `out` stays the caller's. Event times are given on the run's clock and written relative to `origin_ns`. */
void chrome_file_begin(struct chrome_file *file, FILE *out, uint64_t origin_ns);
/* ERROR_IO if any write failed. Frees the file's memory in any case. */
int chrome_file_end(struct chrome_file *file, struct error *error);

/* An event: begin, then args if any, then end. `phase`: B begin, E end, X complete, C counter, i instant, s f
 * flow, M metadata. */
void chrome_event_begin(struct chrome_file *file, char phase, const struct chrome_place *place,
	const char *name, size_t name_size);
void chrome_event_text(struct chrome_file *file, const char *key, const char *text, size_t size);
void chrome_event_raw(struct chrome_file *file, const char *key, const char *json);
void chrome_event_duration(struct chrome_file *file, uint64_t ns);
/* Opens "args":{ ; all that follows is inside it until the event ends. */
void chrome_event_args(struct chrome_file *file);
void chrome_event_end(struct chrome_file *file);

/* Names of lanes, in display order. */
void chrome_file_process(struct chrome_file *file, uint32_t pid, const char *name);
void chrome_file_thread(struct chrome_file *file, uint32_t pid, uint32_t tid, const char *name);

#endif
