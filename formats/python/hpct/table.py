# SPDX-License-Identifier: Apache-2.0
"""Answers: named columns over the library's own memory, for Python, NumPy, pandas and whatever reads Arrow."""
import ctypes
from typing import TYPE_CHECKING, Any, Dict, Iterator, List, Optional, Sequence, Tuple, Union

from . import _library as lib

if TYPE_CHECKING:
    import pandas

INT64, UINT64, UINT32, REAL, TEXT, CHOICE = range(6)
_FORMATS = {INT64: ("q", 8, "int64"), UINT64: ("Q", 8, "uint64"), UINT32: ("I", 4, "uint32"), REAL: ("d", 8, "float64"),
            CHOICE: ("i", 4, "int32")}


def _numpy():
    try:
        import numpy
    except ImportError:
        return None
    return numpy


class _Batch:
    """Owns a batch of the library as long as anything looks into it."""

    def __init__(self, handle: ctypes.c_void_p) -> None:
        self.handle = handle
        self.free = lib.library().hpct_batch_free

    def __del__(self) -> None:
        self.free(self.handle)

    def buffer(self, address: Optional[int], size: int) -> Any:
        """Bytes of the batch, which lives as long as they."""
        if not size or not address:
            return b""
        view = (ctypes.c_ubyte * size).from_address(address)
        view._owner = self
        return view


