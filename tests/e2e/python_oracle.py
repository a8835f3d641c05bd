# SPDX-License-Identifier: Apache-2.0
# python_oracle.py LIBRARY SAMPLE : the agent's reader against the interpreter. At many places (recursion, generators,
# coroutines, exceptions, calls from C, exec) it must say what sys._getframe says; at thousands of random instructions
# of SAMPLE each call must be one that the sample's source allows. Prints what was wrong, then
# "HERE WRONG STOPS WRONG INCOMPLETE ASKS": how often the kernel was asked for a page while a stack with a generator was
# read sixteen times.
import ctypes
import runpy
import sys
import time

oracle = ctypes.PyDLL(sys.argv[1])
oracle.oracle_here.restype = ctypes.c_size_t
oracle.oracle_here.argtypes = [ctypes.c_char_p, ctypes.c_size_t]
oracle.oracle_stop.restype = ctypes.c_long
oracle.oracle_stop.argtypes = [ctypes.c_uint, ctypes.c_char_p, ctypes.c_size_t]
oracle.oracle_open.argtypes = [ctypes.c_uint64]
oracle.oracle_stops_end.restype = ctypes.c_uint
if oracle.oracle_open(ctypes.cast(ctypes.pythonapi.PyGILState_GetThisThreadState, ctypes.c_void_p).value):
    sys.exit("the interpreter is not known")
room = ctypes.create_string_buffer(1 << 20)
here = wrong = 0


def frames(size):
    lines = room.raw[:size].decode().split("\n")[:-1]
    return [(n, f, int(l)) for n, f, l in (line.split("\t") for line in lines)]


def ours():
    frame, found = sys._getframe(1), []
    while frame:
        code = frame.f_code
        found.append((getattr(code, "co_qualname", code.co_name), code.co_filename, frame.f_lineno))
        frame = frame.f_back
    return found


def check():
    global here, wrong
    size = oracle.oracle_here(room, len(room)); mine = ours()  # one line: its number is the same
    theirs = frames(size)[1:]
    here += 1
    if theirs != mine[1:]:
        wrong += 1
        print("here:", theirs[:3], "is", mine[1:4], file=sys.stderr)


def recursion(n):
    if n:
        return recursion(n - 1)
    check()


def generator(n):
    for i in range(n):
        check()
        yield i
    if n:
        yield from generator(n - 1)


async def coroutine(n):
    check()
    if n:
        await coroutine(n - 1)


def asked():
    return oracle.oracle_asks()


def asking():
    yield asked()


callback = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int)


@callback
def back(n):
    check()
    return oracle.oracle_call(back, n - 1) if n else 0


class Thing:
    def __init__(self):
        check()

    def __del__(self):
        check()

    @property
    def value(self):
        return check()

    def __lt__(self, other):
        check()
        return False


def naïve_ünïcode():
    check()


def many_lines():
    check(
    ); check()
    return [
        check()
        for _ in
        range(2)
    ]


def everything():
    for n in (0, 1, 5, 300):
        recursion(n)
    list(generator(3))
    try:
        coroutine(4).send(None)
    except StopIteration:
        pass
    oracle.oracle_call(back, 3)
    thing = Thing()
    thing.value
    sorted([Thing(), thing])
    del thing
    naïve_ünïcode()
    many_lines()
    try:
        raise KeyError
    except KeyError:
        check()
    finally:
        check()
    (lambda: check())()
    for i in range(3000):  # code objects that come and go at the same addresses
        names = {"check": check}
        exec("%sdef f%d():\n  check()\nf%d()" % ("\n" * (i % 5), i, i), names)


everything()

# ---- random instructions ----

calls = {}
path, sys.argv[1:] = sys.argv[2], ["0.5"]
text = open(path).read()
for number, line in enumerate(text.split("\n"), 1):
    if "# ->" in line:
        calls[number] = line.split("# ->")[1].split()
sample = runpy.run_path(path, run_name="sample")
oracle.oracle_stops_begin()
end = time.process_time() + 1.5
while time.process_time() < end:
    for name in ("recursion", "numbers", "drive", "catch", "ordered", "visit", "read", "heavy_step"):
        for _ in range(20):
            sample[name]()
stops = oracle.oracle_stops_end()
bad = incomplete = 0
for i in range(stops):
    size = oracle.oracle_stop(i, room, len(room))
    if size < 0:
        incomplete += 1
        continue
    stack = frames(size)
    if not stack or stack[-1][0] != "<module>":
        incomplete += len(stack) < 64
    for (name, file, line), (caller, caller_file, caller_line) in zip(stack, stack[1:]):
        short = name.split(".")[-1]
        if file.endswith("python.py") and caller_file.endswith("python.py") and (
            short not in calls.get(caller_line, [])
        ):
            bad += 1
            print("stop:", caller, caller_line, "calls", name, line, file=sys.stderr)
            break
asks = min([next(asking()) for _ in range(3)])  # all pages are asked for anew at one of 128 readings
print(here, wrong, stops, bad, incomplete, asks)
