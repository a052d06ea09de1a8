"""The lessons in the order on screen."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from rwn_ui.learn import (
    edges,
    intruder,
    k_methods,
    neighborhood,
    sampling,
    standard_errors,
    theorem,
)
from rwn_ui.learn.lesson import Lesson

LESSONS: Mapping[str, Lesson] = MappingProxyType(
    {
        each.LESSON.key: each.LESSON
        for each in (theorem, intruder, neighborhood, standard_errors, k_methods, sampling, edges)
    }
)
"""Every lesson by key."""
