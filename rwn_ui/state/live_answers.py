"""This user's answers to moves of sliders, beside the runs of a page."""

from __future__ import annotations

from rwn_ui.server.answers import KEPT, Answers
from rwn_ui.state.kept import kept


def own_answers() -> Answers:
    """Where this user's page asks between two of its runs."""
    return kept(KEPT, Answers)
