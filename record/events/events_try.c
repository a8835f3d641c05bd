/* SPDX-License-Identifier: Apache-2.0 */
/*
 * events_try.c - opens each event once to see whether it works on this machine. A recording leaves refused
 * events out, and -L prints why.
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "record/events/events_names.h"

static int code_open(const struct events_code *code, bool with_kernel)
{
	struct perf_event_attr attr = {.type = code->type,
		.size = sizeof(attr),
		.config = code->config[0],
		.config1 = code->config[1],
		.config2 = code->config[2],
		.sample_period = 1000000,
		.exclude_kernel = !with_kernel,
		.exclude_hv = !with_kernel,
		.disabled = 1};

	return (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

/* Why the event cannot be used, as text; NULL: it can. */
static const char *refusal(const struct events_code *code)
{
	int event = code_open(code, true);

	if (event < 0 && (errno == EACCES || errno == EPERM))
		event = code_open(code, false);
	if (event >= 0) {
		close(event);
		return NULL;
	}
	switch (errno) {
	case ENOENT:
	case ENODEV:
	case EOPNOTSUPP:
		return "this machine has no such counter, or its virtual machine hides it";
	case EACCES:
		return "kernel.perf_event_paranoid is above 2; set it to 2 or less";
	case EPERM:
		return "a container's seccomp filter forbids perf events";
	case ENOSYS:
		return "this kernel has no perf events";
	case EINVAL:
		return "the processor cannot count it with these modifiers";
	default:
		return strerror(errno);
	}
}

static void code_read(struct events_code *code, const char *text)
{
	unsigned long long number[4] = {0};
	char *end;

	for (unsigned i = 0; i < 4; i++) {
		number[i] = strtoull(text, &end, 16);
		text = *end == ':' ? end + 1 : end;
	}
	*code = (struct events_code){
		.type = (uint32_t)number[0], .config = {number[1], number[2], number[3]}};
}

void events_try(char *events, char *why, unsigned room)
{
	char kept[EVENT_EVENTS_MAX] = "", *place, *word;
	unsigned used = 0;

	why[0] = '\0';
	for (word = strtok_r(events, " ", &place); word; word = strtok_r(NULL, " ", &place)) {
		char *is = strrchr(word, '=');
		struct events_code code;
		const char *reason = NULL;

		if (!strncmp(word, &EVENT_WORD_PAPI[1], strlen(EVENT_WORD_PAPI) - 1)) {
			word = strchr(word, '=') + 1;
			is = word + strlen(word);
			reason = events_papi_refusal(word);
			if (!reason)
				word -= strlen(EVENT_WORD_PAPI) - 1;
		} else if (!strncmp(word, &EVENT_WORD_VALUE[1], strlen(EVENT_WORD_VALUE) - 1)) {
			const char *name = strchr(word, '/') + 1;

			code_read(&code, is + 1);
			reason = refusal(&code);
			if (reason && used < room)
				used += (unsigned)snprintf(why + used, room - used,
					"%s%.*s is not counted: %s", used ? "; " : "", (int)(is - name), name,
					reason);
			if (reason)
				continue;
		} else if (is && strchr(is, ':')) { /* not "BY=trap", "gpu=auto" */
			code_read(&code, is + 1);
			reason = refusal(&code);
		}
		if (reason && used < room)
			used += (unsigned)snprintf(why + used, room - used, "%s%.*s is not counted: %s",
				used ? "; " : "", (int)(is - word), word, reason);
		if (reason)
			continue;
		if (kept[0])
			strcat(kept, " ");
		strcat(kept, word);
	}
	strcpy(events, kept);
}

static void line_put(const char *name, const char *alias, const char *text, const char *reason)
{
	char names[64];

	snprintf(names, sizeof(names), "%s%s%s", name, alias ? ", " : "", alias ? alias : "");
	printf("%-30s %s%s%s\n", names, text, reason ? "; not available here: " : "", reason ? reason : "");
}

void events_list(void)
{
	printf("Time sources, one at a time:\n");
	line_put("CPUTIME", NULL, "CPU time of each thread; @N: each N microseconds (5000), @fN: N a second",
		NULL);
	for (size_t i = 0; i < events_known_count; i++) {
		struct events_code code = {.type = events_known[i].type, .config = {events_known[i].config}};

		if (i && events_known[i - 1].is_time && !events_known[i].is_time)
			printf("\nCounted beside it; @N: a sample each N, @fN: N samples a second (%llu):\n",
				events_frequency_default());
		line_put(events_known[i].name, events_known[i].alias, events_known[i].text, refusal(&code));
	}
	printf("\nIn every recording with switch records, whether requested or not:\n");
	for (size_t i = 0; i < EVENTS_DERIVED_COUNT; i++)
		line_put(events_derived[i].name, NULL, events_derived[i].text, NULL);
	printf("\nReported by the calls themselves, exact; without @:\n");
	for (unsigned i = 0; i < EVENTS_CALLED_COUNT; i++)
		line_put(events_called[i].name, NULL, events_called[i].text, NULL);
	events_list_gpus();
	printf("\nAppend :u or :k to count in user or kernel mode only, :p to :ppp or :P for an exact "
	       "address.\n\n");
	events_list_units(refusal);
	events_list_papi();
}
