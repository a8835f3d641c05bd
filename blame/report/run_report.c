/* SPDX-License-Identifier: Apache-2.0 */
/* run_report.c - see run_report.h: threads one by one, then the GPUs, then what follows from both. */
#include "blame/report/run_report.h"

#include <string.h>

#include "blame/base/helper_threads.h"
#include "blame/base/related.h"
#include "blame/report/path_numbers.h"
#include "blame/wait/last_arrival.h"
#include "timeline/sum/gpu_metric.h"

#define GPU_BOUND_LEAST 50 /* per cent of the time that GPUs could be used */

#define ALIKE_MOST 5000u /* threads: of more hpct-stats --by cluster tells, at its own cost */

/* A GPU of a process: what it is to others no one asks. */
struct device {
	const char *host;
	uint64_t pid, generation;
	uint32_t device;
	uint64_t kernel_ns; /* of all of its queues */
};

struct making {
	struct run_report *report;
	struct run *run;
	const struct select *select;
	struct time_classes *classes;
	struct arena *arena;
	uint64_t *path_ns; /* the report's */
	uint64_t useful_sum_ns, useful_max_ns;
	uint64_t mpi_ns;  /* of first threads of processes */
	uint8_t *is_rank; /* by stream: the first thread of a rank */
	uint32_t ranks;
	struct device *devices;
	size_t device_count;
	struct idle_question question;
};

/* ---- threads ---- */

/* As coverage.h counts it, from sums. */
static void add_coverage(struct coverage *coverage, const struct window_time *piece)
{
	if (piece->state == EXTENT_ABSENT)
		return;
	coverage->lived_ns += piece->time_ns;
	if (piece->state != EXTENT_UNMONITORED)
		coverage->monitored_ns += piece->time_ns;
	if (piece->op == STORE_OP_THINNED)
		coverage->bare_ns += piece->time_ns;
}

/* A rank has its number, or is in MPI: what starts ranks, or is started by one, is none. */
static void add_rank(struct making *making, uint32_t stream, uint64_t mpi_ns)
{
	const struct store_stream *s = &run_stream(making->run, stream)->s;

	if (s->thread || (s->rank < 0 && !mpi_ns))
		return;
	making->is_rank[stream] = 1;
	making->ranks++;
	making->mpi_ns += mpi_ns;
}

static void add_thread(struct making *making, uint32_t stream, const struct window_time *pieces, size_t count)
{
	struct run_report *report = making->report;
	uint64_t useful_ns = 0, mpi_ns = 0;

	for (size_t i = 0; i < count; i++) {
		enum time_class class = time_class_of(making->classes, &pieces[i]);

		report->class_ns[class] += pieces[i].time_ns;
		if (pieces[i].context && pieces[i].context < report->contexts)
			making->path_ns[(size_t) class * report->contexts + pieces[i].context] +=
				pieces[i].time_ns;
		if (class == TIME_COMPUTE || class == TIME_MEMORY)
			useful_ns += pieces[i].time_ns;
		if (class == TIME_MPI)
			mpi_ns += pieces[i].time_ns;
	}
	making->useful_sum_ns += useful_ns;
	if (useful_ns > making->useful_max_ns)
		making->useful_max_ns = useful_ns;
	add_rank(making, stream, mpi_ns);
	report->threads++;
}

/* Queues of one process follow each other. */
static struct device *device_of(struct making *making, uint32_t stream)
{
	const struct run_stream *r = run_stream(making->run, stream);

	for (size_t i = making->device_count; i > 0; i--) {
		struct device *device = &making->devices[i - 1];

		if (device->pid != r->s.pid || device->generation != r->s.generation ||
			strcmp(device->host, r->host) != 0)
			break;
		if (device->device == r->s.device)
			return device;
	}
	making->devices[making->device_count] = (struct device){
		.host = r->host, .pid = r->s.pid, .generation = r->s.generation, .device = r->s.device};
	return &making->devices[making->device_count++];
}

static void add_queue(struct making *making, uint32_t stream, const struct window_time *pieces, size_t count)
{
	struct device *device = device_of(making, stream);

	for (size_t i = 0; i < count; i++)
		if (pieces[i].state == EXTENT_KERNEL)
			device->kernel_ns += pieces[i].time_ns;
	making->report->queues++;
}

