"""A release is a masked table with its method, its secret row order and its rounding.

The published part of a masked table is its values in fresh columns, and nothing else.
"""

from __future__ import annotations

import re
import secrets
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import partial
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
import pandas as pd

from rwn_core.data.arrays import Booleans, Integers
from rwn_core.data.belonging.gate import refuse_together
from rwn_core.data.derived import DERIVED, broken_relations, listed
from rwn_core.data.file_layout import FileLayout
from rwn_core.data.given_tables import takes_tables
from rwn_core.data.identity import IdentityDoubt
from rwn_core.data.identity.gate import DROP, KEEP, open_doubts, refuse_both, refuse_open
from rwn_core.data.microdata import Microdata
from rwn_core.data.open_questions import table_doubts
from rwn_core.data.role_guesses import in_roles, stated_roles
from rwn_core.data.rounding import Steps, check_precision, steps_by_name
from rwn_core.data.rows import Rows
from rwn_core.data.schema import Schema
from rwn_core.data.summary import Summarized, Summary
from rwn_core.data.variable import Role, Variable, checks_form
from rwn_core.errors import ParameterError, ReleaseError, SeedWarning
from rwn_core.io import format_of_key
from rwn_core.io.format_limits import losses
from rwn_core.io.write import file_format, table_bytes, write_atomically
from rwn_core.laws.donors import described
from rwn_core.laws.law import Law
from rwn_core.masking.method import Method, unrounded
from rwn_core.masking.second_reading import SecondReading, SourceFile, second_reading
from rwn_core.neighbors.record_draws import random_order
from rwn_core.parallel.threads import Progress, work
from rwn_core.randomness import SecretKey

_FORMULA = re.compile(r"[=+\-@\t\r].", flags=re.DOTALL)
GUARD = "'"
"""What a spreadsheet takes as a sign that text follows; OWASP, "CSV injection"."""


def without(table: Microdata, names: Sequence[str]) -> Microdata:
    """Leave variables out of a table that is published."""
    if not names:
        return table
    variables = tuple(v for v in table.schema.variables if v.name not in names)
    if not variables:
        raise ParameterError("drop names every variable of the release; leave one in.")
    frame = table.frame[[variable.name for variable in variables]]
    return Microdata(frame, described(table.schema, variables))


def formula_cells(frame: pd.DataFrame, format: str) -> dict[str, Booleans]:
    """Find the texts that a spreadsheet would run as formulas when it opens the file."""
    if not format_of_key(format).media_type.startswith("text/"):
        return {}
    found = {}
    for name, column in frame.select_dtypes(exclude=["number", "datetime", "datetimetz"]).items():
        cells = np.array([_runs(value) for value in column.tolist()], dtype=bool)
        if cells.any():
            found[str(name)] = cells
    return found


def _runs(value: object) -> bool:
    if not isinstance(value, str) or not _FORMULA.match(value):
        return False
    try:
        float(value)
    except ValueError:
        return True
    return value[0] in "\t\r"  # any other number stays as it is: a spreadsheet shows it


def formula_names(names: Iterable[str], format: str) -> list[str]:
    """The names of columns that a spreadsheet would run as formulas, as `formula_cells`."""
    if not format_of_key(format).media_type.startswith("text/"):
        return []
    return [str(name) for name in names if _runs(name)]


SEEDED = (
    "This release was drawn from a small seed: whoever tries the small numbers can undo it. Leave "
    "seed out for a file that leaves the house."
)
Order = Literal["shuffled", "original"]


