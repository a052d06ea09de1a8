"""Identity doubts about the variables of a table, found once and shared."""

from __future__ import annotations

from rwn_core.data.identity import IdentityDoubt, identity_doubts
from rwn_core.data.identity.gate import open_doubts, refuse_open
from rwn_core.data.microdata import Microdata


def table_doubts(microdata: Microdata) -> tuple[IdentityDoubt, ...]:
    """Judge all variables of a table once, whatever its schema answers."""
    frame = microdata.frame
    return microdata.cached("identity", lambda: tuple(identity_doubts(frame, frame.columns)))


def require_answers(microdata: Microdata) -> None:
    """Refuse a table with open doubts before anything is drawn of it."""
    if not all(variable.is_answered for variable in microdata.schema.released):
        refuse_open(open_doubts(table_doubts(microdata), microdata.schema))
