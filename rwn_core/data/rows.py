"""What the rows of a table are: separate people, or rows that belong together, and by what."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, ClassVar

from rwn_core.data.variable import NamedParameters, check_forms, refuse_repeats
from rwn_core.errors import SchemaError


class Belong(StrEnum):
    """The ways in which rows belong together, or not."""

    SEPARATE = "separate"
    PERSON = "person"
    HOUSEHOLD = "household"
    CLUSTER = "cluster"
    SERIES = "series"


UNITS = (Belong.PERSON, Belong.HOUSEHOLD)
"""In which risk is counted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rows(NamedParameters):
    """A statement of what the rows of a table are.

    Parameters
    ----------
    of : {"separate", "person", "household", "cluster", "series"}
        Separate: each row is a person of its own, independent of the others. Several rows may be of
        one person or household, in which risk is counted then; or of one cluster, such as a school;
        or the rows are a series over time. No interval from a release holds then.
    by : tuple of str
        The variables with equal values in the rows that belong together, or the time of a series.

    Raises
    ------
    SchemaError

    Examples
    --------
    >>> import rwn_core as rwn
    >>> rwn.Rows(of="person", by=("height", "born")).text
    'person=height,born'
    """

    checks_itself: ClassVar[bool] = True
    of: Belong
    by: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Refuse what says nothing."""
        check_forms({"by": self.by}, {"by": Sequence[str]})
        if self.of not in list(Belong):
            raise SchemaError(f"Rows must be one of: {', '.join(Belong)}.")
        object.__setattr__(self, "of", Belong(self.of))
        object.__setattr__(self, "by", tuple(self.by))
        if self.of in UNITS and not self.by:
            raise SchemaError(
                f"Rows of one {self.of} need the variables that are equal in them; name them."
            )
        if self.of is Belong.SEPARATE and self.by:
            raise SchemaError("Separate rows have no variables in common; leave the names out.")
        refuse_repeats(self.by, "in what rows have in common")

    @property
    def text(self) -> str:
        """Write it as `from_text` reads it."""
        return f"{self.of}={','.join(self.by)}" if self.by else str(self.of)

    def to_dict(self) -> dict[str, Any]:
        """Return plain data."""
        return {"of": str(self.of), "by": list(self.by)} if self.by else {"of": str(self.of)}

    @classmethod
    def from_dict(cls, document: object) -> Rows:
        """Read what `to_dict` made."""
        if not isinstance(document, Mapping) or not {"of"} <= set(document) <= {"of", "by"}:
            raise SchemaError("The rows of the schema file must be a table with: of, by.")
        by = document.get("by", ())
        if not isinstance(by, list | tuple) or not all(isinstance(name, str) for name in by):
            raise SchemaError("The field by of the rows must be a list of names of variables.")
        return cls(of=document["of"], by=tuple(by))

    @classmethod
    def from_text(cls, text: str) -> Rows:
        """Read "separate", or "person=height,born", as a command line has it."""
        of, _, names = text.partition("=")
        parts = [name.strip() for name in names.split(",")] if names else []
        return cls(of=of.strip(), by=tuple(parts))  # type: ignore[arg-type]  # checked by itself
