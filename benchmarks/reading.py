"""Read 1,000,000 x 10 from CSV in fresh processes by turns: `rwn.read`, and pandas.

``python -m benchmarks reading [--rounds N]`` prints seconds and peak memory, and their ratios to
`pandas.read_csv`: of the reading alone, as the process with limits does it, and of `rwn.read`
with that process's start. Libraries are imported before the clock starts.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.tables import written

_CLOCK = """
import sys, time
from resource import RUSAGE_CHILDREN, RUSAGE_SELF, getrusage
import pandas, rwn_core.io.text_reader
import rwn_core as rwn
from rwn_core.io.parse import parse
start = time.perf_counter(), time.process_time()
{0}
each = [getrusage(who) for who in (RUSAGE_SELF, RUSAGE_CHILDREN)]
print(time.perf_counter() - start[0], time.process_time() - start[1] + each[1].ru_utime
      + each[1].ru_stime, max(use.ru_maxrss for use in each) / 1e3)
"""
_READ = {
    "pandas.read_csv": "read = pandas.read_csv(sys.argv[1])",
    "reading alone": "read = parse('t.csv', open(sys.argv[1], 'rb').read()); read.notices",
    "rwn.read": "read = rwn.read(sys.argv[1])",
}
_MOST_TIMES, _MOST_MEMORY = 2.5, 1.5  # of pandas: the aim


def measure(code: str, path: Path) -> list[float]:
    """Seconds on the clock and of the processors, and MB of the largest process, in a fresh one."""
    command = [sys.executable, "-c", _CLOCK.format(code), str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=os.environ)
    return [float(word) for word in done.stdout.split()]


def main() -> None:
    """Print a line for each way to read."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    rounds = parser.parse_args().rounds
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.csv"
        written(1_000_000, 10).to_csv(path, index=False)
        measured: dict[str, list[list[float]]] = {name: [] for name in _READ}
        for _ in range(rounds):
            for name, code in _READ.items():
                measured[name].append(measure(code, path))
                time.sleep(0.2)
    rival = measured["pandas.read_csv"]
    for name, each in measured.items():
        clock, work, size = map(statistics.median, zip(*each, strict=True))
        times = [
            statistics.median(mine[i] / theirs[i] for mine, theirs in zip(each, rival, strict=True))
            for i in range(3)
        ]
        sys.stdout.write(
            f"{name}: {clock:.2f} s ({times[0]:.1f} x), {work:.2f} processor seconds "
            f"({times[1]:.1f} x), {size:.0f} MB ({times[2]:.2f} x)\n"
        )
    sys.stdout.write(f"Aim: {_MOST_TIMES:g} x in time, {_MOST_MEMORY:g} x in memory.\n")


if __name__ == "__main__":
    main()
