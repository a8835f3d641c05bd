/* SPDX-License-Identifier: Apache-2.0 */
/* control.c - see control.h. */
#include "record/launch/control.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "record/base/clock.h"
#include "store/base/escape.h"
#include "store/store.h"

#define ANSWER_MS 2000	    /* of each that is listed, */
#define ANSWER_RUN_MS 10000 /* and where one is sought: its collector may be waiting for a disk */
#define OBEY_MS 20
#define OBEY_TRIES 100

/* What is sought, and what was found. */
struct search {
	const char *run;
	struct stat sought;
	bool is_listing;
	unsigned found, silent; /* silent: took the call, and did not answer */
	char socket[RENDEZVOUS_PATH_MAX];
	struct rendezvous_message state;
};

/* Asks for the state, or for what else is in `what`. False: nobody answers, and *silent counts who could. */
static bool ask(const char *socket, enum event_control what, int patience_ms,
	struct rendezvous_message *state, unsigned *silent)
{
	int connection = rendezvous_call(socket, EVENT_HANDSHAKE_CONTROL, what);
	struct pollfd ready = {connection, POLLIN, 0};
	bool is_ready, has_answer;

	if (connection < 0) {
		*silent += errno == ETIMEDOUT;
		return false;
	}
	is_ready = poll(&ready, 1, patience_ms) > 0;
	*silent += !is_ready;
	has_answer = is_ready && recv(connection, state, sizeof(*state), 0) == sizeof(*state) &&
		     state->type == RENDEZVOUS_STATE;
	close(connection);
	state->text[sizeof(state->text) - 1] = state->problem[sizeof(state->problem) - 1] = '\0';
	return has_answer;
}

static void line_print(const struct rendezvous_message *state)
{
	static const char *const names[] = {"measuring", "paused", "dormant", "stopped"};
	unsigned at = (unsigned)state->status < 4 ? (unsigned)state->status : 0;
	struct store_bytes line = {0};

	escape_field(&line, state->text, strlen(state->text));
	store_bytes_put(&line, "\t", 1);
	escape_field(&line, state->problem, strlen(state->problem));
	if (!line.failed)
		printf("%s\t%lu\t%lu\t%.*s\n", names[at], (unsigned long)state->number,
			(unsigned long)((clock_now_ns() - state->begin_ns) / 1000000000u), (int)line.size,
			(const char *)line.data);
	store_bytes_fini(&line);
}

static bool recorder_take(void *context, const char *socket)
{
	struct search *search = context;
	struct stat there;

	if (!ask(socket, EVENT_CONTROL_STATUS, search->run ? ANSWER_RUN_MS : ANSWER_MS, &search->state,
		    &search->silent))
		return true;
	if (search->run && (stat(search->state.text, &there) || there.st_dev != search->sought.st_dev ||
				   there.st_ino != search->sought.st_ino))
		return true;
	search->found++;
	snprintf(search->socket, sizeof(search->socket), "%s", socket);
	if (search->is_listing)
		line_print(&search->state);
	return !search->run;
}

static int run_find(struct search *search, struct error *error)
{
	char longer[4096];

	snprintf(longer, sizeof(longer), "%.4000s" STORE_RUN_SUFFIX, search->run);
	if ((stat(search->run, &search->sought) || !S_ISDIR(search->sought.st_mode)) &&
		stat(longer, &search->sought))
		return error_set(error, ERROR_USAGE,
			"there is no run %s; hpct-record --status lists those that are recorded here",
			search->run);
	rendezvous_each(recorder_take, search);
	if (search->found)
		return 0;
	if (search->silent)
		return error_set(error, ERROR_IO,
			"no collector says that it records into %s, and %u of yours here do not answer "
			"(stopped, or waiting for a disk?); ask again",
			search->run, search->silent);
	return error_set(error, ERROR_USAGE,
		"nothing is recorded into %s by you on this host; hpct-record --status lists what is",
		search->run);
}

int control_list(const char *run, struct error *error)
{
	struct search search = {.run = run, .is_listing = true};

	printf("state\tprocesses\tseconds\trun\tcommand\n");
	if (run)
		return run_find(&search, error);
	rendezvous_each(recorder_take, &search);
	return 0;
}

int control_order(const char *run, enum event_control what, uint64_t *late, struct error *error)
{
	struct search search = {.run = run};
	int result = run_find(&search, error);

	if (result)
		return result;
	if (!ask(search.socket, what, ANSWER_RUN_MS, &search.state, &search.silent))
		return error_set(error, ERROR_IO,
			"the collector of %s does not answer; ask again, or see whether it "
			"still runs: hpct-record --status",
			run);
	for (int i = 0; i < OBEY_TRIES && search.state.user_ns; i++) {
		poll(NULL, 0, OBEY_MS);
		if (!ask(search.socket, EVENT_CONTROL_STATUS, ANSWER_RUN_MS, &search.state, &search.silent))
			search.state.user_ns = 0; /* all have ended meanwhile */
	}
	*late = search.state.user_ns;
	return 0;
}
