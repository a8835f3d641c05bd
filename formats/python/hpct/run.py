# SPDX-License-Identifier: Apache-2.0
"""A run, and the questions to it."""
import ctypes
import os
import shutil
import subprocess
from typing import TYPE_CHECKING, Any, Iterable, Iterator, NamedTuple, Optional, Sequence, Tuple, Union

from . import _library as lib
from .table import Table, table_of

if TYPE_CHECKING:
    import pandas

Moment = Union[int, float, str, None]
Time = Union[str, Tuple[Moment, Moment], slice, None]
Words = Union[str, Iterable[str], None]
Answer = Union[Table, "pandas.DataFrame"]


class Facts(NamedTuple):
    """What is known of a run as a whole; moments are ns from its origin."""

    path: str
    origin_ns: int  #: CLOCK_MONOTONIC of moment 0
    wall_ns: Optional[int]  #: the wall clock's ns since 1970 of it
    begin_ns: int
    end_ns: int
    bytes: int
    streams: int
    contexts: int
    is_live: bool  #: it is being recorded


def _moment(moment: Moment) -> str:
    if moment is None:
        return ""
    return moment if isinstance(moment, str) else f"{int(moment)}ns"


def _time(time: Time) -> Optional[str]:
    """As ``--time`` has it: whole numbers are ns from the run's origin."""
    if time is None or isinstance(time, str):
        return time
    begin, end = (time.start, time.stop) if isinstance(time, slice) else time
    return f"{_moment(begin)}..{_moment(end)}"


def _words(words: Words, between: str = ",") -> Optional[str]:
    return words if words is None or isinstance(words, str) else between.join(words)


def _is_formula(word: str) -> bool:
    """As ``--metric`` has it: it names columns by $ or @, or is a number alone."""
    name, sign, text = word.partition("=")
    if not sign:
        return False
    if "$" in word or "@" in word:
        return True
    try:
        return bool(name) and float(text) is not None
    except ValueError:
        return False


def _metrics(words: Words) -> Optional[str]:
    """Names with commas, and formulas among them with semicolons."""
    if words is None or isinstance(words, str):
        return words
    words = list(words)
    return (";" if any(map(_is_formula, words)) else ",").join(words)


class _Select:
    """A selector of the library, for one question."""

    def __init__(self, columns: Words = None, **options: Any) -> None:
        self.handle = lib.give("select_new")
        for name, value in options.items():
            if value is not None:
                lib.call("select_set", self.handle, name.encode(), lib.text(str(value)))
        if columns is not None:
            lib.call("select_columns", self.handle, lib.text(_words(columns)))

    def __del__(self) -> None:
        if getattr(self, "handle", None):
            lib.library().hpct_select_free(self.handle)


class _Rows:
    """Rows of the library, freed once nobody asks for more."""

    def __init__(self, handle: ctypes.c_void_p) -> None:
        self.handle: Optional[ctypes.c_void_p] = handle

    def next(self, most: int) -> Optional[Table]:
        batch = ctypes.c_void_p()
        if not lib.call("next", self.handle, most, ctypes.byref(batch)):
            return None
        return table_of(batch)

    def take(self) -> ctypes.c_void_p:
        """The handle, which somebody else owns from now on."""
        handle, self.handle = self.handle, None
        assert handle is not None
        return handle

    def __del__(self) -> None:
        if self.handle:
            lib.library().hpct_rows_free(self.handle)


class Records:
    """Records in batches, for what does not fit into memory: iteration gives tables; Arrow's readers take it whole."""

    def __init__(self, run: "Run", track: str, rows: int, select: dict) -> None:
        self._run, self._track, self._rows, self._select = run, track, rows, select

    def _open(self) -> _Rows:
        return self._run._ask("records", self._select, self._track)

    def __iter__(self) -> Iterator[Table]:
        rows = self._open()
        while True:
            table = rows.next(self._rows)
            if table is None:
                return
            yield table

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """Arrow's C stream interface: batch by batch, without a copy."""
        from ._arrow import export_rows

        return export_rows(self._open().take(), self._rows)


