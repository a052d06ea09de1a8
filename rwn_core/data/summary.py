"""Results in notebooks and terminals: a short summary as text and as HTML, and a chart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from html import escape
from importlib import import_module
from textwrap import shorten, wrap
from typing import TYPE_CHECKING, Any

from rwn_core.moved_names import refuse_moved

TITLE_LINES, TEXT_ROWS = 4, 4  # with a header and the count of further rows ten lines
HTML_ROWS = 40
TEXT_WIDTH, CELL_WIDTH = 100, 60  # characters


def _cell_in_html(text: str) -> str:
    """Return a cell of a table."""
    return f"<td style='text-align:left'>{escape(text)}</td>"


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """A result in short form: numbers and names, never a value of a record."""

    title: str  # one line
    columns: tuple[str, ...] = ()
    rows: Sequence[tuple[str, ...]] = ()  # a cell for each column

    def text(self) -> str:
        """Return at most ten lines."""
        lines = wrap(self.title, TEXT_WIDTH, max_lines=TITLE_LINES, placeholder=" ...")
        if not self.rows:
            return "\n".join(lines)
        short = partial(shorten, width=CELL_WIDTH, placeholder=" ...")
        some = (self.columns, *self.rows[:TEXT_ROWS])
        rows = [tuple(c if len(c) <= CELL_WIDTH else short(c) for c in row) for row in some]
        widths = [max(map(len, cells)) for cells in zip(*rows, strict=True)]
        lines += ["  ".join(map(str.ljust, cells, widths)).rstrip() for cells in rows]
        return "\n".join([*filter(None, lines), *self._further(TEXT_ROWS)])

    def html(self) -> str:
        """Return a table in the colors of the page around it."""
        head = "".join(f"<th style='text-align:left'>{escape(name)}</th>" for name in self.columns)
        cells = ("".join(map(_cell_in_html, row)) for row in self.rows[:HTML_ROWS])
        body = "".join(f"<tr>{row}</tr>" for row in cells)
        table = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
        further = "".join(f"<div>{escape(words)}</div>" for words in self._further(HTML_ROWS))
        return f"<div><b>{escape(self.title)}</b>{table if self.rows else ''}{further}</div>"

    def _further(self, shown: int) -> list[str]:
        count = len(self.rows) - shown
        return [f"... and {count:,} more"] if count > 0 else []


class Summarized:
    """A base of results that terminals and notebooks show by a summary."""

    __slots__ = ()

    def _summary(self) -> Summary:
        """Return what is shown."""
        raise NotImplementedError

    if not TYPE_CHECKING:  # a checker still knows which names there are

        def __getattr__(self, name: str) -> Any:
            """Refuse a name that the result does not have, and list those that it has."""
            refuse_moved(f"rwn_core.{type(self).__name__}.{name}")
            has = ", ".join(each for each in dir(type(self)) if not each.startswith("_"))
            raise AttributeError(f"{type(self).__name__} has no {name}; it has: {has}.")

    def __repr__(self) -> str:
        """Return at most ten lines, without a value of a record."""
        return self._summary().text()

    def _repr_html_(self) -> str:
        """Return what a notebook shows."""
        return self._summary().html()


class Plotted(Summarized):
    """A base of results that have a chart."""

    __slots__ = ()

    def plot(self, *what: str) -> Any:
        """Draw the chart that the app draws.

        Parameters
        ----------
        *what : str
            As for `rwn.plot`.

        Returns
        -------
        plotly.graph_objects.Figure

        Raises
        ------
        NotApplicable
            There is nothing to draw; the message says why.
        ParameterError
            There is no such chart.
        """
        return import_module("rwn_core").plot(self, *what)
