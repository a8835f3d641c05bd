#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How many lines of cache (64 bytes) and pages one sample touches inside the agent, by what they belong to: a trace of
`agent_handler trace` by valgrind's lackey. The last sample of each kind is told of. The kernel's part is left out, and
so is the vdso, of which valgrind makes system calls.

  sample_pages.py [--build build] [--names]     --names: the pages, with the functions and variables on them
"""
import argparse
import bisect
import collections
import os
import re
import subprocess
import tempfile

PAGE, LINE = 4096, 64


def symbols(program):
    """[(address, end, name)] as linked, sorted."""
    text = subprocess.run(["nm", "-S", program], stdout=subprocess.PIPE, text=True, check=True).stdout
    found = [re.match(r"(\w+) (\w+) \w (\S+)", line) for line in text.splitlines()]
    return sorted((int(m[1], 16), int(m[1], 16) + int(m[2], 16), m[3]) for m in found if m)


def name_of(table, address):
    at = bisect.bisect_right(table, (address, 1 << 64, "")) - 1
    return table[at][2] if at >= 0 and table[at][0] <= address < table[at][1] else "?"


class Touched:
    def __init__(self):
        self.lines = collections.defaultdict(set)
        self.instructions = 0

    def add(self, kind, address, size):
        self.lines[kind].update(range(address // LINE, (address + size - 1) // LINE + 1))


def samples(trace, mark, kind_of):
    """[Touched] of all samples; the mark is written ahead of each and behind it."""
    found, now = [], None
    for line in trace:
        if line[0] == "=" or len(line) < 6:
            continue
        try:
            address, size = line[3:].split(",")
            address, size = int(address, 16), int(size)
        except ValueError:
            continue
        if address == mark and line[1] in "SM":
            now = Touched() if now is None else found.append(now)
            continue
        if now is None:
            continue
        now.instructions += line[0] == "I"
        now.add(kind_of(address, line[0] == "I"), address, size)
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", default="build")
    parser.add_argument("--names", action="store_true")
    options = parser.parse_args()
    program = os.path.join(options.build, "bench", "agent_handler")
    with tempfile.NamedTemporaryFile("r", prefix="hpct-bench.") as trace:
        told = subprocess.run(["valgrind", "--tool=lackey", "--trace-mem=yes", "--log-file=" + trace.name, program,
                               "trace"], stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines()
        words = told[0].split()
        mark, thread, thread_bytes = int(words[1], 16), int(words[3], 16), int(words[4])
        process, process_bytes, stack = int(words[6], 16), int(words[7]), int(words[9], 16)
        table = symbols(program)
        base = mark - next(address for address, _, name in table if name == "mark")
        end = base + table[-1][1]

        def kind_of(address, is_code):
            if thread <= address < thread + thread_bytes:
                return "thread"
            if process <= address < process + process_bytes:
                return "shared"
            if stack - (1 << 20) <= address < stack + (1 << 16):
                return "stack"
            own = "" if base <= address < end else "libc's "
            return own + ("code" if is_code else "data")

        found = samples(trace, mark, kind_of)
    kinds, each = told[1:], len(found) // len(told[1:])
    print("lines/pages of a sample\tinstructions\tall\tby what they are")
    for i, kind in enumerate(kinds):
        group = found[(i + 1) * each - 1]
        lines = {what: len(of) for what, of in group.lines.items()}
        pages = {what: len({line * LINE // PAGE for line in of}) for what, of in group.lines.items()}
        print(f"{kind}\t{group.instructions}\t{sum(lines.values())}/{sum(pages.values())}\t" +
              "  ".join(f"{what} {lines[what]}/{pages[what]}" for what in sorted(lines)))
        if options.names:
            for what, of in sorted(group.lines.items()):
                on = collections.defaultdict(set)
                for line in of:
                    for at in range(line * LINE, line * LINE + LINE, 8):
                        on[line * LINE // PAGE].add(name_of(table, at - base))
                for page, names in sorted(on.items()):
                    count = sum(line * LINE // PAGE == page for line in of)
                    print(f"\t{what} {page * PAGE:#x} {count} lines: {' '.join(sorted(names - {'?'}))[:150]}")


if __name__ == "__main__":
    main()