class Run:
    """A recorded run, or one that is being recorded: each question sees what has been recorded until then.

    Questions take the selector of all readers as keywords:

    * ``time``: ``"1.5s..2s"``, ``"@MARK"``, ``"-10s.."``, or a pair of moments, whose whole numbers are ns from the run's
      origin;
    * ``streams``: ``"kind=gpu & rank=0-3"``; ``context``: a glob of call paths, ``"main;*;solve*"``;
    * ``op``, ``metric``: names or globs, one or several; ``min``: the shortest duration; ``depth``; ``top``;
    * ``metric`` takes formulas, too, each of which adds a column: ``["CPUTIME", "waste = $BLOCKED * 4 - $CPUTIME"]``, or
      the name of one that is kept (hpct(1), "Formulas").

    Answers are pandas DataFrames if pandas is installed, else (or with ``frames=False``) :class:`Table`.
    """

    def __init__(self, path: Optional[Union[str, "os.PathLike[str]"]] = None, *, frames: Optional[bool] = None,
                 debug_paths: Sequence[str] = (), python: Optional[str] = None, debuginfod: bool = False,
                 runtime_frames: bool = False, no_rollups: bool = False, no_cache: bool = False, jobs: int = 0,
                 mem_bytes: int = 0) -> None:
        options = lib.OpenOptions(ctypes.sizeof(lib.OpenOptions), lib.text(":".join(debug_paths)) or None,
                                  lib.text(python), debuginfod, runtime_frames, no_rollups, no_cache, jobs, mem_bytes)
        lib.interrupt_options(options)
        self._handle: Optional[ctypes.c_void_p] = None
        handle = ctypes.c_void_p()
        lib.call("open", ctypes.byref(handle), lib.text(os.fspath(path)) if path is not None else None,
                 ctypes.byref(options))
        self._handle = handle
        self._frames = frames

    # ---- its life ----

    def close(self) -> None:
        """Lets go of the run; answers stay."""
        handle, self._handle = self._handle, None
        if handle:
            lib.library().hpct_close(handle)

    def __enter__(self) -> "Run":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def __del__(self) -> None:
        if getattr(self, "_handle", None):
            self.close()

    def __repr__(self) -> str:
        return f"<hpct run {self.facts.path}>" if self._handle else "<hpct run, closed>"

    @property
    def _run(self) -> ctypes.c_void_p:
        if not self._handle:
            raise lib.Error("the run is closed; open it again", 2)
        return self._handle

    @property
    def facts(self) -> Facts:
        facts = lib.Facts(ctypes.sizeof(lib.Facts))
        lib.call("facts", self._run, ctypes.byref(facts))
        return Facts(os.fsdecode(facts.path), facts.origin_ns, facts.wall_ns or None, facts.begin_ns, facts.end_ns,
                     facts.bytes, facts.stream_count, facts.context_count, bool(facts.is_live))

    @property
    def path(self) -> str:
        return self.facts.path

    @property
    def is_live(self) -> bool:
        """It is being recorded."""
        return self.facts.is_live

    def renew(self) -> bool:
        """Moves to what has been recorded since, as each question does; True: there is more."""
        changed = ctypes.c_int()
        lib.call("renew", self._run, ctypes.byref(changed))
        return bool(changed.value)

    # ---- asking ----

    def _ask(self, question: str, select: dict, *words: Optional[str]) -> _Rows:
        lib.call("renew", self._run, None)
        selector = _Select(**select) if any(v is not None for v in select.values()) else None
        return _Rows(lib.give(question, self._run, selector.handle if selector else None,
                              *(lib.text(word) for word in words)))

    def _shaped(self, table: Table) -> Any:
        if self._frames is False:
            return table
        try:
            return table.to_pandas()
        except ImportError:
            if self._frames:
                raise
            return table

    def _answer(self, rows: _Rows) -> Any:
        table = rows.next(0)
        assert table is not None  # the first is there, if without rows
        return self._shaped(table)

    # ---- questions ----

    def stats(self, *, by: str = "function", time: Time = None, streams: Optional[str] = None, context: Words = None,
              op: Words = None, metric: Words = None, depth: Optional[int] = None, top: Optional[int] = None) -> Answer:
        """Where the time of a window went, by key, as ``hpct-stats`` says it: key time_ns percent records state context."""
        return self._answer(self._ask("stats", dict(by=by, time=_time(time), streams=streams, context=_words(context),
                                                    op=_words(op), metric=_metrics(metric), depth=depth, top=top)))

    def profile(self, *, view: str = "top-down", time: Time = None, streams: Optional[str] = None,
                context: Words = None, metric: Words = None, depth: Optional[int] = None,
                top: Optional[int] = None) -> Answer:
        """Weights of a window by call path, as ``hpct-profile`` has them; ``view``: top-down, bottom-up, flat.

        Columns: depth id parent kind name module file line, then METRIC:incl and METRIC:excl for each metric.
        """
        return self._answer(self._ask("profile", dict(time=_time(time), streams=streams, context=_words(context),
                                                      metric=_metrics(metric), depth=depth, top=top), view))

    def blame(self, of: str = "gpu-idle", *, by: str = "function", time: Time = None, streams: Optional[str] = None,
              context: Words = None, metric: Words = None, depth: Optional[int] = None,
              top: Optional[int] = None) -> Answer:
        """Who is to blame, as ``hpct-blame --of`` says it: key blame_ns percent context."""
        return self._answer(self._ask("blame", dict(by=by, time=_time(time), streams=streams, context=_words(context),
                                                    metric=_metrics(metric), depth=depth, top=top), of))

    def gaps(self, *, by: str = "function", time: Time = None, streams: Optional[str] = None, context: Words = None,
             min: Optional[str] = None, metric: Words = None, top: Optional[int] = None) -> Answer:
        """Gaps in which GPUs are idle, largest first, each with its cause, as ``hpct-blame --gaps`` lists them."""
        return self._answer(self._ask("gaps", dict(by=by, time=_time(time), streams=streams, context=_words(context),
                                                   min=min, metric=_metrics(metric), top=top)))

    def late(self, *, time: Time = None, streams: Optional[str] = None, metric: Words = None,
             top: Optional[int] = None) -> Answer:
        """Who comes last and delays the others, as ``hpct-blame --late`` says it."""
        return self._answer(self._ask("late", dict(time=_time(time), streams=streams, metric=_metrics(metric), top=top)))

    def slice(self, track: str = "samples", *, columns: Words = None, time: Time = None,
              streams: Optional[str] = None, context: Words = None, op: Words = None, metric: Words = None,
              min: Optional[str] = None, depth: Optional[int] = None) -> Answer:
        """The records of a track, ``samples``, ``spans`` or ``values``: those of ``hpct-slice``, stream by stream.

        ``columns`` names those that are wanted; the others cost nothing.
        """
        return self._answer(self._ask("records", dict(
            columns=columns, time=_time(time), streams=streams, context=_words(context), op=_words(op),
            metric=_metrics(metric), min=min, depth=depth), track))

    def records(self, track: str = "samples", *, rows: int = 65536, columns: Words = None, time: Time = None,
                streams: Optional[str] = None, context: Words = None, op: Words = None, metric: Words = None,
                min: Optional[str] = None, depth: Optional[int] = None) -> Records:
        """The same in tables of about so many rows each."""
        return Records(self, track, rows, dict(
            columns=columns, time=_time(time), streams=streams, context=_words(context), op=_words(op),
            metric=_metrics(metric), min=min, depth=depth))

    def streams(self, streams: Optional[str] = None) -> Answer:
        """The lines of the timeline, as ``hpct-info --streams`` lists them; all, or those of an expression."""
        return self._answer(self._ask("streams", dict(streams=streams)))

    def contexts(self, columns: Words = None, *, context: Words = None, time: Time = None,
                 streams: Optional[str] = None) -> Answer:
        """Call paths: context parent depth function module file line path loop. Deep ones have long paths: choose.

        All, or those of a pattern, whose costs (``"*@cost>5%"``) are those of a window and of streams.
        """
        return self._answer(self._ask("contexts", dict(columns=columns, context=_words(context), time=_time(time),
                                                       streams=streams)))

    def modules(self) -> Answer:
        """Binaries, as ``hpct-info --modules`` lists them."""
        return self._answer(self._ask("modules", {}))

    def metrics(self) -> Answer:
        """What ``metric`` may name."""
        return self._answer(self._ask("metrics", {}))

    def marks(self) -> Answer:
        """Marks and bookmarks: name begin_ns end_ns stream until_ns."""
        return self._answer(self._ask("marks", {}))

    def sql(self, query: str) -> Answer:
        """The answer of a statement that reads, as ``hpct-sql`` gives it."""
        lib.call("renew", self._run, None)
        return self._answer(_Rows(lib.give("sql", self._run, lib.text(query))))

    # ---- a picture ----

    def timeline(self, *, time: Time = None, streams: Optional[str] = None, depth: Optional[int] = None,
                 columns: int = 120, rows: int = 32) -> "Timeline":
        """The screen of ``hpct-view``, as a picture that notebooks show."""
        return Timeline(self.path, columns, rows, dict(time=_time(time), streams=streams, depth=depth))


