"""The clock of searches: processor time, so that a busy machine does not change their answers."""

from __future__ import annotations

import os
import time


def processor_seconds() -> float:
    """Return the seconds that this process, its threads and its ended children have computed."""
    of_children = os.times()
    return time.process_time() + of_children.children_user + of_children.children_system
