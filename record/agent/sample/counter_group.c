/* SPDX-License-Identifier: Apache-2.0 */
/* counter_group.c - see counter_group.h. */
#include "record/agent/sample/counter_group.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "record/agent/base/hot_section.h"
#include "record/agent/base/perf.h"
#include "record/agent/process/process.h"
#include "record/agent/sample/start_stop.h"
#include "record/agent/sample/thread.h"

#define OPENED_MAX 256u
#define NUMBER_FROM 500 /* descriptors of programs count up from 3: theirs keep their numbers */

/* One event's settings in HPCT_EVENTS. */
struct member {
	uint64_t type, config[3];
	bool user, kernel, hypervisor, is_clock;
	unsigned group;
	uint32_t index; /* in shared->counters */
};

static struct member members[EVENT_COUNTERS_MAX];
static HOT_DATA unsigned count;
static bool is_on; /* not before the agent has finished its own start */
/* Open descriptors, for the child of a fork, which has no thread's block. */
static struct {
	_Atomic int number; /* plus 1; 0: free */
	uint64_t id;
} opened[OPENED_MAX];

/* "0/cycles=0:0:0:0:uk", up to the blank. False: it is none. */
static bool member_parse(struct member *member, const char *text, size_t length)
{
	uint64_t *numbers[] = {&member->type, &member->config[0], &member->config[1], &member->config[2]};
	const char *is = memrchr(text, '=', length), *name = text + 2;
	struct event_counter *shared = &process.shared->counters[member->index];
	size_t size = is ? (size_t)(is - name) : 0;
	char *end;

	member->group = (unsigned)(text[0] - '0');
	if (length < 4 || text[1] != '/' || member->group >= COUNTER_GROUPS_MAX || !is || is <= name)
		return false;
	size = size < sizeof(shared->name) ? size : sizeof(shared->name) - 1;
	memcpy(shared->name, name, size);
	shared->name[size] = '\0';
	for (text = is + 1; *text && *text != ' ' && is; is = NULL)
		for (unsigned i = 0; i < sizeof(numbers) / sizeof(*numbers); i++) {
			*numbers[i] = strtoull(text, &end, 16);
			text = *end == ':' ? end + 1 : end;
		}
	for (; *text && *text != ' '; text++) {
		member->user |= *text == 'u';
		member->kernel |= *text == 'k';
		member->hypervisor |= *text == 'h';
	}
	member->is_clock =
		member->type == PERF_TYPE_SOFTWARE && (member->config[0] == PERF_COUNT_SW_CPU_CLOCK ||
							      member->config[0] == PERF_COUNT_SW_TASK_CLOCK);
	if (member->is_clock)
		shared->unit = EVENT_UNIT_NS;
	if (!member->user && !member->kernel && !member->hypervisor)
		member->user = member->kernel = member->hypervisor = true;
	return true;
}

void counter_groups_open(void)
{
	const char *word = process.settings.events;

	count = 0;
	is_on = false;
	while (count < EVENT_COUNTERS_MAX && (word = strstr(word, EVENT_WORD_VALUE))) {
		word += strlen(EVENT_WORD_VALUE);
		members[count] = (struct member){.index = process.shared->counter_count};
		if (members[count].index < EVENT_METRICS_MAX &&
			member_parse(&members[count], word, strcspn(word, " "))) {
			process.shared->counter_count++;
			count++;
		}
	}
}

static int event_open(const struct member *member, int leader, bool with_kernel)
{
	union perf_attributes all = {
		.attr = {.type = (uint32_t)member->type,
			.size = PERF_ATTR_WORDS * sizeof(uint64_t),
			.config = member->config[0],
			.config1 = member->config[1],
			.config2 = member->config[2],
			.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_TOTAL_TIME_ENABLED |
				       PERF_FORMAT_TOTAL_TIME_RUNNING,
			.exclude_user = !member->user,
			.exclude_kernel = !member->kernel || !with_kernel,
			.exclude_hv = !member->hypervisor || !with_kernel}};
	int event = (int)syscall(SYS_perf_event_open, &all, 0, -1, leader, PERF_FLAG_FD_CLOEXEC);

	if (event >= 0 || errno != E2BIG)
		return event;
	all.attr.size = PERF_ATTR_SIZE_VER1; /* kernels before 5.13 */
	return (int)syscall(SYS_perf_event_open, &all, 0, -1, leader, PERF_FLAG_FD_CLOEXEC);
}

