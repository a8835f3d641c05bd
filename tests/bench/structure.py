# SPDX-License-Identifier: Apache-2.0
"""structure.py - what program structure of sampled code costs: functions, loops and lines of random addresses of one
library, cold and from the cache shared between runs, by hpct-names in a process of its own."""
import os
import random
import re
import resource
import statistics
import subprocess
import tempfile
import time


def addresses(library, count, seed=1):
    text = subprocess.run(["nm", "-D", "-S", "--defined-only", library], capture_output=True, text=True,
                          check=True).stdout
    extents = sorted({(int(m[1], 16), int(m[2], 16))
                      for m in re.finditer(r"^([0-9a-f]+) ([0-9a-f]+) [tTwW] ", text, re.M) if int(m[2], 16)})
    pick = random.Random(seed)
    return [begin + pick.randrange(size)
            for begin, size in pick.choices(extents, [size for _, size in extents], k=count)]


def ask(program, library, places, cache):
    """Wall time to the first and to the last answer, CPU time, loops found."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    begin, first, loops = time.monotonic(), None, 0
    with subprocess.Popen([program, "-e", library], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                          env=dict(os.environ, XDG_CACHE_HOME=cache)) as process:
        process.stdin.write("\n".join(f"{place:x}" for place in places))
        process.stdin.close()
        for row in process.stdout:
            if row.startswith("0x"):
                first = first or time.monotonic() - begin
                loops += "\tloop\t" in row
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return first, time.monotonic() - begin, cpu, loops


def measure(line, program, library, rounds, count=5000):
    places, cold, warm, one = addresses(library, count), [], [], []
    for _ in range(rounds):
        with tempfile.TemporaryDirectory() as cache:
            one.append(ask(program, library, places[:1], cache + "/one")[1])
            cold.append(ask(program, library, places, cache))
            warm.append(ask(program, library, places, cache))
    name = os.path.basename(library)
    middle = [statistics.median(values) for values in zip(*cold)]
    line(f"structure of {count} samples in {name}, s", f"{middle[1]:.2f}", "< 11.4",
         f"{middle[2]:.2f} s of CPU time, {int(middle[3])} loop scopes; hpcstruct: 11.4 s, 658 MB")
    line("  its first answer, alone, ms", f"{statistics.median(one) * 1e3:.0f}", "< 1000")
    line("  its peak memory, MB", f"{resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1e3:.0f}", "< 658")
    line("  from the shared cache, all of it, ms", f"{statistics.median(w[1] for w in warm) * 1e3:.0f}", "< 50",
         f"{statistics.median(w[2] for w in warm) * 1e3:.0f} ms of CPU time")
