"""Files and long texts are read in a process of their own, with limits on memory and time.

A broken or hostile file may end the process that reads it, or take it over. So the table comes
back as plain text and Arrow columns, and nothing that the process answers is unpickled.

Reads files: nowhere else does a file become microdata; what is not understood is refused.

Reads a released file as its original is described.
"""

from __future__ import annotations

import faulthandler
import json
import math
import os
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple, TypeVar, cast

import pyarrow as pa

from rwn_core.data.file_layout import FileLayout
from rwn_core.data.microdata import Microdata
from rwn_core.data.plain import (
    LETTERS_AT_ONCE,
    LONGEST_DOCUMENT,
    LONGEST_PARSING_S,
    PARSING_MEMORY,
    check_letters,
)
from rwn_core.data.schema import Schema
from rwn_core.data.variable import checks_form
from rwn_core.errors import InputError, RWNError, SchemaError
from rwn_core.io import format_of_name
from rwn_core.io.guessed_layout import GuessedLayout
from rwn_core.io.limits import LONGEST_READING, MOST_MEMORY, in_file, shown
from rwn_core.io.packed import unpacked_file
from rwn_core.io.parse import file_content, parse, table_content
from rwn_core.io.tried_layout import proposal, proposal_words, tried
from rwn_core.parallel.memory import budget_bytes, limit_memory
from rwn_core.parallel.pool import CANCELLED, Job, Pool, Stopped, Task
from rwn_core.parallel.processes import Handle
from rwn_core.parallel.threads import Progress, work

_REFUSALS: dict[str, type[RWNError]] = {"InputError": InputError, "SchemaError": SchemaError}
_PROPOSED = "proposed layout"  # of a table that was read
_ALIGNED = 64  # bytes to which Arrow aligns its columns
Parsed = TypeVar("Parsed")


@dataclass(frozen=True, slots=True, kw_only=True)
class FileToRead:
    """A file to read, with its schema and layout."""

    name: str  # its ending says the format
    path: Path | None = None  # where it lies; None for an upload
    content: bytes = b""  # an upload
    schema: str = ""  # as TOML; empty for none
    # the fields of a FileLayout that are given; empty for the schema's own, or the usual one
    layout: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Answer:
    """The outcome of a reading: a table or a refusal, and the layout that was seen."""

    data: Microdata | None = None
    refusal: RWNError | None = None
    seen: GuessedLayout | None = None


class FileReading(Job):
    """The reading of one file, under way, finished or cancelled.

    Parameters
    ----------
    file : FileToRead
    memory : float, optional
        Bytes that it may take; 8 GB, or what `RWN_MEMORY` allows where that is less.
    seconds : float
        That it may take.

    Raises
    ------
    RWNError
        The system has no room for another process.
    """

    def __init__(
        self, file: FileToRead, *, memory: float | None = None, seconds: float = LONGEST_READING
    ) -> None:
        self.name = file.name
        self._memory = min(budget_bytes(), MOST_MEMORY) if memory is None else memory
        self._seconds = seconds
        self._started = time.monotonic()
        self._task = Task(file)
        self._begin_in(Pool(_limited, _read, self._memory, seconds, workers=1, plain=True))
        self._answer: _Answer | None = None

    @property
    def words(self) -> str:
        """Return a short description of the work."""
        return f"Reading {shown(self.name)}"

    def wait(self, seconds: float | None = None) -> bool:
        """True if it has ended, after waiting for its end or for some seconds."""
        end = time.monotonic() + (math.inf if seconds is None else seconds)
        while not self._task.done() and time.monotonic() < end:
            time.sleep(0.01)
        return self._task.done()

    def cancel(self) -> None:
        """Stop at once; nothing of the process is left, and nothing of the table here."""
        super().cancel()
        # a button on a page that could cancel it may hold it for long
        self._task = Task(b"")
        self._answer = None
        self._task.stop(CANCELLED)

    def table(self) -> Microdata:
        """Return the table, once it has ended; raise the file's refusal, or why there is none."""
        answer = self._ended()
        if answer.refusal is not None:
            raise answer.refusal
        assert answer.data is not None
        return answer.data

    @property
    def seen(self) -> GuessedLayout | None:
        """Return the guessed layout after the end; None if the format leaves no choice."""
        return self._ended().seen

    def _ended(self) -> _Answer:
        if self._answer is None:
            try:
                self._answer = _taken(self._task.result())
            except Stopped as stopped:
                self._answer = _Answer(refusal=self._why(stopped))
        return self._answer

    def _why(self, stopped: Stopped) -> RWNError:
        if str(stopped) == CANCELLED:
            return stopped
        file = shown(self.name)
        if time.monotonic() - self._started > self._seconds:
            return InputError(
                f"{file} takes more than {self._seconds:g} seconds to read; read fewer columns or "
                "records, or use the commands for large tables."
            )
        number = f" ({stopped.fault})" if stopped.fault else ""
        return InputError(
            f"{file} is damaged, or needs more than {self._memory / 1e9:.2g} GB to be read"
            f"{number}; get or save the file again, or read fewer columns or records."
        )


