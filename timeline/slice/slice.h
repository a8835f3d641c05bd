/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slice.h - the records of a selection themselves: as rows in the one order that all readers agree on,
 * or copied into a smaller run.
 *
 *   order: begin, stream, track, end (open last), then path op bytes weight metric value attributes;
 *          numbers as numbers up to the end, text bytewise
 *
 * With a window spans are cut, and each stream opens with a zero-weight sample of the context in force.
 */
#ifndef TIMELINE_SLICE_H
#define TIMELINE_SLICE_H

#include "timeline/report/report.h"
#include "timeline/select/select.h"

/* Writes the rows to `out`. Memory does not grow with the run: time is cut where too many rows wait.
 * ERROR_EMPTY: nothing is monitored in the window. */
int slice_print(struct run *run, const struct select *select, enum report_format format, FILE *out,
	struct error *error);

/* The same, with no more than about `rows_max` rows in memory: for tests. */
int slice_print_within(struct run *run, const struct select *select, enum report_format format, FILE *out,
	size_t rows_max, struct error *error);

/* Writes the selected records as a new run `path`: a run like any other, whose slice is the same.
 * ERROR_USAGE: it exists. */
int slice_copy(struct run *run, const struct select *select, const char *path, struct error *error);

/* The same, as an archive: smaller, and read as any other run. Where everything is selected, all that the run
 * keeps comes along: every value of its stores, rollups of what a flight recording dropped, bookmarks. */
int slice_archive(struct run *run, const struct select *select, const char *path, struct error *error);
bool slice_is_everything(const struct run *run, const struct select *select);

/* ---- for slice*.c and exports ---- */

/* What a record becomes in the window. */
struct slice_cut {
	uint64_t begin_ns, end_ns; /* of the selection; end STORE_OPEN_NS: no end */
	uint64_t known_ns;	   /* of the stream: nobody knows what is open there from here on */
	uint64_t min_ns;
	bool samples, values, spans; /* wanted at all */
};
struct slice_cut slice_cut_of(const struct select *select);
/* To be called for each stream: spans that are open when the window ends end with it, but stay open where the
 * window goes on behind what is known of the stream (it was cut short, or is still recorded). */
int slice_cut_stream(struct slice_cut *cut, struct run *run, uint32_t stream, struct error *error);
/* Cuts the record at the window; false when nothing is left of it or it is shorter than asked for. */
bool slice_cut_record(const struct slice_cut *cut, enum store_track track, struct store_record *record);

/* A value as TSV says it: reals always with a point, exponent or name, so that they stay reals. */
#define SLICE_VALUE_MAX 40
void slice_value_text(char text[SLICE_VALUE_MAX], uint64_t amount, bool is_real);

/* The first "link=N" among the attributes and where it stands; 0: none. */
uint64_t slice_find_link(const char *attributes, size_t size, size_t *begin, size_t *end);
/* Attributes with the link in front: "link=5,grid=1". */
void slice_put_attributes(struct store_bytes *out, const char *attributes, size_t size, uint64_t link);

#endif
