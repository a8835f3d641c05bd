# SPDX-License-Identifier: Apache-2.0
"""python_stops.py COUNT PYTHON PROGRAM [ARGUMENT...] - an independent reader of Python stacks, for PROGRAM
(python_stops_program.py): stops its threads COUNT times by ptrace, where a signal is about to be delivered, reads the
stack from outside, and lets the thread go on into the handler, where the agent's reader reads the same stack. Then
compares: name, file and line of each frame. Prints what differs on stderr, then "STOPS EQUAL NONE INCOMPLETE WRONG".

It shares nothing with the agent: the offsets below are what the compiler makes of each version's headers; a thread's
state is found in the interpreter's list, as the last one that has its pthread_self(): a thread that is just being
started has its creator's (CPython up to 3.11). x86-64 only."""
import ctypes
import os
import random
import signal
import struct
import subprocess
import sys
import time

OBJECT = dict(code=32, previous=24, instruction=104, name=112, lines=120, file=104, first=40, ascii=48, compact=72)
FRAME = dict(code=0, previous=8, instruction=56, owner=70, name=128, lines=136, file=112, first=68, ascii=40, compact=56)
WHERE = {
    8: dict(OBJECT, heads=32, threads=8, thread=176, frame=24),
    9: dict(OBJECT, heads=32, threads=8, thread=176, frame=24),
    10: dict(OBJECT, heads=32, threads=8, thread=176, frame=24, instruction=96),
    11: dict(FRAME, heads=40, threads=16, thread=152, frame=56, control_frame=8, control_previous=16, code=32,
             previous=48, owner=69, is_entry=68, traceable=168, begin=184, first=72, ascii=48, compact=72),
    12: dict(FRAME, heads=40, threads=72, thread=136, frame=56, control_frame=0, control_previous=8, traceable=176,
             begin=192),
    13: dict(FRAME, heads=632, threads=7344, thread=152, frame=72, traceable=184, begin=200),
    14: dict(FRAME, heads=808, threads=7344, thread=152, frame=72, owner=74, traceable=192, begin=208),
    15: dict(FRAME, heads=936, threads=7336, thread=176, frame=72, owner=74, traceable=192, begin=208),
}
STATE_NEXT = 8
GENERATOR, ENTRY = 1, 3  # owners of frames
PTRACE_CONT, PTRACE_GETREGS, PTRACE_SEIZE, WALL = 7, 12, 0x4206, 0x40000000
PTRACE_O_TRACECLONE, PTRACE_O_EXITKILL = 8, 0x100000
STOP = signal.SIGUSR2
libc = ctypes.CDLL(None, use_errno=True)
libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]


class Gone(Exception):
    """Memory that cannot be read."""


# ---- tables of lines ----

def lines_by_bytes(table, first):
    """3.8, 3.9: (offset where it begins, line)"""
    at, line, rows = 0, first, [(0, first)]
    for step, more in zip(table[0::2], table[1::2]):
        at += step
        line += more - 256 if more > 127 else more
        rows.append((at, line))
    return rows


def lines_by_ranges(table, first):
    """3.10; no line: 0"""
    at, line, rows = 0, first, []
    for step, more in zip(table[0::2], table[1::2]):
        if more != 128:
            line += more - 256 if more > 127 else more
        rows.append((at, 0 if more == 128 else line))
        at += step
    return rows


def lines_by_locations(table, first):
    """3.11 on: PEP 657's encoding"""
    at, line, rows, entries = 0, first, [], []
    for byte in table:
        if byte & 128:
            entries.append([byte])
        else:
            entries[-1].append(byte)
    for entry in entries:
        kind, size = entry[0] >> 3 & 15, 2 * ((entry[0] & 7) + 1)
        if kind in (13, 14):
            value = shift = 0
            for byte in entry[1:]:
                value |= (byte & 63) << shift
                shift += 6
                if not byte & 64:
                    break
            line += -(value >> 1) if value & 1 else value >> 1
        elif kind in (10, 11, 12):
            line += kind - 10
        rows.append((at, 0 if kind == 15 else line))
        at += size
    return rows


# ---- the interpreter ----

