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
#include <time.h>
#include <unistd.h>

#include "record/events/events_names.h"

#define TRY_NS 2000000 /* of our own CPU time, in which a counter that is free counts */

static int code_open(const struct events_code *code, bool with_kernel, unsigned precision)
{
	struct perf_event_attr attr = {.type = code->type,
		.size = sizeof(attr),
		.config = code->config[0],
		.config1 = code->config[1],
		.config2 = code->config[2],
		.sample_period = 1000000,
		.exclude_kernel = !with_kernel,
		.exclude_hv = !with_kernel,
		.precise_ip = precision & 3u,
		.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING};

	return (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

static uint64_t cpu_now_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
	return (uint64_t)time.tv_sec * UINT64_C(1000000000) + (uint64_t)time.tv_nsec;
}

/* True if the event never counts, though the kernel accepts it: another program holds the processor's
 * counters. The kernel's own events need none. */
static bool is_held(const struct events_code *code, int event)
{
	static uint32_t held = UINT32_MAX; /* PMU that was: lists have a thousand events of one */
	uint64_t said[3], until_ns;	   /* value, time enabled, time counted */

	if (code->type == PERF_TYPE_SOFTWARE || code->type == PERF_TYPE_TRACEPOINT ||
		code->type == PERF_TYPE_BREAKPOINT)
		return false;
	until_ns = cpu_now_ns() + (code->type == held ? 0 : TRY_NS);
	do
		if (read(event, said, sizeof(said)) != (ssize_t)sizeof(said) || said[2])
			return false;
	while (cpu_now_ns() < until_ns);
	held = said[1] > 0 ? code->type : held;
	return said[1] > 0;
}

/* The highest level, up to `most`, of exact addresses that the processor has for the event. */
static unsigned precision_granted(const struct events_code *code, unsigned most)
{
	for (; most; most--) {
		int event = code_open(code, true, most);

		if (event < 0 && (errno == EACCES || errno == EPERM))
			event = code_open(code, false, most);
		if (event < 0)
			continue;
		close(event);
		break;
	}
	return most;
}

/* A level that the processor has not gives no error where it is asked for, and no samples (S4 5.2). */
static const char *precision_refusal(const struct events_code *code)
{
	static char text[96];
	unsigned granted;

	if (!code->precision || code->precision >= EVENTS_PRECISION_MOST)
		return NULL;
	granted = precision_granted(code, code->precision);
	if (granted == code->precision)
		return NULL;
	snprintf(text, sizeof(text), "the processor has exact addresses of level %u at most for it%s",
		granted,
		granted == 2 ? " (:pp)"
		: granted    ? " (:p)"
			     : "");
	return text;
}

/* Why the event cannot be used, as text; NULL: it can. */
static const char *refusal(const struct events_code *code)
{
	int event = code_open(code, true, 0);

	if (event < 0 && (errno == EACCES || errno == EPERM))
		event = code_open(code, false, 0);
	if (event >= 0) {
		const char *reason =
			is_held(code, event)
				? "another program holds the processor's counters (perf, a monitoring "
				  "daemon)"
				: precision_refusal(code);

		close(event);
		return reason;
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

static void code_read(struct events_code *code, const char *is)
{
	const char *text = is;
	unsigned long long number[4] = {0};
	char *end;

	for (unsigned i = 0; i < 4; i++) {
		number[i] = strtoull(text, &end, 16);
		text = *end == ':' ? end + 1 : end;
	}
	*code = (struct events_code){
		.type = (uint32_t)number[0], .config = {number[1], number[2], number[3]}};
	for (text = strrchr(is, ':'); text && *text; text++) /* "...:fup" */
		code->precision += *text == 'p';
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

void events_precision_say(const char *events, char *text, unsigned room)
{
	char words[EVENT_EVENTS_MAX], *place, *word;
	unsigned used = 0;

	text[0] = '\0';
	snprintf(words, sizeof(words), "%s", events);
	for (word = strtok_r(words, " ", &place); word; word = strtok_r(NULL, " ", &place)) {
		char *is = strrchr(word, '=');
		struct events_code code;

		if (!is || !strchr(is, ':') || used >= room)
			continue;
		code_read(&code, is + 1);
		if (code.precision != EVENTS_PRECISION_MOST)
			continue;
		used += (unsigned)snprintf(text + used, room - used,
			"%s%.*s: the processor grants exact addresses of level %u of 3", used ? "; " : "",
			(int)(is - word), word, precision_granted(&code, 3));
	}
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
