/* SPDX-License-Identifier: Apache-2.0 */
/* events_gpu.c - what -e gpu= may be, and what of it can be had here: that is hpct-doctor's to say. */
#include <stdio.h>
#include <string.h>

#include "record/doctor.h"
#include "record/events.h"

static const struct {
	const char *name, *text;
	const char *needs[2]; /* capabilities, by doctor_devices */
} gpus[] = {
	{"auto", "each runtime below that the program uses; the default", {NULL}},
	{"nvidia", "CUDA, by CUPTI", {"CUDA", "CUPTI"}},
	{"opencl", "OpenCL, of any vendor", {"OpenCL"}},
	{"level0", "Level Zero", {"Level Zero"}},
	{"off", "none", {NULL}},
};

#define GPUS (sizeof(gpus) / sizeof(*gpus))

const char *events_gpu_find(const char *name)
{
	for (size_t i = 0; i < GPUS; i++)
		if (!strcmp(gpus[i].name, name))
			return gpus[i].name;
	return NULL;
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