static int member_open(const struct member *member, int leader)
{
	int event = event_open(member, leader, true);

	if (event < 0 && (errno == EACCES || errno == EPERM) && member->user)
		event = event_open(member, leader, false);
	return event;
}

static void refused(uint32_t index, int error)
{
	atomic_store(&process.shared->counters[index].error, error);
	atomic_fetch_add(&process.shared->counters[index].refused, 1);
}

/* Out of the way of the program's own. */
static int number_move(int number)
{
	int moved = fcntl(number, F_DUPFD_CLOEXEC, NUMBER_FROM);

	if (moved < 0)
		return number;
	close(number);
	return moved;
}

/* False: there are too many. */
static bool opened_add(int number, uint64_t id)
{
	for (unsigned i = 0; i < OPENED_MAX; i++) {
		int nothing = 0;

		if (!atomic_compare_exchange_strong(&opened[i].number, &nothing, number + 1))
			continue;
		opened[i].id = id;
		return true;
	}
	return false;
}

static void opened_remove(int number)
{
	for (unsigned i = 0; i < OPENED_MAX; i++) {
		int is = number + 1;

		if (atomic_compare_exchange_strong(&opened[i].number, &is, 0))
			return;
	}
}

/* False: the program has closed it, and may have another there. */
HOT static bool is_ours(int number, uint64_t id)
{
	uint64_t is = 0;

	return number >= 0 && !syscall(SYS_ioctl, number, PERF_EVENT_IOC_ID, &is) && is == id;
}

static void number_close(int number, uint64_t id)
{
	if (is_ours(number, id))
		close(number);
}

static void pages_unmap(struct counter_group *group)
{
	for (unsigned i = 0; i < group->count; i++)
		if (group->page[i])
			munmap(group->page[i], (size_t)sysconf(_SC_PAGESIZE));
	group->count = 0;
}

static void group_end(struct counter_group *group)
{
	int number = group->number - 1;

	group->number = 0;
	atomic_signal_fence(memory_order_seq_cst);
	pages_unmap(group);
	if (number >= 0) {
		opened_remove(number);
		number_close(number, group->id);
	}
}

/* A page of the event, which keeps it alive; the leader has its descriptor. */
static void *page_map(int event)
{
	void *page = mmap(NULL, (size_t)sysconf(_SC_PAGESIZE), PROT_READ, MAP_SHARED, event, 0);

	if (page == MAP_FAILED)
		return NULL;
	madvise(page, (size_t)sysconf(_SC_PAGESIZE), MADV_DONTFORK);
	return page;
}

static void number_switch(int number, bool off)
{
	syscall(SYS_ioctl, number, off ? PERF_EVENT_IOC_DISABLE : PERF_EVENT_IOC_ENABLE, PERF_IOC_FLAG_GROUP);
}

/* Who switches sampling off or on now sees this group, or is seen here. */
static void begun_switch(int number)
{
	bool off = false;

	while (off != start_stop_is_off())
		number_switch(number, off = !off);
}

void counter_groups_switch(bool off)
{
	for (unsigned i = 0; count && i < OPENED_MAX; i++) {
		int number = atomic_load(&opened[i].number) - 1;

		if (is_ours(number, opened[i].id))
			number_switch(number, off);
	}
}

