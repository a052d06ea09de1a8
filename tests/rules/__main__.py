"""Prints the rooms, their arrows and every broken rule: ``python -m tests.rules``."""

from __future__ import annotations

import sys
from collections import Counter

from tests.rules import import_law as law


def main() -> int:
    """Print them; 1 if a rule is broken."""
    files = law.program()
    pairs = law.arrows(files)
    rooms = Counter(map(law.room_of, files))
    print(law.law_text(), end="\n\n")
    print(", ".join(f"{room} {rooms[room]} files" for room in law.RANK), end="\n\n")
    between = Counter((law.room_of(here), law.room_of(there)) for here, there in pairs)
    for (one, two), count in sorted(between.items()):
        if one != two:
            print(f"{one} -> {two}: {count}")
    print(f"\n{len(files)} files, {len(pairs)} arrows")
    faults = {
        "without a line in the law": law.homeless(files),
        "broken": [f"{a} may not import {b}: {why}" for (a, b), why in law.broken(pairs).items()],
        "circles": [" -> ".join(circle)] if (circle := law.circle(pairs)) else [],
    }
    for name, lines in faults.items():
        print(f"{name}: {len(lines)}", *lines, sep="\n  ")
    return int(any(faults.values()))


if __name__ == "__main__":
    sys.exit(main())