static int add_stream(struct making *making, uint32_t stream, struct error *error)
{
	struct window *window;
	int result = window_new(&window, making->run, error);

	if (!result)
		result = window_add_time(window, stream, select_begin_ns(making->select),
			select_end_ns(making->select), error);
	if (!result) {
		size_t count;
		const struct window_time *pieces = window_times(window, &count);

		for (size_t i = 0; i < count; i++)
			add_coverage(&making->report->coverage, &pieces[i]);
		if (run_stream(making->run, stream)->s.kind == STORE_STREAM_CPU)
			add_thread(making, stream, pieces, count);
		else
			add_queue(making, stream, pieces, count);
	}
	window_free(window);
	return result;
}

static int add_streams(struct making *making, struct error *error)
{
	struct run_report *report = making->report;
	int result = 0;

	report->contexts = run_context_count(making->run);
	making->path_ns = arena_calloc(
		making->arena, (size_t)TIME_CLASS_COUNT * report->contexts + 1, sizeof *making->path_ns);
	making->is_rank = arena_calloc(making->arena, (size_t)run_stream_count(making->run) + 1, 1);
	making->devices = arena_calloc(
		making->arena, (size_t)making->question.stream_count + 1, sizeof *making->devices);
	if (!making->path_ns || !making->is_rank || !making->devices)
		return error_memory(error);
	report->path_ns = making->path_ns;
	report->streams = making->question.streams;
	report->stream_count = making->question.stream_count;
	coverage_count(&report->coverage, making->run, making->select);
	for (uint32_t i = 0; i < making->question.stream_count && !result; i++)
		result = add_stream(making, making->question.streams[i], error);
	report->total_ns = report->window_ns * report->threads;
	return result;
}

static void put_path(struct run_report_path paths[RUN_REPORT_PATHS], uint32_t context, uint64_t time_ns)
{
	for (int at = RUN_REPORT_PATHS - 1; at >= 0 && paths[at].time_ns < time_ns; at--) {
		if (at + 1 < RUN_REPORT_PATHS)
			paths[at + 1] = paths[at];
		paths[at] = (struct run_report_path){context, time_ns};
	}
}

static int find_paths(struct making *making, struct error *error)
{
	struct run_report *report = making->report;
	struct path_numbers numbers;
	uint64_t *sums;
	int result = path_numbers_make(
		&numbers, making->run, report->contexts, select_depth(making->select), making->arena, error);

	if (result)
		return result;
	sums = arena_alloc(making->arena, ((size_t)numbers.count + 1) * sizeof *sums);
	if (!sums)
		return error_memory(error);
	for (int class = 0; class < TIME_CLASS_COUNT; class ++) {
		memset(sums, 0, numbers.count * sizeof *sums);
		for (uint32_t context = 1; context < report->contexts; context++)
			sums[numbers.path_of[context]] +=
				report->path_ns[(size_t) class * report->contexts + context];
		for (uint32_t path = 1; path < numbers.count; path++)
			put_path(report->paths[class], numbers.context_of[path], sums[path]);
	}
	return 0;
}

uint64_t run_report_context_ns(const struct run_report *report, uint32_t context)
{
	uint64_t sum = 0;

	for (int class = 0; class < TIME_CLASS_COUNT; class ++)
		sum += report->path_ns[(size_t) class * report->contexts + context];
	return sum;
}

/* ---- GPUs ---- */

static const struct {
	const char *key, *text, *time, *count;
} operations[RUN_REPORT_OPERATIONS] = {{"kernel", "kernels", "GKER", "GKER:COUNT"},
	{"copy", "explicit copies", "GXCOPY", "GXCOPY:COUNT"},
	{"set", "setting memory", "GMSET", "GMSET:COUNT"},
	{"alloc", "allocating and freeing", "GMEM", "GMEM:COUNT"},
	{"sync", "synchronizations", "GSYNC", "GSYNC:COUNT"}};

static uint64_t sum_of(const struct making *making, const struct window *window, const char *name)
{
	uint64_t bit = gpu_metric_find(name), sum = 0;
	uint32_t metric = gpu_metric_number(making->run, (unsigned)__builtin_ctzll(bit));
	size_t count;
	const struct window_weight *weights = window_weights(window, &count);

	for (size_t i = 0; i < count; i++)
		sum += weights[i].metric == metric ? weights[i].weight : 0;
	return sum;
}

static int add_operations(struct making *making, struct error *error)
{
	uint64_t wanted = 0;
	struct window *window;
	int result = window_new(&window, making->run, error);

	if (result)
		return result;
	for (size_t i = 0; i < RUN_REPORT_OPERATIONS; i++)
		wanted |= gpu_metric_find(operations[i].time) | gpu_metric_find(operations[i].count);
	result = gpu_metric_add_weights(window, making->run, making->question.streams,
		making->question.stream_count, select_records_begin_ns(making->select),
		select_records_end_ns(making->select), wanted, error);
	for (size_t i = 0; i < RUN_REPORT_OPERATIONS && !result; i++)
		making->report->operations[i] = (struct run_report_operations){operations[i].key,
			operations[i].text, sum_of(making, window, operations[i].time),
			sum_of(making, window, operations[i].count)};
	window_free(window);
	return result;
}

