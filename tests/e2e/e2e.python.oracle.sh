#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What the agent reads of Python's stack, held to what the interpreter says itself and, at thousands of random
# instructions, to what the program's source allows.
. "$(dirname -- "$0")/expect.sh"
. "$HPCT_SOURCE/tests/e2e/pythons.sh"
library=${HPCT_BIN%/bin}/tests/python_oracle.so
while read -r python; do
	"$python" "$HPCT_SOURCE/tests/e2e/python_oracle.py" "$library" "$HPCT_SOURCE/samples/python.py" >out 2>err ||
		fail "$python: $(tail -1 err)"
	read -r here wrong stops bad incomplete asks <out
	echo "$python: $here places, $wrong wrong; $stops stops, $bad wrong, $incomplete incomplete"
	check "$python: places" [ "${here:-0}" -gt 3000 ]
	same "$python: wrong at places where the interpreter says it" 0 "${wrong:--}"
	same "$python: questions to the kernel for what was read before" 0 "${asks:--}"
	check "$python: stops" [ "${stops:-0}" -gt 500 ]
	same "$python: wrong at random instructions" 0 "${bad:--}"
	check "$python: $incomplete of $stops stacks incomplete" calc "${incomplete:-1} < 0.005 * ${stops:-0}"
	[ "$failed" -eq 0 ] || head -5 err
done < <(pythons)
