/* SPDX-License-Identifier: Apache-2.0 */
/*
 * process_settings.c - reads hpct-record's settings from the program's environment. Ignores values that are
 * malformed or too long.
 */
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "record/agent/process/environment.h"
#include "record/agent/process/process.h"

#define PERIOD_DEFAULT_NS UINT64_C(5000000)

static size_t strnlen_word(const char *word, size_t most)
{
	size_t length = strcspn(word, " ");

	return length < most ? length : most;
}

/* "CPUTIME@5000 SWITCHES": the time source's metric and its period in microseconds ("n": nanoseconds),
 * then other settings. */
static void events_parse(struct process_settings *settings)
{
	const char *events = settings->events, *at = strchr(events, '@');
	size_t length = strcspn(events, "@ ");
	const char *by = strstr(events, EVENT_WORD_SAMPLER);
	const char *memleak = strstr(events, EVENT_WORD_MEMLEAK);
	char *unit = NULL;
	unsigned long long number = at && at < events + length + 1 ? strtoull(at + 1, &unit, 10) : 0;

	settings->switches = strstr(events, " SWITCHES") != NULL;
	settings->waits = strstr(events, EVENT_WORD_WAITS) != NULL;
	settings->keeps_recursion = strstr(events, EVENT_WORD_RECURSION) != NULL;
	settings->java = strstr(events, EVENT_WORD_JAVA) != NULL;
	settings->no_gprof = strstr(events, EVENT_WORD_NO_GPROF) != NULL;
	settings->dormant = strstr(events, EVENT_WORD_DORMANT) != NULL;
	settings->delayed = settings->dormant || strstr(events, EVENT_WORD_DELAY) != NULL;
	settings->unsampled = strstr(events, EVENT_WORD_UNSAMPLED) != NULL;
	settings->io = strstr(events, EVENT_WORD_IO) != NULL;
	settings->memleak = memleak ? strtoull(memleak + strlen(EVENT_WORD_MEMLEAK), NULL, 16) : 0;
	if (by) {
		by += strlen(EVENT_WORD_SAMPLER);
		memcpy(settings->sampler, by, strnlen_word(by, sizeof(settings->sampler) - 1));
	}
	if (unit && *unit != 'n')
		number = number <= 1000000000u ? number * 1000u : 0;
	settings->period_ns = number ? number : PERIOD_DEFAULT_NS;
	if (length >= sizeof(settings->metric))
		length = sizeof(settings->metric) - 1;
	memcpy(settings->metric, events, length);
	if (!length)
		strcpy(settings->metric, "CPUTIME");
}

/* MPI's names come in a library of their own (mpi/mpi_names.c). */
static void mpi_parse(struct process_settings *settings, char **envp)
{
	const char *word = strstr(settings->events, EVENT_WORD_MPI);
	const char *preload = environment_value(envp, "LD_PRELOAD");

	word = word ? word + strlen(EVENT_WORD_MPI) : NULL;
	settings->no_mpi = word && !strncmp(word, "off", 3);
	settings->sums_all_mpi = word && !settings->no_mpi;
	settings->mpi_bound_ns = settings->sums_all_mpi ? strtoull(word, NULL, 10) : EVENT_MPI_BOUND_NS;
	settings->sums_mpi =
		!settings->no_mpi && settings->mpi_bound_ns && preload && strstr(preload, "-agent-mpi.so");
}

/* A runtime of OpenMP, or an interpreter whose modules may bring one. */
static int openmp_look(struct dl_phdr_info *info, size_t bytes, void *found)
{
	static const char *const names[] = {"libgomp", "libomp", "libiomp5", "libpython"};
	const char *slash = strrchr(info->dlpi_name, '/'), *base = slash ? slash + 1 : info->dlpi_name;

	(void)bytes;
	for (unsigned i = 0; i < sizeof(names) / sizeof(*names); i++)
		*(bool *)found |= !strncmp(base, names[i], strlen(names[i]));
	return *(bool *)found;
}

static bool is_python(void)
{
	char path[512];
	ssize_t bytes = readlink("/proc/self/exe", path, sizeof(path) - 1);
	const char *slash;

	path[bytes > 0 ? bytes : 0] = '\0';
	slash = strrchr(path, '/');
	return slash && !strncmp(slash + 1, "python", strlen("python"));
}

/* The word after `gpu=`; "off" if missing. */
static void gpu_parse(struct process_settings *settings)
{
	const char *at = strstr(settings->events, "gpu=");
	size_t length = at ? strcspn(at + 4, " ") : 0;

	strcpy(settings->gpu, "off");
	if (length && length < sizeof(settings->gpu)) {
		memcpy(settings->gpu, at + 4, length);
		settings->gpu[length] = '\0';
	}
}

static int setting_copy(char **envp, const char *name, char *to, size_t bytes)
{
	const char *value = environment_value(envp, name);

	if (!value || strlen(value) >= bytes)
		return -1;
	strcpy(to, value);
	return 0;
}

int process_settings_read(char **envp)
{
	struct process_settings *settings = &process.settings;

	if (setting_copy(envp, EVENT_ENV_SOCKET, settings->socket, sizeof(settings->socket)))
		return -1;
	setting_copy(envp, EVENT_ENV_AGENT, settings->agent, sizeof(settings->agent));
	setting_copy(envp, EVENT_ENV_EVENTS, settings->events, sizeof(settings->events));
	events_parse(settings);
	settings->no_java_blobs = settings->java && environment_value(envp, "HPCT_JAVA_BLOBS");
	mpi_parse(settings, envp);
	gpu_parse(settings);
	settings->openmp = is_python();
	dl_iterate_phdr(openmp_look, &settings->openmp);
	return settings->socket[0] ? 0 : -1;
}
