/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slice.h - the records of a selection: as rows in the order common to all readers, or copied into a smaller
 * run.
 *
 *   order: begin, stream, track, end (open last), then path op bytes weight metric value attributes;
 *          numbers as numbers up to the end, text bytewise
 *
 * A window cuts spans, and each stream begins with a zero-weight sample of the context that holds there. A
 * stream that no span calls monitored gets one, so that idle time at the window's ends stays known.
 */
#ifndef TIMELINE_SLICE_H
#define TIMELINE_SLICE_H

#include "timeline/report/report.h"
#include "timeline/select/select.h"

/* Writes the rows to `out`. Memory does not grow with the run: splits the window where too many rows
 * accumulate. ERROR_EMPTY: nothing is monitored in the window. */
int slice_print(struct run *run, const struct select *select, enum report_format format, FILE *out,
	struct error *error);

/* The same with at most about `rows_max` rows in memory: for tests. */
int slice_print_within(struct run *run, const struct select *select, enum report_format format, FILE *out,
	size_t rows_max, struct error *error);

/* Writes the selected records as a new run `path`, whose own slice is the same. ERROR_USAGE: it exists. */
int slice_copy(struct run *run, const struct select *select, const char *path, struct error *error);

/* The same as an archive: smaller, and read like any other run. If everything is selected, copies all that
 * the run has: every value of its stores, rollups of dropped records of a flight recording, bookmarks. */
int slice_archive(struct run *run, const struct select *select, const char *path, struct error *error);
bool slice_is_everything(const struct run *run, const struct select *select);

/* ---- for slice*.c and exports ---- */

/* What a record becomes in the window. */
struct slice_cut {
	uint64_t begin_ns, end_ns; /* of the selection; end STORE_OPEN_NS: no end */
	uint64_t known_ns;	   /* of the stream: open spans are unknown from here on */
	uint64_t min_ns;
	bool samples, values, spans; /* wanted tracks */
};
struct slice_cut slice_cut_of(const struct select *select);
/* Call for each stream: spans open at the window's end are cut there, but stay open if the window extends
 * beyond what is known of the stream (it was cut short, or is being recorded). */
int slice_cut_stream(struct slice_cut *cut, struct run *run, uint32_t stream, struct error *error);
/* *flags: SCAN_CARRY if a scan of samples from `begin_ns` opens with the one in force there: only at the
 * window's begin. */
int slice_cut_carry(const struct slice_cut *cut, struct run *run, uint32_t stream, uint64_t begin_ns,
	unsigned *flags, struct error *error);
/* A sample in force before the window opens it, with weight 0; other records stay. */
void slice_cut_carried(const struct slice_cut *cut, enum store_track track, struct store_record *record);
/* Cuts the record at the window; false if nothing is left, or less than --min. */
bool slice_cut_record(const struct slice_cut *cut, enum store_track track, struct store_record *record);

/* A stream without a `monitored` span is monitored from its first to its last record. If the window cuts that
 * range, its own first and last record no longer tell it: 1, and *record is a `monitored` span that does (times
 * of the run's clock); 0: not needed; negative: error. */
int slice_cut_monitored(const struct slice_cut *cut, struct run *run, uint32_t stream,
	struct store_record *record, struct error *error);

/* A value as in the TSV: reals always with a point, an exponent or a name, so that they stay reals. */
#define SLICE_VALUE_MAX 40
void slice_value_text(char text[SLICE_VALUE_MAX], uint64_t amount, bool is_real);

/* The first "link=N" among the attributes, and its position; 0: none. */
uint64_t slice_find_link(const char *attributes, size_t size, size_t *begin, size_t *end);
/* Attributes, with the link in front: "link=5,grid=1". */
void slice_put_attributes(struct store_bytes *out, const char *attributes, size_t size, uint64_t link);

#endif
