/* SPDX-License-Identifier: Apache-2.0 */
/* gpu_reason.c - see gpu_reason.h. */
#include "formats/gpu_samples/gpu_reason.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define WORD_MAX 64u

/* In small letters, with one spelling of what stands between words. */
static const struct {
	const char *reason, *stall;
} reasons[] = {
	/* AMD */
	{"issued", "NONE"}, {"none", "NONE"}, {"no_instruction_available", "IFET"},
	{"alu_dependency", "IDEP"}, {"waitcnt", "GMEM"}, {"internal_instruction", "OTH"},
	{"barrier_wait", "SYNC"}, {"arbiter_not_win", "NSEL"}, {"arbiter_win_ex_stall", "PIPE"},
	{"other_wait", "OTH"}, {"sleep_wait", "SLP"},
	/* Intel */
	{"active", "NONE"}, {"control", "IFET"}, {"pipe", "PIPE"}, {"send", "MTHR"}, {"dist", "IDEP"},
	{"distacc", "IDEP"}, {"dist_acc", "IDEP"}, {"sbid", "GMEM"}, {"sync", "SYNC"}, {"instrfetch", "IFET"},
	{"inst_fetch", "IFET"}, {"other", "OTH"},
	/* NVIDIA */
	{"selected", "NONE"}, {"wait", "IDEP"}, {"short_scoreboard", "IDEP"}, {"warpgroup_arrive", "IDEP"},
	{"gmma", "IDEP"}, {"long_scoreboard", "GMEM"}, {"tex_throttle", "TMEM"}, {"barrier", "SYNC"},
	{"membar", "SYNC"}, {"no_instructions", "IFET"}, {"no_instruction", "IFET"},
	{"branch_resolving", "IFET"}, {"lg_throttle", "MTHR"}, {"mio_throttle", "MTHR"}, {"drain", "MTHR"},
	{"math_pipe_throttle", "PIPE"}, {"dispatch_stall", "PIPE"}, {"imc_miss", "CMEM"},
	{"not_selected", "NSEL"}, {"sleeping", "SLP"}, {"misc", "OTH"}};

static const char *const neutral[] = {
	"NONE", "IFET", "IDEP", "GMEM", "TMEM", "SYNC", "CMEM", "PIPE", "MTHR", "NSEL", "OTH", "SLP"};

static const char prefix[] = "reason_"; /* ends that of AMD's enumeration */

static const char *find(const char *word)
{
	for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++)
		if (strcmp(reasons[i].reason, word) == 0)
			return reasons[i].stall;
	return NULL;
}

/* "SbidStall", "Barrier wait" and the like in the table's spelling; what is too long is cut. */
static void spell(const char *reason, size_t size, char word[WORD_MAX])
{
	size_t used = 0, skip = sizeof prefix - 1;

	for (size_t i = 0; i + skip < size; i++)
		if (strncasecmp(reason + i, prefix, skip) == 0) {
			reason += i + skip;
			size -= i + skip;
			break;
		}
	for (size_t i = 0; i < size && used + 1 < WORD_MAX; i++) {
		unsigned char c = (unsigned char)reason[i];

		word[used++] = isalnum(c) ? (char)tolower(c) : '_';
	}
	word[used] = '\0';
	if (!find(word) && used > 5 && strcmp(word + used - 5, "stall") == 0) {
		used -= word[used - 6] == '_' ? 6 : 5;
		word[used] = '\0';
	}
}

/* "GMEM" and "GMEM/..." as they are. */
static const char *find_neutral(const char *reason, size_t size)
{
	for (size_t i = 0; i < sizeof neutral / sizeof *neutral; i++) {
		size_t length = strlen(neutral[i]);

		if (size >= length && strncmp(reason, neutral[i], length) == 0 &&
			(size == length || reason[length] == '/'))
			return neutral[i];
	}
	return NULL;
}

bool gpu_reason_metric(const char *reason, size_t size, char metric[GPU_REASON_METRIC_MAX], bool *is_idle)
{
	const char *stall = find_neutral(reason, size);
	char word[WORD_MAX] = "no_reason";
	bool is_known;

	if (stall) {
		reason += strlen(stall) + 1;
		size = size > strlen(stall) ? size - strlen(stall) - 1 : 0;
		snprintf(word, sizeof word, "%s", "as_given");
	}
	if (size)
		spell(reason, size, word);
	is_known = stall || !size || find(word);
	stall = stall ? stall : size ? find(word) : "OTH";
	stall = stall ? stall : "OTH";
	*is_idle = strcmp(stall, "NONE") != 0 && strcmp(stall, "NSEL") != 0 && strcmp(stall, "PIPE") != 0;
	snprintf(metric, GPU_REASON_METRIC_MAX, "GINST:STL_%s/%s", stall, word);
	return is_known;
}
