/* SPDX-License-Identifier: Apache-2.0 */
/*
 * environment.c - see environment.h. Keeps the program's own settings: other libraries in LD_PRELOAD stay, in
 * their order, after the agent.
 */
#include "record/agent/process/environment.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "record/agent/process/preload.h"
#include "record/agent/process/process.h"

static const char *value_of(const char *word, const char *name)
{
	size_t length = strlen(name);

	return strncmp(word, name, length) == 0 && word[length] == '=' ? word + length + 1 : NULL;
}

const char *environment_value(char *const *envp, const char *name)
{
	for (; envp && *envp; envp++) {
		const char *value = value_of(*envp, name);

		if (value)
			return value;
	}
	return NULL;
}

uint32_t environment_generation(char *const *envp, pid_t pid)
{
	const char *value = environment_value(envp, EVENT_ENV_GENERATION);
	char *end = NULL;

	if (!value || strtol(value, &end, 10) != pid || *end != ':')
		return 0;
	return (uint32_t)strtoul(end + 1, NULL, 10);
}

bool environment_hides_trap(char *const *envp)
{
	const char *value = environment_value(envp, EVENT_ENV_GENERATION);

	return value && environment_generation(envp, process_number()) && strchr(value, '!');
}

/* The first of these variables that is a number; -1: none. */
static int32_t first_number(char *const *envp, const char *const *names)
{
	for (; *names; names++) {
		const char *value = environment_value(envp, *names);
		char *end = NULL;
		long number = value ? strtol(value, &end, 10) : -1;

		if (value && end != value && !*end && number >= 0 && number <= INT32_MAX)
			return (int32_t)number;
	}
	return -1;
}

static const char *const of_mpi[] = {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "FLUX_TASK_RANK",
	"PALS_RANKID", "JSM_NAMESPACE_RANK", NULL};
static const char *const of_torch[] = {"RANK", NULL};
static const char *const of_slurm[] = {"SLURM_PROCID", NULL};

bool environment_may_have_mpi(char *const *envp)
{
	return first_number(envp, of_mpi) >= 0 || first_number(envp, of_slurm) >= 0;
}

int32_t environment_rank(char *const *envp)
{
	int32_t rank = first_number(envp, of_mpi);

	/* RANK alone is too common; torchrun sets it together with these, and below srun it is the more
	 * specific one. */
	if (rank < 0 && environment_value(envp, "WORLD_SIZE") && environment_value(envp, "MASTER_ADDR"))
		rank = first_number(envp, of_torch);
	return rank < 0 ? first_number(envp, of_slurm) : rank;
}

size_t environment_count(char *const *envp)
{
	size_t count = 0;

	while (envp && envp[count])
		count++;
	return count;
}

/* Writes "NAME=" and value; false: too long, nothing usable is written. */
static bool word_write(char *to, size_t bytes, const char *name, const char *value)
{
	size_t name_length = strlen(name), value_length = strlen(value);

	if (name_length + value_length + 2 > bytes)
		return false;
	strcpy(to, name);
	strcpy(to + name_length, "=");
	strcpy(to + name_length + 1, value);
	return true;
}

bool environment_mpi_path(char *to, size_t bytes, const char *agent)
{
	size_t length = strlen(agent);

	if (length < 3 || length + sizeof("-mpi") > bytes)
		return false;
	memcpy(to, agent, length - 3);
	strcpy(to + length - 3, "-mpi.so");
	return true;
}

static bool preload_build(struct environment_text *text, const char *others, bool preload)
{
	const struct preload ours = {.agent = process.settings.agent,
		.is_wanted = preload,
		.with_mpi = text->linked.with_mpi,
		.first = text->linked.asan};

	return preload_write(text->preload, sizeof(text->preload), others, &ours);
}

void environment_decimal(char *to, unsigned long value)
{
	char digits[24];
	unsigned count = 0;

	do
		digits[count++] = (char)('0' + value % 10);
	while (value /= 10);
	while (count)
		*to++ = digits[--count];
	*to = '\0';
}

void environment_hexadecimal(char *to, unsigned long value)
{
	int shift = 60;

	*to++ = '0';
	*to++ = 'x';
	while (shift && !(value >> shift))
		shift -= 4;
	for (; shift >= 0; shift -= 4)
		*to++ = "0123456789abcdef"[value >> shift & 15];
	*to = '\0';
}

