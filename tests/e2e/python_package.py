# SPDX-License-Identifier: Apache-2.0
"""python_package.py TEST [ARGUMENT ...] - tests of the Python package, by name: plain, numpy, pandas, arrow, errors, threads,
timeline, live, removed, stopped, endless. Each ends with exit code 0 if all of it held."""
import ctypes
import os
import signal
import subprocess
import sys
import time

import hpct


def tsv(*words):
    """Names and rows of a reader."""
    lines = subprocess.run(words + ("--format", "tsv"), capture_output=True, check=True).stdout.decode().split("\n")[:-1]
    return lines[0].split("\t"), [line.split("\t") for line in lines[1:]]


def samples_of(path):
    names, rows = tsv("hpct-slice", path)
    return [dict(zip(names, row)) for row in rows if row[names.index("track")] == "samples"]


def plain():
    """Columns without NumPy: Python's values, memory of the library that outlives the run."""
    for name in ("numpy", "pandas"):
        sys.modules[name] = None  # as if it were not installed
    run = hpct.open("mixed.hpct")
    stats = run.stats(by="path")
    assert isinstance(stats, hpct.Table), stats
    names, rows = tsv("hpct-stats", "mixed.hpct", "--by", "path")
    assert names == stats.names[:4] and len(rows) == len(stats)
    assert [row[0] for row in rows] == stats["key"].to_list()
    assert [int(row[1]) for row in rows] == list(stats.time_ns)
    assert all(isinstance(row, tuple) for row in stats) and stats.to_dicts()[0]["key"] == rows[0][0]
    table = run.slice()
    want = samples_of("mixed.hpct")
    assert len(table) == len(want) > 1000
    assert sum(table["weight"].data) == sum(int(row["weight"]) for row in want)
    assert table["weight"].data.format == "Q" and table["begin_ns"].data.format == "q"
    assert sorted(table["path"]) == sorted(row["path"] for row in want)
    assert len(set(table["stream"].choices)) == len(table["stream"].choices)
    weights = table["weight"].data
    del table
    run.close()
    assert sum(weights) == sum(int(row["weight"]) for row in want), "memory outlives run and table"
    with hpct.open("mixed.hpct") as run:
        spans = run.slice("spans", columns=["begin_ns", "end_ns", "op"])
        assert spans.names == ["begin_ns", "end_ns", "op"]
        assert len(run.slice("spans", op=["kernel", "copy"])) == sum(op in ("kernel", "copy") for op in spans["op"])
        batches = list(run.records("samples", rows=1000, columns="weight"))
        assert len(batches) > 2 and sum(map(len, batches)) == len(want)
        assert run.stats(time=(0, 10**9)).to_dicts() == run.stats(time="0s..1s").to_dicts()
        assert run.stats(time=slice(None, "1s")).to_dicts() == run.stats(time="..1s").to_dicts()
        late = run.sql("SELECT 1 AS a, 2.5 AS b, 'text' AS c, NULL AS d UNION ALL SELECT 2, 3, 'x', NULL")
        assert late.to_dicts() == [dict(a=1, b=2.5, c="text", d=None), dict(a=2, b=3.0, c="x", d=None)], late
        assert len(run.sql("SELECT * FROM spans")) == len(spans)
        assert len(run.sql("SELECT 1 WHERE 0")) == 0
        nothing = run.slice("spans", op="io", columns="path op end_ns")
        assert len(nothing) == 0 and nothing.names == ["end_ns", "path", "op"] and list(nothing["path"]) == []
        assert [len(t) for t in run.records("spans", op="io")] == [0]
        tid = run.streams()["tid"]
        assert None in tid.to_list() and tid.type == "uint32", "GPU queues have none"
        assert repr(run.stats(top=3)).startswith("key ")
        assert run.contexts(columns="function context").names == ["context", "function"]


def numpy():
    """Arrays over the library's memory."""
    import numpy

    run = hpct.open("mixed.hpct", frames=False)
    table = run.slice()
    weights = table["weight"].to_numpy()
    want = samples_of("mixed.hpct")
    assert weights.dtype == numpy.uint64 and weights.sum() == sum(int(row["weight"]) for row in want)
    assert weights.ctypes.data == table["weight"]._column.data, "no copy"
    assert not weights.flags.owndata
    del table
    assert weights.sum() == sum(int(row["weight"]) for row in want), "the array keeps the memory"
    ends = run.streams()["tid"].to_numpy()
    assert ends.dtype == numpy.float64 and numpy.isnan(ends).any()


