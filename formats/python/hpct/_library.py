# SPDX-License-Identifier: Apache-2.0
"""libhpct by ctypes: finding it, its structs and functions, errors, and Ctrl-C while it works."""
import contextlib
import atexit
import ctypes
import os
import shutil
import signal
import socket
import threading
from ctypes import POINTER, byref, c_char_p, c_int, c_int64, c_size_t, c_uint32, c_uint64, c_void_p

NAME = "libhpct.so.0"
INTERRUPTED = 6


class Error(Exception):
    """What went wrong: one sentence that says what, where and what to do.

    ``code`` is the exit code of hpct's readers: 2 a wrong question, 3 nothing matched or nothing was monitored,
    4 the run is missing, damaged or too new, 5 I/O or memory, 6 interrupted.
    """

    def __init__(self, text: str, code: int = 5) -> None:
        super().__init__(text)
        self.code = code


class _Error(ctypes.Structure):
    _fields_ = [("code", c_int), ("text", ctypes.c_char * 1024)]


class OpenOptions(ctypes.Structure):
    _fields_ = [("size_bytes", c_size_t), ("debug_paths", c_char_p), ("python", c_char_p), ("debuginfod", c_int),
                ("runtime_frames", c_int), ("no_rollups", c_int), ("no_cache", c_int), ("jobs", ctypes.c_uint),
                ("mem_bytes", c_uint64), ("has_interrupt", c_int), ("interrupt_fd", c_int), ("interrupt_byte", c_int)]


class Facts(ctypes.Structure):
    _fields_ = [("size_bytes", c_size_t), ("path", c_char_p), ("origin_ns", c_uint64), ("wall_ns", c_uint64),
                ("begin_ns", c_int64), ("end_ns", c_int64), ("bytes", c_uint64), ("stream_count", c_uint32),
                ("context_count", c_uint32), ("is_live", c_int)]


class Column(ctypes.Structure):
    pass


Column._fields_ = [("name", c_char_p), ("type", c_int), ("data", c_void_p), ("offsets", POINTER(c_int64)),
                   ("valid", c_void_p), ("choices", POINTER(Column)), ("choice_count", c_size_t),
                   ("none_count", c_size_t)]


class ArrowStream(ctypes.Structure):
    """ArrowArrayStream."""


ArrowStream._fields_ = [("get_schema", c_void_p), ("get_next", c_void_p), ("get_last_error", c_void_p),
                        ("release", ctypes.CFUNCTYPE(None, POINTER(ArrowStream))), ("private_data", c_void_p)]

QUESTIONS = ("stats", "gaps", "late", "streams", "contexts", "modules", "metrics", "marks")


# ---- finding it ----

def _places():
    """Where it may be: named, beside an installed package, beside the program hpct, where the loader looks."""
    named = os.environ.get("HPCT_LIBRARY")
    if named:
        yield named
        return
    here = os.path.dirname(os.path.abspath(__file__))
    for above in ("..", "../..", "../../..", "../../../.."):  # PREFIX/lib/hpct/python, PREFIX/lib/python3/dist-packages
        yield os.path.join(here, above, NAME)
    program = shutil.which("hpct")
    if program:
        prefix = os.path.dirname(os.path.dirname(os.path.realpath(program)))
        yield os.path.join(prefix, "lib", NAME)
        yield from _libraries_below(prefix)
    yield NAME


def _libraries_below(prefix):
    """Of systems whose libraries stand in a folder of the machine's name."""
    with contextlib.suppress(OSError):
        for name in sorted(os.listdir(os.path.join(prefix, "lib"))):
            if name.endswith("-linux-gnu"):
                yield os.path.join(prefix, "lib", name, NAME)


def _load():
    reason = "it is nowhere"
    for place in _places():
        if os.sep in place and not os.path.exists(place):
            reason = f"{place} is not there" if os.environ.get("HPCT_LIBRARY") else reason
            continue
        try:
            return ctypes.CDLL(place)
        except OSError as error:
            reason = str(error)
    raise Error(f"{NAME} cannot be loaded ({reason}): install hpct, put its program hpct on PATH, or name the file in "
                "HPCT_LIBRARY", 5)


