#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# python3 with two threads: an interpreter's deep and uneven stacks.
. "$(dirname -- "$0")/expect.sh"
event=CPUTIME@2000 # as often as the kernel's tick lets it
[ -x /usr/bin/python3 ] || skip "/usr/bin/python3 is not installed"
cat >work.py <<'END'
import hashlib, json, re, threading, zlib

def collatz(limit):
    best = (0, 0)
    for n in range(1, limit):
        steps, m = 0, n
        while m != 1:
            m = m // 2 if m % 2 == 0 else 3 * m + 1
            steps += 1
        best = max(best, (steps, n))
    return best

def text(rounds):
    digest = hashlib.sha256()
    for i in range(rounds):
        words = json.dumps({str(k): [k, k * i] for k in range(400)})
        digest.update(zlib.compress(re.sub(r'\d+', lambda m: m.group()[::-1], words).encode()))
    return digest.hexdigest()

results = {}
threads = [threading.Thread(target=lambda: results.update(collatz=collatz(120000))),
           threading.Thread(target=lambda: results.update(text=text(3000)))]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(sorted(results.items()))
END
both python /usr/bin/python3 work.py
weights_agree python
pool python
