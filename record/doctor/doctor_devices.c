/* SPDX-License-Identifier: Apache-2.0 */
/*
 * doctor_devices.c - checks GPU runtimes and their tracing libraries, and counter libraries. Looks for files
 * by name and opens no device.
 */
#include <glob.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "record/doctor/doctor.h"

static bool any_library(const char *const *names, char *path, unsigned room)
{
	for (; *names; names++)
		if (doctor_library(*names, path, room))
			return true;
	return false;
}

static bool is_there(const char *pattern)
{
	glob_t found;
	bool is_found = !glob(pattern, 0, NULL, &found) && found.gl_pathc > 0;

	globfree(&found);
	return is_found;
}

/* If this hpct was built without the vendor's headers, reports that the runtime at `path` is there but not
 * recorded. False: it was built with them. */
static bool left_out_say(struct doctor_row *row, const char *vendor, const char *headers, const char *path)
{
	char remedy[DOCTOR_TEXT / 2];

	if (!strstr(HPCT_GPU_LEFT_OUT, vendor))
		return false;
	snprintf(remedy, sizeof(remedy), "install %s, and rebuild hpct", headers);
	doctor_say(row, DOCTOR_NO, remedy, "%.120s, but hpct was built without its headers", path);
	return true;
}

static void cuda_look(struct doctor_row *row)
{
	char path[DOCTOR_TEXT / 2];

	if (!doctor_library("libcuda.so.1", path, sizeof(path)))
		doctor_say(row, is_there("/proc/driver/nvidia/version") ? DOCTOR_NO : DOCTOR_NONE,
			is_there("/proc/driver/nvidia/version") ? "give the container libcuda.so.1" : NULL,
			"libcuda.so.1 is not found");
	else if (!is_there("/dev/nvidiactl"))
		doctor_say(row, DOCTOR_NO, "give the container its devices", "%.120s, but no /dev/nvidiactl",
			path);
	else if (access("/dev/nvidiactl", R_OK | W_OK))
		doctor_say(row, DOCTOR_NO, "join the group that owns /dev/nvidia*",
			"/dev/nvidiactl cannot be opened");
	else
		doctor_say(row, DOCTOR_YES, NULL, "%.160s", path);
}

static bool are_counters_restricted(void)
{
	char line[160];
	FILE *file = fopen("/proc/driver/nvidia/params", "re");
	bool is_restricted = false;

	while (file && fgets(line, sizeof(line), file))
		is_restricted |= !strncmp(line, "RmProfilingAdminOnly: 1", 23);
	if (file)
		fclose(file);
	return is_restricted && !doctor_has(CAP_SYS_ADMIN);
}

static void cupti_look(struct doctor_row *row)
{
	static const char *const names[] = {"libcupti.so", "libcupti.so.13", "libcupti.so.12",
		"libcupti.so.11.8", "/usr/local/cuda/lib64/libcupti.so",
		"/usr/local/cuda/extras/CUPTI/lib64/libcupti.so", NULL};
	char path[DOCTOR_TEXT / 2];
	bool is_found = any_library(names, path, sizeof(path));

	if (!is_found && is_there("/proc/driver/nvidia/version"))
		doctor_say(row, DOCTOR_NO,
			"install the CUDA toolkit's CUPTI, and name its folder in LD_LIBRARY_PATH",
			"libcupti.so is not found: no record of what the GPU does");
	else if (!is_found)
		doctor_say(row, DOCTOR_NONE, NULL, "no NVIDIA driver");
	else if (!left_out_say(row, "nvidia", "CUPTI's headers (CUDA_HOME says where)", path))
		doctor_say(row, DOCTOR_YES, NULL, "%.120s%s", path,
			are_counters_restricted() ? "; GPU counters are for root only "
						    "(NVreg_RestrictProfilingToAdminUsers=0 lifts that)"
						  : "");
}

static void level_zero_look(struct doctor_row *row)
{
	char path[DOCTOR_TEXT / 2];

	if (!doctor_library("libze_loader.so.1", path, sizeof(path)))
		doctor_say(row, DOCTOR_NONE, NULL, "libze_loader.so.1 is not found");
	else if (!left_out_say(row, "level0", "libze-dev", path))
		doctor_say(row, DOCTOR_YES, NULL, "%.160s", path);
}

static void opencl_look(struct doctor_row *row)
{
	char path[DOCTOR_TEXT / 2];

	if (!doctor_library("libOpenCL.so.1", path, sizeof(path)))
		doctor_say(row, DOCTOR_NONE, NULL, "libOpenCL.so.1 is not found");
	else if (!getenv("OCL_ICD_VENDORS") && !is_there("/etc/OpenCL/vendors/*.icd"))
		doctor_say(row, DOCTOR_NONE, "install a driver, such as pocl-opencl-icd",
			"%.120s, but no driver in /etc/OpenCL/vendors", path);
	else if (!left_out_say(row, "opencl", "opencl-headers", path))
		doctor_say(row, DOCTOR_YES, NULL, "%.160s", path);
}

static void pfm_look(struct doctor_row *row)
{
	char path[DOCTOR_TEXT / 2];

	if (doctor_library("libpfm.so.4", path, sizeof(path)))
		doctor_say(row, DOCTOR_YES, NULL, "%.160s", path);
	else
		doctor_say(row, DOCTOR_NONE, "install libpfm4",
			"libpfm.so.4 is not found: hardware events have no names");
}

static void papi_look(struct doctor_row *row)
{
	static const char *const names[] = {"libpapi.so.7.0", "libpapi.so.7", "libpapi.so.6.0",
		"libpapi.so.6", "libpapi.so.5", "libpapi.so", NULL};
	char path[DOCTOR_TEXT / 2];

	if (any_library(names, path, sizeof(path)))
		doctor_say(row, DOCTOR_YES, NULL, "%.160s", path);
	else
		doctor_say(row, DOCTOR_NONE, NULL, "libpapi.so is not found: no PAPI presets and components");
}

const struct doctor_check doctor_devices[] = {
	{"CUDA", cuda_look, false},
	{"CUPTI", cupti_look, false},
	{"Level Zero", level_zero_look, false},
	{"OpenCL", opencl_look, false},
	{"libpfm4", pfm_look, false},
	{"PAPI", papi_look, false},
	{NULL, NULL, false},
};
