/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hpcrun_file.c - see hpcrun_file.h. The footer tells where the parts lie.
 */
#include "formats/hpctoolkit/hpcrun_file.h"

#define FOOTER_WORDS 14u
#define FOOTER_BYTES (8u * FOOTER_WORDS)
#define FOOTER_MAGIC UINT64_C(0x48504352554e736d) /* "HPCRUNsm" */
#define MAGIC_BYTES (sizeof HPCRUN_MAGIC - 1)
#define VALUE_BYTES 10u
#define OWNER_BYTES 12u
#define FLAGS_BYTES 16u /* of a metric: kind, kind of values, their form, ... */
#define FLAGS_FORM 2u
#define FORM_REAL 2u

static uint64_t load(const uint8_t *at, unsigned size)
{
	uint64_t value = 0;

	for (unsigned i = 0; i < size; i++)
		value = value << 8 | at[i];
	return value;
}

uint64_t hpcrun_number(struct store_input *input, unsigned size)
{
	const uint8_t *at = store_input_take(input, size);

	return at ? load(at, size) : 0;
}

static struct hpcrun_text take_text(struct store_input *input)
{
	size_t size = (size_t)hpcrun_number(input, 4);
	const uint8_t *at = store_input_take(input, size);

	return at ? (struct hpcrun_text){(const char *)at, size} : (struct hpcrun_text){"", 0};
}

/* ---- parts ---- */

bool hpcrun_file_open(struct hpcrun_file *file, const uint8_t *bytes, size_t size)
{
	struct store_input *parts[] = {
		&file->facts, &file->modules, &file->nodes, &file->metrics, &file->kinds, &file->values};
	const uint8_t *footer = bytes + size - FOOTER_BYTES;

	if (size < HPCRUN_HEAD_BYTES + FOOTER_BYTES ||
		memcmp(bytes, HPCRUN_MAGIC "04.00b", HPCRUN_HEAD_BYTES) != 0 ||
		load(footer + FOOTER_BYTES - 8, 8) != FOOTER_MAGIC)
		return false;
	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
		uint64_t begin = load(footer + 16 * i, 8), end = load(footer + 16 * i + 8, 8);

		if (begin > end || end > size)
			return false;
		*parts[i] = (struct store_input){bytes + begin, bytes + end, false};
	}
	store_input_take(&file->facts, HPCRUN_HEAD_BYTES);
	return !file->facts.bad;
}

uint64_t hpcrun_count(struct store_input *part, unsigned size)
{
	return hpcrun_number(part, size);
}

static bool is_next(const struct store_input *part, uint64_t *count)
{
	if (!*count || part->bad)
		return false;
	--*count;
	return true;
}

bool hpcrun_fact_next(struct store_input *facts, uint64_t *count, struct hpcrun_fact *fact)
{
	if (!is_next(facts, count))
		return false;
	fact->name = take_text(facts);
	fact->value = take_text(facts);
	return !facts->bad;
}

bool hpcrun_module_next(struct store_input *modules, uint64_t *count, struct hpcrun_module *module)
{
	if (!is_next(modules, count))
		return false;
	module->id = (uint16_t)hpcrun_number(modules, 2);
	module->path = take_text(modules);
	hpcrun_number(modules, 8); /* flags */
	return !modules->bad;
}

bool hpcrun_node_next(struct store_input *nodes, uint64_t *count, struct hpcrun_node *node)
{
	if (!is_next(nodes, count))
		return false;
	node->id = (uint32_t)hpcrun_number(nodes, 4);
	node->parent = (uint32_t)hpcrun_number(nodes, 4);
	node->module = (uint16_t)hpcrun_number(nodes, 2);
	node->offset = hpcrun_number(nodes, 8);
	hpcrun_number(nodes, 1); /* was it unwound, or is it of a GPU */
	return !nodes->bad;
}