def _with_levels_that_occur(variable: Variable, frame: pd.DataFrame) -> Variable:
    """Return a variable without the levels that no row of a table shows."""
    if variable.levels is None:
        return variable
    present = {str(value) for value in frame[variable.name].dropna().unique()}
    levels = tuple(level for level in variable.levels if level in present)
    return replace(variable, levels=levels or None)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Release(Summarized):
    """A masked table, row-aligned with its original: for the steward's own audit.

    Attributes
    ----------
    masked : Microdata
    method : str
        Key of the method.
    params : Method
    fingerprint : str
        Of the original table.
    donors : ndarray of int64, shape (n, p), or None
    law : Law or None
        Of the released values: after rounding, that of rounded ones.
    order : ndarray of int64, shape (n,)
        The secret row order of the published file.
    precision : tuple of (str, float)
        The step of each rounded variable; empty where none is rounded.
    id : str
        128 random bits in hex, a name that tells nothing.
    seeded : bool
        Whether it was drawn from a small seed, which any intruder can try.
    original : Microdata
        The table that was masked.
    answers : dict of str to {"drop", "keep"}
        Given to `publish` and `to_bytes`.
    second_readings : dict of str to SecondReading
        What another library found in a written file, by the file's SHA-256.
    """

    masked: Microdata
    method: str
    params: Any
    fingerprint: str
    donors: Integers | None = field(repr=False)
    law: Law | None = field(repr=False)
    order: Integers = field(repr=False)
    precision: Steps = ()
    id: str = field(default_factory=partial(secrets.token_hex, 16))
    seeded: bool = False
    original: Microdata = field(repr=False)
    answers: dict[str, str] = field(default_factory=dict, repr=False)
    second_readings: dict[str, SecondReading] = field(default_factory=dict, repr=False)

    def __getitem__(self, name: object) -> Any:
        """Say where a column is."""
        raise ParameterError("Release has no columns itself; take release.masked.frame[name].")

    def _summary(self) -> Summary:
        """The method and its parameters: neither donors nor values of either table."""
        every = {
            each.name: (getattr(self.params, each.name), each.default)
            for each in fields(self.params)
        }
        given = {name: value for name, (value, default) in every.items() if value != default}
        return Summary(
            title=f"Release({self.masked.n} records x {self.masked.p} variables)",
            columns=("", ""),
            rows=[
                ("method", f"{self.params.title} ({self.method})"),
                ("parameters", ", ".join(f"{name} = {value}" for name, value in given.items())),
                (
                    "rounded to",
                    ", ".join(f"{name} {step:g}" for name, step in self.precision) or "not rounded",
                ),
                ("key", "a small seed: for teaching only" if self.seeded else "secret"),
            ],
        )

    def find_doubts(self) -> tuple[IdentityDoubt, ...]:
        """The doubts about the original's variables, whatever its schema answers."""
        return table_doubts(self.original)

    def published(self, order: Order = "shuffled") -> Microdata:
        """The table as it may leave the house: rows in secret order by default."""
        if order not in get_args(Order):
            raise ParameterError("order must be one of: shuffled, original.")
        rows = self.order if order == "shuffled" else np.arange(self.masked.n)
        if self.params.drops_lost_rows:
            rows = rows[~self.masked.frame.isna().all(axis=1).to_numpy()[rows]]
        hidden = [v for v in self.masked.schema.variables if not v.is_released]
        if hidden:
            direct = hidden[0].role is Role.IDENTIFIER
            what = "direct identifier" if direct else str(hidden[0].role)
            raise ReleaseError(
                f"The masked table still holds the {what} {hidden[0].name}; a release cannot have "
                "it."
            )
        # the rows, without the levels and categories that they do not show
        columns = dict(self.masked.frame.take(rows).reset_index(drop=True).items())
        for name, column in columns.items():
            if isinstance(column.dtype, pd.CategoricalDtype):
                columns[name] = column.cat.remove_unused_categories()
        frame = pd.DataFrame(columns, index=pd.RangeIndex(len(rows)), copy=True)
        variables = [_with_levels_that_occur(v, frame) for v in self.masked.schema.variables]
        return Microdata(frame, described(self.masked.schema, tuple(variables)))

    @checks_form
    def to_bytes(
        self,
        format: str,
        order: Order = "shuffled",
        *,
        drop: Sequence[str] = (),
        keep: Sequence[str] = (),
    ) -> bytes:
        """The published file's bytes.

        Parameters
        ----------
        format : str
            Key of a file format, such as "csv" or "parquet".
        order : {"shuffled", "original"}
            The original order names each record; keep such a file inside.
        drop, keep : sequence of str
            Answers to doubts: variables that are left out, and variables that identify no person.

        Raises
        ------
        ReleaseError
            A variable may identify people, and no answer says whether it stays; or rows look as if
            they belonged together, and the original's schema does not say what they are.
        """
        # note the answers; refuse while a doubt has none
        refuse_both(drop, keep)
        for name in (*drop, *keep):
            self.masked.schema.variable(name)
        refuse_open(open_doubts(self.find_doubts(), self.masked.schema, (*drop, *keep)))
        refuse_together(self.original)
        self.answers.update(dict.fromkeys(drop, DROP) | dict.fromkeys(keep, KEEP))
        frame, schema = self.as_written(format, order, drop)
        return table_bytes(frame, format, schema)

    def as_written(
        self, format: str, order: Order, drop: Sequence[str]
    ) -> tuple[pd.DataFrame, Schema]:
        """The columns of a published file of this format, and their description."""
        table = without(self.published(order), drop)
        # its description: the format's marks, and guarded names, see `formula_names`
        names = formula_names(table.schema.names, format)
        layout = table.schema.file or FileLayout()
        repeated = format_of_key(format).marks
        marks = {mark: value for mark, value in layout.changed().items() if mark in repeated}
        variables = (
            replace(each, name=GUARD + each.name) if each.name in names else each
            for each in table.schema.variables
        )
        schema = Schema(variables=tuple(variables), file=FileLayout.from_dict(marks))
        # an apostrophe before each text that a spreadsheet would run; see `formula_cells`
        frame = table.frame
        for name, cells in formula_cells(frame, format).items():
            texts = frame[name].astype(object)
            frame = frame.assign(**{name: texts.where(~cells, GUARD + texts.astype(str))})
        names = formula_names(frame.columns, format)
        return frame.rename(columns={name: GUARD + name for name in names}), schema

    def guarded(self, format: str) -> dict[str, int]:
        """Count the texts of each variable that get an apostrophe in a file of this format."""
        cells = formula_cells(self.published("original").frame, format)
        return {name: int(found.sum()) for name, found in cells.items()}

    @checks_form
    def publish(
        self,
        path: str | Path,
        order: Order = "shuffled",
        *,
        drop: Sequence[str] = (),
        keep: Sequence[str] = (),
        overwrite: bool = False,
        original: str | Path | None = None,
    ) -> Path:
        """Write the release, all or nothing, once another library has read the file's content.

        Parameters
        ----------
        path : str or Path
            Its ending says the format, such as .csv or .parquet.
        order : {"shuffled", "original"}
        drop, keep : sequence of str
            As for `to_bytes`.
        overwrite : bool
            Whether a file of that name is replaced.
        original : str or Path, optional
            The file that the table was read from: another library reads it, too, and must find the
            same values. Without it the table in memory stands for it.

        Returns
        -------
        Path

        Raises
        ------
        ReleaseError
            A doubt about identity or about rows that belong together has no answer, another library
            finds another value in a file, or the file exists or could not be written; an older one
            is still whole.

        Warns
        -----
        SeedWarning
            The release was drawn from a small seed.
        """
        target = Path(path)
        if target.is_file() and not overwrite:
            raise ReleaseError(
                f"The file {target.name} exists; choose another name, or give overwrite=True to "
                "replace it."
            )
        if self.seeded:
            warnings.warn(SEEDED, SeedWarning, stacklevel=3)
        form = file_format(target)
        content = self.to_bytes(form, order, drop=drop, keep=keep)
        source = None if original is None else SourceFile.at(Path(original))
        second_reading(self, content, form, source, drop, order)
        return write_atomically(target, content)


