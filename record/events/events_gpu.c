/* SPDX-License-Identifier: Apache-2.0 */
/* events_gpu.c - the values of -e gpu=, and which work here, by hpct-doctor's checks. */
#include <stdio.h>
#include <string.h>

#include "record/doctor/doctor.h"
#include "record/events/events.h"

static const struct {
	const char *name, *text;
	const char *needs[2]; /* capabilities in doctor_devices */
} gpus[] = {
	{"auto", "each runtime below that the program uses; the default", {NULL}},
	{"nvidia", "CUDA, by CUPTI", {"CUDA", "CUPTI"}},
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

int events_gpu_find(const char **found, const char *name, struct error *error)
{
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
