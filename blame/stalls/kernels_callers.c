/* SPDX-License-Identifier: Apache-2.0 */
/* kernels_callers.c - shares samples of device functions out to the kernels that call them (S0 6.3). */
#include <stdlib.h>
#include <string.h>

#include "blame/stalls/call_shares.h"
#include "blame/stalls/kernels_internal.h"
#include "store/base/array.h"

#define WHOLE 0.999999

/* The static call graph of a binary; functions are numbered as gpu_code_functions() has them. */
struct callers {
	struct gpu_code *binary;
	const struct gpu_function *functions;
	size_t function_count;
	struct call_graph graph;
	uint64_t *addresses; /* [graph.edge_count] of the calls, ascending */
	size_t edge_room, address_room;
	double *samples, *factors;
};

static void call_weigh(struct callers *callers, uint64_t address, double samples)
{
	size_t low = 0, high = callers->graph.edge_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (callers->addresses[middle] < address)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < callers->graph.edge_count && callers->addresses[low] == address; low++)
		callers->graph.edges[low].weight += samples;
}

/* An instruction may have samples in several kernels: of a device function that was shared out. */
static void function_take(struct callers *callers, const struct kernel_function *function)
{
	const struct gpu_function *in_binary = gpu_code_at(callers->binary, function->code.start);

	for (uint32_t i = 0; in_binary && i < function->code.count; i++) {
		double here = cause_samples_sum(&function->samples[i]);

		callers->samples[in_binary - callers->functions] += here;
		call_weigh(callers, function->code.addresses[i], here);
	}
}

static void samples_take(const struct kernels *kernels, struct callers *callers)
{
	for (size_t k = 0; k < kernels->count; k++)
		for (size_t f = 0; f < kernels->list[k].function_count; f++)
			if (kernels->list[k].functions[f].code.binary == callers->binary)
				function_take(callers, &kernels->list[k].functions[f]);
}

static bool edge_add(struct callers *callers, uint64_t address, uint64_t target)
{
	const struct gpu_function *from = gpu_code_at(callers->binary, address);
	const struct gpu_function *to = gpu_code_at(callers->binary, target);
	size_t count = callers->graph.edge_count;

	if (!from || !to)
		return true;
	if (!array_widen(&callers->graph.edges, &callers->edge_room, count, sizeof *callers->graph.edges) ||
		!array_widen(&callers->addresses, &callers->address_room, count, sizeof *callers->addresses))
		return false;
	callers->addresses[count] = address;
	callers->graph.edges[count] = (struct call_edge){
		(uint32_t)(from - callers->functions), (uint32_t)(to - callers->functions), 0, 0};
	callers->graph.edge_count++;
	return true;
}

#define POINTED_EDGES_MAX (1u << 22)
#define POINTED_MAX 256u /* more: which of them a call goes to is not known at all */

/* A call through a pointer may go to each function whose address is taken. */
static int edges_read(struct callers *callers, struct error *error)
{
	struct gpu_call *calls;
	size_t count, pointed_count;
	const uint64_t *pointed = gpu_code_pointed(callers->binary, &pointed_count);
	bool ok = true, is_few = pointed_count <= POINTED_MAX;
	int rc = gpu_code_calls(callers->binary, &calls, &count, error);

	if (rc < 0)
		return rc;
	for (size_t i = 0; i < count && ok; i++) {
		if (calls[i].target)
			ok = edge_add(callers, calls[i].address, calls[i].target);
		for (size_t p = 0; !calls[i].target && is_few && p < pointed_count && ok; p++)
			ok = edge_add(callers, calls[i].address, pointed[p]);
		is_few &= callers->graph.edge_count <= POINTED_EDGES_MAX;
	}
	free(calls);
	return ok ? 0 : error_memory(error);
}

static void callers_fini(struct callers *callers)
{
	free(callers->graph.edges);
	free(callers->graph.component);
	free(callers->addresses);
	free(callers->samples);
	free(callers->factors);
}

static int callers_read(
	struct callers *callers, const struct kernels *kernels, struct gpu_code *binary, struct error *error)
{
	int rc;

	*callers = (struct callers){.binary = binary};
	callers->functions = gpu_code_functions(binary, &callers->function_count);
	callers->samples = calloc(callers->function_count + 1, sizeof *callers->samples);
	callers->factors = calloc(callers->function_count + 1, sizeof *callers->factors);
	callers->graph.component = calloc(callers->function_count + 1, sizeof *callers->graph.component);
	callers->graph.samples = callers->samples;
	callers->graph.count = (uint32_t)callers->function_count;
	if (!callers->samples || !callers->factors || !callers->graph.component)
		return error_memory(error);
	rc = edges_read(callers, error);
	if (rc < 0)
		return rc;
	samples_take(kernels, callers);
	return call_shares_find(&callers->graph) ? 0 : error_memory(error);
}

