"""Evidence of a report: the measures and charts that it shows.

It holds values of the original, so it lies in a file of its own next to the record, which has none.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import numpy as np
import orjson

from rwn_core.errors import InputError
from rwn_core.evaluation.attack_list import attacks
from rwn_core.evaluation.audit import Audit
from rwn_core.measures import MEASURES, measures_of
from rwn_core.measures.measure import Reading, plain

FORMAT = "rwn evidence 1"
NOTE = "CONFIDENTIAL: holds values of the original. It stays in the house."
DISTRIBUTIONS = 6


REPORTED = tuple(key for key, measure in MEASURES.items() if "report" in measure.places)
"""The measures that an internal report shows, in the order of the catalogue."""
DRAWN: dict[str, str] = {}
"""By the key of each chart the measure that it draws, or the first of several."""
for _key in (*measures_of("report"), *(key for key in MEASURES if key not in REPORTED)):
    _measure = MEASURES[_key]
    DRAWN |= dict.fromkeys((*_measure.charts, *filter(None, [_measure.shared])), _key) | DRAWN


def evidence(audited: Audit, id: str) -> bytes:
    """Write the evidence of a release, which `facts/inside.py` reads into the report."""
    from rwn_core.charts import CHARTS, draw_reason  # not for a release without a report

    # The charts of the Utility and the Risk page, in one order; a reason where one is
    # missing.
    readings = audited.readings
    made = []
    for chart, key in DRAWN.items():
        if key not in REPORTED:
            continue
        reading = audited[key]
        if chart == MEASURES[key].shared:
            made.append(CHARTS[chart](readings))
        elif isinstance(reading, Reading):
            made.append(CHARTS[chart](reading))
        else:
            made.append(draw_reason(chart.replace("_", " ").capitalize(), str(reading), chart))
    made.append(CHARTS["linkage_attacks"](attacks(readings)))
    pairs = []
    for key in REPORTED:
        pairs += [(key, draw) for draw in MEASURES[key].of_variable.values()]
    for key, draw in pairs:
        if isinstance(reading := audited[key], Reading):
            variables = reading.detail.variables
            moved = sorted(variables, key=lambda name: -variables[name].difference)
            made += [draw(reading, name) for name in moved[:DISTRIBUTIONS]]
    document = {"format": FORMAT, "note": NOTE, "release": id, "charts": made}
    # rows of a table may be kept as columns: they are written as lists
    return orjson.dumps(document, option=orjson.OPT_SERIALIZE_NUMPY, default=list)


def read_evidence(content: bytes) -> dict[str, Any]:
    """Read what `evidence` wrote."""
    document = None
    with suppress(orjson.JSONDecodeError):
        document = orjson.loads(content)
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise InputError("The evidence file is none of this program; give the record's own.")
    return document


def kept_detail(key: str, reading: Reading[Any]) -> dict[str, Any]:
    """Return the details that a record retains: counts and shares, never a record's own."""
    names = MEASURES[key].recorded
    if callable(names):
        return names(reading)
    detail = reading.detail
    known = plain(reading.detail)
    parts = {name: known[name] if name in known else getattr(detail, name) for name in names}
    return {n: p.tolist() if isinstance(p, np.ndarray) else p for n, p in parts.items()}
