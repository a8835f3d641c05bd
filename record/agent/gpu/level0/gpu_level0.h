/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gpu_level0.h - what the files of the Level Zero vendor share: the loader's own
 * functions, devices with their clocks and events, command lists with the
 * operations in them.
 *
 *   gpu_level0.c         stands between the loader and its tables of functions
 *   gpu_level0_queue.c   wrappers of contexts, queues, fences and waits
 *   gpu_level0_append.c  wrappers of what puts operations into command lists
 *   gpu_level0_object.c  wrappers of memory, modules, kernels, the program's events
 *   gpu_level0_list.c    which operation runs where, and when it has ended
 *   gpu_level0_replay.c  times of a run whose list is executed again meanwhile
 *   gpu_level0_device.c  devices, clocks, events to time operations by, names
 *
 * One lock (level0_enter) around all of it; the runtime is called with it held only
 * for questions that it answers at once. Nothing here is called from a signal handler.
 */
#ifndef RECORD_AGENT_GPU_LEVEL0_H
#define RECORD_AGENT_GPU_LEVEL0_H

#include <level_zero/ze_api.h>
#include <level_zero/ze_ddi.h>

#include "record/agent/gpu/gpu.h"
#include "record/agent/gpu/gpu_clock.h"
#include "record/agent/gpu/gpu_map.h"

/* A begin that is so much ahead of its launch is the clocks' fault. */
#define LEVEL0_CLOCK_ERROR_NS 50000

/* The loader's tables as they were. */
extern ze_dditable_t level0_real;

struct level0_save;

struct level0_device {
	ze_device_handle_t handle;
	uint32_t number;
	struct gpu_clock clock; /* frequency 0: it does not say what time it is */
};

/* Events of one context on one device, all with timestamps; free ones are signaled by nobody. */
struct level0_events {
	ze_context_handle_t context; /* NULL: it was destroyed */
	struct level0_device *device;
	uint32_t users; /* lists */
	ze_event_handle_t *free;
	uint32_t free_count, capacity;
	ze_event_pool_handle_t *pools;
	uint32_t pool_count;
	struct level0_events *next;
};

struct level0_operation {
	struct gpu_activity activity; /* without times; queue and correlation once it runs */
	ze_event_handle_t event;      /* NULL: there is none, its times stay unknown */
	bool is_ours;		      /* the event */
	bool has_times;		      /* the event */
	bool is_running;
	uint64_t launch_ns;
};

/* One of the program's. */
struct level0_event {
	ze_command_list_handle_t list; /* that it was last given to */
	bool is_shared;		       /* with other lists */
	uint32_t reads;		       /* of earlier operations' times, under way on the device */
	uint64_t seen[2];	       /* ticks that were taken for those of an operation */
};

struct level0_list {
	ze_command_list_handle_t handle;
	ze_context_handle_t context;
	struct level0_device *device;
	struct level0_events *events;
	bool is_immediate, is_synchronous;
	struct gpu_queue queue; /* of an immediate one */
	uint32_t ordinal;
	struct level0_operation *operations;
	uint32_t first, count, capacity; /* [first, count) are there; first is 0 but in immediate ones */
	uint32_t running;
	ze_command_queue_handle_t queue_handle; /* of its last run */
	bool is_repeated;		   /* started again before its last run was known to have ended */
	uint32_t saves;			   /* of earlier runs that are not read yet */
	struct level0_save *spare;	   /* for the next ones */
	struct level0_list *next, *before; /* of those with running operations */
};

/* ---- gpu_level0.c ---- */

/* All that the agent calls is there, and this process is not a fork child. */
bool level0_is_on(void);
/* Takes the lock. false, and it is not taken: Level Zero is not watched (any more). */
bool level0_enter(void);
void level0_leave(void);
/* A call that may start Level Zero: from here on it is watched, if it can be. */
void level0_start(void);
/* Hands over what has ended, unless another thread is at it. */
void level0_look(void);

/* ---- gpu_level0_queue.c, gpu_level0_append.c, gpu_level0_object.c: wrappers for the loader's tables ---- */

/* A slot that the driver leaves empty stays so. */
#define LEVEL0_WRAP(to, slot, wrapper) ((to)->slot = (to)->slot ? (wrapper) : NULL)

/* Each puts its wrappers into a table that the loader calls by; level0_real has what was there. */
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

