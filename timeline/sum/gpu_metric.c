/* SPDX-License-Identifier: Apache-2.0 */
/* gpu_metric.c - see gpu_metric.h: spans of operations to weights, one stream after another. */
#include "timeline/sum/gpu_metric.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/base/attribute.h"
#include "timeline/base/glob.h"
#include "timeline/scan/scan.h"
#include "timeline/sum/parallel_sum.h"

/* A group: its kinds, then its count. The first kind is what is not known. */
enum gpu_metric {
	GKER,
	GMEM,
	GMSET,
	GXCOPY,
	GSYNC,
	GPUOP,
	GMEM_KINDS,
	GMEM_COUNT = GMEM_KINDS + 8,
	GMSET_KINDS,
	GMSET_COUNT = GMSET_KINDS + 8,
	GXCOPY_KINDS,
	GXCOPY_COUNT = GXCOPY_KINDS + 11,
	GSYNC_KINDS,
	GSYNC_COUNT = GSYNC_KINDS + 5,
	GKER_STMEM,
	GKER_DYMEM,
	GKER_LMEM,
	GKER_FGP_ACT,
	GKER_FGP_MAX,
	GKER_THR_REG,
	GKER_BLK_THR,
	GKER_BLK,
	GKER_BLK_SM,
	GKER_COUNT,
	GKER_OCC_THR,
	GINST,
	GSAMP_TOT,
	GSAMP_EXP,
	GSAMP_UTIL,
	ALL
};

static_assert(GINST == GPU_METRIC_GINST && GSAMP_TOT == GPU_METRIC_TOT && GSAMP_EXP == GPU_METRIC_EXP,
	"the header's");

static_assert(ALL == GPU_METRIC_COUNT && ALL < 64, "a bit for each");

#define BIT(metric) (UINT64_C(1) << (metric))

static const struct {
	const char *name, *unit;
} metrics[ALL] = {{"GKER", "ns"}, {"GMEM", "ns"}, {"GMSET", "ns"}, {"GXCOPY", "ns"}, {"GSYNC", "ns"},
	{"GPUOP", "ns"}, {"GMEM:UNK", "bytes"}, {"GMEM:PAG", "bytes"}, {"GMEM:PIN", "bytes"},
	{"GMEM:DEV", "bytes"}, {"GMEM:ARY", "bytes"}, {"GMEM:MAN", "bytes"}, {"GMEM:DST", "bytes"},
	{"GMEM:MST", "bytes"}, {"GMEM:COUNT", "operations"}, {"GMSET:UNK", "bytes"}, {"GMSET:PAG", "bytes"},
	{"GMSET:PIN", "bytes"}, {"GMSET:DEV", "bytes"}, {"GMSET:ARY", "bytes"}, {"GMSET:MAN", "bytes"},
	{"GMSET:DST", "bytes"}, {"GMSET:MST", "bytes"}, {"GMSET:COUNT", "operations"},
	{"GXCOPY:UNK", "bytes"}, {"GXCOPY:H2D", "bytes"}, {"GXCOPY:D2H", "bytes"}, {"GXCOPY:H2A", "bytes"},
	{"GXCOPY:A2H", "bytes"}, {"GXCOPY:A2A", "bytes"}, {"GXCOPY:A2D", "bytes"}, {"GXCOPY:D2A", "bytes"},
	{"GXCOPY:D2D", "bytes"}, {"GXCOPY:H2H", "bytes"}, {"GXCOPY:P2P", "bytes"},
	{"GXCOPY:COUNT", "operations"}, {"GSYNC:UNK", "ns"}, {"GSYNC:EVT", "ns"}, {"GSYNC:STRE", "ns"},
	{"GSYNC:STR", "ns"}, {"GSYNC:CTX", "ns"}, {"GSYNC:COUNT", "operations"}, {"GKER:STMEM", "bytes"},
	{"GKER:DYMEM", "bytes"}, {"GKER:LMEM", "bytes"}, {"GKER:FGP_ACT", "permille"},
	{"GKER:FGP_MAX", "permille"}, {"GKER:THR_REG", "registers"}, {"GKER:BLK_THR", "threads"},
	{"GKER:BLK", "blocks"}, {"GKER:BLK_SM", "bytes"}, {"GKER:COUNT", "operations"},
	{"GKER:OCC_THR", "percent"}, {"GINST", "cycles"}, {"GSAMP:TOT", "samples"}, {"GSAMP:EXP", "samples"},
	{"GSAMP:UTIL", "percent"}};