/* Of nothing known of any GPU in the window there is nothing to say. */
static int add_gpus(struct making *making, struct error *error)
{
	struct run_report *report = making->report;
	int result;

	if (!report->queues)
		return 0;
	result = idle_sweep(&report->idle, making->run, &making->question, making->arena, error);
	if (result)
		return result == -ERROR_EMPTY ? 0 : result;
	report->has_gpu = idle_used_ns(&report->idle) > 0;
	return add_operations(making, error);
}

/* ---- efficiencies ---- */

static double percent_of(double part, double whole)
{
	return whole > 0 ? 100 * part / whole : -1;
}

/* What ranks of the page waited for others in MPI, whoever these are, on average. */
static double waited_ns(const struct making *making, const struct last_arrival *late)
{
	double sum = 0;

	for (uint32_t i = 0; i < late->count; i++)
		if (making->is_rank[late->parties[i].stream])
			sum += (double)late->parties[i].waited_ns;
	for (uint32_t i = 0; i < late->message_count; i++)
		if (making->is_rank[late->messages[i].stream])
			sum += (double)late->messages[i].waited_ns;
	return sum / making->ranks;
}

static int find_transfer(struct making *making, struct error *error)
{
	struct run_report *report = making->report;
	struct last_arrival late;
	double own_ns, ideal_ns;
	int result;

	if (making->ranks < 2 || !making->mpi_ns)
		return 0;
	result = last_arrival_sweep(&late, making->run, &making->question, making->arena, error);
	if (result || !(late.occasions + late.message_occasions))
		return result;
	own_ns = (double)making->mpi_ns / making->ranks - waited_ns(making, &late);
	ideal_ns = (double)report->window_ns - (own_ns > 0 ? own_ns : 0);
	report->transfer = percent_of(ideal_ns, (double)report->window_ns);
	report->serialization = percent_of((double)making->useful_max_ns, ideal_ns);
	return 0;
}

static void find_gpu_efficiencies(struct making *making)
{
	struct run_report *report = making->report;
	double used_ns = (double)idle_used_ns(&report->idle), sum_ns = 0, most_ns = 0;
	double useful_ns = (double)making->useful_sum_ns;

	report->gpu_busy = percent_of((double)report->idle.busy_ns, used_ns);
	report->gpu_kernel = percent_of((double)report->idle.kernel_ns, used_ns);
	report->offload = percent_of(useful_ns, useful_ns + (double)report->class_ns[TIME_GPU]);
	for (size_t i = 0; i < making->device_count; i++) {
		double ns = (double)making->devices[i].kernel_ns;

		sum_ns += ns;
		most_ns = ns > most_ns ? ns : most_ns;
	}
	if (making->device_count > 1)
		report->gpu_balance = percent_of(sum_ns / (double)making->device_count, most_ns);
}

static int find_efficiencies(struct making *making, struct error *error)
{
	struct run_report *report = making->report;
	double window_ns = (double)report->window_ns, mean_ns = 0;

	report->parallel = report->load_balance = report->communication = -1;
	report->serialization = report->transfer = report->offload = -1;
	report->gpu_busy = report->gpu_kernel = report->gpu_balance = -1;
	if (report->has_gpu)
		find_gpu_efficiencies(making);
	if (!report->threads)
		return 0;
	mean_ns = (double)making->useful_sum_ns / report->threads;
	report->parallel = percent_of(mean_ns, window_ns);
	report->load_balance = percent_of(mean_ns, (double)making->useful_max_ns);
	report->communication = percent_of((double)making->useful_max_ns, window_ns);
	return find_transfer(making, error);
}

/* ---- the verdict ---- */

static double lived_ns(const struct run_report *report)
{
	return (double)(report->total_ns - report->class_ns[TIME_ABSENT]);
}

double run_report_class_percent(const struct run_report *report, enum time_class class)
{
	return percent_of((double)report->class_ns[class], lived_ns(report));
}

static void bind(struct run_report *report, enum time_class class, double percent, bool is_gpu)
{
	if (percent <= report->bound_percent)
		return;
	report->bound = class;
	report->bound_percent = percent;
	report->bound_is_gpu = is_gpu;
}

