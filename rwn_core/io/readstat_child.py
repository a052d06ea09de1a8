"""Parse a file of Stata, SPSS or SAS in a process of its own; run as a script.

The library is written in C, and a broken file can end the process that reads it. This one ends
alone. It imports nothing of the program, reads the file from its standard input, and writes what
the file holds to its standard output: a line of JSON, and the columns as an Arrow stream.
"""

from __future__ import annotations

import contextlib
import io
import json
import sys
import warnings
from typing import Any

_MEMORY = 8_000_000_000  # bytes of address space, libraries included


def main() -> None:
    """Read, parse, write; the arguments are the kind of file and the limits."""
    with contextlib.suppress(ImportError, ValueError, OSError):  # no such limits on this system
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    warnings.simplefilter("ignore")
    import pyreadstat

    kind, missing, cells, size = sys.argv[1], sys.argv[2] == "1", int(sys.argv[3]), int(sys.argv[4])
    parse = getattr(pyreadstat, f"read_{kind}")
    content = io.BytesIO(sys.stdin.buffer.read())
    _, meta = parse(content, metadataonly=True)
    rows = meta.number_rows or 0
    width = sum(meta.variable_storage_width.values())
    if rows * max(len(meta.column_names), 1) > cells or rows * width > size:
        _write(meta, None)
        return
    content.seek(0)
    options = {"user_missing": True} if missing else {}
    frame, meta = parse(content, dates_as_pandas_datetime=True, **options)
    _write(meta, frame)


def _write(meta: Any, frame: Any) -> None:
    """The description on the first line, then the columns by their positions."""
    import pyarrow as pa

    described = {
        "names": list(meta.column_names),
        "records": meta.number_rows,
        "read": None if frame is None else len(frame),
        "labels": meta.column_names_to_labels,
        # codes are numbers or texts, which the names of JSON are not
        "value_labels": {
            name: [[_plain(code), str(label)] for code, label in pairs.items()]
            for name, pairs in meta.variable_value_labels.items()
        },
        "missing_ranges": {
            name: [[_plain(part["lo"]), _plain(part["hi"])] for part in parts]
            for name, parts in meta.missing_ranges.items()
        },
        "missing_letters": {k: list(v) for k, v in meta.missing_user_values.items()},
        "measures": meta.variable_measure,
        "types": meta.readstat_variable_types,
        "formats": meta.original_variable_types,
        "widths": meta.variable_storage_width,
    }
    out = sys.stdout.buffer
    out.write(json.dumps(described).encode() + b"\n")
    if frame is None:
        return
    arrays: dict[str, Any] = {}
    for position, name in enumerate(meta.column_names):
        values = frame.iloc[:, position]
        text = meta.readstat_variable_types.get(name) == "string"
        if values.dtype == object and not text and name in meta.missing_user_values:
            letters = [value if isinstance(value, str) else None for value in values]
            arrays[f"{position} letters"] = pa.array(letters, pa.string())
            values = [None if isinstance(v, str) or v is None else float(v) for v in values]
            arrays[str(position)] = pa.array(values, pa.float64(), from_pandas=True)
        elif values.dtype == object and not text:
            days = [None if value != value else value for value in values]
            arrays[str(position)] = pa.array(days, from_pandas=True)
        elif text:
            texts = [value if isinstance(value, str) else None for value in values]
            arrays[str(position)] = pa.array(texts, pa.large_string())
        else:
            arrays[str(position)] = pa.Array.from_pandas(values)
    table = pa.table(arrays)
    with pa.ipc.new_stream(out, table.schema) as writer:
        writer.write_table(table)


def _plain(code: Any) -> Any:
    return code if isinstance(code, str | int) else float(code)


if __name__ == "__main__":
    main()
