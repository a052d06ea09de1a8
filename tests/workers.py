"""Which tests a worker keeps together, and which are begun first."""

from __future__ import annotations

from pathlib import PurePosixPath

LONGEST = ("tests/browser", "tests/ui", "tests/core/tuning", "tests/core/neighbors")
"""Folders whose tests are handed out first, so that no worker is left alone with them."""


def together(nodeid: str) -> str:
    """Name the tests that run on one worker: those of a file, which share what it has computed.

    Tests that need a browser wait more than they compute: on one worker they would be the last by
    far, so each worker that meets some has a server of its own.
    """
    return nodeid.partition("::")[0]


def urgency(nodeid: str) -> int:
    """Tell the place of a test's folder among those that are begun first."""
    folders = {str(folder) for folder in PurePosixPath(nodeid.partition("::")[0]).parents}
    return next((at for at, name in enumerate(LONGEST) if name in folders), len(LONGEST))