def pandas():
    """DataFrames, whose sums are the readers'."""
    import numpy
    import pandas

    run = hpct.open("mixed.hpct")
    frame = run.slice()
    assert isinstance(frame, pandas.DataFrame)
    want = samples_of("mixed.hpct")
    by_path = {}
    for row in want:
        by_path[row["path"]] = by_path.get(row["path"], 0) + int(row["weight"])
    got = frame.groupby("path", observed=True)["weight"].sum()
    assert dict(got) == by_path
    assert str(frame["path"].dtype) == "category" and frame["begin_ns"].dtype == numpy.int64
    assert frame["weight"].to_numpy().base is not None, "no copy"
    streams = run.streams()
    assert str(streams["tid"].dtype) == "UInt32" and streams["tid"].isna().any()
    assert not streams["begin_ns"].isna().any() and list(streams.columns)[0] == "stream"
    # Opened anew: of functions of one name the file that is met first is shown.
    profile = hpct.open("mixed.hpct").profile(view="flat", metric="CPUTIME")
    names, rows = tsv("hpct-profile", "mixed.hpct", "--view", "flat", "--metric", "CPUTIME")
    assert list(profile.columns) == names and list(profile["CPUTIME:excl"]) == [int(row[-1]) for row in rows]
    spans = run.slice("spans")
    assert spans["end_ns"].dtype in ("int64", "Int64") and spans["bytes"].isna().any()
    assert run.sql("SELECT count(*) AS n FROM spans")["n"][0] == len(spans)
    assert list(run.slice("spans", op="io").columns) == list(spans.columns)


# ---- Arrow's C interface, by itself ----

class Schema(ctypes.Structure):
    pass


class Array(ctypes.Structure):
    pass


class Stream(ctypes.Structure):
    pass


Schema._fields_ = [("format", ctypes.c_char_p), ("name", ctypes.c_char_p), ("metadata", ctypes.c_char_p),
                   ("flags", ctypes.c_int64), ("n_children", ctypes.c_int64),
                   ("children", ctypes.POINTER(ctypes.POINTER(Schema))), ("dictionary", ctypes.POINTER(Schema)),
                   ("release", ctypes.CFUNCTYPE(None, ctypes.POINTER(Schema))), ("private_data", ctypes.c_void_p)]
Array._fields_ = [("length", ctypes.c_int64), ("null_count", ctypes.c_int64), ("offset", ctypes.c_int64),
                  ("n_buffers", ctypes.c_int64), ("n_children", ctypes.c_int64),
                  ("buffers", ctypes.POINTER(ctypes.c_void_p)), ("children", ctypes.POINTER(ctypes.POINTER(Array))),
                  ("dictionary", ctypes.POINTER(Array)), ("release", ctypes.CFUNCTYPE(None, ctypes.POINTER(Array))),
                  ("private_data", ctypes.c_void_p)]
Stream._fields_ = [("get_schema", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(Stream), ctypes.POINTER(Schema))),
                   ("get_next", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(Stream), ctypes.POINTER(Array))),
                   ("get_last_error", ctypes.CFUNCTYPE(ctypes.c_char_p, ctypes.POINTER(Stream))),
                   ("release", ctypes.CFUNCTYPE(None, ctypes.POINTER(Stream))), ("private_data", ctypes.c_void_p)]
FORMATS = {b"l": "q", b"L": "Q", b"I": "I", b"g": "d", b"i": "i"}


def stream_in(capsule):
    """The struct of a capsule, moved out of it as its consumers do."""
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    address = pointer(capsule, b"arrow_array_stream")
    moved = Stream()
    ctypes.memmove(ctypes.byref(moved), address, ctypes.sizeof(Stream))
    ctypes.memset(address + Stream.release.offset, 0, ctypes.sizeof(ctypes.c_void_p))
    return moved


def bytes_at(address, size):
    return ctypes.string_at(address, size) if size else b""