class Column:
    """One column: a sequence of ``int``, ``float`` or ``str``, with ``None`` where there is no value."""

    def __init__(self, batch: _Batch, column: lib.Column, rows: int) -> None:
        self.name: str = (column.name or b"").decode()
        self._batch = batch
        self._column = column
        self._rows = rows
        self._texts: Optional[List[str]] = None

    def __len__(self) -> int:
        return self._rows

    def __repr__(self) -> str:
        return f"<column {self.name}: {self._rows} values>"

    @property
    def type(self) -> str:
        """``int64``, ``uint64``, ``uint32``, ``float64``, ``text``, or ``choice``: one of few texts."""
        kind = self._column.type
        return {TEXT: "text", CHOICE: "choice"}.get(kind) or _FORMATS[kind][2]

    @property
    def data(self) -> memoryview:
        """The numbers (of a choice its numbers among :attr:`choices`), without a copy; 0 where there is none."""
        letter, width, _ = _FORMATS[self._column.type]
        return memoryview(self._batch.buffer(self._column.data, self._rows * width)).cast("B").cast(letter)

    @property
    def choices(self) -> List[str]:
        """The texts among which a choice chooses."""
        if self._texts is None:
            self._texts = self._decode(self._column.choices.contents, self._column.choice_count)
        return self._texts

    def _decode(self, column: lib.Column, count: int) -> List[str]:
        offsets = column.offsets[: count + 1]
        data = bytes(self._batch.buffer(column.data, offsets[count]))
        if data.isascii():  # most are: characters are bytes
            whole = data.decode("ascii")
            return [whole[offsets[i]:offsets[i + 1]] for i in range(count)]
        return [data[offsets[i]:offsets[i + 1]].decode("utf8") for i in range(count)]

    def _has(self) -> Optional[bytes]:
        """A bit for each row that has a value; None: all have."""
        if not self._column.none_count:
            return None
        return bytes(self._batch.buffer(self._column.valid, (self._rows + 7) // 8))

    def _all(self) -> List[Any]:
        if self._column.type == TEXT:
            return self._decode(self._column, self._rows)
        if self._column.type == CHOICE:
            choices = self.choices
            return [choices[i] for i in self.data]
        return self.data.tolist()

    def to_list(self) -> List[Any]:
        """Python's values, with None where there is none."""
        values, has = self._all(), self._has()
        if has is not None:
            return [value if has[i // 8] >> i % 8 & 1 else None for i, value in enumerate(values)]
        return values

    def __iter__(self) -> Iterator[Any]:
        return iter(self.to_list())

    def __getitem__(self, row: Union[int, slice]) -> Any:
        return self.to_list()[row]

    def to_numpy(self) -> Any:
        """A NumPy array: of numbers without a copy (float64 with NaN where some have no value), of texts ``object``."""
        numpy = _numpy()
        if numpy is None:
            raise ImportError("NumPy is not installed; to_list() and data need nothing")
        if self._column.type == TEXT:
            return numpy.array(self.to_list(), dtype=object)
        if self._column.type == CHOICE:
            return numpy.array(self.choices, dtype=object)[numpy.frombuffer(self.data, "int32")]
        numbers = numpy.frombuffer(self.data, _FORMATS[self._column.type][2])
        mask = self.mask()
        if mask is None:
            return numbers
        numbers = numbers.astype("float64")
        numbers[mask] = numpy.nan
        return numbers

    __array__ = None  # NumPy takes to_numpy(), which says what it does

    def mask(self) -> Any:
        """NumPy's True where there is no value; None: all have one."""
        numpy, has = _numpy(), self._has()
        if has is None:
            return None
        return numpy.unpackbits(numpy.frombuffer(has, "uint8"), bitorder="little")[: self._rows] == 0

    def to_pandas(self) -> Any:
        """An array that pandas takes as a column, without a copy where it can."""
        import numpy
        import pandas

        if self._column.type == TEXT:
            return numpy.array(self.to_list(), dtype=object)
        numbers = numpy.frombuffer(self.data, _FORMATS[self._column.type][2])
        if self._column.type == CHOICE:
            return pandas.Categorical.from_codes(numbers, self.choices)
        mask = self.mask()
        if mask is None:
            return numbers
        if self._column.type == REAL:
            return pandas.arrays.FloatingArray(numbers, mask)
        return pandas.arrays.IntegerArray(numbers, mask)


class Table:
    """An answer: columns by name, in order. ``table["time_ns"]``, ``table.time_ns``, ``len(table)``, rows by iteration.

    ``to_pandas()`` gives a DataFrame; polars, duckdb and pyarrow read a table as it is (``__arrow_c_stream__``).
    """

    def __init__(self, columns: Sequence[Column], rows: int, batch: Optional[_Batch] = None) -> None:
        self.columns: Dict[str, Column] = {column.name: column for column in columns}
        self._rows = rows
        self._batch = batch

    @property
    def names(self) -> List[str]:
        return list(self.columns)

    def __len__(self) -> int:
        return self._rows

    def __getitem__(self, name: str) -> Column:
        return self.columns[name]

    def __getattr__(self, name: str) -> Column:
        try:
            return self.__dict__["columns"][name]
        except KeyError:
            raise AttributeError(f"there is no column {name!r}") from None

    def __iter__(self) -> Iterator[Tuple[Any, ...]]:
        return zip(*(column.to_list() for column in self.columns.values()))

    def to_dicts(self) -> List[Dict[str, Any]]:
        """A dict for each row."""
        return [dict(zip(self.columns, row)) for row in self]

    def to_pandas(self) -> "pandas.DataFrame":
        """A DataFrame; whole numbers without a copy, texts of records as categories, missing ones as ``<NA>``."""
        import pandas

        return pandas.DataFrame({name: column.to_pandas() for name, column in self.columns.items()}, copy=False)

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """Arrow's C stream interface, without a copy."""
        from ._arrow import export_batch

        return export_batch(self._batch)

    def __repr__(self) -> str:
        shown = [self.names] + [["" if v is None else str(v)[:60] for v in row] for _, row in zip(range(20), self)]
        widths = [max(map(len, column)) for column in zip(*shown)]
        lines = ["  ".join(v.ljust(w) for v, w in zip(row, widths)).rstrip() for row in shown]
        if self._rows > 20:
            lines.append(f"... {self._rows} rows")
        return "\n".join(lines)


def table_of(handle: ctypes.c_void_p) -> Table:
    """A batch of the library, which it owns from now on."""
    library, batch = lib.library(), _Batch(handle)
    rows = library.hpct_batch_rows(handle)
    columns = [Column(batch, library.hpct_column(handle, i).contents, rows)
               for i in range(library.hpct_batch_columns(handle))]
    met: Dict[str, int] = {}
    for column in columns:  # SQL may name two alike
        met[column.name] = met.get(column.name, 0) + 1
        if met[column.name] > 1:
            column.name += f"_{met[column.name]}"
    return Table(columns, rows, batch)
