"""Rows that belong together: several rows of a person or household, clusters, series.

One function asks the data, and every way out reads its answer: the form, the shell, the verdict's
counting, intervals, the notice.
"""

from __future__ import annotations

from dataclasses import replace

from rwn_core.data.belonging.columns import Columns, columns_of
from rwn_core.data.belonging.finding import Belonging, Finding
from rwn_core.data.belonging.groups import MOST_COMPARED, found_groups
from rwn_core.data.belonging.order import found_neighbors
from rwn_core.data.belonging.times import called_time, found_series
from rwn_core.data.identity.panel import repeated_people
from rwn_core.data.microdata import Microdata
from rwn_core.data.rows import Belong
from rwn_core.data.variable import Role

__all__ = ["Belonging", "Finding", "belonging"]

FEWEST_RECORDS = 20  # below which nothing can be found
_DESIGN = (Role.SAMPLING_WEIGHT, Role.STRATUM)  # equal in many rows, and no reason


def belonging(microdata: Microdata) -> Belonging:
    """Look for rows of a table that belong together, whatever its schema answers.

    Parameters
    ----------
    microdata : Microdata

    Returns
    -------
    Belonging
        Findings, each with its reason: at most one of persons, households or clusters, and one of a
        series, since rows of a person that stand together look like a series, too.

    Examples
    --------
    >>> import rwn_core as rwn
    >>> belonging(rwn.load_demo("bodyfat")).findings
    ()
    """
    return microdata.cached("belonging", lambda: _found(microdata))


def _found(microdata: Microdata) -> Belonging:
    columns = columns_of(microdata)
    if microdata.n < FEWEST_RECORDS or not columns.columns:
        return Belonging()
    schema = microdata.schema
    numbering = [v.name for v in schema.variables if v.role not in _DESIGN]
    may = replace(columns, columns=tuple(c for c in columns.columns if c.name in numbering))
    people = [column.name for column in may.columns if not called_time(column)]
    found = [found_groups(columns, people) or _counted(microdata, columns)]
    compared = columns.some(MOST_COMPARED)
    found.append(found_series(compared, may))
    if not any(found):
        found.append(found_neighbors(compared, may))
    return Belonging(findings=tuple(each for each in found if each is not None))


def _counted(microdata: Microdata, columns: Columns) -> Finding | None:
    """Find people with rows that a time counts: no two agree on person and time."""
    names = [name for name in columns.names if not microdata.schema.variable(name).confirmed]
    people = repeated_people(microdata.frame, names)
    for name, doubt in people.items():
        reason = f"{name} numbers people who come again, since {doubt.reason}"
        return Finding(of=Belong.PERSON, by=(name,), reason=reason, of_identity=True)
    return None
