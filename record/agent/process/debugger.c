/* SPDX-License-Identifier: Apache-2.0 */
/*
 * debugger.c - see debugger.h. Runs when the agent starts, before the program's own code, and in vfork
 * children, which must not write.
 */
#include "record/agent/process/debugger.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "record/agent/base/real.h"
#include "record/agent/base/wrap.h"
#include "record/agent/process/process.h"

#define NUMBER_BYTES 16u

/* Reads a file of /proc as a string, "" if unreadable. Replaces NULs, which separate the words of a
 * command line, by blanks. */
static void text_read(const char *path, char *text, size_t room)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t got = fd < 0 ? 0 : REAL(read)(fd, text, room - 1);

	if (fd >= 0)
		close(fd);
	text[got > 0 ? got : 0] = '\0';
	for (ssize_t i = 0; i < got; i++)
		if (!text[i])
			text[i] = ' ';
}

/* The tracer's pid in decimal; false: not traced. */
static bool tracer_find(char number[NUMBER_BYTES])
{
	static const char wanted[] = "TracerPid:\t";
	char text[2048];
	const char *at;
	size_t digits;

	text_read("/proc/self/status", text, sizeof(text));
	at = strstr(text, wanted);
	if (!at)
		return false;
	at += sizeof(wanted) - 1;
	digits = strspn(at, "0123456789");
	if (!digits || *at == '0' || digits >= NUMBER_BYTES)
		return false;
	memcpy(number, at, digits);
	number[digits] = '\0';
	return true;
}

bool debugger_is_there(void)
{
	char number[NUMBER_BYTES];

	return tracer_find(number);
}

/* Reads a file of the tracer in /proc. */
static void tracer_read(const char *number, const char *file, char *text, size_t room)
{
	char path[64] = "/proc/";

	strcat(path, number);
	strcat(path, file);
	text_read(path, text, room);
}

bool debugger_would_stop(void)
{
	char number[NUMBER_BYTES], text[4096];

	if (!tracer_find(number) || !strcmp(process.settings.sampler, "timer"))
		return false;
	tracer_read(number, "/comm", text, sizeof(text));
	if (!strstr(text, "gdb") && !strstr(text, "lldb"))
		return false;
	tracer_read(number, "/cmdline", text, sizeof(text));
	return !strstr(text, "SIG61") && !strstr(text, "SIGRTMAX-3");
}
