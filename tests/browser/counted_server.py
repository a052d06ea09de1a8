"""The app's server, which writes a line for each ranking of neighbors that begins."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from rwn_ui.server.serve import main
from rwn_ui.state import change_table
from rwn_ui.state.results import PreparedTable

COUNTED = "RWN_TEST_RANKINGS"
"""Name of the file, in the environment."""
SMALLEST = 1_000  # records; demo tables have fewer


def counting() -> None:
    """Note every table that is ranked: in the background, or at once in a run of a page."""
    start, prepare = change_table.Task, PreparedTable.prepare.__func__

    def note(records: int) -> None:
        with Path(os.environ[COUNTED]).open("a") as file:
            file.write(f"{records}\n")

    def started(data: Any, *args: Any) -> Any:
        note(data.n)
        return start(data, *args)

    def prepared(cls: Any, data: Any, progress: Any = None, *args: Any, **more: Any) -> Any:
        if progress is None and data.n >= SMALLEST:
            note(data.n)
        return prepare(cls, data, progress, *args, **more)

    change_table.Task = started  # type: ignore[misc, assignment]
    PreparedTable.prepare = classmethod(prepared)  # type: ignore[method-assign]


def run() -> None:
    """Serve."""
    counting()
    main()
