"""Environment variables from the launcher to its server; none of them is a secret."""

from __future__ import annotations

import os

FILE_VARIABLE = "RWN_FILE"
"""Names the file that the app opens first."""
CLASSROOM_VARIABLE = "RWN_CLASSROOM"
"""When set, type is large and no file is taken."""
ENTRY_VARIABLE = "RWN_ENTRY"
"""Says what lets in: `CODE`, `PROXY` or `EVERYONE`; the first if it is left out."""
CODE = "code"
"""A browser that shows a one-time code; it is the code's name in an address, too."""
PROXY = "proxy"
"""A proxy that sends its secret with each request."""
EVERYONE = "everyone"
"""All accounts of this machine: a class, tests and benchmarks."""
SECRET_FILE_VARIABLE = "RWN_TOKEN_FILE"
"""Names the file with the secret of the proxy."""
FORMER_SECRET_VARIABLE = "RWN_TOKEN"
"""Held that secret itself, which every process that is started then inherits; now refused."""
PROXY_HEADER = "x-rwn-token"
"""Header that a proxy sends it in: browsers behind the proxy do not know it."""
LAUNCHED = "RWN_LAUNCHED"
"""Says that the launcher writes secrets to the standard input, which ends with it."""


def in_class() -> bool:
    """True if the app was started for a class: large type, no uploads."""
    return bool(os.environ.get(CLASSROOM_VARIABLE))