class Timeline:
    """A screen of the timeline, drawn by hpct-view; ``svg`` is its text."""

    def __init__(self, path: str, columns: int, rows: int, select: dict) -> None:
        self._words = [_program("hpct-view"), path, "--print", f"{columns}x{rows}", "--format", "svg"]
        for name, value in select.items():
            if value is not None:
                self._words += ["--" + name, str(value)]
        self._svg: Optional[str] = None

    @property
    def svg(self) -> str:
        if self._svg is None:
            done = subprocess.run(self._words, stdin=subprocess.DEVNULL, capture_output=True, check=False)
            if done.returncode:
                said = done.stderr.decode("utf8", "replace").strip()
                raise lib.Error(said.split(": ", 1)[-1] or f"hpct-view ended with {done.returncode}", done.returncode)
            self._svg = done.stdout.decode("utf8")
        return self._svg

    def _repr_svg_(self) -> str:
        return self.svg

    def save(self, path: Union[str, "os.PathLike[str]"]) -> None:
        """Writes the picture into a file, which must not exist."""
        with open(path, "x", encoding="utf8") as file:
            file.write(self.svg)


def _program(name: str) -> str:
    """Beside the library, else on PATH."""
    beside = lib.place()
    for above in ("../bin", "../../bin"):
        path = os.path.join(os.path.dirname(beside), above, name) if beside else ""
        if os.path.exists(path):
            return path
    found = shutil.which(name)
    if not found:
        raise lib.Error(f"{name}, which draws timelines, is not on PATH: install hpct", 5)
    return found