class Reader:
    def __init__(self, pid, minor, runtime):
        self.at, self.minor, self.runtime = WHERE[minor], minor, runtime
        self.memory = os.open(f"/proc/{pid}/mem", os.O_RDONLY)
        self.decode = lines_by_bytes if minor < 10 else lines_by_ranges if minor == 10 else lines_by_locations
        self.tables = {}

    def read(self, address, size):
        try:
            data = os.pread(self.memory, size, address)
        except (OSError, OverflowError) as error:
            raise Gone from error
        if len(data) != size:
            raise Gone
        return data

    def word(self, address):
        return struct.unpack("<Q", self.read(address, 8))[0]

    def text(self, address):
        length, _, state = struct.unpack("<QqI", self.read(address + 16, 20))
        if length > 100000:
            raise Gone
        if state & 64:
            return self.read(address + self.at["ascii"], length).decode("latin1")
        kind = state >> 2 & 7
        data = self.read(address + self.at["compact"], length * kind)
        return data.decode({1: "latin1", 2: "utf-16-le", 4: "utf-32-le"}[kind])

    def state(self, thread):
        """The last one in the list of pthread_self() `thread`; 0: none. Other threads change the list meanwhile."""
        for _ in range(20):
            found = 0
            try:
                state = self.word(self.word(self.runtime + self.at["heads"]) + self.at["threads"])
                while state:
                    if self.word(state + self.at["thread"]) == thread:
                        found = state
                    state = self.word(state + STATE_NEXT)
            except Gone:
                continue
            if found:
                return found
        return 0

    def line(self, code, first, offset):
        if offset < 0:
            return first
        table = self.word(code + self.at["lines"])
        table = self.read(table + 32, self.word(table + 16))
        rows = self.tables.get((table, first))
        if rows is None:
            rows = self.tables[table, first] = self.decode(table, first)
        line = 0
        for begin, its in rows:
            if begin > offset:
                break
            line = its
        return line

    def place(self, frame):
        """(name, file, line); None: the frame is none that Python shows."""
        at, code = self.at, self.word(frame + self.at["code"]) & ~7
        (first,) = struct.unpack("<I", self.read(code + at["first"], 4))
        if self.minor < 11:
            (offset,) = struct.unpack("<i", self.read(frame + at["instruction"], 4))
            offset *= 2 if self.minor == 10 else 1
        else:
            offset = self.word(frame + at["instruction"]) - code - at["begin"]
            (traceable,) = struct.unpack("<i", self.read(code + at["traceable"], 4))
            if self.read(frame + at["owner"], 1)[0] != GENERATOR and offset < 2 * traceable:
                return None
        return (self.text(self.word(code + at["name"])), self.text(self.word(code + at["file"])),
                self.line(code, first, offset))

    def is_entry(self, frame):
        """Nothing of Python: it stands for a call from C."""
        return self.minor >= 12 and self.read(frame + self.at["owner"], 1)[0] >= ENTRY

    def ends_segment(self, frame):
        return self.read(frame + self.at["is_entry"], 1)[0] != 0 if self.minor == 11 else self.is_entry(frame)

    def innermost(self, state):
        """The frame, except 3.11 and 3.12: a control frame that was just pushed has not its own yet."""
        first = self.word(state + self.at["frame"])
        if "control_frame" not in self.at or not first:
            return first
        before = self.word(first + self.at["control_previous"])
        expected = self.word(before + self.at["control_frame"]) if before else 0
        frame = innermost = self.word(first + self.at["control_frame"])
        try:
            seen = set()
            while frame and before and not self.ends_segment(frame):
                seen.add(frame)
                frame = self.word(frame + self.at["previous"])
                if frame in seen:
                    return expected
            if not before or (frame and self.word(frame + self.at["previous"]) == expected):
                self.stack_from(innermost)
                return innermost
        except (Gone, UnicodeError):
            pass
        return expected

    def stack_from(self, frame):
        stack, seen = [], set()
        while frame:
            if frame in seen:
                raise Gone
            seen.add(frame)
            if not self.is_entry(frame):
                place = self.place(frame)
                if place:
                    stack.append(place)
            frame = self.word(frame + self.at["previous"])
        return stack

    def stack(self, thread):
        """Innermost first; None: the thread has no state."""
        state = self.state(thread)
        return self.stack_from(self.innermost(state)) if state else None


