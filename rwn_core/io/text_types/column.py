"""A column of a text file: its different texts, their forms, and how it is refused."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import NoReturn

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from rwn_core.errors import InputError
from rwn_core.io.text_types.patterns import Form, text_forms, without_blanks

LINES_NAMED = 3  # in a message

NOTHING = {Form.BLANK, Form.MISSING}


class TextColumn:
    """One column as the file has it.

    `texts` has length n: an empty text is an empty field, and two entries of its dictionary may be
    the same text. `lines` gives the physical lines of some record numbers; it is slow, for refusals
    only. `place` is what a record stands in: a line, or a row of a sheet.
    """

    def __init__(
        self,
        *,
        file: str,
        name: str,
        texts: pa.DictionaryArray,
        lines: Callable[[Sequence[int]], list[int]],
        place: str = "line",
    ) -> None:
        self.file = file
        self.name = name
        self.texts = texts
        self._lines, self._place = lines, place

    @cached_property
    def codes(self) -> NDArray[np.int32]:
        """Which of the different texts each record has, shape (n,)."""
        codes: NDArray[np.int32] = self.texts.indices.to_numpy()
        return codes

    @cached_property
    def different(self) -> pa.Array:
        """The different texts, without the blanks around them."""
        return without_blanks(self.texts.dictionary)

    @cached_property
    def forms(self) -> NDArray[np.uint8]:
        """The form of each of the different texts."""
        return text_forms(self.different)

    @cached_property
    def has(self) -> set[Form]:
        """The forms that occur, apart from those of a missing value."""
        return {Form(int(form)) for form in np.unique(self.forms)} - NOTHING

    def with_forms(self, forms: set[Form]) -> NDArray[np.bool_]:
        """Which of the different texts have one of these forms."""
        return np.isin(self.forms, list(forms))

    def padded(self) -> NDArray[np.bool_]:
        """Which of the different texts begin or end with a blank."""
        same: NDArray[np.bool_] = pc.equal(self.texts.dictionary, self.different).to_numpy(
            zero_copy_only=False
        )
        return ~same

    def count(self, different: NDArray[np.bool_]) -> int:
        """Count the records that have one of these different texts."""
        return int(np.count_nonzero(different[self.codes]))

    def reason(self, refusal: InputError) -> str:
        """Return what a refusal says, without the names of file and column."""
        return str(refusal).removeprefix(f"{self.file}, column {self.name}, ").rstrip(".")

    def refuse(self, different: NDArray[np.bool_], one: str, many: str, remedy: str) -> NoReturn:
        """Raise an InputError that names file, column, lines and count, and no value."""
        rows = np.flatnonzero(different[self.codes])
        lines = [f"{line:,}" for line in self._lines(rows[:LINES_NAMED].tolist())]
        dots = ", ..." if len(rows) > LINES_NAMED else ""
        one_row = len(rows) == 1
        word, have = (
            self._place + "s" * (not one_row),
            f"value {one}" if one_row else f"values {many}",
        )
        raise InputError(
            f"{self.file}, column {self.name}, {word} {', '.join(lines)}{dots}: "
            f"{len(rows):,} {have}; {remedy}."
        )
