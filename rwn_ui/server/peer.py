"""Which account of this machine is at the other end of a connection."""

from __future__ import annotations

import socket
import sys
from pathlib import Path

_TABLE = Path("/proc/net/tcp")
_LOCAL, _REMOTE, _ACCOUNT = 1, 2, 7
"""Places of the fields in a line of the table."""

End = tuple[str, int]
"""An IPv4 address and a port."""


def account_of(client: End | None, server: End | None, table: Path = _TABLE) -> int | None:
    """Return the number of the account that opened a connection; None where no system says so.

    Linux lists both ends of a connection within the machine, each with its account.
    """
    if client is None or server is None:
        return None
    try:
        ends = _written(client), _written(server)
        lines = table.read_text(encoding="ascii").splitlines()[1:]
    except OSError:  # another system, or no IPv4
        return None
    for line in lines:
        fields = line.split()
        if (fields[_LOCAL], fields[_REMOTE]) == ends:
            return int(fields[_ACCOUNT])
    return None


def _written(end: End) -> str:
    """Write an end as the system does: the address as a number of this processor."""
    number = int.from_bytes(socket.inet_aton(end[0]), sys.byteorder)
    return f"{number:08X}:{end[1]:04X}"
