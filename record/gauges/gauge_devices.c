/* SPDX-License-Identifier: Apache-2.0 */
/* gauge_devices.c - see gauge_devices.h. */
#include "record/gauges/gauge_devices.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PASSES_BEFORE 2u /* the child is started with the second pass */
#define CHILD_PIPE 3
#define SHARE 100u /* of a core's time that the child may take: one part in so many */
#define FALL_MOST 7u
#define SLOW_NS UINT64_C(1000000000)
#define LATE_PART 64u

/* What goes through the pipe, whole or not at all. */
struct packet {
	struct gauge_device device; /* its texts only in the first packet of each */
	struct gauge_device_values values;
};
_Static_assert(sizeof(struct packet) <= 4096, "a pipe keeps so much together (PIPE_BUF)");

/* ---- the child ---- */

struct reader {
	struct gauge_vendors vendors;
	const struct gauges_asked *asked;
	uint64_t slow_ns, cost_ns;
	unsigned fall; /* the interval is 2^fall times the one asked for */
	bool is_told[GAUGE_DEVICES];
};

static uint64_t now_ns(clockid_t clock)
{
	struct timespec time;

	clock_gettime(clock, &time);
	return (uint64_t)time.tv_sec * UINT64_C(1000000000) + (uint64_t)time.tv_nsec;
}

/* The pipe is in packet mode, and full only if the collector is stuck: the packet is dropped. False: it has
 * no reader. */
static bool packet_send(struct reader *reader, unsigned device, const struct gauge_device_values *values)
{
	struct packet packet = {.device.number = reader->vendors.devices[device].number, .values = *values};

	if (!reader->is_told[device])
		packet.device = reader->vendors.devices[device];
	if (write(CHILD_PIPE, &packet, sizeof packet) == (ssize_t)sizeof packet)
		reader->is_told[device] = true;
	else if (errno != EAGAIN && errno != EINTR)
		return false;
	return true;
}

static bool pass(struct reader *reader, uint64_t due_ns, uint64_t interval_ns)
{
	const uint64_t begun_ns = now_ns(CLOCK_PROCESS_CPUTIME_ID);
	bool has_reader = true;
	uint64_t cost_ns, time_ns = now_ns(CLOCK_MONOTONIC);
	const bool is_slow = reader->asked->is_exact || time_ns >= reader->slow_ns;

	if (time_ns >= reader->slow_ns)
		reader->slow_ns = time_ns / SLOW_NS * SLOW_NS + SLOW_NS;
	for (unsigned i = 0; i < reader->vendors.count && has_reader; i++) {
		struct gauge_device_values values = {.wanted = reader->asked->wanted, .is_slow = is_slow};

		time_ns = now_ns(CLOCK_MONOTONIC);
		values.time_ns = time_ns - due_ns < interval_ns / LATE_PART ? due_ns : time_ns;
		gauge_vendors_read(&reader->vendors, i, &values);
		if (values.count)
			has_reader = packet_send(reader, i, &values);
	}
	cost_ns = now_ns(CLOCK_PROCESS_CPUTIME_ID) - begun_ns;
	reader->cost_ns = reader->cost_ns ? (3 * reader->cost_ns + cost_ns) / 4 : cost_ns;
	return has_reader;
}

/* Passes get rarer where the driver's calls cost too much, unless the user gave the rate. */
static uint64_t interval_decide(struct reader *reader)
{
	uint64_t interval_ns = reader->asked->interval_ns << reader->fall;

	if (reader->asked->is_exact)
		return interval_ns;
	if (reader->cost_ns * SHARE > interval_ns && reader->fall < FALL_MOST)
		reader->fall++;
	else if (reader->fall && reader->cost_ns * SHARE < interval_ns / 4)
		reader->fall--;
	return reader->asked->interval_ns << reader->fall;
}

static bool await(uint64_t until_ns)
{
	struct pollfd gone = {.fd = CHILD_PIPE}; /* an end without reader is an error */
	uint64_t now = now_ns(CLOCK_MONOTONIC), wait_ns = until_ns > now ? until_ns - now : 0;
	struct timespec wait = {
		(time_t)(wait_ns / UINT64_C(1000000000)), (long)(wait_ns % UINT64_C(1000000000))};

	return ppoll(&gone, 1, &wait, NULL) == 0 || !(gone.revents & (POLLERR | POLLNVAL));
}

static void child_become(int pipe)
{
	int nowhere;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_NAME, "hpct-gpu");
	signal(SIGPIPE, SIG_IGN);
	if (dup2(pipe, CHILD_PIPE) < 0)
		_exit(1);
	/* A library of a vendor prints nowhere, and one that hangs keeps no pipe of the user's open. */
	nowhere = open("/dev/null", O_RDWR);
	for (int number = 0; nowhere >= 0 && number < CHILD_PIPE; number++)
		dup2(nowhere, number);
#ifdef SYS_close_range
	if (!syscall(SYS_close_range, CHILD_PIPE + 1, ~0U, 0))
		return;
#endif
	for (int number = CHILD_PIPE + 1; number < 1024; number++)
		close(number);
}

