"""Remember a test that failed among others and passed alone: ``python -m tools.retried LOG``.

Reads the names that pytest printed in LOG, writes them to .ci/retried.json, and returns 1 for a
test that is written there the third time within a week.
"""

from __future__ import annotations

import datetime
import json
import re
import sys
from pathlib import Path

FILE = Path(__file__).resolve().parents[1] / ".ci" / "retried.json"
MOST, DAYS = 2, 7
_FAILED = re.compile(r"^FAILED (\S+)(?: - (.*))?$", re.M)


def remember(log: str, today: datetime.date, file: Path = FILE) -> list[str]:
    """Add the failed tests of a log to a file; return those that failed too often."""
    known = json.loads(file.read_text(encoding="utf-8")) if file.exists() else []
    failed = dict(_FAILED.findall(log))
    known += [
        {"test": name, "date": today.isoformat(), "output": output}
        for name, output in sorted(failed.items())
    ]
    first = (today - datetime.timedelta(days=DAYS)).isoformat()
    recent = [entry for entry in known if entry["date"] > first]
    file.write_text(json.dumps(recent, indent=2) + "\n", encoding="utf-8")
    names = [entry["test"] for entry in recent]
    return [name for name in sorted(failed) if names.count(name) > MOST]


def main(arguments: list[str]) -> int:
    """Add the log's tests; return 1 if one of them failed too often."""
    log = Path(arguments[0]).read_text(encoding="utf-8")
    often = remember(log, datetime.datetime.now(datetime.UTC).date())
    for name in often:
        sys.stderr.write(f"{name} failed {MOST + 1} times in {DAYS} days: find the reason.\n")
    return int(bool(often))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
