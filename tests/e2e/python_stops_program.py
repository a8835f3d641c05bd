# SPDX-License-Identifier: Apache-2.0
"""python_stops_program.py ORACLE STRESS LIBRARY SAMPLE OUT COUNT - what python_stops.py stops: threads that recurse,
generate, await, raise, collect garbage, sort with keys, call back from C (LIBRARY, by python_stress.py), run code that
comes and goes, and are started and end all the time. The agent's reader (ORACLE) reads in the handler; its COUNT stacks
are written to OUT."""
import ctypes
import json
import re
import runpy
import sys
import threading

oracle = ctypes.PyDLL(sys.argv[1])
oracle.oracle_open.argtypes = [ctypes.c_uint64]
oracle.oracle_stop.restype = ctypes.c_long
oracle.oracle_stop.argtypes = [ctypes.c_uint, ctypes.c_char_p, ctypes.c_size_t]
oracle.oracle_stops_taken.restype = ctypes.c_uint
stress_path, library_path, sample_path, out, count = sys.argv[2], sys.argv[3], sys.argv[4], sys.argv[5], int(sys.argv[6])
if oracle.oracle_open(ctypes.cast(ctypes.pythonapi.PyGILState_GetThisThreadState, ctypes.c_void_p).value):
    sys.exit("the interpreter is not known")
sys.argv[1:] = ["threads", "1", library_path]
stress = runpy.run_path(stress_path, run_name="stress")
sys.argv[1:] = ["0.5"]
sample = runpy.run_path(sample_path, run_name="sample")
shape = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int)
library = ctypes.CDLL(library_path)
back = shape(lambda n: stress["work"](1, stress["random"].Random(n)) % 1000)


def is_over():
    return oracle.oracle_stops_taken() >= count


def by_sample():
    while not is_over():
        for name in ("recursion", "numbers", "drive", "catch", "ordered", "visit", "read", "heavy_step"):
            sample[name]()


def by_stress():
    chance = stress["random"].Random(threading.get_ident())
    while not is_over():
        stress["work"](3, chance)
        stress["deep"](chance.randrange(300))


def by_library():
    while not is_over():
        library.call_back(back, 3)


def by_modules():
    text = json.dumps({str(i): [i, {"x": "y" * i}] for i in range(40)})
    while not is_over():
        json.loads(text, object_hook=lambda d: d)
        re.sub(r"(\w+)", lambda m: m.group(1).upper(), text[:500])


def by_threads():
    while not is_over():
        thread = threading.Thread(target=stress["work"], args=(1, stress["random"].Random(1)))
        thread.start()
        thread.join()


if oracle.oracle_stops_await(count):
    sys.exit("no handler")
print(sys.version_info[1], ctypes.addressof(ctypes.c_char.in_dll(ctypes.pythonapi, "_PyRuntime")), flush=True)
if not sys.stdin.readline():
    sys.exit()  # nobody stops it
threads = [threading.Thread(target=body) for body in (by_sample, by_stress, by_library, by_modules, by_threads)]
for thread in threads:
    thread.start()
by_sample()
for thread in threads:
    thread.join()
room = ctypes.create_string_buffer(1 << 20)
with open(out, "wb") as file:
    for i in range(count):
        size = oracle.oracle_stop(i, room, len(room))
        file.write(b"%d %d\n%s\f" % (oracle.oracle_stop_tid(i), size, room.raw[:max(size, 0)]))
