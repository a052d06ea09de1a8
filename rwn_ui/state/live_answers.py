"""This user's answers to moves of sliders, beside the runs of a page."""

from __future__ import annotations

from rwn_ui.server.answers import Answers
from rwn_ui.state.kept import kept

ANSWERS = "rwn.answers"
"""Where Streamlit keeps them, among what it keeps of a user."""


def own_answers() -> Answers:
    """Where this user's page asks between two of its runs."""
    return kept(ANSWERS, Answers)