def _declare(lib):
    error, rows = POINTER(_Error), POINTER(c_void_p)
    for name in QUESTIONS:
        getattr(lib, "hpct_" + name).argtypes = [c_void_p, c_void_p, rows, error]
    for name in ("records", "profile", "blame"):
        getattr(lib, "hpct_" + name).argtypes = [c_void_p, c_void_p, c_char_p, rows, error]
    lib.hpct_sql.argtypes = [c_void_p, c_char_p, rows, error]
    lib.hpct_release.restype = c_char_p
    lib.hpct_open.argtypes = [rows, c_char_p, POINTER(OpenOptions), error]
    lib.hpct_renew.argtypes = [c_void_p, POINTER(c_int), error]
    lib.hpct_facts.argtypes = [c_void_p, POINTER(Facts), error]
    lib.hpct_select_new.argtypes = [rows, error]
    lib.hpct_select_set.argtypes = [c_void_p, c_char_p, c_char_p, error]
    lib.hpct_select_columns.argtypes = [c_void_p, c_char_p, error]
    lib.hpct_next.argtypes = [c_void_p, c_size_t, rows, error]
    lib.hpct_rows_export.argtypes = [c_void_p, c_size_t, POINTER(ArrowStream), error]
    lib.hpct_batch_stream.argtypes = [c_void_p, POINTER(ArrowStream), error]
    lib.hpct_rows_columns.argtypes = [c_void_p]
    lib.hpct_rows_columns.restype = c_size_t
    lib.hpct_rows_name.argtypes = [c_void_p, c_size_t]
    lib.hpct_rows_name.restype = c_char_p
    for name in ("hpct_batch_rows", "hpct_batch_columns"):
        getattr(lib, name).argtypes = [c_void_p]
        getattr(lib, name).restype = c_size_t
    lib.hpct_column.argtypes = [c_void_p, c_size_t]
    lib.hpct_column.restype = POINTER(Column)
    for name in ("hpct_close", "hpct_select_free", "hpct_rows_free", "hpct_batch_free"):
        getattr(lib, name).argtypes = [c_void_p]
        getattr(lib, name).restype = None
    return lib


_loaded = None


def library():
    """libhpct, loaded where it is needed first."""
    global _loaded
    if _loaded is None:
        _loaded = _declare(_load())
    return _loaded


def place():
    """The path of the loaded library; "" if only the loader knows it."""
    name = library()._name
    return os.path.realpath(name) if os.sep in name else ""


# ---- Ctrl-C: the library looks at a socket, into which Python's own handler writes the signal's number ----

_socket_read, _socket_write = socket.socketpair()
_socket_read.setblocking(False)
_socket_write.setblocking(False)
atexit.register(_socket_write.close)
atexit.register(_socket_read.close)


def interrupt_options(options):
    """A question that takes long ends when SIGINT has come."""
    options.has_interrupt = 1
    options.interrupt_fd = _socket_read.fileno()
    options.interrupt_byte = int(signal.SIGINT)


@contextlib.contextmanager
def _watching():
    """Python's signals are written into the socket meanwhile, and passed on to where they went before."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.set_wakeup_fd(_socket_write.fileno(), warn_on_full_buffer=False)
    try:
        yield
    finally:
        signal.set_wakeup_fd(before, warn_on_full_buffer=False)
        with contextlib.suppress(BlockingIOError):
            came = _socket_read.recv(4096)
            if before >= 0:
                with contextlib.suppress(OSError):
                    socket.socket(fileno=os.dup(before)).send(came)


def call(name, *arguments):
    """Calls hpct_NAME, whose last argument is the error; gives what it returns, which is not negative."""
    error = _Error()
    with _watching():
        code = getattr(library(), "hpct_" + name)(*arguments, byref(error))
    if code < 0:
        raise Error(error.text.decode("utf8", "replace"), -code)
    return code


def give(name, *arguments):
    """The same for functions whose last but one argument is where to put what they make."""
    made = c_void_p()
    call(name, *arguments, byref(made))
    return made


def text(value):
    """As the library takes it; None stays."""
    return None if value is None else os.fsencode(value)


__all__ = ["Error", "OpenOptions", "Facts", "Column", "ArrowStream", "call", "give", "library", "text",
           "interrupt_options", "place"]