# ---- the stops ----

class Registers(ctypes.Structure):
    _fields_ = [("words", ctypes.c_ulong * 27)]
    FS_BASE = 21


def ptrace(request, tid, data=0):
    return libc.ptrace(request, tid, None, data)


class Tracer:
    def __init__(self, pid, reader):
        self.pid, self.reader, self.threads, self.code = pid, reader, {pid}, None
        self.stacks, self.count = {}, 0  # tid -> its stacks in the order of its stops

    def look(self, tid):
        registers = Registers()
        libc.ptrace(PTRACE_GETREGS, tid, None, ctypes.byref(registers))
        try:
            stack = self.reader.stack(registers.words[Registers.FS_BASE])
        except (Gone, UnicodeError) as error:
            stack = repr(error)
        self.stacks.setdefault(tid, []).append(stack)
        self.count += 1

    def drain(self):
        """Takes what happened; False: nothing did."""
        any_did = False
        while self.code is None:
            try:
                tid, status = os.waitpid(-1, os.WNOHANG | WALL)
            except ChildProcessError:
                return any_did
            if not tid:
                return any_did
            any_did = True
            if os.WIFSTOPPED(status):
                number = os.WSTOPSIG(status)
                self.threads.add(tid)
                if status >> 16:
                    number = 0
                elif number == STOP:
                    self.look(tid)
                ptrace(PTRACE_CONT, tid, number)
            else:
                self.threads.discard(tid)
                if tid == self.pid:
                    self.code = status
        return any_did

    def run(self, count):
        chance = random.Random(count)
        while self.code is None:
            if self.count < count:
                libc.syscall(234, self.pid, chance.choice(tuple(self.threads)), STOP)  # tgkill
            if not self.drain():
                time.sleep(chance.random() * 2e-4)
        return self.code


def theirs(path):
    """What the handler wrote: tid -> its stacks."""
    stacks = {}
    with open(path, encoding="utf-8", errors="surrogatepass") as file:
        for row in file.read().split("\f")[:-1]:
            head, *frames = row.strip("\n").split("\n")
            tid, size = head.split()
            stack = [(n, f, int(l)) for n, f, l in (frame.split("\t") for frame in frames)]
            stacks.setdefault(int(tid), []).append((int(size), stack))
    return stacks


def kind_of(ours, size, stack):
    if size == -1 and not ours:  # a state that has no frames is not yet, or no more, its thread's
        return "none"
    if ours is None or isinstance(ours, str):
        return "wrong"
    if size >= 0 and stack == ours:
        return "equal"
    if size < 0 or not stack or ours[:len(stack)] == stack or ours[-len(stack):] == stack:
        return "incomplete"
    return "wrong"


def main():
    count, command = int(sys.argv[1]), sys.argv[2:]
    program = subprocess.Popen(command + ["stops.out", str(count)], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    minor, runtime = program.stdout.readline().split()
    reader = Reader(program.pid, int(minor), int(runtime))
    if ptrace(PTRACE_SEIZE, program.pid, PTRACE_O_TRACECLONE | PTRACE_O_EXITKILL):
        sys.exit(f"ptrace: {os.strerror(ctypes.get_errno())}")
    tracer = Tracer(program.pid, reader)
    program.stdin.write(b"go\n")
    program.stdin.flush()
    if tracer.run(count):
        sys.exit(f"the program ended with {tracer.code:#x}")
    kinds = dict.fromkeys(("equal", "none", "incomplete", "wrong"), 0)
    for tid, stacks in theirs("stops.out").items():
        for ours, (size, stack) in zip(tracer.stacks[tid], stacks):
            kind = kind_of(ours, size, stack)
            kinds[kind] += 1
            if kind in ("wrong", "incomplete"):
                print(kind, size, stack[:4], "is", ours[:4] if ours else ours, file=sys.stderr)
    print(sum(kinds.values()), *kinds.values())


main()