_Noreturn static void child_run(const struct gauges_asked *asked, const char *root, int pipe)
{
	static struct reader reader;
	uint64_t due_ns, interval_ns = asked->interval_ns;
	bool has_reader;

	child_become(pipe);
	reader.asked = asked;
	has_reader = gauge_vendors_open(&reader.vendors, root) > 0;
	due_ns = now_ns(CLOCK_MONOTONIC);
	while (has_reader) {
		has_reader = pass(&reader, due_ns, interval_ns);
		interval_ns = interval_decide(&reader);
		due_ns = now_ns(CLOCK_MONOTONIC) / interval_ns * interval_ns + interval_ns;
		has_reader = has_reader && await(due_ns);
	}
	/* The drivers' libraries end with the process: their own ends take long. */
	_exit(0);
}

/* ---- the collector ---- */

static bool are_wanted(const struct gauges_asked *asked)
{
	for (unsigned i = 0; i < GAUGE_COUNT; i++)
		if (gauge_names[i].scope == GAUGE_DEVICE && asked->wanted >> i & 1)
			return true;
	return false;
}

static void child_start(struct gauge_devices *devices, const struct gauges_asked *asked, const char *root)
{
	int ends[2];

	devices->has_ended = true;
	if (!are_wanted(asked) || pipe2(ends, O_CLOEXEC | O_NONBLOCK | O_DIRECT))
		return;
	devices->pid = fork();
	if (devices->pid == 0)
		child_run(asked, root, ends[1]);
	close(ends[1]);
	if (devices->pid < 0) {
		devices->pid = 0;
		close(ends[0]);
		return;
	}
	devices->pipe = ends[0] + 1;
	devices->has_ended = false;
}

static uint32_t text_of(struct store_writer *writer, const char *text)
{
	return *text ? store_writer_text(writer, text, strnlen(text, GAUGE_DEVICE_TEXT)) : 0;
}

static void stream_open(struct gauge_devices *devices, const struct packet *packet,
	struct store_writer *writer, uint32_t host_text)
{
	struct store_stream stream = {
		.kind = STORE_STREAM_GAUGES,
		.host = host_text,
		.rank = -1,
		.pid = UINT32_MAX,
		.generation = UINT32_MAX,
		.device = packet->device.number,
		.begin_ns = packet->values.time_ns,
		.end_ns = STORE_OPEN_NS,
	};

	stream.name = text_of(writer, packet->device.uuid);
	stream.device_name = text_of(writer, packet->device.name);
	devices->stream[packet->device.number] = store_writer_stream(writer, &stream) + 1;
}

static void packet_take(struct gauge_devices *devices, struct packet *packet, struct gauge_metrics *metrics,
	struct gauge_values *values, struct store_writer *writer, uint32_t host_text)
{
	const uint32_t number = packet->device.number;

	/* The child holds a vendor's library: what it sends is checked. */
	if (number >= GAUGE_DEVICES || packet->values.count > GAUGE_DEVICE_VALUES)
		return;
	packet->device.name[GAUGE_DEVICE_TEXT - 1] = packet->device.uuid[GAUGE_DEVICE_TEXT - 1] = '\0';
	if (!devices->stream[number])
		stream_open(devices, packet, writer, host_text);
	values->count = 0;
	values->time_ns = packet->values.time_ns;
	values->is_slow = true; /* the child has chosen */
	for (uint32_t i = 0; i < packet->values.count; i++)
		if (packet->values.value[i].gauge < GAUGE_COUNT)
			gauge_put(metrics, values, writer, packet->values.value[i].gauge,
				packet->values.value[i].value);
	gauge_values_flush(values, writer, devices->stream[number] - 1);
}

static void child_reap(struct gauge_devices *devices)
{
	if (devices->pid > 0 && waitpid(devices->pid, NULL, WNOHANG) != 0)
		devices->pid = 0;
}

static void pipe_close(struct gauge_devices *devices)
{
	close(devices->pipe - 1);
	devices->pipe = 0;
	devices->has_ended = true;
}

void gauge_devices_drain(struct gauge_devices *devices, struct gauge_metrics *metrics,
	struct gauge_values *values, struct store_writer *writer, uint32_t host_text)
{
	struct packet packet;
	ssize_t got = -1;

	while (devices->pipe &&
		(got = read(devices->pipe - 1, &packet, sizeof packet)) == (ssize_t)sizeof packet)
		packet_take(devices, &packet, metrics, values, writer, host_text);
	if (devices->pipe && got == 0) /* no devices, or a library has ended the child */
		pipe_close(devices);
	if (!devices->pipe)
		child_reap(devices);
}

void gauge_devices_take(struct gauge_devices *devices, const struct gauges_asked *asked, const char *root,
	struct gauge_metrics *metrics, struct gauge_values *values, struct store_writer *writer,
	uint32_t host_text)
{
	if (!devices->has_ended && !devices->pipe && ++devices->passes >= PASSES_BEFORE)
		child_start(devices, asked, root);
	gauge_devices_drain(devices, metrics, values, writer, host_text);
}

void gauge_devices_stop(struct gauge_devices *devices)
{
	if (devices->pipe)
		pipe_close(devices);
	if (devices->pid > 0)
		kill(devices->pid, SIGKILL);
	child_reap(devices); /* one that hangs in its driver is left to whoever inherits it */
}
