# SPDX-License-Identifier: Apache-2.0
"""Questions to runs that hpct recorded.

>>> import hpct
>>> run = hpct.open("run.hpct")
>>> run.stats(time="1s..2s", by="module")
>>> run.profile(streams="rank=0", view="flat")
>>> run.slice("spans", op="kernel").groupby("path").size()
>>> run.sql("SELECT key, time_ns FROM stats WHERE state = 'work'")
>>> run.timeline(time="1s..2s")

Answers are pandas DataFrames where pandas is installed, else tables of plain columns, over the memory of the C library
libhpct. Times are ns from the run's origin. What goes wrong is an :class:`Error` with the sentence of hpct's readers.
"""
import os
from typing import Any, Optional, Union

from ._library import Error
from .run import Facts, Records, Run, Timeline
from .table import Column, Table

__all__ = ["open", "Run", "Table", "Column", "Records", "Timeline", "Facts", "Error", "release"]


def open(path: Optional[Union[str, "os.PathLike[str]"]] = None, **options: Any) -> Run:
    """Opens a run, by default the newest ``*.hpct`` of the current directory; :class:`Run` says what the options are."""
    return Run(path, **options)


def release() -> str:
    """The version of libhpct."""
    from ._library import library

    return library().hpct_release().decode()