const char *gpu_metric_name(unsigned metric)
{
	return metrics[metric].name;
}

const char *gpu_metric_unit(unsigned metric)
{
	return metrics[metric].unit;
}

bool gpu_metric_is_ratio(unsigned metric)
{
	return metric == GKER_OCC_THR || metric == GSAMP_UTIL;
}

uint64_t gpu_metric_find(const char *pattern)
{
	uint64_t found = 0;

	for (unsigned m = 0; m < ALL; m++)
		if (glob_match(pattern, metrics[m].name))
			found |= BIT(m);
	if (found & BIT(GKER_OCC_THR))
		found |= BIT(GKER_FGP_ACT) | BIT(GKER_FGP_MAX);
	if (found & BIT(GSAMP_UTIL))
		found |= BIT(GSAMP_TOT) | BIT(GSAMP_EXP);
	return found;
}

/* ---- one operation ---- */

struct counting {
	struct run *run;
	struct window *window;
	uint64_t wanted, begin_ns, end_ns;
	struct error *error;
	int code;
};

struct operation {
	uint32_t context;
	uint64_t time_ns, bytes;
	bool is_begun; /* in the window */
	const char *attributes;
	size_t size;
};

static void put(struct counting *at, const struct operation *is, unsigned metric, uint64_t weight)
{
	const struct window_weight row = {.context = is->context,
		.metric = gpu_metric_number(at->run, metric),
		.samples = 1,
		.weight = weight};

	if (at->wanted & BIT(metric) && weight && !at->code)
		at->code = window_put_weight(at->window, &row, at->error);
}

/* The group's kind that the attributes name, else what is not known. */
static unsigned kind_of(const struct operation *is, unsigned kinds, unsigned count)
{
	char kind[8] = "";

	if (attribute_get(is->attributes, is->size, "kind", kind, sizeof(kind)))
		for (unsigned m = kinds; m < count; m++)
			if (!strcmp(strchr(metrics[m].name, ':') + 1, kind))
				return m;
	return kinds;
}

/* Attributes are read only for what is wanted of them: that costs most. */
static void count_group(struct counting *at, const struct operation *is, unsigned kinds, unsigned count)
{
	if (at->wanted & (BIT(count) - BIT(kinds)))
		put(at, is, kind_of(is, kinds, count),
			kinds == GSYNC_KINDS ? is->time_ns
			: is->is_begun	     ? is->bytes
					     : 0);
	put(at, is, count, is->is_begun);
}

static uint64_t number(const struct operation *is, const char *key)
{
	return attribute_number(is->attributes, is->size, key, 0);
}

/* Of "x:y:z". */
static uint64_t extent(const struct operation *is, const char *key)
{
	char text[80];
	const char *from = text;
	uint64_t product = 1;

	if (!attribute_get(is->attributes, is->size, key, text, sizeof(text)))
		return 0;
	for (;;) {
		char *end;

		product *= strtoull(from, &end, 10);
		if (*end != ':')
			return product;
		from = end + 1;
	}
}

static void count_launch(struct counting *at, const struct operation *is)
{
	uint64_t occupancy = number(is, "occupancy_permille");
	uint64_t shared = number(is, "shared_static"), dynamic = number(is, "shared_dynamic");

	put(at, is, GKER_STMEM, shared);
	put(at, is, GKER_DYMEM, dynamic);
	put(at, is, GKER_LMEM, number(is, "local"));
	put(at, is, GKER_FGP_ACT, occupancy);
	put(at, is, GKER_FGP_MAX, occupancy ? 1000 : 0);
	put(at, is, GKER_THR_REG, number(is, "registers"));
	put(at, is, GKER_BLK_THR, extent(is, "block"));
	put(at, is, GKER_BLK, extent(is, "grid"));
	put(at, is, GKER_BLK_SM, shared + dynamic);
}

