/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gpu_level0_replay.c - a command list that is executed again while its last run may still be running: its
 * events would then only show the next run's times. So we insert between the two, on the same queue, a small
 * list that reads the events into memory and resets our own:
 *
 *   queue:  program's list | wait, read, reset, signal `done` | program's list | ...
 *
 * If an immediate list is about to reset an event of the program, the event is read in that list, just
 * before. The small list waits only for our events, which the operations before it signal, so it cannot hang;
 * the program's own list may reset the program's events.
 */
#include <stdlib.h>
#include <string.h>

#include "record/agent/gpu/level0/gpu_level0.h"

#define SAVES_MAX 4096u /* pending */
#define WORDS 4u	/* of an event's times: global and context, begin and end */

struct level0_save {
	struct level0_save *next;
	struct level0_list *list; /* NULL: destroyed */
	struct level0_events *events;
	ze_command_list_handle_t reader;
	ze_event_handle_t done;
	uint64_t *times; /* WORDS per event */
	uint32_t count;
	bool is_whole; /* covers all operations in the list: can be reused */
	struct level0_operation operations[];
};

static struct level0_save *saves; /* pending, oldest first */
static uint32_t save_count;

static void save_free(struct level0_save *save)
{
	ze_context_handle_t context = save->events->context; /* NULL: destroyed with everything in it */

	if (context && save->reader)
		level0_real.CommandList.pfnDestroy(save->reader);
	if (context && save->done)
		level0_event_give(save->events, save->done);
	if (context && save->times)
		level0_real.Mem.pfnFree(context, save->times);
	free(save);
}

static bool reader_fill(struct level0_save *save, ze_event_handle_t *all, ze_event_handle_t *ours)
{
	const ze_command_list_dditable_t *call = &level0_real.CommandList;
	uint32_t our_count = 0;

	for (uint32_t i = 0; i < save->count; i++) {
		all[i] = save->operations[i].event;
		if (save->operations[i].is_ours)
			ours[our_count++] = all[i];
	}
	if (!our_count || call->pfnAppendWaitOnEvents(save->reader, our_count, ours) ||
		call->pfnAppendQueryKernelTimestamps(
			save->reader, save->count, all, save->times, NULL, NULL, 0, NULL) ||
		call->pfnAppendBarrier(save->reader, NULL, 0, NULL))
		return false;
	for (uint32_t i = 0; i < our_count; i++)
		if (call->pfnAppendEventReset(save->reader, ours[i]))
			return false;
	return !call->pfnAppendBarrier(save->reader, save->done, 0, NULL) && !call->pfnClose(save->reader);
}

static bool save_fill(struct level0_save *save, struct level0_list *list)
{
	const ze_command_list_desc_t desc = {
		.stype = ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC, .commandQueueGroupOrdinal = list->ordinal};
	const ze_host_mem_alloc_desc_t memory = {.stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC};
	ze_event_handle_t *events;
	void *times = NULL;
	bool is_filled;

	save->done = level0_event_take(list->events);
	if (!save->done ||
		level0_real.CommandList.pfnCreate(list->context, list->device->handle, &desc, &save->reader))
		return false;
	if (level0_real.Mem.pfnAllocHost(
		    list->context, &memory, save->count * WORDS * sizeof(uint64_t), 64, &times))
		return false;
	save->times = times;
	events = malloc(2 * save->count * sizeof(*events));
	is_filled = events && reader_fill(save, events, events + save->count);
	free(events);
	return is_filled;
}

static bool is_possible(const struct level0_list *list)
{
	const ze_command_list_dditable_t *call = &level0_real.CommandList;

	return save_count < SAVES_MAX && list->events && call->pfnCreate && call->pfnDestroy &&
	       call->pfnClose && call->pfnAppendWaitOnEvents && call->pfnAppendQueryKernelTimestamps &&
	       call->pfnAppendBarrier && call->pfnAppendEventReset && level0_real.Mem.pfnAllocHost &&
	       level0_real.Mem.pfnFree && level0_is_compute(list->device, list->ordinal);
}

static struct level0_save *save_new(struct level0_list *list)
{
	struct level0_save *save;

	if (!is_possible(list))
		return NULL;
	save = calloc(1, sizeof(*save) + list->running * sizeof(*save->operations));
	if (!save)
		return NULL;
	save->list = list;
	save->events = list->events;
	for (uint32_t i = 0; i < list->count; i++)
		if (list->operations[i].is_running)
			save->operations[save->count++] = list->operations[i];
	save->is_whole = save->count == list->count;
	if (save_fill(save, list))
		return save;
	save_free(save);
	return NULL;
}

/* A save that read the same events before. */
static struct level0_save *save_again(struct level0_list *list)
{
	struct level0_save *save = list->running == list->count ? list->spare : NULL;

