"""Values that a schema declares as missing become missing, whatever file they came from."""

from __future__ import annotations

import numpy as np

from rwn_core.data.codebook import is_missing, missing_words
from rwn_core.data.microdata import Microdata
from rwn_core.data.schema import Schema
from rwn_core.data.validation import table_notices


def without_missing_codes(microdata: Microdata, schema: Schema | None) -> Microdata:
    """Take out the values that the schema declares as missing."""
    declared = [] if schema is None else [v for v in schema.variables if v.missing_codes]
    frame = microdata.frame
    said = []
    for variable in declared:
        column = frame[variable.name]
        if not variable.is_released:
            continue
        codes = variable.missing_codes
        known = column.dropna().unique().tolist()
        wrong = [value for value in known if is_missing(value, codes)]
        gone = column.isin(wrong).to_numpy(dtype=bool)
        if not gone.any():
            continue
        if column.dtype.kind in "iu":
            column = column.astype("Int64")
        frame[variable.name] = column.mask(gone)
        said.append(
            f"{variable.name} has {int(np.count_nonzero(gone)):,} values declared as missing "
            f"({missing_words(codes)}): they are missing here."
        )
    if not said:
        return microdata
    before = table_notices(microdata.frame, microdata.schema)  # what they say of codes is settled
    kept = [notice for notice in microdata.notices if notice not in before]
    return Microdata.from_frame(frame, microdata.schema, notices=(*kept, *said))
