"""Run the benchmarks: ``python -m benchmarks [NAME ...]``; without a name, all of them."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from benchmarks import bench, cases

parser = argparse.ArgumentParser(description=bench.__doc__)
parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(bench.REGISTERED))
parser.add_argument("--rounds", type=int, default=3)
parser.add_argument("--json", type=Path)
given = parser.parse_args()
assert cases.QUERIES, "importing the cases registers them"
sys.exit(bench.run(given.names or bench.REGISTERED, given.rounds, given.json))