/* Fills the kernel's part; with the lock held. */
void level0_kernel(struct gpu_activity *activity, ze_kernel_handle_t kernel);
/* The event tells times; with the lock held. */
bool level0_event_has_times(ze_event_handle_t event);

/* ---- gpu_level0_device.c; with the lock held ---- */

/* Known from here on and said to the collector; NULL: no memory. */
struct level0_device *level0_device(ze_device_handle_t handle);
/* Its number, from 1 in the order in which contexts are met; 0: none, or no memory. */
uint32_t level0_context(ze_context_handle_t handle);
/* Numbers and names a queue of the device. */
struct gpu_queue level0_queue(ze_context_handle_t context, struct level0_device *device,
	const ze_command_queue_desc_t *desc, const char *what);

/* Whether engines of that group run kernels. */
bool level0_is_compute(struct level0_device *device, uint32_t ordinal);

/* Times that an event says, on our clock. */
void level0_times(struct level0_device *device, uint64_t launch_ns, const uint64_t ticks[2], uint64_t ns[2]);

/* Events of ours for that context and device, made at the first question; NULL: no memory. They live until
 * level0_context_forget(), or longer where a list has one. */
struct level0_events *level0_events(ze_context_handle_t context, struct level0_device *device);
/* An event that was reset; NULL: there is none to be had. */
ze_event_handle_t level0_event_take(struct level0_events *events);
/* Gives it back, reset. */
void level0_event_give(struct level0_events *events, ze_event_handle_t event);
/* The context is about to go. */
void level0_context_forget(ze_context_handle_t context);

/* A copy of the name for as long as the process lives; each is kept once. "" if there is no memory. */
const char *level0_name(const char *name);

/* ---- gpu_level0_list.c; with the lock held ---- */

/* Known by its handle until level0_list_free(); NULL: no memory. */
struct level0_list *level0_list_new(ze_command_list_handle_t handle);
/* NULL: made when nobody watched. */
struct level0_list *level0_list(ze_command_list_handle_t handle);
/* Frees it; all that ran in it has ended. */
void level0_list_free(struct level0_list *list);
/* Forgets what is recorded in it; all that ran in it has ended. */
void level0_list_clear(struct level0_list *list);

/* The operation is in the list. In an immediate one it runs from launch_ns on. */
void level0_list_add(struct level0_list *list, const struct level0_operation *operation);

/* Before the list is executed on the queue: what its last run has left is read, saved or given up. */
void level0_list_prepare(struct level0_list *list, ze_command_queue_handle_t queue);
/* All its operations run now on the queue. */
void level0_list_start(
	struct level0_list *list, const struct gpu_queue *queue, uint64_t correlation, uint64_t launch_ns);

/* Hands over what has ended; looks no further than at `most` operations that still run. */
void level0_list_harvest(struct level0_list *list, uint32_t most);
void level0_harvest(uint32_t most);
#define LEVEL0_ALL UINT32_MAX
/* Operations that run as far as we know. */
uint64_t level0_running(void);
/* NULL: no operation signals it. */
struct level0_event *level0_event(ze_event_handle_t event);
/* The program is about to reset or destroy this event of its own. */
void level0_event_forget(ze_event_handle_t event, bool destroyed);
/* The immediate list `by` is about to reset it. */
void level0_event_reset_by(ze_event_handle_t event, struct level0_list *by);
/* Gives up what still runs in lists of the context, NULL: in all, and counts it. */
void level0_give_up(ze_context_handle_t context);

/* ---- gpu_level0_replay.c; with the lock held ---- */

/* The list is about to be executed again: puts a reader of the running operations' events ahead of it.
 * They belong to that from here on. false: it cannot be done. */
bool level0_replay_save(struct level0_list *list, ze_command_queue_handle_t queue);
/* Has the immediate list `by` read the event of an operation that runs in `list`; the operation belongs to
 * that from here on. false: it cannot be done. */
bool level0_replay_read(
	struct level0_list *list, const struct level0_operation *operation, struct level0_list *by);
void level0_replay_harvest(void);
/* Readers whose times are awaited. */
uint64_t level0_replay_running(void);
void level0_replay_give_up(ze_context_handle_t context);
/* The list goes, or what is in it. */
void level0_replay_forget(struct level0_list *list);

#endif
