"""When workers share the tests, which a worker keeps together, and which are begun first."""

from __future__ import annotations

from pathlib import PurePosixPath

import pytest

BROWSER = "tests/browser"
WAITING = ("find", "first_picture", "large_table", "release_walk")
"""Files of the browser's tests that wait for processes beside the page: about half the time."""

LONGEST = (BROWSER, "tests/journeys", "tests/ui", "tests/core/tuning", "tests/core/neighbors")
"""Folders whose tests are handed out first, so that no worker is left alone with them."""


def names_tests(config: pytest.Config) -> bool:
    """Whether tests are named: by a path, a word, or a marker other than the usual one."""
    option = config.option
    named = config.args_source is not pytest.Config.ArgsSource.TESTPATHS
    return named or bool(option.keyword) or not option.markexpr.startswith("not nightly")


def together(nodeid: str) -> str:
    """Name the tests that run on one worker: those of a file, which share what it has computed.

    The tests that need a browser are two lots: they wait more than they compute, so that two
    workers go through them, each with one server and one browser, while the others compute.
    """
    file = PurePosixPath(nodeid.partition("::")[0])
    if not file.is_relative_to(BROWSER):
        return str(file)
    return f"{BROWSER}, waiting" if file.stem.removeprefix("test_") in WAITING else BROWSER


def urgency(nodeid: str) -> int:
    """Tell the place of a test's folder among those that are begun first."""
    folders = {str(folder) for folder in PurePosixPath(nodeid.partition("::")[0]).parents}
    return next((at for at, name in enumerate(LONGEST) if name in folders), len(LONGEST))
