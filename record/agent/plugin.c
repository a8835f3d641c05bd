/* SPDX-License-Identifier: Apache-2.0 */
/* plugin.c - see plugin.h. */
#include "record/agent/plugin.h"

#include <dlfcn.h>
#include <string.h>
#include <unistd.h>

#include "record/agent/process.h"
#include "record/agent/real.h"

/* LD_PRELOAD names the agent by a link. dlmopen stands in one library or another, by libc's age. */
const void *plugin_find(const char *file, const char *symbol)
{
	void *(*open_in)(Lmid_t, const char *, int) =
		(void *(*)(Lmid_t, const char *, int))real_symbol("dlmopen");
	void *(*find)(void *, const char *) = (void *(*)(void *, const char *))real_symbol("dlsym");
	char path[4096];
	ssize_t length = readlink(process.settings.agent, path, sizeof(path) / 2);
	char *slash;
	void *library;

	if (length < 0) {
		length = (ssize_t)strlen(process.settings.agent);
		memcpy(path, process.settings.agent, (size_t)length);
	}
	path[length] = '\0';
	slash = strrchr(path, '/');
	if (!slash || !open_in || !find || strlen(file) >= sizeof(path) / 2)
		return NULL;
	strcpy(slash + 1, file);
	library = open_in(LM_ID_NEWLM, path, RTLD_NOW | RTLD_LOCAL);
	return library ? find(library, symbol) : NULL;
}
