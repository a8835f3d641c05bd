/* SPDX-License-Identifier: Apache-2.0 */
/* events_gpu.c - the values of -e gpu=, and which work here, by hpct-doctor's checks. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "record/doctor/doctor.h"
#include "record/events/events.h"

#define PC_WORD "nvidia,pc"
#define UTIL_WORD "nvidia,util"

static const struct {
	const char *name, *text;
	const char *needs[2]; /* capabilities in doctor_devices */
} gpus[] = {
	{"auto", "each runtime below that the program uses; the default", {NULL}},
	{"nvidia", "CUDA, by CUPTI", {"CUDA", "CUPTI"}},
	{PC_WORD, "the same, with samples of instructions; @N: one in N cycles", {"CUDA", "CUPTI"}},
	{UTIL_WORD, "the same, with the device's counters over time; @TIME: each so long", {"CUDA", "CUPTI"}},
	{"opencl", "OpenCL, of any vendor", {"OpenCL"}},
	{"level0", "Level Zero", {"Level Zero"}},
	{"off", "none", {NULL}},
};

#define GPUS (sizeof(gpus) / sizeof(*gpus))

static int refuse(const char *name, struct error *error)
{
	char names[128] = "";

	for (size_t i = 0, at = 0; i < GPUS && at < sizeof(names); i++)
		at += (size_t)snprintf(names + at, sizeof(names) - at, "%s%s",
			!i	       ? ""
			: i < GPUS - 1 ? ", "
				       : " or ",
			gpus[i].name);
	return error_set(
		error, ERROR_USAGE, "event gpu=%s is not available; after gpu= comes %s", name, names);
}

#define PC_PERIOD 16u /* of 2: a full GPU gives 4 M samples a second, and loses none */
#define PC_LEAST 5u
#define PC_MOST 31u

/* What follows "nvidia,pc". */
static int pc_take(unsigned *period, const char *text, struct error *error)
{
	unsigned long long cycles = 0;
	char end = 0;

	*period = PC_PERIOD;
	if (!*text)
		return 0;
	if (sscanf(text, "@%llu%c", &cycles, &end) == 1 && cycles && !(cycles & (cycles - 1)) &&
		cycles >> PC_LEAST && cycles <= 1ull << PC_MOST) {
		*period = (unsigned)__builtin_ctzll(cycles);
		return 0;
	}
	return error_set(error, ERROR_USAGE,
		"-e gpu=" PC_WORD
		"%s: after pc comes nothing, or @ and a power of 2 of cycles, 32 to 2147483648",
		text);
}

#define UTIL_NS 10000000u   /* reading them takes a fiftieth of a core */
#define UTIL_LEAST_NS 100e3 /* a core */
#define UTIL_MOST_NS 1e9

/* What follows "nvidia,util". */
static int util_take(uint64_t *interval_ns, const char *text, struct error *error)
{
	static const struct {
		const char *name;
		double ns;
	} units[] = {{"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};
	char *unit = NULL;
	double number = *text == '@' ? strtod(text + 1, &unit) : 0, ns = 0;

	*interval_ns = UTIL_NS;
	if (!*text)
		return 0;
	for (size_t i = 0; unit && i < sizeof(units) / sizeof(*units); i++)
		if (!strcmp(unit, units[i].name))
			ns = number * units[i].ns;
	*interval_ns = ns >= UTIL_LEAST_NS && ns <= UTIL_MOST_NS ? (uint64_t)(ns + 0.5) : 0;
	return *interval_ns
		       ? 0
		       : error_set(error, ERROR_USAGE,
				 "-e gpu=" UTIL_WORD "%s: after util comes nothing, or @ and a time from "
				 "100us to 1s, such as @1ms",
				 text);
}

/* True if `name` is the word, alone or with something behind an @; *behind is that. */
static bool is_word(const char *name, const char *word, const char **behind)
{
	*behind = name + strlen(word);
	return !strncmp(name, word, strlen(word)) && (!**behind || **behind == '@');
}

static bool has_word(const char *name, const char *word)
{
	const char *at = strstr(name, word);
	size_t size = strlen(word);

	return at && (!at[size] || at[size] == '@' || at[size] == ',');
}

static int exclude(struct error *error)
{
	return error_set(error, ERROR_USAGE,
		"-e gpu=nvidia: pc and util exclude each other, since an NVIDIA GPU samples either "
		"instructions or counters; record twice");
}

int events_gpu_find(struct events_gpu *found, const char *name, struct error *error)
{
	const struct events_gpu before = *found;
	const char *behind;
	int rc = 0;

	*found = (struct events_gpu){.vendor = gpus[1].name};
	if (has_word(name, ",pc") && has_word(name, ",util"))
		return exclude(error);
	if (is_word(name, PC_WORD, &behind))
		rc = pc_take(&found->pc_period, behind, error);
	else if (is_word(name, UTIL_WORD, &behind))
		rc = util_take(&found->util_ns, behind, error);
	else {
		found->vendor = NULL;
		for (size_t i = 0; i < GPUS; i++)
			if (!strcmp(gpus[i].name, name))
				found->vendor = gpus[i].name;
		return found->vendor ? 0 : refuse(name, error);
	}
	if (!rc && ((found->pc_period && before.util_ns) || (found->util_ns && before.pc_period)))
		return exclude(error);
	return rc;
}

static void examine(const char *capability, struct doctor_row *row)
{
	for (const struct doctor_check *check = doctor_devices; check->capability; check++)
		if (!strcmp(check->capability, capability))
			check->look(row);
}

void events_list_gpus(void)
{
	printf("\nOperations on GPUs, one of these; without @:\n");
	for (size_t i = 0; i < GPUS; i++) {
		struct doctor_row row = {.state = DOCTOR_YES};

		for (unsigned n = 0; n < 2 && gpus[i].needs[n] && row.state == DOCTOR_YES; n++)
			examine(gpus[i].needs[n], &row);
		printf("gpu=%-26s %s%s%s\n", gpus[i].name, gpus[i].text,
			row.state == DOCTOR_YES ? "" : "; not available here: ",
			row.state == DOCTOR_YES ? "" : row.reason);
	}
}