/* GPUs decide where they are busy for most of the time; else the threads' known time does. */
static void find_bound(struct run_report *report)
{
	const uint64_t *ns = report->class_ns;
	double known_ns = lived_ns(report) - (double)ns[TIME_UNKNOWN];
	double used_ns = report->has_gpu ? (double)idle_used_ns(&report->idle) : 0;

	report->bound = TIME_COMPUTE;
	if (report->gpu_busy >= GPU_BOUND_LEAST) {
		bind(report, TIME_COMPUTE, percent_of((double)report->idle.kernel_ns, used_ns), true);
		bind(report, TIME_MPI, percent_of((double)report->idle.comm_ns, used_ns), true);
		bind(report, TIME_MEMORY, percent_of((double)report->idle.copy_ns, used_ns), true);
		return;
	}
	bind(report, TIME_COMPUTE, percent_of((double)ns[TIME_COMPUTE], known_ns), false);
	bind(report, TIME_MPI, percent_of((double)ns[TIME_MPI], known_ns), false);
	bind(report, TIME_IO, percent_of((double)ns[TIME_IO], known_ns), false);
	bind(report, TIME_MEMORY, percent_of((double)ns[TIME_MEMORY], known_ns), false);
	bind(report, TIME_WAIT,
		percent_of((double)(ns[TIME_WAIT] + ns[TIME_OPENMP] + ns[TIME_GPU] + ns[TIME_RUNNABLE]),
			known_ns),
		false);
}

const char *run_report_bound(const struct run_report *report)
{
	switch (report->bound) {
	case TIME_MPI:
		return "communication";
	case TIME_IO:
		return "io";
	case TIME_MEMORY:
		return "memory";
	case TIME_WAIT:
		return "latency";
	default:
		return "compute";
	}
}

const char *run_report_bound_text(const struct run_report *report, struct arena *arena)
{
	static const char *const gpu[TIME_CLASS_COUNT] = {[TIME_COMPUTE] = "run kernels",
		[TIME_MPI] = "run kernels that communicate",
		[TIME_MEMORY] = "copy"};
	static const char *const threads[TIME_CLASS_COUNT] = {[TIME_COMPUTE] = "computing",
		[TIME_MPI] = "in MPI",
		[TIME_IO] = "reading and writing files",
		[TIME_MEMORY] = "allocating, copying and clearing memory",
		[TIME_WAIT] = "waiting for threads, a core or the GPUs"};

	if (report->bound_is_gpu)
		return arena_printf(arena, "GPUs %s for %.1f %% of the time since their first use",
			gpu[report->bound], report->bound_percent);
	return arena_printf(arena, "threads are %s for %.1f %% of their known time", threads[report->bound],
		report->bound_percent);
}

/* ---- the whole ---- */

static int make(struct making *making, struct error *error)
{
	struct related related;
	const uint32_t *chosen;
	uint32_t count;
	int result;

	chosen = select_streams(making->select, &count);
	result = related_find(&related, making->run, chosen, count, false, making->arena, error);
	making->report->related = related.bits;
	if (!result)
		result = helper_threads_leave_out(making->run, &making->question.streams,
			&making->question.stream_count, &making->report->left_out, chosen, count,
			making->arena, error);
	if (!result)
		result = add_streams(making, error);
	if (!result)
		result = add_gpus(making, error);
	if (!result)
		result = find_efficiencies(making, error);
	if (!result)
		result = find_paths(making, error);
	if (!result && making->report->threads && making->report->threads <= ALIKE_MOST)
		result = clusters_make(&making->report->clusters, making->run, making->select,
			making->report->streams, making->report->stream_count, making->arena, error);
	if (!result)
		find_bound(making->report);
	return result;
}

int run_report_make(struct run_report *report, struct run *run, const struct select *select,
	struct arena *arena, struct error *error)
{
	struct making making = {.report = report, .run = run, .select = select, .arena = arena};
	int result = coverage_require(run, select, error);

	*report = (struct run_report){.window_ns = select_end_ns(select) - select_begin_ns(select)};
	making.question =
		(struct idle_question){.begin_ns = select_begin_ns(select), .end_ns = select_end_ns(select)};
	if (!result)
		result = select_require_sums(select, error);
	if (!result)
		result = wait_functions_new(&making.question.waits, run, NULL, error);
	if (!result)
		result = time_classes_new(&making.classes, run, making.question.waits, error);
	if (!result)
		result = make(&making, error);
	time_classes_free(making.classes);
	wait_functions_free(making.question.waits);
	return result;
}
