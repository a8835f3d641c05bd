/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gpu_level0_list.c - operations of command lists, see gpu_level0.h. The operation's event, the program's or
 * ours, gives its times and its end. Level Zero has no callbacks, so events are queried whenever the program
 * waits or queries, before an event or a list is reused, and at the end.
 *
 *   immediate:  add ------------> running --harvest--> delivered, removed
 *   regular:    add --> recorded --start--> running --harvest--> recorded --start--> ...
 */
#include <stdlib.h>
#include <string.h>

#include "record/agent/gpu/level0/gpu_level0.h"

static struct gpu_map lists;
static struct gpu_map events; /* the program's, if operations signal them */
static struct level0_list *running_lists;
static uint64_t running_count;

/* ---- lists ---- */

struct level0_list *level0_list(ze_command_list_handle_t handle)
{
	return gpu_map_get(&lists, handle);
}

struct level0_list *level0_list_new(ze_command_list_handle_t handle)
{
	struct level0_list *list = calloc(1, sizeof(*list));

	if (list && gpu_map_put(&lists, handle, list)) {
		free(list);
		return NULL;
	}
	if (list)
		list->handle = handle;
	return list;
}

static void running_set(struct level0_list *list, struct level0_operation *operation, bool is_running)
{
	uint32_t before = list->running;

	operation->is_running = is_running;
	list->running += is_running ? 1 : -1;
	running_count += is_running ? 1 : -1;
	if (!before) {
		list->before = NULL;
		list->next = running_lists;
		if (running_lists)
			running_lists->before = list;
		running_lists = list;
	} else if (!list->running) {
		if (list->next)
			list->next->before = list->before;
		if (list->before)
			list->before->next = list->next;
		else
			running_lists = list->next;
	}
}

/* The operations' ends will never be known. */
static void give_up(struct level0_list *list)
{
	gpu_lost(list->running);
	for (uint32_t i = list->first; list->running; i++)
		if (list->operations[i].is_running)
			running_set(list, &list->operations[i], false);
	if (list->is_immediate)
		list->first = list->count =
			0; /* our events stay with the device, which may still signal them */
}

void level0_list_clear(struct level0_list *list)
{
	level0_replay_forget(list);
	level0_list_harvest(list, LEVEL0_ALL);
	give_up(list);
	for (uint32_t i = list->first; i < list->count; i++)
		if (list->operations[i].is_ours)
			level0_event_give(list->events, list->operations[i].event);
	list->first = list->count = 0;
	list->is_repeated = false;
}

void level0_list_free(struct level0_list *list)
{
	level0_list_clear(list);
	gpu_map_take(&lists, list->handle);
	if (list->events)
		list->events->users--;
	free(list->operations);
	free(list);
}

static bool list_grow(struct level0_list *list)
{
	uint32_t room = list->capacity ? 2 * list->capacity : 64;
	void *grown;

	if (list->first > list->count / 2) {
		list->count -= list->first;
		memmove(list->operations, list->operations + list->first,
			list->count * sizeof(*list->operations));
		list->first = 0;
		return true;
	}
	grown = realloc(list->operations, room * sizeof(*list->operations));
	if (!grown)
		return false;
	list->operations = grown;
	list->capacity = room;
	return true;
}

struct level0_event *level0_event(ze_event_handle_t event)
{
	return gpu_map_get(&events, event);
}

/* False: no memory to register its user, so it must not be queried. */
static bool event_use(struct level0_list *list, ze_event_handle_t handle)
{
	struct level0_event *event = level0_event(handle);

	if (!event) {
		event = calloc(1, sizeof(*event));
		if (!event || gpu_map_put(&events, handle, event)) {
			free(event);
			return false;
		}
		event->list = list->handle;
	}
	if (event->list != list->handle && level0_list(event->list))
		event->is_shared = true;
	event->list = list->handle;
	return true;
}

void level0_list_add(struct level0_list *list, const struct level0_operation *operation)
{
	struct level0_operation *added;

	if (!operation->event || (list->count == list->capacity && !list_grow(list)) ||
		(!operation->is_ours && !event_use(list, operation->event))) {
		gpu_lost(1);
		return;
	}
	added = &list->operations[list->count++];
	*added = *operation;
	added->is_running = false;
	if (list->is_immediate)
		running_set(list, added, true);
}

/* Another reader will deliver the operations. */
static void let_go(struct level0_list *list)
{
	for (uint32_t i = 0; list->running; i++)
		if (list->operations[i].is_running)
			running_set(list, &list->operations[i], false);
}

void level0_list_prepare(struct level0_list *list, ze_command_queue_handle_t queue)
{
	level0_replay_harvest();
	level0_list_harvest(list, LEVEL0_ALL);
	list->is_repeated = list->running;
	if (list->running && level0_replay_save(list, queue))
		let_go(list);
	give_up(list);
	list->queue_handle = queue;
}

void level0_list_start(
	struct level0_list *list, const struct gpu_queue *queue, uint64_t correlation, uint64_t launch_ns)
{
	uint64_t untimed = 0;