static void count_kernel(struct counting *at, const struct operation *is)
{
	if (at->wanted & (BIT(GKER_COUNT) - BIT(GKER_STMEM)))
		count_launch(at, is);
	put(at, is, GKER_COUNT, 1);
}

static void count_operation(struct counting *at, const struct operation *is, uint32_t op)
{
	static const struct {
		uint32_t op;
		unsigned time, kinds, count;
	} groups[] = {{STORE_OP_ALLOC, GMEM, GMEM_KINDS, GMEM_COUNT},
		{STORE_OP_FREE, GMEM, GMEM_KINDS, GMEM_COUNT},
		{STORE_OP_SET, GMSET, GMSET_KINDS, GMSET_COUNT},
		{STORE_OP_COPY, GXCOPY, GXCOPY_KINDS, GXCOPY_COUNT},
		{STORE_OP_SYNC, GSYNC, GSYNC_KINDS, GSYNC_COUNT}};

	if (op == STORE_OP_KERNEL) {
		put(at, is, GKER, is->time_ns);
		put(at, is, GPUOP, is->time_ns);
		if (is->is_begun && at->wanted >> GKER_STMEM)
			count_kernel(at, is);
	}
	for (unsigned i = 0; i < sizeof(groups) / sizeof(*groups); i++)
		if (groups[i].op == op) {
			put(at, is, groups[i].time, is->time_ns);
			put(at, is, GPUOP, is->time_ns);
			count_group(at, is, groups[i].kinds, groups[i].count);
		}
}

/* ---- streams ---- */

static void take(struct counting *at, const struct batch *batch, size_t i)
{
	uint64_t begin_ns = batch->begin_ns[i], end_ns = batch->end_ns[i];
	struct operation is = {.context = batch->context[i],
		.bytes = batch->bytes[i],
		.is_begun = begin_ns >= at->begin_ns && begin_ns < at->end_ns};

	switch (batch->what[i]) {
	case STORE_OP_KERNEL:
	case STORE_OP_COPY:
	case STORE_OP_SET:
	case STORE_OP_SYNC:
	case STORE_OP_ALLOC:
	case STORE_OP_FREE:
		begin_ns = begin_ns > at->begin_ns ? begin_ns : at->begin_ns;
		end_ns = end_ns < at->end_ns ? end_ns : at->end_ns;
		is.time_ns = end_ns > begin_ns ? end_ns - begin_ns : 0;
		is.attributes = batch_attributes(at->run, batch, i, &is.size);
		count_operation(at, &is, batch->what[i]);
		break;
	}
}

static int stream_add(void *own, struct window *window, uint32_t stream, uint64_t begin_ns, uint64_t end_ns,
	struct error *error)
{
	struct counting at = *(const struct counting *)own;
	const struct batch *batch;
	struct scan *scan;
	long count;
	int code = scan_open(&scan, at.run, stream, STORE_SPANS, begin_ns, end_ns,
		STORE_END | STORE_CONTEXT | STORE_WHAT | STORE_BYTES | STORE_ATTRIBUTES, 0, error);

	if (code)
		return code;
	at.window = window;
	at.error = error;
	while (!at.code && (count = scan_next(scan, &batch, error)) != 0) {
		if (count < 0)
			at.code = (int)count;
		for (long i = 0; i < count; i++)
			take(&at, batch, (size_t)i);
	}
	scan_close(scan);
	return at.code;
}

int gpu_metric_add_weights(struct window *window, struct run *run, const uint32_t *streams, uint32_t count,
	uint64_t begin_ns, uint64_t end_ns, uint64_t wanted, struct error *error)
{
	struct counting counting = {
		.run = run, .wanted = wanted & ~GPU_METRIC_SAMPLES, .begin_ns = begin_ns, .end_ns = end_ns};

	/* What is still running has not ended behind the run. */
	if (counting.end_ns > run_end_ns(run))
		counting.end_ns = run_end_ns(run) + 1;
	return counting.wanted ? parallel_sum_streams(window, run, streams, count, begin_ns, end_ns,
					 stream_add, &counting, error)
			       : 0;
}
