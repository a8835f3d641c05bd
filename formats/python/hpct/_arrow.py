# SPDX-License-Identifier: Apache-2.0
"""Arrow's C stream interface as PyCapsules: the library fills the struct, whoever takes the capsule moves it out."""
import ctypes
from typing import Any, Dict

from . import _library as lib

_NAME = b"arrow_array_stream"
_kept: Dict[int, lib.ArrowStream] = {}  # structs of capsules that live, by address

_api = ctypes.pythonapi
_Destructor = ctypes.PYFUNCTYPE(None, ctypes.c_void_p)
_api.PyCapsule_New.restype = ctypes.py_object
_api.PyCapsule_New.argtypes = [ctypes.c_void_p, ctypes.c_char_p, _Destructor]
_pointer = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p)(("PyCapsule_GetPointer", _api))


@_Destructor
def _drop(capsule: int) -> None:
    """Releases what nobody has moved out."""
    stream = _kept.pop(_pointer(capsule, _NAME), None)
    if stream is not None and stream.release:
        stream.release(ctypes.byref(stream))


def _capsule(stream: lib.ArrowStream) -> Any:
    address = ctypes.addressof(stream)
    _kept[address] = stream
    return _api.PyCapsule_New(address, _NAME, _drop)


def export_batch(batch: Any) -> Any:
    """A stream of one batch, which stays as long as its user wants it."""
    stream = lib.ArrowStream()
    lib.call("batch_stream", batch.handle, ctypes.byref(stream))
    return _capsule(stream)


def export_rows(rows: ctypes.c_void_p, most: int) -> Any:
    """A stream of batches of about so many rows; it owns the rows."""
    stream = lib.ArrowStream()
    lib.call("rows_export", rows, most, ctypes.byref(stream))
    return _capsule(stream)
