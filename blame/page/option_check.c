/* SPDX-License-Identifier: Apache-2.0 */
/* option_check.c - which options affect which answer: an option without effect is refused. */
#include <string.h>

#include "blame/page/answer.h"

/* What says nothing with an answer: options of hpct-blame, then of the selector. */
struct use {
	const char *with, *own, *selector;
};

static const struct use shapes[] = {[ASK_SUMMARY] = {"--summary", "", "by depth top context"},
	[ASK_TREE] = {"--tree", "", "by"},
	[ASK_GAPS] = {"--gaps", "of", ""},
	[ASK_LATE] = {"--late", "of busy group", "by depth context"},
	[ASK_IMBALANCE] = {"--imbalance", "of busy group waits", ""},
	[ASK_FINDINGS] = {"--findings", "of busy group waits", "by"},
	[ASK_MATRIX] = {"--matrix", "of busy group waits", "by depth context"},
	[ASK_CRITICAL] = {"--critical-path", "of busy group waits", ""}};

static const struct use times[ASK_OF_COUNT] = {[ASK_CPU_IDLE] = {"--of cpu-idle", "busy waits", ""},
	[ASK_CPU_IDLE_CAUSE] = {"--of cpu-idle-cause", "busy waits", ""},
	[ASK_WAITING] = {"--of waiting", "busy group", ""},
	[ASK_SERIAL] = {"--of serial", "busy group", ""},
	[ASK_LOCK] = {"--of lock", "busy group waits", ""},
	[ASK_LOCK_HOLDER] = {"--of lock-holder", "busy group waits", ""},
	[ASK_MPI_WAIT] = {"--of mpi-wait", "busy group waits", "by depth context"},
	[ASK_LOCK_PAIR] = {"--of lock-pair", "busy group waits", "by depth context"},
	[ASK_GIL] = {"--of gil", "busy group waits", ""},
	[ASK_GIL_WAIT] = {"--of gil-wait", "busy group waits", ""},
	[ASK_GIL_PAIR] = {"--of gil-pair", "busy group waits", "by depth context"},
	[ASK_OMP] = {"--of omp", "busy group waits", "depth"}};

static const struct use by_mark = {"--by mark", "of", "context"};
static const struct use by_cause = {"--by cause", "busy group", "context depth"};
static const struct use by_queue = {"--by chain and convoy", "busy group waits", "context depth"};

static int refuse(
	const struct ask *ask, const struct select *select, const struct use *use, struct error *error)
{
	/* What gpu-idle is about, its gaps and steps are, too. */
	const struct {
		const char *name;
		bool is_given;
	} options[] = {{"of", ask->has_of && ask->of != ASK_GPU_IDLE}, {"busy", ask->has_busy},
		{"group", ask->has_group}, {"waits", ask->waits_path}};

	if (!use->with)
		return 0;
	for (size_t i = 0; i < sizeof options / sizeof *options; i++)
		if (options[i].is_given && strstr(use->own, options[i].name))
			return error_set(error, ERROR_USAGE, "--%s says nothing with %s; leave it out",
				options[i].name, use->with);
	return select_refuse(select, use->selector, use->with, error);
}

int option_check_shape(struct ask *ask, enum answer_shape shape, struct error *error)
{
	if (ask->shape != ASK_PAGE && ask->shape != shape)
		return error_set(error, ERROR_USAGE, "%s and %s are two answers: ask for one of them",
			shapes[ask->shape].with, shapes[shape].with);
	ask->shape = shape;
	return 0;
}

int option_check_groups(const struct ask *ask, const struct select *select, struct error *error)
{
	if (ask->shape != ASK_PAGE || ask->of == ASK_OMP)
		return error_set(error, ERROR_USAGE,
			"--by %s says something with rows of --of only, not with %s", select_by(select),
			ask->shape == ASK_PAGE ? "--of omp" : shapes[ask->shape].with);
	return select_refuse(select, "depth", "a --by of streams", error);
}

int option_check(const struct ask *ask, const struct select *select, struct error *error)
{
	const char *by = select_by(select);
	int result = 0;

	if (select_min_ns(select) && ask->shape != ASK_GAPS)
		return error_set(error, ERROR_USAGE, "--min says something with --gaps only");
	if (ask->is_svg && ask->shape != ASK_MATRIX)
		return error_set(error, ERROR_USAGE, "--svg says something with --matrix only");
	if (by && strcmp(by, "mark") == 0) {
		if (ask->shape != ASK_PAGE)
			return error_set(error, ERROR_USAGE,
				"%s and --by mark are two answers: ask for one of them",
				shapes[ask->shape].with);
		return refuse(ask, select, &by_mark, error);
	}
	if (by && strcmp(by, "cause") == 0) {
		if (ask->of != ASK_WAITING || (ask->shape != ASK_PAGE && ask->shape != ASK_SUMMARY))
			return error_set(error, ERROR_USAGE,
				"--by cause says something with --of waiting only, as rows or --summary");
		return refuse(ask, select, &by_cause, error);
	}
	if (answer_lock_queue_is(by)) {
		if (ask->of != ASK_LOCK || ask->shape != ASK_PAGE)
			return error_set(
				error, ERROR_USAGE, "--by %s says something with --of lock only", by);
		return refuse(ask, select, &by_queue, error);
	}
	if (ask->shape != ASK_PAGE)
		result = refuse(ask, select, &shapes[ask->shape], error);
	return result ? result : refuse(ask, select, &times[ask->of], error);
}
