"""Which tests a worker keeps together, and which are begun first."""

from __future__ import annotations

from pathlib import PurePosixPath

BROWSER = "tests/browser"
LONGEST = (BROWSER, "tests/ui", "tests/core/tuning", "tests/core/neighbors")
"""Folders whose tests are handed out first, so that no worker is left alone with them."""


def together(nodeid: str) -> str:
    """Name the tests that run on one worker: those of a file, which share what it has computed.

    All tests that need a browser are one lot: they wait more than they compute, so that one worker
    goes through them, with one server, while the others compute.
    """
    file = nodeid.partition("::")[0]
    return BROWSER if file.startswith(f"{BROWSER}/") else file


def urgency(nodeid: str) -> int:
    """Tell the place of a test's folder among those that are begun first."""
    folders = {str(folder) for folder in PurePosixPath(nodeid.partition("::")[0]).parents}
    return next((at for at, name in enumerate(LONGEST) if name in folders), len(LONGEST))