@takes_tables
def mask(  # noqa: PLR0913 - what is not needed is given by its name
    microdata: Microdata,
    params: Method,
    *,
    precision: Mapping[str, float] | None = None,
    confidential: str | Sequence[str] = (),
    key: str | Sequence[str] = (),
    as_is: str | Sequence[str] = (),
    weights: Mapping[str | int, float] | Mapping[str, float] | None = None,
    slices: Sequence[Sequence[str]] | None = None,
    rows: str | Rows | None = None,
    seed: int | SecretKey | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Release:
    """Mask a table.

    Parameters
    ----------
    microdata : Microdata
    params : Method
        A method's parameter record, such as ``RWN(epsilon=2.0, k=5, q=1.0)``.
    precision : mapping of str to float, optional
        Release precision, such as ``{"age": 5}``: each of these variables is rounded to
        multiples of its step. The donor of a value does not depend on it.
    confidential, key : str or sequence of str
        Confidential variables and keys. Other variables have the roles of the table's schema;
        nothing is guessed. Audit `Release.original`, which has these roles.
    as_is : str or sequence of str
        Variables that are not masked.
    weights : mapping of str to float, optional
        Weights of variables in the distance, such as ``{"age": 2}``; others keep the schema's.
    slices : sequence of sequence of str, optional
        Variables that travel together, each list from one donor, such as ``[["age", "sex"]]``;
        every other variable then stands alone. The schema's groups if left out.
    rows : str or Rows, optional
        What the rows are: "separate", "person=height", "cluster=school" and so on. Rows that look
        as if they belonged together are not published before it is said.
    seed : int or SecretKey, optional
        Left out: a fresh 256-bit secret that is forgotten. A small integer is for teaching and
        for repeating a trial; it is no secret.
    threads : int, optional
        RWN_THREADS or all processors by default. It changes the time, never the release.
    progress : callable, optional
        Called with the share done, from 0 to 1.

    Returns
    -------
    Release

    Raises
    ------
    ParameterError
    SchemaError
        A name is no variable of the table, is left out of the release, or has two roles.

    Examples
    --------
    >>> import rwn_core as rwn
    >>> data = rwn.load_demo("bodyfat")
    >>> release = rwn.mask(data, rwn.RWN(epsilon=2.0, k=5), seed=7)
    >>> release.donors.shape
    (241, 15)
    """
    roles = stated_roles(confidential, key)
    if roles or as_is:
        microdata = microdata.with_schema(in_roles(microdata.schema, roles, as_is))
    microdata = microdata.with_weights(weights) if weights else microdata
    microdata = microdata if slices is None else microdata.with_slices(slices)
    if rows is not None:
        microdata = microdata.with_schema(microdata.schema.with_rows(rows))
    setting, own = unrounded(params)
    steps = steps_by_name({**own, **(precision or {})})
    check_precision(microdata, dict(steps))  # refuse before the search, not after it
    if seed is None:
        secret = SecretKey.fresh()
    else:
        secret = seed if isinstance(seed, SecretKey) else SecretKey.from_seed(seed)
    with work(threads=threads, progress=progress):
        # a chain is drawn near to rounded values, so that its steps are known before
        drawn = replace(setting.prepare(microdata), precision=steps).release(secret)
    return Release(
        masked=drawn.masked,
        method=setting.method,
        params=setting,
        fingerprint=microdata.fingerprint,
        donors=drawn.donors,
        law=drawn.law,
        order=random_order(secret, drawn.masked.n),
        precision=steps,
        seeded=seed is not None and not isinstance(seed, SecretKey),
        original=microdata,
    )


def notes_on_file(release: Release, original: Microdata, format: str) -> list[str]:
    """Say what a file of this format changes or loses and its reader must know."""
    guarded = [
        f"note: {cells:,} texts of {name} begin as a formula of a spreadsheet would; each got an "
        "apostrophe before it. Parquet needs none."
        for name, cells in release.guarded(format).items()
    ]
    guarded += [
        f"note: the name {name} begins as a formula of a spreadsheet would; it got an apostrophe."
        for name in formula_names(release.masked.names, format)
    ]
    for each in broken_relations(original, release.masked, dict(release.precision)):
        about = each | {"parts": listed(each["parts"]), "share": f"{each['share']:.0%}"}
        guarded.append(f"note: {DERIVED.format(**about)}")
    lost = [f"note: {loss}" for loss in losses(release.masked, format_of_key(format))]
    return [*guarded, *release.params.remarks(original, release.law), *lost]
