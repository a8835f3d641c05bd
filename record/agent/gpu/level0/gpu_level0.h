/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gpu_level0.h - shared by the files of the Level Zero vendor: the loader's own functions, devices with their
 * clocks and events, command lists with their operations.
 *
 *   gpu_level0.c         interposes the loader's tables of functions
 *   gpu_level0_queue.c   wraps contexts, queues, fences and waits
 *   gpu_level0_append.c  wraps calls that append operations to command lists
 *   gpu_level0_object.c  wraps memory, modules, kernels, the program's events
 *   gpu_level0_list.c    tracks which operation runs where, and when it has ended
 *   gpu_level0_replay.c  times of a run whose list is executed again before it was read
 *   gpu_level0_device.c  devices, clocks, events for timing operations, names
 *
 * One lock (level0_enter) protects everything; while it is held, only runtime calls that return at once are
 * made. Nothing here is signal safe.
 */
#ifndef RECORD_AGENT_GPU_LEVEL0_H
#define RECORD_AGENT_GPU_LEVEL0_H

#include <level_zero/ze_api.h>
#include <level_zero/ze_ddi.h>

#include "record/agent/gpu/gpu.h"
#include "record/agent/gpu/gpu_clock.h"
#include "record/agent/gpu/gpu_map.h"

/* An operation that begins this long before its launch shows an error of the clocks. */
#define LEVEL0_CLOCK_ERROR_NS 50000

/* The loader's original tables. */
extern ze_dditable_t level0_real;

struct level0_save;

struct level0_device {
	ze_device_handle_t handle;
	uint32_t number;
	struct gpu_clock clock; /* frequency 0: the device gives no clock */
};

/* Our events of one context on one device, all with timestamps; free ones are reset and unused. */
struct level0_events {
	ze_context_handle_t context; /* NULL: destroyed */
	struct level0_device *device;
	uint32_t users; /* number of lists */
	ze_event_handle_t *free;
	uint32_t free_count, capacity;
	ze_event_pool_handle_t *pools;
	uint32_t pool_count;
	struct level0_events *next;
};

struct level0_operation {
	struct gpu_activity activity; /* without times; queue and correlation are set when it runs */
	ze_event_handle_t event;      /* NULL: none, its times stay unknown */
	bool is_ours;		      /* we created the event */
	bool has_times;		      /* the event has timestamps */
	bool is_running;
	uint64_t launch_ns;
};

/* An event of the program. */
struct level0_event {
	ze_command_list_handle_t list; /* the list to which it was last appended */
	bool is_shared;		       /* several lists use it */
	uint32_t reads;		       /* pending device reads of earlier operations' times */
	uint64_t seen[2];	       /* ticks last taken as an operation's times */
};

struct level0_list {
	ze_command_list_handle_t handle;
	ze_context_handle_t context;
	struct level0_device *device;
	struct level0_events *events;
	bool is_immediate, is_synchronous;
	struct gpu_queue queue; /* of an immediate list */
	uint32_t ordinal;
	struct level0_operation *operations;
	uint32_t first, count, capacity; /* [first, count) are valid; first is 0 except in immediate lists */
	uint32_t running;
	ze_command_queue_handle_t queue_handle; /* of its last run */
	bool is_repeated;		   /* executed again before its last run was known to have ended */
	uint32_t saves;			   /* saved runs that are not read yet */
	struct level0_save *spare;	   /* for the next saved runs */
	struct level0_list *next, *before; /* lists with running operations */
};

/* ---- gpu_level0.c ---- */

/* True if all functions that the agent calls exist, and this process is not a fork child. */
bool level0_is_on(void);
/* Takes the lock. False: not taken, as Level Zero is not traced (any more). */
bool level0_enter(void);
void level0_leave(void);
/* Call when the program may initialize Level Zero: starts tracing if possible. */
void level0_start(void);
/* Delivers finished operations, unless another thread does. */
void level0_look(void);

/* ---- gpu_level0_queue.c, gpu_level0_append.c, gpu_level0_object.c: wrappers for the loader's tables ---- */

/* A slot that the driver leaves empty stays empty. */
#define LEVEL0_WRAP(to, slot, wrapper) ((to)->slot = (to)->slot ? (wrapper) : NULL)

/* Each puts its wrappers into a table of the loader; level0_real keeps the originals. */
void level0_wrap_context(ze_context_dditable_t *to);
void level0_wrap_command_queue(ze_command_queue_dditable_t *to);
void level0_wrap_fence(ze_fence_dditable_t *to);
void level0_wrap_event_wait(ze_event_dditable_t *to);
void level0_wrap_command_list(ze_command_list_dditable_t *to);
void level0_wrap_memory(ze_mem_dditable_t *to);
void level0_wrap_module(ze_module_dditable_t *to);
void level0_wrap_kernel(ze_kernel_dditable_t *to);
void level0_wrap_event(ze_event_dditable_t *to);
void level0_wrap_event_pool(ze_event_pool_dditable_t *to);

