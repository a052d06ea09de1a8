"""The file that a user opens: read in a separate process while the pages stay in use."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import count

import rwn_core as rwn
from rwn_core.data.file_layout import FileLayout
from rwn_core.io.guessed_layout import GuessedLayout
from rwn_core.io.reading import FileReading, proposed_layout

WIDE = 60  # variables; of a wider file those of the release are chosen first


@dataclass(slots=True, kw_only=True)
class Opening:
    """A file that is being read, or was."""

    name: str
    layout: FileLayout | None  # what the user said of it; None before they did
    # under way; None afterwards, so that the table is held once
    reading: FileReading | None = field(default=None, repr=False)
    refusal: rwn.RWNError | None = None  # why there is no table
    seen: GuessedLayout | None = None  # what the file seems to be like
    better: FileLayout | None = None  # the layout in which a file that opened reads better
    proposed: bool = False  # whether rows below the table are left out by a guess
    first: bool = False  # whether the app was started with it, and the Data page not yet drawn
    # of this reading among all: an address of memory would be given again to a later one
    number: int = field(default_factory=count().__next__)
    path: str = ""  # of a file that lies on this machine; empty for an upload
    # a wide table, while its variables are being chosen
    waiting: rwn.Microdata | None = field(default=None, repr=False)
    # a large table, until its questions are answered: each answer would rank its neighbors anew
    asked: rwn.Microdata | None = field(default=None, repr=False)

    @property
    def seen_otherwise(self) -> bool:
        """True if a file that nothing was said of seems to have a layout of its own."""
        if self.seen is None or self.layout is not None or self.path:
            return False
        return self.seen.layout != FileLayout()

    def taken(self) -> rwn.Microdata | None:
        """The table, once; nothing where there is none, or it was taken."""
        reading, self.reading = self.reading, None
        if reading is None:
            return None
        try:
            self.seen = reading.seen
            data = reading.table()
            self.better = proposed_layout(data)
            return data
        except rwn.RWNError as refusal:
            self.refusal = refusal
            return None
        finally:
            reading.cancel()

    def give_up(self, why: str) -> None:
        """End it before it is done."""
        self.waiting = self.asked = None
        if self.reading is not None:
            self.reading.cancel()
            self.reading = None
            self.refusal = rwn.InputError(why)


def is_wide(data: rwn.Microdata) -> bool:
    """True if the variables to release are to be chosen first."""
    return len(data.schema.released) > WIDE
