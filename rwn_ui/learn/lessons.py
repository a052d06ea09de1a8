"""The lessons in the order on screen."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from rwn_core.errors import each_once
from rwn_ui.learn import (
    choose,
    disclosure,
    edges,
    intruder,
    neighborhood,
    sampling,
    standard_errors,
    theorem,
)
from rwn_ui.learn.lesson import Lesson

_ALL = (
    disclosure.LESSON,
    theorem.LESSON,
    intruder.LESSON,
    neighborhood.LESSON,
    standard_errors.LESSON,
    choose.LESSON,
    sampling.LESSON,
    edges.LESSON,
    choose.TIES,
)
LESSONS: Mapping[str, Lesson] = MappingProxyType(
    each_once("lesson", ((each.key, each) for each in _ALL))
)
"""Every lesson by key."""
