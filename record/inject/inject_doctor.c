/* SPDX-License-Identifier: Apache-2.0 */
/* inject_doctor.c - see inject_doctor.h. It reads what --inject would read, and stops no thread. */
#include "record/inject/inject_doctor.h"

#include <string.h>

#include "record/base/install_paths.h"
#include "record/inject/inject.h"
#include "record/inject/inject_image.h"

static uint32_t pid;

void inject_doctor_choose(uint32_t chosen)
{
	pid = chosen;
}

/* "what is so; what to do" */
static void refusal_say(struct doctor_row *row, const struct error *error)
{
	const char *remedy = strchr(error->text, ';');

	doctor_say(row, DOCTOR_NO, remedy ? remedy + 2 : "choose another process", "%.*s",
		(int)(remedy ? remedy - error->text : (long)strlen(error->text)), error->text);
}

static void agent_look(struct doctor_row *row)
{
	static struct inject_image image;
	struct install_paths paths;
	struct error error;

	if (install_paths_find(&paths, &error) || inject_check(pid, paths.inject, &error) ||
		inject_image_open(&image, pid, "it", &error)) {
		refusal_say(row, &error);
		return;
	}
	inject_image_close(&image);
	doctor_say(row, DOCTOR_YES, NULL, "hpct-record -p %u --inject can load one, if ptrace is permitted",
		pid);
}

const struct doctor_check inject_doctor[] = {
	{"agent, by --inject", agent_look, false},
	{NULL, NULL, false},
};