	list->is_repeated |= list->running;
	for (uint32_t i = 0; i < list->count; i++) {
		struct level0_operation *operation = &list->operations[i];

		operation->activity.queue = *queue;
		operation->activity.correlation = correlation;
		operation->launch_ns = launch_ns;
		if (operation->event && !operation->is_running)
			running_set(list, operation, true);
		else
			untimed++;
	}
	gpu_lost(untimed);
}

/* ---- finished operations ---- */

static bool has_ended(struct level0_list *list, struct level0_operation *operation, uint64_t ns[2])
{
	ze_kernel_timestamp_result_t result = {0};
	struct level0_event *event = operation->is_ours ? NULL : level0_event(operation->event);
	uint64_t ticks[2];

	if (level0_real.Event.pfnQueryStatus(operation->event))
		return false;
	ns[0] = ns[1] = 0;
	if (!operation->has_times || level0_real.Event.pfnQueryKernelTimestamp(operation->event, &result))
		return true;
	ticks[0] = result.global.kernelStart;
	ticks[1] = result.global.kernelEnd;
	/* The program's event still has the times of an earlier operation until the device resets it. */
	if (event && (event->reads || ((ticks[0] || ticks[1]) && !memcmp(ticks, event->seen, sizeof(ticks)))))
		return false;
	level0_times(list->device, operation->launch_ns, ticks, ns);
	/* So may ours, if the list was executed again too early to reset it. */
	if ((!operation->is_ours || list->is_repeated) && ns[0] &&
		ns[0] + LEVEL0_CLOCK_ERROR_NS < operation->launch_ns)
		return false;
	if (event)
		memcpy(event->seen, ticks, sizeof(ticks));
	return true;
}

/* In a regular list the event stays with its operation for the next run. */
static void hand_over(struct level0_list *list, struct level0_operation *operation, const uint64_t ns[2])
{
	operation->activity.begin_ns = ns[0];
	operation->activity.end_ns = ns[1];
	gpu_activity(&operation->activity);
	running_set(list, operation, false);
	if (!operation->is_ours)
		return;
	if (list->is_immediate)
		level0_event_give(list->events, operation->event);
	else
		level0_real.Event.pfnHostReset(operation->event);
}

/* Closes the gaps left by delivered operations, from `first` up to `end`. */
static void immediate_close(struct level0_list *list, uint32_t end)
{
	uint32_t to = end;

	for (uint32_t i = end; i-- > list->first;)
		if (list->operations[i].is_running && --to != i)
			list->operations[to] = list->operations[i];
	list->first = to;
	if (list->first == list->count)
		list->first = list->count = 0;
}

void level0_list_harvest(struct level0_list *list, uint32_t most)
{
	uint32_t i = list->first;

	if (list->saves) /* until the saves are read, the events have the times of earlier runs */
		return;
	for (; i < list->count && list->running; i++) {
		struct level0_operation *operation = &list->operations[i];
		uint64_t ns[2];

		if (!operation->is_running)
			continue;
		if (has_ended(list, operation, ns))
			hand_over(list, operation, ns);
		else if (!--most)
			break;
	}
	if (!list->running)
		i = list->count;
	if (list->is_immediate)
		immediate_close(list, i);
}

void level0_harvest(uint32_t most)
{
	level0_replay_harvest();
	for (struct level0_list *list = running_lists, *next; list; list = next) {
		next = list->next;
		level0_list_harvest(list, most);
	}
}

uint64_t level0_running(void)
{
	return running_count + level0_replay_running();
}

void level0_give_up(ze_context_handle_t context)
{
	level0_replay_give_up(context);
	for (struct level0_list *list = running_lists, *next; list; list = next) {
		next = list->next;
		if (!context || list->context == context)
			give_up(list);
	}
}

/* ---- events of the program ---- */

/* The operations that still run lose their times. */
static void event_detach(struct level0_list *list, ze_event_handle_t event, bool destroyed)
{
	level0_list_harvest(list, LEVEL0_ALL);
	for (uint32_t i = list->first; i < list->count; i++) {
		struct level0_operation *operation = &list->operations[i];

		if (operation->event != event || operation->is_ours)
			continue;
		if (operation->is_running) {
			running_set(list, operation, false);
			gpu_lost(1);
		}
		if (destroyed)
			operation->event = NULL;
	}
}

void level0_event_forget(ze_event_handle_t handle, bool destroyed)
{
	struct level0_event *event = level0_event(handle);
	struct level0_list *list = event ? level0_list(event->list) : NULL;

	if (list && !event->is_shared)
		event_detach(list, handle, destroyed);
	for (size_t i = 0; event && event->is_shared && i < lists.capacity; i++)
		if (lists.slots[i].key)
			event_detach(lists.slots[i].value, handle, destroyed);
	if (destroyed)
		free(gpu_map_take(&events, handle));
}

void level0_event_reset_by(ze_event_handle_t handle, struct level0_list *by)
{
	struct level0_event *event = level0_event(handle);
	struct level0_list *list = event ? level0_list(event->list) : NULL;

	if (!list)
		return;
	level0_list_harvest(list, LEVEL0_ALL);
	for (uint32_t i = list->first; i < list->count; i++) {
		struct level0_operation *operation = &list->operations[i];

		if (operation->event != handle || operation->is_ours || !operation->is_running ||
			!level0_replay_read(list, operation, by))
			continue;
		running_set(list, operation, false);
		event->reads++;
	}
}
