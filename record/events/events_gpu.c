/* SPDX-License-Identifier: Apache-2.0 */
/* events_gpu.c - the values of -e gpu=, and which work here, by hpct-doctor's checks. */
#include <stdio.h>
#include <string.h>

#include "record/doctor/doctor.h"
#include "record/events/events.h"

#define PC_WORD "nvidia,pc"

static const struct {
	const char *name, *text;
	const char *needs[2]; /* capabilities in doctor_devices */
} gpus[] = {
	{"auto", "each runtime below that the program uses; the default", {NULL}},
	{"nvidia", "CUDA, by CUPTI", {"CUDA", "CUPTI"}},
	{PC_WORD, "the same, with samples of instructions; @N: one in N cycles", {"CUDA", "CUPTI"}},
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

int events_gpu_find(const char **found, unsigned *pc_period, const char *name, struct error *error)
{
	*pc_period = 0;
	if (!strncmp(name, PC_WORD, strlen(PC_WORD)) &&
		(!name[strlen(PC_WORD)] || name[strlen(PC_WORD)] == '@')) {
		*found = gpus[1].name;
		return pc_take(pc_period, name + strlen(PC_WORD), error);
	}
	for (size_t i = 0; i < GPUS; i++)
		if (!strcmp(gpus[i].name, name)) {
			*found = gpus[i].name;
			return 0;
		}
	return refuse(name, error);
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