/* Fills the kernel's fields; with the lock held. */
void level0_kernel(struct gpu_activity *activity, ze_kernel_handle_t kernel);
/* True if the event has timestamps; with the lock held. */
bool level0_event_has_times(ze_event_handle_t event);

/* ---- gpu_level0_device.c; with the lock held ---- */

/* Registers the device and writes its name; NULL: no memory. */
struct level0_device *level0_device(ze_device_handle_t handle);
/* Number of the context, from 1 in order of first use; 0: none, or no memory. */
uint32_t level0_context(ze_context_handle_t handle);
/* Numbers and names a queue of the device. */
struct gpu_queue level0_queue(ze_context_handle_t context, struct level0_device *device,
	const ze_command_queue_desc_t *desc, const char *what);

/* True if engines of that group run kernels. */
bool level0_is_compute(struct level0_device *device, uint32_t ordinal);

/* Converts an event's ticks to our clock. */
void level0_times(struct level0_device *device, uint64_t launch_ns, const uint64_t ticks[2], uint64_t ns[2]);

/* Our events for that context and device, created on first use; NULL: no memory. They live until
 * level0_context_forget(), or longer while a list uses them. */
struct level0_events *level0_events(ze_context_handle_t context, struct level0_device *device);
/* Takes a reset event; NULL: none available. */
ze_event_handle_t level0_event_take(struct level0_events *events);
/* Resets the event and gives it back. */
void level0_event_give(struct level0_events *events, ze_event_handle_t event);
/* Call before the context is destroyed. */
void level0_context_forget(ze_context_handle_t context);

/* A copy of the name that lives as long as the process; equal names share one. "" if memory is out. */
const char *level0_name(const char *name);

/* ---- gpu_level0_list.c; with the lock held ---- */

/* Registers the list by its handle until level0_list_free(); NULL: no memory. */
struct level0_list *level0_list_new(ze_command_list_handle_t handle);
/* NULL: the list was created while tracing was off. */
struct level0_list *level0_list(ze_command_list_handle_t handle);
/* Frees it; all its operations must have ended. */
void level0_list_free(struct level0_list *list);
/* Removes its recorded operations, which must have ended. */
void level0_list_clear(struct level0_list *list);

/* Adds the operation to the list. In an immediate list it runs from launch_ns on. */
void level0_list_add(struct level0_list *list, const struct level0_operation *operation);

/* Call before the list is executed on the queue: reads, saves or drops the times of its last run. */
void level0_list_prepare(struct level0_list *list, ze_command_queue_handle_t queue);
/* Marks all its operations as running on the queue. */
void level0_list_start(
	struct level0_list *list, const struct gpu_queue *queue, uint64_t correlation, uint64_t launch_ns);

/* Delivers finished operations; stops after `most` operations that still run. */
void level0_list_harvest(struct level0_list *list, uint32_t most);
void level0_harvest(uint32_t most);
#define LEVEL0_ALL UINT32_MAX
/* Number of running operations, as far as known. */
uint64_t level0_running(void);
/* NULL: no operation signals it. */
struct level0_event *level0_event(ze_event_handle_t event);
/* Call before the program resets or destroys its own event. */
void level0_event_forget(ze_event_handle_t event, bool destroyed);
/* The immediate list `by` is about to reset it. */
void level0_event_reset_by(ze_event_handle_t event, struct level0_list *by);
/* Drops and counts the operations still running in lists of the context, NULL: in all lists. */
void level0_give_up(ze_context_handle_t context);

/* ---- gpu_level0_replay.c; with the lock held ---- */

/* Call before the list is executed again: puts a read of the running operations' events in front of it,
 * which owns the operations from then on. False: impossible. */
bool level0_replay_save(struct level0_list *list, ze_command_queue_handle_t queue);
/* Makes the immediate list `by` read the event of an operation that runs in `list`; the read owns the
 * operation from then on. False: impossible. */
bool level0_replay_read(
	struct level0_list *list, const struct level0_operation *operation, struct level0_list *by);
void level0_replay_harvest(void);
/* Number of pending reads. */
uint64_t level0_replay_running(void);
void level0_replay_give_up(ze_context_handle_t context);
/* Call before the list is destroyed or reset. */
void level0_replay_forget(struct level0_list *list);

#endif