static void group_begin(struct counter_group *group, unsigned number)
{
	int leader = -1;

	*group = (struct counter_group){.number = 0};
	for (unsigned i = 0; i < count; i++) {
		int event = members[i].group == number ? member_open(&members[i], leader) : -2;

		if (event == -1)
			refused(members[i].index, errno);
		if (event < 0)
			continue;
		if (leader < 0) {
			leader = number_move(event);
		} else {
			group->page[group->count] = page_map(event);
			close(event);
			if (!group->page[group->count]) {
				refused(members[i].index, ENOMEM); /* the group has it not */
				continue;
			}
		}
		group->clocks |= (uint32_t)members[i].is_clock << group->count;
		group->metric[group->count++] = members[i].index + 1;
	}
	if (leader < 0)
		return;
	if (ioctl(leader, PERF_EVENT_IOC_ID, &group->id) || !opened_add(leader, group->id)) {
		for (unsigned i = 0; i < group->count; i++)
			refused(group->metric[i] - 1, EMFILE);
		pages_unmap(group);
		close(leader);
		return;
	}
	atomic_signal_fence(memory_order_seq_cst);
	group->number = leader + 1;
	begun_switch(leader);
}

void counter_groups_begin(struct thread *t)
{
	is_on = true;
	counter_groups_arm(t);
}

void counter_groups_arm(struct thread *t)
{
	if (!count || !is_on)
		return;
	for (unsigned i = 0; i < COUNTER_GROUPS_MAX; i++)
		group_begin(&t->groups[i], i);
}

void counter_groups_forked(void)
{
	for (unsigned i = 0; i < OPENED_MAX; i++) {
		int number = atomic_exchange(&opened[i].number, 0);

		if (number)
			number_close(number - 1, opened[i].id);
	}
}

/* ---- reading ---- */

/* False: the program has closed the descriptor, or the kernel has no values. */
HOT static bool group_read(const struct counter_group *group, uint64_t *words, size_t bytes)
{
	int number = group->number - 1;

	return is_ours(number, group->id) && syscall(SYS_read, number, words, bytes) > 0;
}

HOT static bool value_put(struct thread *t, uint32_t metric, uint64_t more, uint64_t now_ns)
{
	struct event_value *record;

	if (!ring_begin(&t->ring, sizeof(*record), sizeof(*record), now_ns))
		return false;
	record = ring_put(&t->ring, EVENT_VALUE, 0, t->node, sizeof(*record));
	record->time_ns = now_ns;
	record->value = more;
	record->metric = metric;
	record->_pad = 0;
	ring_commit(&t->ring);
	return true;
}

HOT static void group_take(struct thread *t, struct counter_group *group, uint64_t now_ns)
{
	uint64_t words[COUNTER_GROUP_HEAD + EVENT_COUNTERS_MAX] = {0}, more[EVENT_COUNTERS_MAX];
	const uint64_t enabled_ns = group->enabled_ns, running_ns = group->running_ns;

	if (!group_read(group, words, sizeof(words)) || !counter_group_grow(group, words, more))
		return;
	ring_count(&t->ring.shared->values_enabled_ns, group->enabled_ns - enabled_ns);
	ring_count(&t->ring.shared->values_running_ns, group->running_ns - running_ns);
	for (unsigned i = 0; i < group->count; i++)
		if (more[i] && !value_put(t, group->metric[i], more[i], now_ns))
			ring_lose(&t->ring, RING_LOST_FULL, 0, now_ns);
}

HOT void counter_groups_take(struct thread *t, uint64_t now_ns)
{
	for (unsigned i = 0; count && i < COUNTER_GROUPS_MAX; i++)
		if (t->groups[i].number)
			group_take(t, &t->groups[i], now_ns);
}

void counter_groups_disarm(struct thread *t)
{
	if (!count || !is_on)
		return;
	if (ring_enter(&t->ring)) {
		counter_groups_take(t, process_now_ns());
		ring_leave(&t->ring);
	}
	for (unsigned i = 0; i < COUNTER_GROUPS_MAX; i++)
		group_end(&t->groups[i]);
}