/* "PID:N": the N-th program of this pid. For another pid it is invalid. "!": the program must reset
 * SIGTRAP. */
static bool generation_write(char *to, size_t bytes, bool hides_trap)
{
	char value[56];

	environment_decimal(value, (unsigned long)process_number());
	strcat(value, ":");
	environment_decimal(
		value + strlen(value), process_is_own() ? (unsigned long)process.shared->generation + 1 : 0);
	if (hides_trap)
		strcat(value, "!");
	return word_write(to, bytes, EVENT_ENV_GENERATION, value);
}

static bool is_ours(const char *word)
{
	return value_of(word, "LD_PRELOAD") || value_of(word, EVENT_ENV_SOCKET) ||
	       value_of(word, EVENT_ENV_EVENTS) || value_of(word, EVENT_ENV_AGENT) ||
	       value_of(word, EVENT_ENV_GENERATION);
}

static bool gpu_is_wanted(const char *vendor)
{
	return !strcmp(process.settings.gpu, "auto") || !strcmp(process.settings.gpu, vendor);
}

/* "NAME=tool": the user's tool if set, else the agent. False: none. */
static bool tool_write(char *const *envp, char *to, const char *name, bool preload)
{
	const char *agent = process.settings.agent, *tool = environment_value(envp, name);

	if (tool && !strcmp(tool, agent))
		tool = NULL;
	if (!tool && preload && gpu_is_wanted("nvidia"))
		tool = agent;
	return tool && word_write(to, ENVIRONMENT_TEXT, name, tool);
}

/* Variables by which GPU runtimes find the agent; not set for programs that cannot load the agent. */
static size_t gpu_build(char *const *envp, bool preload, char **to, struct environment_text *text)
{
	const char *agent = process.settings.agent;
	size_t count = 0;

	if (preload_list_write(text->opencl, sizeof(text->opencl), EVENT_ENV_OPENCL,
		    environment_value(envp, EVENT_ENV_OPENCL),
		    preload && gpu_is_wanted("opencl") ? agent : "", (const char *const[]){agent, NULL}))
		to[count++] = text->opencl;
	if (tool_write(envp, text->cuda, EVENT_ENV_CUDA, preload))
		to[count++] = text->cuda;
	if (tool_write(envp, text->nvtx, EVENT_ENV_NVTX, preload))
		to[count++] = text->nvtx;
	if (tool_write(envp, text->nccl, EVENT_ENV_NCCL, preload))
		to[count++] = text->nccl;
	return count;
}

static bool is_of_gpu(const char *word)
{
	return value_of(word, EVENT_ENV_OPENCL) || value_of(word, EVENT_ENV_CUDA) ||
	       value_of(word, EVENT_ENV_NVTX) || value_of(word, EVENT_ENV_NCCL);
}

void environment_build(char *const *envp, bool preload, char **to, struct environment_text *text)
{
	const struct process_settings *settings = &process.settings;
	const char *others = environment_value(envp, "LD_PRELOAD");
	bool replaced = preload_build(text, others, preload);
	bool keep_preload = !replaced && others && preload;
	size_t count = 0;

	for (char *const *word = envp; word && *word; word++)
		if ((!is_ours(*word) || (keep_preload && value_of(*word, "LD_PRELOAD"))) && !is_of_gpu(*word))
			to[count++] = *word;
	if (replaced)
		to[count++] = text->preload;
	count += gpu_build(envp, preload, to + count, text);
	if (word_write(text->socket, sizeof(text->socket), EVENT_ENV_SOCKET, settings->socket))
		to[count++] = text->socket;
	if (settings->events[0] &&
		word_write(text->events, sizeof(text->events), EVENT_ENV_EVENTS, settings->events))
		to[count++] = text->events;
	if (word_write(text->agent, sizeof(text->agent), EVENT_ENV_AGENT, settings->agent))
		to[count++] = text->agent;
	if (generation_write(text->generation, sizeof(text->generation), text->hides_trap))
		to[count++] = text->generation;
	to[count] = NULL;
}

void environment_leave(char *const *envp, char **to, struct environment_text *text)
{
	size_t count = 0;

	for (char *const *word = envp; word && *word; word++)
		if (!is_ours(*word) && !is_of_gpu(*word))
			to[count++] = *word;
	if (preload_build(text, environment_value(envp, "LD_PRELOAD"), false))
		to[count++] = text->preload;
	count += gpu_build(envp, false, to + count, text);
	to[count] = NULL;
}
