"""Environment variables from the launcher to its server."""

from __future__ import annotations

import os

FILE_VARIABLE = "RWN_FILE"
"""Names the file that the app opens first."""
CLASSROOM_VARIABLE = "RWN_CLASSROOM"
"""When set, type is large and no file is taken."""
TOKEN_VARIABLE = "RWN_TOKEN"
"""Secret that each request shows; without one all accounts of the machine may come in."""
TOKEN = "token"
"""Names it in the address that is opened first; a cookie has it afterwards."""
PROXY_HEADER = "x-rwn-token"
"""Header that a proxy sends it in: browsers behind the proxy do not know it."""
LAUNCHED = "RWN_LAUNCHED"
"""Says that the standard input ends with the launcher."""


def in_class() -> bool:
    """True if the app was started for a class: large type, no uploads."""
    return bool(os.environ.get(CLASSROOM_VARIABLE))
