"""Run the benchmarks: ``python -m benchmarks [NAME ...]``; without a name, all of them.

``python -m benchmarks answers``, ``classroom``, ``intervals``, ``journeys``, ``opening``,
``reading``, ``relations``, ``side_by_side``, ``start``, ``strongest``, ``tried`` or ``ways`` runs
one of the long comparisons, with options of its own.
"""

from __future__ import annotations

import argparse
import runpy
import sys
from pathlib import Path

from benchmarks import bench, cases

_LONG = (
    "answers",
    "classroom",
    "intervals",
    "journeys",
    "opening",
    "reading",
    "relations",
    "side_by_side",
    "start",
    "strongest",
    "tried",
    "ways",
)
if sys.argv[1:2] and sys.argv[1] in _LONG:
    runpy.run_module(f"benchmarks.{sys.argv.pop(1)}", run_name="__main__", alter_sys=True)
    sys.exit(0)
parser = argparse.ArgumentParser(description=bench.__doc__)
parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(bench.REGISTERED))
parser.add_argument("--rounds", type=int, default=3)
parser.add_argument("--json", type=Path)
given = parser.parse_args()
assert cases.QUERIES, "importing the cases registers them"
# a name stands for all that begin with it
names = [name for name in bench.REGISTERED if not given.names or name.startswith((*given.names,))]
sys.exit(bench.run(names, given.rounds, given.json))
