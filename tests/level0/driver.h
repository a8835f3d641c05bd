/* SPDX-License-Identifier: Apache-2.0 */
/*
 * driver.h - what the two files of the fake Level Zero driver share: its handles, and
 * how a table of functions is given to the loader.
 */
#ifndef TESTS_LEVEL0_DRIVER_H
#define TESTS_LEVEL0_DRIVER_H

#include <level_zero/ze_api.h>
#include <level_zero/ze_ddi.h>
#include <stdlib.h>
#include <string.h>

#include "tests/level0/device.h"

#define EXPORT __attribute__((visibility("default")))

struct _ze_driver_handle_t {
	int unused;
};
struct _ze_context_handle_t {
	int unused;
};
struct _ze_device_handle_t {
	uint32_t number;
};
struct _ze_command_queue_handle_t {
	struct fake_queue *queue;
	bool is_synchronous;
};
struct _ze_command_list_handle_t {
	struct _ze_command_queue_handle_t *immediate; /* NULL: it is a regular one */
	struct fake_operation *operations;
	unsigned count;
	bool closed;
};
struct _ze_event_pool_handle_t {
	bool has_times;
};
struct _ze_event_handle_t {
	struct fake_event event;
	bool has_times;
};
struct _ze_fence_handle_t {
	struct fake_event event;
};
struct _ze_module_handle_t {
	size_t bytes;
	uint8_t image[];
};
struct _ze_kernel_handle_t {
	char name[64];
};

static inline ze_result_t unsupported(void)
{
	return ZE_RESULT_ERROR_UNSUPPORTED_FEATURE;
}

static inline void table_fill(void *table, size_t bytes, ze_result_t (*with)(void))
{
	for (size_t i = 0; i < bytes / sizeof(with); i++)
		memcpy((char *)table + i * sizeof(with), &with, sizeof(with));
}

/* Every slot must hold something; `fill` sets those that are more. */
#define TABLE(space, group, name)                                                                   \
	static void name##_fill(name##_t *to);                                                      \
	EXPORT ze_result_t space##Get##group##ProcAddrTable(ze_api_version_t version, name##_t *to) \
	{                                                                                           \
		(void)version;                                                                      \
		table_fill(to, sizeof(*to), unsupported);                                           \
		name##_fill(to);                                                                    \
		return ZE_RESULT_SUCCESS;                                                           \
	}                                                                                           \
	static void name##_fill(name##_t *to)
#define EMPTY(space, group, name) \
	TABLE(space, group, name) \
	{                         \
		(void)to;         \
	}

#endif
