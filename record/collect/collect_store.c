/* SPDX-License-Identifier: Apache-2.0 */
/*
 * collect_store.c - the collector's store: makes it, writes facts about the whole run, and commits: within a
 * second, earlier once 4 MiB wait in full chunks.
 */
#include "record/collect/collect_internal.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "record/agent/process/process.h"
#include "record/base/clock.h"
#include "record/kernel/kernel.h"
#include "record/launch/rundir.h"

#define COMMIT_NS UINT64_C(1000000000)	    /* older records are in the file even if we are killed ... */
#define COMMIT_SPARE_NS UINT64_C(50000000)  /* ... as commits begin this much earlier */
#define COMMIT_BYTES (4u << 20)		    /* small enough that memory and caches are reused */
#define FIRST_COMMIT_NS UINT64_C(100000000) /* a short program gets by with one commit */
#define MOMENT_MS 2
#define DESCRIPTORS_LEAST 15u		      /* the collector's ten, and a process's */
#define COMPLETE_MARGIN_NS UINT64_C(50000000) /* a handler may be preempted before it publishes */

static void boot_read(char *boot, size_t room)
{
	FILE *file = fopen("/proc/sys/kernel/random/boot_id", "re");

	snprintf(boot, room, "unknown");
	if (file && fgets(boot, (int)room, file))
		boot[strcspn(boot, "\n")] = '\0';
	if (file)
		fclose(file);
}

/* Facts about the run that are known before it begins. */
struct facts {
	struct collector *collector;
	const char *host, *boot;
};

static void metas_put(struct store_writer *writer, void *own)
{
	const struct facts *facts = own;
	struct collector *collector = facts->collector;
	const struct collect_plan *plan = collector->plan;

	collector->anchor = clock_anchor_take();
	store_writer_meta(writer, "command", plan->command);
	store_writer_meta(writer, "host", facts->host);
	store_writer_meta(writer, "boot", facts->boot);
	store_writer_meta(writer, "launch", plan->launch);
	store_writer_meta(writer, "events", plan->events);
	store_writer_meta(
		writer, "recursion", strstr(plan->events, EVENT_WORD_RECURSION) ? "kept" : "folded");
	store_writer_meta(writer, "recorder", "hpct " HPCT_VERSION);
	store_writer_meta_number(writer, "origin_ns", collector->origin_ns);
	clock_anchor_put_first(writer, &collector->anchor, collector->origin_ns);
	store_writer_meta_number(writer, "uid", geteuid());
	store_writer_meta_number(writer, "collector_pid", (uint64_t)process_number());
	if (plan->keep_ns) {
		store_writer_meta_number(writer, "keep_ns", plan->keep_ns);
		/* Before the first record, since its chunk could span more time than is kept. */
		store_writer_keep(writer, collector->origin_ns, plan->keep_ns);
	}
	if (collector->spool.is_used) {
		store_writer_meta(writer, "file_system", collector->spool.file_system);
		store_writer_meta(writer, STORE_META_COPIED, collector->spool.store);
	}
}

/* With fewer descriptors no process could register, and no message would report it. */
static int descriptors_check(struct error *error)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur >= DESCRIPTORS_LEAST)
		return 0;
	return error_set(error, ERROR_IO,
		"the collector may have %lu descriptors and needs %u for one process; raise `ulimit -n`",
		(unsigned long)limit.rlim_cur, DESCRIPTORS_LEAST);
}

int collect_store_make(struct collector *collector, struct error *error)
{
	char host[256] = "", boot[64], path[PATH_MAX + 512];
	int result;

	gethostname(host, sizeof(host) - 1);
	for (char *at = host; *at; at++)
		if (*at == '/' || (unsigned char)*at <= ' ')
			*at = '_';
	boot_read(boot, sizeof(boot));
	if (descriptors_check(error))
		return -ERROR_IO;
	if (rundir_store_path(path, sizeof(path), collector->plan->run, *host ? host : "host", boot))
		return error_set(error, ERROR_USAGE, "the run's path %s is too long", collector->plan->run);
	result = local_spool_choose(&collector->spool, collector->plan->run, path, error);
	result = result ? result
			: store_writer_create_telling(&collector->writer, collector->spool.store, metas_put,
				  &(struct facts){collector, host, boot}, error);
	if (result) {
		local_spool_forget(&collector->spool);
		/* LMDB's lock file, which every reader makes; the run must be empty then. */
		strcat(path, "-lock");
		unlink(path);
		return result;
	}
	collector->host_text = store_writer_text(collector->writer, host, strlen(host));
	return 0;
}

void collect_store_failed(struct collector *collector, const struct error *error)
{
	collector->has_failed = true;
	collector->failure = *error;
	for (struct measured_process *at = collector->processes; at; at = at->next)
		measured_process_discard(at);
}

void collect_commit(struct collector *collector)
{
	uint64_t begin_ns = clock_now_ns();
	struct error error;

	for (struct measured_process *at = collector->processes; at; at = at->next)
		measured_process_name(at, collector->writer);
	kernel_name(collector->writer, collector->ending_ns != 0);
	for (struct measured_process *at = collector->processes; at; at = at->next)
		measured_process_complete(at, collector->writer, collector->drained_ns - COMPLETE_MARGIN_NS);
	if (collector->plan->keep_ns) /* what was there when it was stopped stays */
		store_writer_keep(collector->writer,
			collector->control.off_ns ? collector->control.off_ns : collector->drained_ns,
			collector->plan->keep_ns);
	if (store_writer_commit(collector->writer, &error) && !collector->has_failed)
		collect_store_failed(collector, &error);
	collector->committed_ns = clock_now_ns();
	collector->commit_ns = collector->committed_ns - begin_ns;
	collector->is_dirty = false;
}

/* Time from one commit's end to the next one's begin. Records wait from the last drain before a commit to
 * the end of the next one: two commits' time plus this. On a disk too slow for that, half of the time. */
static uint64_t commit_interval_ns(const struct collector *collector)
{
	uint64_t spare_ns = COMMIT_SPARE_NS + 2 * collector->commit_ns;

	if (spare_ns > COMMIT_NS / 2)
		return collector->commit_ns > COMMIT_NS / 2 ? collector->commit_ns : COMMIT_NS / 2;
	return COMMIT_NS - spare_ns;
}

void collect_commit_if_due(struct collector *collector)
{
	if (collector->has_failed || !collector->is_dirty ||
		(clock_now_ns() - collector->committed_ns < commit_interval_ns(collector) &&
			!store_writer_is_laden(collector->writer, COMMIT_BYTES)))
		return;
	symbol_client_ask(collector->symbol_client, collector->writer);
	symbol_client_pump(collector->symbol_client, collector->writer);
	collect_commit(collector);
	local_spool_copy_if_due(&collector->spool, collector->committed_ns);
}

int collect_commit_due_ms(const struct collector *collector)
{
	uint64_t since_ns = clock_now_ns() - collector->committed_ns, all_ns = commit_interval_ns(collector);

	if (collector->has_failed || !collector->is_dirty)
		return INT_MAX;
	return MOMENT_MS + (since_ns < all_ns ? (int)((all_ns - since_ns) / 1000000) : 0);
}

void collect_commit_soon(struct collector *collector)
{
	collector->committed_ns = clock_now_ns() + FIRST_COMMIT_NS - commit_interval_ns(collector);
	collector->is_dirty = true;
}
