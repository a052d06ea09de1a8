"""States what neighborhoods need of a table that holds their members, stored or not."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray


class Members(Protocol):
    """The ranked others of every record, in rows that follow each other.

    Reading the arrays of a table that is not stored searches for them first.
    """

    @property
    def offsets(self) -> NDArray[np.int64]:
        """Starts of the rows and the end of the last one, shape (n + 1,)."""

    @property
    def records(self) -> NDArray[np.int32]:
        """The others, nearest first within a row, shape (m,)."""

    @property
    def squared(self) -> NDArray[np.float64]:
        """Their squared distances, shape (m,)."""

    @property
    def numbers(self) -> NDArray[np.int64] | None:
        """The records that the rows belong to, ascending; None where they are all records."""

    @property
    def is_stored(self) -> bool:
        """True if the arrays can be read without a search."""