def parse_text(
    parse: Callable[[str], Parsed], text: str, what: str, *, seconds: float = LONGEST_PARSING_S
) -> Parsed:
    """Parse a text from outside: here if it is short, else in a process with limits."""
    if len(text) <= LETTERS_AT_ONCE:
        return parse(text)
    check_letters(text, LONGEST_DOCUMENT, f"The {what}")
    pool = Pool(_limited, _parse, min(budget_bytes(), PARSING_MEMORY), seconds, workers=1)
    task = pool.submit(_Parsing(parse, text))
    pool.close()
    try:
        return cast(Parsed, task.result())
    except Stopped:
        raise InputError(
            f"The {what} takes more than {seconds:g} seconds or {PARSING_MEMORY / 1e9:g} GB to "
            "read; shorten it."
        ) from None
    finally:
        pool.cancel()


class _Parsing(NamedTuple):
    """A text, and what parses it in another process."""

    parse: Callable[[str], Any]
    text: str


def _parse(parsing: _Parsing, progress: Progress) -> Any:
    try:
        return parsing.parse(parsing.text)
    except MemoryError:
        raise InputError("The text needs too much memory; shorten it.") from None


def _limited(work: Handle, memory: float, seconds: float) -> Handle:
    """Limit memory and time of this process, after its libraries are loaded."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for terminal in (1, 2):  # libraries warn with the words of a cell
        os.dup2(nowhere, terminal)
    # a thread of C, which a library that never lets go of the interpreter does not stop
    faulthandler.dump_traceback_later(seconds, exit=True, file=nowhere)
    pa.set_memory_pool(pa.system_memory_pool())  # the others reserve addresses by the gigabyte
    limit_memory(memory)
    return work


def _read(file: FileToRead, progress: Progress) -> bytes | bytearray:
    """Read a file; what is answered is plain."""
    content = file.content
    outcome = None
    name = file.name
    try:
        if file.path is not None:
            content = table_content(file.path)
        name, content = unpacked_file(name, content)
        schema = Schema.from_toml(file.schema) if file.schema else None
        layout = None if file.layout is None else FileLayout.from_dict(file.layout)
        with work(progress=progress):
            outcome = parse(name, content, schema, layout)
        seen = _seen(name, content)
        # the usual layout may be stated, too: then all rows are records
        better = None
        if seen is not None and file.layout != {}:
            better = proposal(name, content, schema, seen, outcome)
        return _answer(outcome, seen, better)
    except (InputError, SchemaError) as refusal:
        seen = _seen(name, content)
        if seen is not None and seen.layout.changed() and file.layout is None:
            seen = tried(name, content, schema, seen)
        return _answer(refusal, seen)
    except MemoryError:
        del outcome
        refused = InputError(
            f"{shown(file.name)} needs more memory than the reading of a file may take; read fewer "
            "columns or records, or use the commands for large tables."
        )
        return _answer(refused, None)


def _answer(
    outcome: Microdata | RWNError, found: GuessedLayout | None, better: FileLayout | None = None
) -> bytes | bytearray:
    """A line of JSON, and the columns as an Arrow stream after it."""
    given: dict[str, Any] = {"seen": None if found is None else found.plain()}
    given["proposed"] = None if better is None else better.changed()
    if isinstance(outcome, RWNError):
        given |= {"refusal": type(outcome).__name__, "text": str(outcome)}
        return json.dumps(given).encode() + b"\n"
    said = [] if better is None else proposal_words(outcome, better)
    given |= {"schema": outcome.schema.to_dict(), "notices": [*outcome.notices, *said]}
    # The line and the columns, written once into memory of the right size.
    line = json.dumps(given).encode()
    table = pa.Table.from_pandas(outcome.frame, preserve_index=False)
    size = pa.MockOutputStream()
    _write(table, size)
    first = line + b" " * (-(len(line) + 1) % _ALIGNED) + b"\n"
    packed = bytearray(len(first) + size.size())
    packed[: len(first)] = first
    _write(table, pa.FixedSizeBufferWriter(pa.py_buffer(memoryview(packed)[len(first) :])))
    return packed


def _seen(name: str, content: bytes) -> GuessedLayout | None:
    """Guess the layout of a file, if its format leaves a choice."""
    form = format_of_name(name)
    try:
        return form.sees(content) if form is not None and form.sees is not None else None
    except MemoryError:
        return None


def _write(table: pa.Table, where: pa.NativeFile) -> None:
    with pa.ipc.new_stream(where, table.schema) as writer:
        writer.write_table(table)


def _taken(answer: bytes) -> _Answer:
    end = answer.index(b"\n") + 1
    given = json.loads(answer[:end])
    seen = given["seen"] and GuessedLayout.from_dict(given["seen"])
    if "refusal" in given:
        refusal = _REFUSALS.get(given["refusal"], InputError)(given["text"])
        return _Answer(refusal=refusal, seen=seen)
    frame = pa.ipc.open_stream(pa.py_buffer(answer)[end:]).read_all().to_pandas()
    data = Microdata(frame, Schema.from_dict(given["schema"]), tuple(given["notices"]))
    proposed = given["proposed"]
    if proposed is not None:
        better = FileLayout.from_dict(proposed)
        data.cached(_PROPOSED, lambda: better)
    return _Answer(data=data, seen=seen)


def proposed_layout(data: Microdata) -> FileLayout | None:
    """Return the layout in which the file of a table, as it was read, reads better; or None."""
    return data.cached(_PROPOSED, lambda: None)


@checks_form
def read(
    path: str | os.PathLike[str],
    schema: Schema | str | os.PathLike[str] | None = None,
    layout: FileLayout | None = None,
) -> Microdata:
    """Read a table from a file, in a separate process with limits on memory and time.

    Parameters
    ----------
    path : path
        Its ending says the format: .csv (UTF-8, separated by commas, one header line), .parquet,
        or that of another one in `rwn_core.io.FORMATS`.
    schema : Schema or path of a TOML file, optional
        What each column is; guessed from the values when left out. Python never picks up a file
        by itself; the command line and the browser find survey.csv.toml of survey.csv.
    layout : FileLayout, optional
        How the table lies in the file: its encoding, separator, decimal mark, sheet, the lines
        around it. The schema's own when left out, and else the usual one of the format.

    Returns
    -------
    Microdata
        Its `notices` say what was decided about doubtful values.

    Raises
    ------
    InputError
        The file cannot be read without guessing; the message is one sentence with the position
        and the remedy, and never holds a cell's value.
    SchemaError
        The schema does not describe this table.

    Examples
    --------
    >>> from rwn_core.io.demo import demo_path
    >>> read(demo_path("pima"))
    Microdata(768 records x 9 variables)
    """
    return _ended(begin(path, schema_from(schema), layout))


@checks_form
def read_bytes(
    name: str,
    content: bytes,
    schema: Schema | str | os.PathLike[str] | None = None,
    layout: FileLayout | None = None,
) -> Microdata:
    """Read a table from an upload, in a separate process.

    Parameters
    ----------
    name : str
        The file's name; only its ending decides anything.
    content : bytes
        The whole file.
    schema : Schema or path of a TOML file, optional
    layout : FileLayout, optional

    Returns
    -------
    Microdata

    Raises
    ------
    InputError
        As `read` does.
    SchemaError
        As `read` does.
    """
    return _ended(begin((name, content), schema_from(schema), layout))


def begin(
    source: str | os.PathLike[str] | tuple[str, bytes],
    schema: Schema | str | None = None,
    layout: FileLayout | None = None,
) -> FileReading:
    """Begin to read a file, or an upload of this name and content, without waiting for it.

    A schema's TOML text is parsed over there.
    """
    name, content = source if isinstance(source, tuple) else (Path(source).name, b"")
    path = None if isinstance(source, tuple) else Path(source).absolute()
    described = schema.to_toml() if isinstance(schema, Schema) else schema or ""
    given = None if layout is None else layout.changed()
    file = FileToRead(name=name, path=path, content=content, schema=described, layout=given)
    return FileReading(file)


def _ended(reading: FileReading) -> Microdata:
    try:
        reading.wait()
        return reading.table()
    finally:
        reading.cancel()  # also where Ctrl-C ended the waiting


def saved_schema(path: str | os.PathLike[str]) -> Path:
    """The place of a description that is saved with a file: survey.csv has survey.csv.toml."""
    return Path(f"{os.fspath(path)}.toml")


def schema_from(schema: Schema | str | os.PathLike[str] | None) -> Schema | None:
    """The schema of a TOML file, or the one that is given."""
    if schema is None or isinstance(schema, Schema):
        return schema
    path = Path(schema)
    try:
        text = file_content(path, LONGEST_DOCUMENT).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise SchemaError(f"{shown(path.name)} is not UTF-8 text; save it as UTF-8.") from None
    with in_file(shown(path.name)):
        return Schema.from_toml(text)


def read_released(source: Path | tuple[str, bytes], schema: Schema | None) -> Microdata:
    """Read a release with the marks of the original's file, or else with the usual ones."""
    name = source.name if isinstance(source, Path) else source[0]
    form = format_of_name(name)
    refusal = None
    ways = [None if schema is None else replace(schema, file=None)]
    if schema is not None and schema.file is not None and form is not None:
        marks = {name: v for name, v in schema.file.changed().items() if name in form.marks}
        ways.insert(0, replace(schema, file=FileLayout.from_dict(marks)))
    for by in ways:
        try:
            return _ended(begin(source, by))
        except (InputError, SchemaError) as error:
            refusal = refusal or error  # the first one says what is wrong with this file
    assert refusal is not None
    raise refusal
