/* SPDX-License-Identifier: Apache-2.0 */
/* events_papi.c - events that PAPI counts, by the agent's plug-in, which is loaded on demand. */
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "record/agent/base/plugin.h"
#include "record/agent/sample/papi.h"
#include "record/base/install_paths.h"
#include "record/events/events.h"

static const char not_built[] = "this build is without PAPI (libpapi-dev)";

/* NULL: the reason is in `why`. */
static const struct papi_plugin *plugin_get(char *why, size_t room)
{
	static const struct papi_plugin *plugin;
	struct install_paths paths;
	struct error error;
	int result;

	if (plugin)
		return plugin;
	snprintf(why, room, "%s", not_built);
	if (install_paths_find(&paths, &error))
		return NULL;
	plugin = plugin_find(paths.agent, PAPI_PLUGIN_FILE, PAPI_PLUGIN_SYMBOL);
	if (!plugin) {
		if (errno != ENOENT)
			snprintf(why, room, "PAPI cannot be loaded: %.120s", dlerror());
		return NULL;
	}
	result = plugin->open();
	if (result)
		snprintf(why, room, "PAPI does not start: %.120s", plugin->error_text(result));
	return result ? NULL : plugin;
}

bool events_is_papi(const char *name)
{
	return !strncasecmp(name, "PAPI_", 5) || !strncasecmp(name, "papi::", 6) || strstr(name, ":::");
}

const char *events_papi_refusal(const char *name)
{
	static char why[256];
	const struct papi_plugin *plugin = plugin_get(why, sizeof(why));
	int result;

	if (!plugin)
		return why;
	result = plugin->check(name);
	if (!result)
		return NULL;
	snprintf(why, sizeof(why), "PAPI says: %.200s", plugin->error_text(result));
	return why;
}

static void tell(const char *name, const char *text, const char *reason)
{
	printf("%-30s %s%s%s\n", name, text, reason ? "; not available here: " : "", reason ? reason : "");
}

void events_list_papi(void)
{
	char why[256];
	const struct papi_plugin *plugin = plugin_get(why, sizeof(why));

	printf("\nBy PAPI, read at each sample of the time source (no @); papi::NAME where a name is perf's, "
	       "too:\n");
	if (plugin)
		plugin->list(tell);
	else
		tell("PAPI", "presets and components", why);
}