/* Name, description, flags, period, formula, format; then how perf counted it. */
bool hpcrun_metric_next(struct store_input *metrics, uint64_t *count, struct hpcrun_metric *metric)
{
	const uint8_t *flags;

	if (!is_next(metrics, count))
		return false;
	metric->name = take_text(metrics);
	take_text(metrics);
	flags = store_input_take(metrics, FLAGS_BYTES);
	metric->is_real = flags && flags[FLAGS_FORM] == FORM_REAL;
	metric->period = hpcrun_number(metrics, 8);
	metric->is_derived = take_text(metrics).size > 0;
	take_text(metrics);
	store_input_take(metrics, 2 + 2 + 8 + 8);
	return !metrics->bad;
}

/* The two upper bits of a kind: is the id one of hardware (1, 2), whose logical number is not made yet? */
void hpcrun_identity_read(struct store_input *values, struct hpcrun_identity *identity)
{
	uint64_t count = hpcrun_number(values, 2);

	*identity = (struct hpcrun_identity){.ids = {0}};
	while (count-- > 0 && !values->bad) {
		unsigned word = (unsigned)hpcrun_number(values, 2), kind = word & 0x3fff,
			 meaning = word >> 14;
		uint64_t physical = hpcrun_number(values, 8), logical = hpcrun_number(values, 8);

		if (kind >= HPCRUN_KINDS || values->bad)
			continue;
		identity->has[kind] = true;
		identity->ids[kind] =
			kind == HPCRUN_NODE || meaning == 1 || meaning == 2 ? physical : logical;
	}
}

/* ---- values ---- */

bool hpcrun_values_read(struct store_input *values, struct hpcrun_values *found)
{
	*found = (struct hpcrun_values){.count = hpcrun_number(values, 8)};
	found->owner_count = hpcrun_number(values, 4);
	if (values->bad || found->count > (size_t)(values->end - values->at) / VALUE_BYTES)
		return false;
	found->values = store_input_take(values, found->count * VALUE_BYTES);
	found->owners = store_input_take(values, (found->owner_count + 1) * OWNER_BYTES);
	return !values->bad;
}

uint32_t hpcrun_values_owner(const struct hpcrun_values *values, uint64_t i, uint64_t *first, uint64_t *end)
{
	const uint8_t *at = values->owners + i * OWNER_BYTES;

	*first = load(at + 4, 8);
	*end = load(at + OWNER_BYTES + 4, 8);
	*end = *end > values->count ? values->count : *end;
	return (uint32_t)load(at, 4);
}

uint64_t hpcrun_value_at(const struct hpcrun_values *values, uint64_t i, uint16_t *metric)
{
	const uint8_t *at = values->values + i * VALUE_BYTES;

	*metric = (uint16_t)load(at + 8, 2);
	return load(at, 8);
}

/* ---- words ---- */

const char *hpcrun_word(uint64_t offset)
{
	static const struct {
		char word[9];
		const char *name;
	} words[] = {{"^Partial", "<partial>"}, {"*Unnorm ", "<unknown>"}, {"| Thread", "<thread root>"},
		{"OMP Idle", "<omp idle>"}, {"OMPOvrHd", "<omp overhead>"}, {"OMPBarrW", "<omp barrier>"},
		{"OMPTaskW", "<omp taskwait>"}, {"OMPMtexW", "<omp lock>"}, {"OMP Work", "<omp work>"},
		{"OMPETask", "<omp task>"}, {"OMPITask", "<omp implicit task>"}, {"OMPUresv", "<omp region>"},
		{"OMTAlloc", "<gpu alloc>"}, {"OMTDelte", "<gpu free>"}, {"OMTCpIn ", "<gpu copy>"},
		{"OMTCpOut", "<gpu copy>"}, {"OMTKernl", "<gpu kernel>"}, {"GPUCp?2?", "<gpu copy>"},
		{"GPUCpH2D", "<gpu copy>"}, {"GPUCpD2H", "<gpu copy>"}, {"GPUAlloc", "<gpu alloc>"},
		{"GPUDelte", "<gpu free>"}, {"GPUKernl", "<gpu kernel>"}, {"GPUMemst", "<gpu set>"},
		{"GPU Sync", "<gpu sync>"}, {"GPUTrace", "<gpu kernel>"}};

	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (load((const uint8_t *)words[i].word, 8) == offset)
			return words[i].name;
	return NULL;
}