def texts_of(array):
    assert array.n_buffers == 3
    offsets = memoryview(bytes_at(array.buffers[1], 8 * (array.length + 1))).cast("q")
    data = bytes_at(array.buffers[2], offsets[array.length])
    return [data[offsets[i]:offsets[i + 1]].decode() for i in range(array.length)]


def values_of(schema, array):
    """A column as Python's values."""
    if schema.dictionary:
        texts = texts_of(array.dictionary.contents)
        values = [texts[i] for i in memoryview(bytes_at(array.buffers[1], 4 * array.length)).cast("i")]
    elif schema.format == b"U":
        values = texts_of(array)
    else:
        letter = FORMATS[schema.format]
        width = 4 if letter in "iI" else 8
        values = memoryview(bytes_at(array.buffers[1], width * array.length)).cast(letter).tolist()
    if array.null_count:
        bits = bytes_at(array.buffers[0], (array.length + 7) // 8)
        values = [v if bits[i // 8] >> i % 8 & 1 else None for i, v in enumerate(values)]
        assert values.count(None) == array.null_count
    return values


def read_stream(capsule):
    """Columns by name, and how many batches there were."""
    stream, schema, batches = stream_in(capsule), Schema(), 0
    del capsule
    assert stream.get_schema(ctypes.byref(stream), ctypes.byref(schema)) == 0 and schema.format == b"+s"
    columns = [schema.children[i].contents for i in range(schema.n_children)]
    found = {column.name.decode(): [] for column in columns}
    while True:
        array = Array()
        assert stream.get_next(ctypes.byref(stream), ctypes.byref(array)) == 0
        if not array.release:
            break
        batches += 1
        assert array.n_children == len(columns) and array.n_buffers == 1
        # A child is moved away, and released behind its parent.
        kept = Array()
        ctypes.memmove(ctypes.byref(kept), array.children[0], ctypes.sizeof(Array))
        array.children[0].contents.release = type(array.release)()
        parts = [values_of(columns[i], kept if i == 0 else array.children[i].contents) for i in range(len(columns))]
        array.release(ctypes.byref(array))
        assert not array.release and values_of(columns[0], kept) == parts[0]
        kept.release(ctypes.byref(kept))
        for column, part in zip(columns, parts):
            found[column.name.decode()] += part
    schema.release(ctypes.byref(schema))
    stream.release(ctypes.byref(stream))
    assert not schema.release and not stream.release
    return found, batches


def arrow():
    """Tables and records through Arrow's C stream interface."""
    run = hpct.open("mixed.hpct", frames=False)
    for table in (run.streams(), run.slice("spans"), run.profile(), run.stats(by="path"), run.sql("SELECT NULL AS a, 'é'")):
        found, batches = read_stream(table.__arrow_c_stream__())
        assert batches == 1 and found == {name: table[name].to_list() for name in table.names}
    records = run.records("spans", rows=1000)
    capsule = records.__arrow_c_stream__()
    run.close()
    found, batches = read_stream(capsule)
    assert batches > 2 and found == {name: column.to_list() for name, column in
                                     hpct.open("mixed.hpct", frames=False).slice("spans").columns.items()}
    hpct.open("mixed.hpct", frames=False).slice().__arrow_c_stream__()  # that nobody takes


# ---- what goes wrong ----

def refuses(code, part, question):
    try:
        question()
    except hpct.Error as error:
        assert error.code == code and part in str(error) and "\n" not in str(error), (error.code, str(error))
        return
    raise AssertionError(f"no error: {part}")


def errors():
    run = hpct.open("mixed.hpct")
    refuses(4, "missing.hpct", lambda: hpct.open("missing.hpct"))
    refuses(2, "colour", lambda: run.stats(by="colour"))
    refuses(2, "sideways", lambda: run.profile(view="sideways"))
    refuses(2, "track", lambda: run.slice("nothing"))
    refuses(2, "no column 'colour'", lambda: run.slice(columns="colour"))
    refuses(2, "soon", lambda: run.stats(time="soon"))
    refuses(2, "python 'x'", lambda: hpct.open("mixed.hpct", python="x"))
    refuses(3, "nobody", lambda: run.stats(streams="name=nobody"))
    refuses(3, "", lambda: run.profile(time="3600s..3601s"))
    for query in ("DELETE FROM streams", "CREATE TABLE a(b)", "ATTACH 'file.db' AS a", "SELECT ?1", "SELEC", "",
                  "PRAGMA journal_mode = wal", "SELECT load_extension('x')"):
        refuses(2, "", lambda: run.sql(query))
    refuses(4, "missing.hpct", lambda: run.sql("SELECT * FROM stats WHERE run = 'missing.hpct'"))
    wide = run.sql("SELECT " + ", ".join(f"{i} AS c{i}" for i in range(2000)))
    assert wide.shape == (1, 2000) if hasattr(wide, "shape") else len(wide.names) == 2000
    refuses(2, "too many columns", lambda: run.sql("SELECT " + ", ".join(map(str, range(10000)))))
    run.close()
    refuses(2, "closed", lambda: run.stats())
    run.close()
    assert hpct.release().count(".") == 2


def threads():
    """Calls of several threads take turns: each has the answer that it has alone."""
    import threading

    run, other = hpct.open("mixed.hpct", frames=False), hpct.open("mixed.hpct", frames=False)
    questions = [lambda r: r.stats(by="path").to_dicts(), lambda r: list(r.slice("spans", columns="begin_ns op")),
                 lambda r: [len(t) for t in r.records("samples", rows=100, columns="weight")],
                 lambda r: r.sql("SELECT sum(weight) AS w FROM samples").to_dicts(), lambda r: list(r.streams())]
    want, wrong = [question(run) for question in questions], []

    def work(number):
        for i in range(12):
            question = (number + i) % len(questions)
            if questions[question](run if i % 2 else other) != want[question]:
                wrong.append(question)

    workers = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert not wrong, wrong


def timeline():
    run = hpct.open("mixed.hpct")
    svg = run.timeline(time="1s..2s", columns=100, rows=20)._repr_svg_()
    assert svg.startswith("<?xml") or svg.startswith("<svg"), svg[:80]
    assert svg.rstrip().endswith("</svg>")
    refuses(2, "soon", lambda: run.timeline(time="soon").svg)


def live(path, process):
    """Each question sees what was recorded until then; rows that are being read do not."""
    run = hpct.open(path, frames=False)
    assert run.is_live
    rows = iter(run.records("samples", rows=1, columns="weight"))
    seen = len(next(rows))
    before = len(run.slice(columns="weight"))
    while len(run.slice(columns="weight")) <= before:
        time.sleep(0.05)
        if not run.renew():
            rows = None  # they held the run where it was
    os.kill(int(process), signal.SIGTERM)
    while run.is_live:
        time.sleep(0.05)
        run.renew()
    assert seen > 0 and len(run.slice(columns="weight")) == len(hpct.open(path, frames=False).slice(columns="weight"))


def removed():
    """A run stays readable when its files are removed."""
    run = hpct.open("gone.hpct", frames=False)
    want = sum(run.slice()["weight"].data)
    subprocess.run(["rm", "-r", "gone.hpct"], check=True)
    assert sum(run.slice()["weight"].data) == want
    refuses(4, "gone.hpct", lambda: hpct.open("gone.hpct"))


def stopped():
    """A question that takes long ends when SIGINT has come; the next one is answered."""
    from hpct import _library

    run = hpct.open("long.hpct", frames=False, no_rollups=True)
    want = len(run.slice(columns="weight"))
    call, came = _library.call, b""

    def call_behind_signals(name, *arguments):
        if name in ("next", "stats", "profile", "sql"):
            _library._socket_write.send(came)
        return call(name, *arguments)

    _library.call = call_behind_signals
    for question in (lambda: run.slice(), lambda: run.stats(), lambda: run.profile(),
                     lambda: run.sql("SELECT sum(weight) FROM samples")):
        came = bytes([signal.SIGWINCH, signal.SIGINT, signal.SIGUSR1])
        refuses(6, "interrupted", question)
        came = bytes([signal.SIGWINCH])
        assert len(run.slice(columns="weight")) == want, "other signals stop nothing"


def endless():
    """SIGINT is KeyboardInterrupt, in a query that would never end."""
    run = hpct.open("mixed.hpct", frames=False)
    print("asking", flush=True)
    try:
        run.sql("WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c")
    except KeyboardInterrupt:
        assert len(run.streams()) == 6
        print("interrupted", flush=True)


if __name__ == "__main__":
    globals()[sys.argv[1]](*sys.argv[2:])