	if (!save)
		return NULL;
	list->spare = save->next;
	memcpy(save->operations, list->operations, save->count * sizeof(*save->operations));
	return save;
}

static void save_add(struct level0_save *save)
{
	struct level0_save **at = &saves;

	while (*at)
		at = &(*at)->next;
	save->next = NULL;
	*at = save;
	save_count++;
}

bool level0_replay_save(struct level0_list *list, ze_command_queue_handle_t queue)
{
	struct level0_save *save;

	if (queue != list->queue_handle)
		return false;
	save = save_again(list);
	if (!save)
		save = save_new(list);
	if (!save)
		return false;
	if (level0_real.CommandQueue.pfnExecuteCommandLists(queue, 1, &save->reader, NULL)) {
		save_free(save);
		return false;
	}
	save_add(save);
	list->saves++;
	return true;
}

/* Does not wait: the program ensures that the operations it resets have ended. */
bool level0_replay_read(
	struct level0_list *list, const struct level0_operation *operation, struct level0_list *by)
{
	const ze_host_mem_alloc_desc_t memory = {.stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC};
	ze_event_handle_t event = operation->event;
	struct level0_save *save =
		is_possible(by) && list->events ? calloc(1, sizeof(*save) + sizeof(*operation)) : NULL;
	void *times = NULL;

	if (!save)
		return false;
	save->events = list->events;
	save->count = 1;
	save->operations[0] = *operation;
	save->done = level0_event_take(list->events);
	if (save->done &&
		!level0_real.Mem.pfnAllocHost(by->context, &memory, WORDS * sizeof(uint64_t), 64, &times)) {
		save->times = times;
		if (!level0_real.CommandList.pfnAppendQueryKernelTimestamps(
			    by->handle, 1, &event, times, NULL, save->done, 0, NULL)) {
			save_add(save);
			return true;
		}
	}
	save_free(save);
	return false;
}

/* The times may be of another run if the event is the program's. */
static bool is_its_time(const struct level0_operation *operation, const uint64_t ns[2], uint64_t now_ns)
{
	return operation->is_ours || !ns[0] ||
	       (ns[0] + LEVEL0_CLOCK_ERROR_NS >= operation->launch_ns &&
		       ns[1] <= now_ns + LEVEL0_CLOCK_ERROR_NS);
}

static void event_seen(ze_event_handle_t handle, const uint64_t ticks[2], bool is_read)
{
	struct level0_event *event = level0_event(handle);

	if (!event)
		return;
	memcpy(event->seen, ticks, sizeof(event->seen));
	if (is_read && event->reads)
		event->reads--;
}

static void hand_over(struct level0_save *save)
{
	uint64_t now_ns = gpu_now_ns(), lost = 0, ns[2];

	for (uint32_t i = 0; i < save->count; i++) {
		struct level0_operation *operation = &save->operations[i];
		const uint64_t *ticks = save->times + (size_t)i * WORDS;

		if (!operation->is_ours)
			event_seen(operation->event, ticks, !save->reader);
		level0_times(save->events->device, operation->launch_ns, ticks, ns);
		operation->activity.begin_ns = ns[0];
		operation->activity.end_ns = ns[1];
		if (is_its_time(operation, ns, now_ns))
			gpu_activity(&operation->activity);
		else
			lost++;
	}
	gpu_lost(lost);
}

static void save_end(struct level0_save *save)
{
	struct level0_list *list = save->list;

	save_count--;
	if (list)
		list->saves--;
	if (list && save->is_whole && !level0_real.Event.pfnHostReset(save->done)) {
		save->next = list->spare;
		list->spare = save;
	} else {
		save_free(save);
	}
}

void level0_replay_harvest(void)
{
	for (struct level0_save **at = &saves, *save; (save = *at);) {
		if (level0_real.Event.pfnQueryStatus(save->done)) {
			at = &save->next;
			continue;
		}
		*at = save->next;
		hand_over(save);
		save_end(save);
	}
}

uint64_t level0_replay_running(void)
{
	return save_count;
}

/* Its read may still run: the event stays with the device. */
static void save_drop(struct level0_save *save)
{
	gpu_lost(save->count);
	save_count--;
	if (save->list)
		save->list->saves--;
	free(save);
}

void level0_replay_give_up(ze_context_handle_t context)
{
	for (struct level0_save **at = &saves, *save; (save = *at);) {
		if (context && save->events->context != context) {
			at = &save->next;
			continue;
		}
		*at = save->next;
		save_drop(save);
	}
}

void level0_replay_forget(struct level0_list *list)
{
	level0_replay_harvest();
	while (list->spare) {
		struct level0_save *save = list->spare;

		list->spare = save->next;
		save_free(save);
	}
	for (struct level0_save **at = &saves, *save; (save = *at);) {
		if (save->list != list) {
			at = &save->next;
			continue;
		}
		*at = save->next;
		save_drop(save);
	}
}
