"""The regression that a release should keep."""

from __future__ import annotations

from dataclasses import dataclass

from rwn_core.data.variable import NamedParameters, refuse_repeats
from rwn_core.errors import SchemaError


@dataclass(frozen=True, slots=True, kw_only=True)
class Question(NamedParameters):
    """State the regression that the data steward wants kept.

    Parameters
    ----------
    response : str
    predictors : tuple of str
    """

    response: str
    predictors: tuple[str, ...]

    def __post_init__(self) -> None:
        """Refuse a question without an answerable form."""
        object.__setattr__(self, "predictors", tuple(self.predictors))
        if not self.predictors:
            raise SchemaError("The regression needs at least one predictor; choose one.")
        if self.response in self.predictors:
            raise SchemaError(
                f"Variable {self.response} is both response and predictor of the regression; "
                "take it out of one of the two."
            )
        refuse_repeats(self.predictors, "as a predictor")
