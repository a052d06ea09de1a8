"""The lessons in the order on screen."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from rwn_ui.learn import (
    analyst,
    choose,
    disclosure,
    edges,
    intruder,
    k_methods,
    neighborhood,
    sampling,
    standard_errors,
    theorem,
)
from rwn_ui.learn.lesson import Lesson

_NUMBERED = (
    disclosure,
    theorem,
    intruder,
    neighborhood,
    standard_errors,
    analyst,
    choose,
    sampling,
    edges,
)
NOTES = k_methods.LESSON
"""Opens the notes on the papers, which have no number."""
LESSONS: Mapping[str, Lesson] = MappingProxyType(
    {each.key: each for each in (*(module.LESSON for module in _NUMBERED), NOTES)}
)
"""Every lesson by key."""