static void add_scaled(struct cause_samples *to, const struct cause_samples *from, double factor)
{
	double *a = (double *)to;
	const double *b = (const double *)from;

	for (size_t i = 0; i < sizeof *to / sizeof *a; i++)
		a[i] += factor * b[i];
}

/* The kernel's part of what was sampled in the device function. */
static int give(struct kernel *kernel, const struct callers *callers, const struct kernel_function *from,
	double factor, struct error *error)
{
	const struct gpu_function *function = gpu_code_at(callers->binary, from->code.start);
	struct kernel_function *to = kernels_function(kernel, callers->binary, function, error);

	if (!to)
		return error_memory(error);
	for (uint32_t i = 0; i < from->code.count; i++)
		add_scaled(&to->samples[i], &from->samples[i], factor);
	return 0;
}

/* The entry of the kernel itself; NULL: the entry is of a device function. */
static const struct kernel_function *kernel_itself(const struct kernel *kernel)
{
	for (size_t f = 0; f < kernel->function_count; f++)
		if (kernel->functions[f].is_kernel)
			return &kernel->functions[f];
	return NULL;
}

/* What kernels without a sample called stays under the function's own name. */
static void keep_rest(struct kernel *kernel, double given)
{
	struct kernel_function *function = &kernel->functions[0];

	for (uint32_t i = 0; given > 0 && i < function->code.count; i++)
		add_scaled(&function->samples[i], &function->samples[i], -given);
	kernel->unread -= given * kernel->unread;
}

/* A device function with an entry of its own: it was sampled under its own name. */
static bool is_device(const struct kernel *kernel, const struct gpu_code *binary)
{
	return kernel->function_count == 1 && !kernel_itself(kernel) &&
	       kernel->functions[0].code.binary == binary;
}

/* To one kernel of the binary its parts of all of them; given[kernel]: how much of each is given. */
static int give_root(struct kernels *kernels, struct callers *callers, struct kernel *to, double *given,
	struct error *error)
{
	const struct kernel_function *itself = kernel_itself(to);
	const struct gpu_function *root = itself && itself->code.binary == callers->binary
						  ? gpu_code_at(callers->binary, itself->code.start)
						  : NULL;
	int rc = 0;

	if (!root)
		return 0;
	if (!call_shares_of(&callers->graph, (uint32_t)(root - callers->functions), callers->factors))
		return error_memory(error);
	for (size_t k = 0; k < kernels->count && rc == 0; k++) {
		const struct kernel *from = &kernels->list[k];
		const struct gpu_function *function;
		double factor;

		if (!is_device(from, callers->binary))
			continue;
		function = gpu_code_at(callers->binary, from->functions[0].code.start);
		factor = function ? callers->factors[function - callers->functions] : 0;
		given[k] += factor;
		if (factor > 0)
			rc = give(to, callers, &from->functions[0], factor, error);
		to->unread += factor * from->unread;
	}
	return rc;
}

/* What was given away is no kernel any more. */
static void leave_out(struct kernels *kernels, const struct gpu_code *binary, const double *given)
{
	size_t kept = 0;

	for (size_t k = 0; k < kernels->count; k++) {
		struct kernel *kernel = &kernels->list[k];

		if (is_device(kernel, binary) && given[k] >= WHOLE) {
			kernels_function_fini(&kernel->functions[0]);
			free(kernel->functions);
			continue;
		}
		if (is_device(kernel, binary))
			keep_rest(kernel, given[k]);
		kernels->list[kept++] = *kernel;
	}
	kernels->count = kept;
}

static int share_out(struct kernels *kernels, struct gpu_code *binary, struct error *error)
{
	bool is_any = false;
	struct callers callers;
	double *given;
	int rc;

	for (size_t k = 0; k < kernels->count && binary; k++)
		is_any |= is_device(&kernels->list[k], binary);
	if (!is_any)
		return 0;
	given = calloc(kernels->count + 1, sizeof *given);
	rc = callers_read(&callers, kernels, binary, error);
	if (rc == 0 && !given)
		rc = error_memory(error);
	for (size_t k = 0; k < kernels->count && rc == 0; k++)
		rc = give_root(kernels, &callers, &kernels->list[k], given, error);
	if (rc == 0)
		leave_out(kernels, binary, given);
	callers_fini(&callers);
	free(given);
	return rc;
}

/* Sharing out moves samples from entry to entry of the same instruction, so that all device functions of a
 * binary see one call graph. */
int kernels_callers(struct kernels *kernels, struct error *error)
{
	int rc = 0;

	for (size_t b = 0; b < kernels->binary_count && rc == 0; b++)
		if (!kernels->binaries[b].is_of_file)
			rc = share_out(kernels, kernels->binaries[b].code, error);
	for (size_t f = 0; f < kernels->file_count && rc == 0; f++)
		rc = share_out(kernels, kernels->files[f].code, error);
	return rc;
}
