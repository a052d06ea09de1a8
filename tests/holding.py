"""A rule held for every case in one test: all that break it are reported together."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable


def broken(rule: Callable[..., None], *cases: Iterable[str]) -> list[str]:
    """Every combination of the cases that breaks a rule, with the reason."""
    tried = list(itertools.product(*cases))
    if not tried:
        raise ValueError("A rule that is held for no case says nothing.")
    result = []
    for case in tried:
        try:
            rule(*case)
        except Exception as error:
            result.append(f"{', '.join(case)}: {type(error).__name__}: {error}")
    return result


def hold(rule: Callable[..., None], *cases: Iterable[str]) -> None:
    """Hold a rule for every combination, and report all that break it together."""
    result = broken(rule, *cases)
    assert not result, "\n".join(result)
