/* SPDX-License-Identifier: Apache-2.0 */
/*
 * collect_launchers.c - the conversation with every hpct-record of the run, in the messages of
 * record/base/rendezvous.h:
 *
 *   launcher   (handshake)     STARTED  ENDED
 *   collector           READY                  PROGRESS ...  DONE, and it hangs up
 *
 * Without a store FAILED replaces READY.
 */
#include "record/collect/collect_internal.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "record/base/handshake.h"

#define REFUSE_MS 5000

void collect_launcher_take(struct collector *collector, int connection, const struct handshake *handshake)
{
	struct launcher *launcher = calloc(1, sizeof(*launcher));

	if (!launcher) {
		close(connection);
		return;
	}
	launcher->connection = connection;
	launcher->is_in_other_pid_namespace = handshake->pid != handshake->host_pid;
	launcher->next = collector->launchers;
	collector->launchers = launcher;
	rendezvous_send(connection, &(struct rendezvous_message){.type = RENDEZVOUS_READY});
}

static void launcher_ended(
	struct collector *collector, struct launcher *launcher, const struct rendezvous_message *said)
{
	launcher->has_ended = true;
	summary_ended(&collector->summary, said->status, said->user_ns + said->system_ns);
	collector->is_dirty = true;
}

static void launcher_started(
	struct collector *collector, struct launcher *launcher, const struct rendezvous_message *said)
{
	uint32_t pid = (uint32_t)said->number;

	summary_started(&collector->summary, pid);
	if (said->status == RENDEZVOUS_START_WITHOUT)
		return;
	children_started(&collector->children, pid, said->begin_ns, launcher->is_in_other_pid_namespace);
	launcher->begin_ns = said->begin_ns;
	launcher->pid = said->status == RENDEZVOUS_START_EXPECTED ? pid : 0;
}

/* False: it has hung up. */
static bool launcher_serve(struct collector *collector, struct launcher *launcher)
{
	struct rendezvous_message message;
	ssize_t got;

	while ((got = recv(launcher->connection, &message, sizeof(message), MSG_DONTWAIT)) > 0) {
		if (got == sizeof(message) && message.type == RENDEZVOUS_STARTED)
			launcher_started(collector, launcher, &message);
		if (got == sizeof(message) && message.type == RENDEZVOUS_ENDED)
			launcher_ended(collector, launcher, &message);
	}
	return got < 0 && (errno == EAGAIN || errno == EINTR);
}

void collect_launchers_serve(struct collector *collector)
{
	struct launcher **link = &collector->launchers;

	while (*link) {
		struct launcher *at = *link;

		if (launcher_serve(collector, at)) {
			link = &at->next;
			continue;
		}
		*link = at->next;
		close(at->connection);
		free(at);
	}
}

void collect_launchers_send(struct collector *collector, enum rendezvous_message_type type, uint64_t number)
{
	struct rendezvous_message message = {.type = type, .number = number};

	if (type == RENDEZVOUS_DONE) {
		summary_text(&collector->summary, message.text, sizeof(message.text));
		snprintf(message.problem, sizeof(message.problem), "%s", collector->summary.problem);
	}
	for (struct launcher *at = collector->launchers; at; at = at->next) {
		message.status = at->pid && !children_know(&collector->children, at->pid, at->begin_ns);
		if (at->has_ended)
			rendezvous_send(at->connection, &message);
	}
}

bool collect_launchers_have_ended(const struct collector *collector)
{
	for (const struct launcher *at = collector->launchers; at; at = at->next)
		if (at->has_ended)
			return true;
	return false;
}

void collect_launchers_dismiss(struct collector *collector)
{
	struct launcher **link = &collector->launchers;

	while (*link) {
		struct launcher *at = *link;

		if (!at->has_ended) {
			link = &at->next;
			continue;
		}
		*link = at->next;
		close(at->connection);
		free(at);
	}
}

void collect_launchers_refuse(const struct collector *collector, const struct error *why)
{
	struct rendezvous_message message = {.type = RENDEZVOUS_FAILED};
	struct pollfd caller = {collector->listener, POLLIN, 0};

	snprintf(message.text, sizeof(message.text), "%s", why->text);
	for (bool is_told = false; !is_told && poll(&caller, 1, REFUSE_MS) > 0;) {
		int connection = accept4(collector->listener, NULL, NULL, SOCK_CLOEXEC);
		struct pollfd handshake = {connection, POLLIN, 0};
		struct handshake said;
		enum handshake_result result;

		if (connection < 0)
			break;
		if (poll(&handshake, 1, 1000) > 0) {
			result = handshake_read(connection, &said);
			if (result == HANDSHAKE_LAUNCHER)
				is_told = !rendezvous_send(connection, &message);
			handshake_refuse(result, &said);
		}
		close(connection);
	}
	unlink(collector->rendezvous.socket);
	rmdir(collector->rendezvous.place);
}
