/* SPDX-License-Identifier: Apache-2.0 */
/*
 * series_import.h - makes a run of figures over time that other tools recorded: values come in any order,
 * each of a series (a metric of a host, a device or a process), and are sorted on disk.
 *
 *   series_import_begin -> series_import_metric, series_import_stream, series_import_value ...
 *   -> series_import_end
 */
#ifndef FORMATS_SERIES_IMPORT_H
#define FORMATS_SERIES_IMPORT_H

#include "formats/base/format.h"
#include "formats/base/text_lines.h"
#include "store/write/writer.h"

#define SERIES_NONE UINT32_MAX

/* What a series is of. All-zero but for the numbers is a series of no host: it tells of the whole run. */
struct series_place {
	struct text_part host, uuid, device_name;
	uint32_t device, pid; /* SERIES_NONE: none; with a uuid the device is numbered by first use */
	int32_t rank;	      /* -1: none */
};

struct series_import;

/* Begins the run `path`. `from` is the format's name. */
int series_import_begin(struct series_import **import, struct format_input *input, const char *path,
	const char *from, struct error *error);
/* A metric's id. `unit` as the file has it: SI and binary prefixes are taken off, and *factor is what its
 * values are to be multiplied by. SERIES_NONE: no memory. */
uint32_t series_import_metric(struct series_import *import, struct text_part name, struct text_part unit,
	enum store_metric_kind kind, double *factor);
/* A stream's number. SERIES_NONE: no memory. */
uint32_t series_import_stream(struct series_import *import, const struct series_place *place);
int series_import_value(struct series_import *import, uint32_t stream, uint32_t metric, uint64_t time_ns,
	double value, struct error *error);
/* Sorts and commits. The import is freed. ERROR_RUN: there was no value. */
int series_import_end(struct series_import *import, struct error *error);
/* Nothing remains. */
void series_import_abort(struct series_import *import);

/* ---- words of such files ---- */

/* A number with what stands behind it: "97 %", "1.5GiB", "0x40". False: it is none, or not finite. */
bool series_number(struct text_part text, double *number, struct text_part *unit);
/* A moment: a date ("2026-11-28T14:00:00.5Z", "2026/11/28 14:00:00"; without a zone this machine's), or a
 * number: seconds, ms, us or ns since 1970 by its size, unless `unit` ("ms") says it. Small numbers count
 * from 0. False: it is none. */
bool series_time(struct text_part text, struct text_part unit, uint64_t *time_ns);
struct text_part series_trim(struct text_part text);
bool series_text_is(struct text_part text, const char *word); /* whatever its case */

#endif
