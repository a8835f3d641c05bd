/* SPDX-License-Identifier: Apache-2.0 */
/* decode.c - see decode.h: selects the machine's decoder. */
#include "timeline/code/decode.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

struct decoder {
	const struct decode_machine *machine;
	void *state;
};

static const struct decode_machine *const machines[] = {
#ifdef HPCT_HAS_CAPSTONE
	&decode_x86,
#endif
	&decode_arm64,
	&decode_volta,
	&decode_hopper,
	&decode_gcn,
	&decode_cdna2,
	&decode_cdna3,
	&decode_rdna,
	&decode_gen8,
	&decode_gen12,
	&decode_xe_hp,
	&decode_xe_hpc,
};

static const struct decode_machine *machine_find(unsigned machine)
{
	for (size_t i = 0; i < sizeof machines / sizeof *machines; i++)
		if (machines[i]->machine == machine)
			return machines[i];
	return NULL;
}

const char *decoder_lacks(unsigned machine)
{
	const struct decode_machine *found = machine_find(machine);

	if (found)
		return found->lacks ? found->lacks() : NULL;
	if (machine == EM_X86_64)
		return "hpct was built without capstone (libcapstone-dev): no loops";
	return "hpct reads no code of that machine: no loops";
}

bool decoder_may_come(unsigned machine)
{
	const struct decode_machine *found = machine_find(machine);

	return found && found->lacks && found->lacks();
}

int decoder_open(struct decoder **out, unsigned machine)
{
	const struct decode_machine *found = machine_find(machine);

	*out = NULL;
	if (!found || (found->lacks && found->lacks()))
		return 1;
	*out = calloc(1, sizeof **out);
	if (!*out)
		return -1;
	(*out)->machine = found;
	(*out)->state = found->open ? found->open() : NULL;
	if (!found->open || (*out)->state)
		return 0;
	free(*out);
	*out = NULL;
	return -1;
}

void decoder_close(struct decoder *decoder)
{
	if (!decoder)
		return;
	if (decoder->machine->close)
		decoder->machine->close(decoder->state);
	free(decoder);
}

void decoder_next(struct decoder *decoder, const uint8_t *bytes, size_t size, uint64_t address,
	struct instruction *instruction)
{
	*instruction = (struct instruction){.address = address, .flow = FLOW_NEXT};
	decoder->machine->next(decoder->state, bytes, size, instruction);
}

void decoder_effect(
	struct decoder *decoder, const uint8_t *bytes, size_t size, uint64_t address, struct effect *effect)
{
	*effect = (struct effect){
		.kind = EFFECT_NONE, .to = REGISTER_NONE, .a = REGISTER_NONE, .b = REGISTER_NONE};
	decoder->machine->effect(decoder->state, bytes, size, address, effect);
}
