/* SPDX-License-Identifier: Apache-2.0 */
/* launch_name.c - see launch_name.h. */
#include "record/launch/launch_name.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "record/agent/process/process.h"
#include "record/launch/launcher.h"
#include "store/base/utf8.h"
#include "store/store.h"

static const char *environment_first(const char *const *names)
{
	for (; *names; names++) {
		const char *value = getenv(*names);

		if (value && *value)
			return value;
	}
	return "";
}

/* Makes a word from the environment usable in a file name. */
static void label_copy(char *to, size_t room, const char *from)
{
	size_t used = 0;

	for (; *from && used + 1 < room; from++)
		to[used++] = *from == '/' || (unsigned char)*from <= ' ' || *from == 0x7f ? '_' : *from;
	to[used] = '\0';
}

void launch_name_find(struct launch_name *name)
{
	static const char *const jobs[] = {"SLURM_JOB_ID", "COBALT_JOBID", "LSB_JOBID", "PBS_JOBID", NULL};
	static const char *const steps[] = {"SLURM_STEP_ID", "JSM_NAMESPACE_LOCAL_RANK_STEP", NULL};
	static const char *const launches[] = {
		"PMIX_NAMESPACE", "PMI_JOBID", "OMPI_MCA_ess_base_jobid", "HYDRA_LAUNCHER_ID", NULL};
	const char *launch = environment_first(launches);
	char launcher[64];

	if (!*launch && !launcher_find(launcher, sizeof(launcher)))
		launch = launcher;
	memset(name, 0, sizeof(*name));
	label_copy(name->job, sizeof(name->job), environment_first(jobs));
	label_copy(name->step, sizeof(name->step), environment_first(steps));
	if (name->job[0] && name->step[0])
		snprintf(name->label, sizeof(name->label), "%.30s.%.30s", name->job, name->step);
	else if (name->job[0])
		label_copy(name->label, sizeof(name->label), name->job);
	else if (*launch)
		label_copy(name->label, sizeof(name->label), launch);
	else
		snprintf(name->label, sizeof(name->label), "%d", (int)process_number());
	name->is_shared = *launch || (name->job[0] && name->step[0]);
	if (name->is_shared)
		snprintf(name->id, sizeof(name->id), "%.60s/%.60s/%.100s", name->job, name->step, launch);
	else
		snprintf(name->id, sizeof(name->id), "pid/%d", (int)process_number());
}

static int replacement_put(char *path, unsigned room, size_t *used, char letter,
	const struct launch_name *name, struct error *error)
{
	char host[256] = "", number[16];
	const char *text;

	gethostname(host, sizeof(host) - 1);
	snprintf(number, sizeof(number), "%d", (int)process_number());
	switch (letter) {
	case 'j':
		text = name->job[0] ? name->job : name->label;
		break;
	case 's':
		text = name->step[0] ? name->step : "0";
		break;
	case 'h':
		text = host;
		break;
	case 'p':
		text = number;
		break;
	case '%':
		text = "%";
		break;
	default:
		return error_set(
			error, ERROR_USAGE, "-o: %%%c means nothing; %%j %%s %%h %%p %%%% do", letter);
	}
	*used += (size_t)snprintf(path + *used, room - *used, "%s", text);
	return 0;
}

static int pattern_expand(
	char *path, unsigned room, const char *pattern, const struct launch_name *name, struct error *error)
{
	size_t used = 0;

	for (; *pattern; pattern++) {
		int result = 0;

		if (*pattern == '%' && pattern[1])
			result = replacement_put(path, room, &used, *++pattern, name, error);
		else if (used + 1 < room)
			path[used++] = *pattern;
		else
			used++;
		if (result)
			return result;
		if (used + 8 >= room)
			return error_set(error, ERROR_USAGE, "-o: the run's name is too long");
	}
	path[used] = '\0';
	return 0;
}

int run_path_make(char *path, unsigned room, const char *pattern, const char *program,
	const struct launch_name *name, struct error *error)
{
	const char *base = strrchr(program, '/');
	const char *program_name = base ? base + 1 : program;
	size_t length;
	int result = 0;

	if (pattern)
		result = pattern_expand(path, room, pattern, name, error);
	else
		snprintf(path, room, "%.200s-%s", program_name, name->label);
	if (!pattern)
		store_utf8_clean(path); /* the user sees this name, and did not choose it */
	if (result)
		return result;
	length = strlen(path);
	while (length > 1 && path[length - 1] == '/')
		path[--length] = '\0';
	base = strrchr(path, '/');
	base = base ? base + 1 : path;
	if (!*base || !strcmp(base, ".") || !strcmp(base, "..")) /* of the root, of a directory */
		return error_set(error, ERROR_USAGE, "-o: the run needs a name, such as %s%s%s%s", path,
			length && *base ? "/" : "", program_name, STORE_RUN_SUFFIX);
	if (length < 5 || strcmp(path + length - 5, STORE_RUN_SUFFIX))
		strcat(path, STORE_RUN_SUFFIX);
	return 0;
}
