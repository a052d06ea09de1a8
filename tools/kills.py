"""Look for a torn release: after a kill at any moment, on a full disk, on a disk that fails.

``python -m tools.kills 200`` writes the files of a release into a new folder, a record and a
release over older ones, and an entry of the ledger, in a process that is killed at a random moment;
then kills it at every single call that changes the disk, has each of them fail, and fills a disk.
"""

from __future__ import annotations

import errno
import hashlib
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import rwn_core as rwn
from rwn_core.errors import RWNError
from rwn_core.io.write import write_together
from rwn_core.reporting.judged_release import Approval, judge_release
from rwn_core.reporting.ledger import add, file_bytes, read_entries
from rwn_core.reporting.release_folder import RECORD, SUMS, release_files, write_folder
from rwn_core.reporting.release_record import read_record

CALLS = ("fsync", "mkdir", "rename", "replace", "write", "ftruncate", "unlink", "rmdir", "open")
FAULTS = ("torn", "stuck", "tracebacks")
OLD = b"the release of last year"


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """What is written, and where."""

    root: Path
    files: dict[str, bytes]  # of the release's folder
    record: dict[str, Any]
    data: rwn.Microdata

    @property
    def pair(self) -> dict[Path, bytes]:
        """A record and a release, which are written over older ones."""
        content = next(self.files[name] for name in self.files if name.endswith(".csv"))
        return {self.root / "record.toml": self.files[RECORD], self.root / "release.csv": content}

    def write(self, number: int) -> None:
        """Write all of it, as the Release page and `rwn mask` and `rwn ledger add` do."""
        write_folder(self.files, self.root, f"{number:032x}")
        write_together(self.pair)
        release = {**self.record["release"], "id": f"{number:032x}"}
        add(self.root / "ledger.jsonl", {**self.record, "release": release}, self.data, by="Ada")

    def begin(self) -> None:
        """Lay the older files there again."""
        for path in self.pair:
            path.write_bytes(OLD)

    def torn(self) -> list[str]:
        """Which files are neither whole nor the older ones, and what is wrong with the ledger."""
        wrong = [
            path.name for path, new in self.pair.items() if path.read_bytes() not in (OLD, new)
        ]
        for folder in self.root.glob("release-*"):
            if folder.is_dir():
                wrong += [f"{folder.name}: {name}" for name in _broken(folder, self.files)]
        return wrong + self._ledger()

    def _ledger(self) -> list[str]:
        path = self.root / "ledger.jsonl"
        try:
            read_entries(file_bytes(path) if path.exists() else b"")
        except RWNError as refusal:
            return [str(refusal)]
        return []


def _broken(folder: Path, files: dict[str, bytes]) -> list[str]:
    """The files of a release's folder that are not there, or not whole."""
    if not (folder / SUMS).is_file():
        return [SUMS]
    sums = [line.split("  ") for line in (folder / SUMS).read_text().splitlines()]
    missing = [name for name in files if not (folder / name).is_file()]
    return missing + [
        name
        for digest, name in sums
        if name not in missing
        and hashlib.sha256((folder / name).read_bytes()).hexdigest() != digest
    ]


def work(root: Path, n: int = 3_000) -> Work:
    """Draw a release of some size once; how it is written is what is tried."""
    rng = np.random.default_rng(14)
    frame = pd.DataFrame(rng.normal(size=(n, 8)), columns=list("abcdefgh")).round(6)
    data = rwn.Microdata.from_frame(frame.assign(town=rng.choice(["Ulm", "Bonn"], n)))
    data = data.with_weights({"town": 0.0})  # else no donor had another town
    judged = judge_release(data, rwn.RWN(k=5), "csv", rwn.Policy())
    approval = Approval(by="Ada", reason="a trial of the disk")
    files = release_files(judged, data, approval)
    record = read_record(files[RECORD].decode())
    return Work(root=root, files=files, record=record, data=data)


def apart(do: Callable[[], object], after: float | None = None) -> tuple[int, float]:
    """Do something in a copy of this process, which is killed after so many seconds.

    Returns
    -------
    tuple of int and float
        The number of the signal that ended it, or 0, or minus its exit code; seconds.
    """
    begun = time.monotonic()
    child = os.fork()
    if child == 0:
        code = 0
        try:
            do()
        except RWNError:
            code = 3
        except BaseException:
            code = 1
        os._exit(code)
    if after is not None:
        time.sleep(after)
        with suppress(ProcessLookupError):
            os.kill(child, signal.SIGKILL)
    status = os.waitpid(child, 0)[1]
    ended = os.WTERMSIG(status) if os.WIFSIGNALED(status) else -os.WEXITSTATUS(status)
    return ended, time.monotonic() - begun


@contextmanager
def at_call(number: int, act: Callable[[], None], seen: list[str]) -> Iterator[None]:
    """Act before or after a call among those that change the disk; the number counts both."""
    kept = {name: getattr(os, name) for name in CALLS}

    def watched(name: str) -> Callable[..., Any]:
        def call(*arguments: Any, **named: Any) -> Any:
            if name != "open" or arguments[1] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT):
                result = None
                for moment in ("before", "after"):
                    seen.append(f"{moment} {name}")
                    if len(seen) == number:
                        act()
                    result = kept[name](*arguments, **named) if moment == "before" else result
                return result
            return kept[name](*arguments, **named)

        return call

    try:
        for name in CALLS:
            setattr(os, name, watched(name))
        yield
    finally:
        for name, original in kept.items():
            setattr(os, name, original)


def _die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def _fail() -> None:
    raise OSError(errno.EIO, os.strerror(errno.EIO))


def random_kills(made: Work, count: int) -> dict[str, int]:
    """Kill at random moments of a writing; count what was torn."""
    rng, number = random.Random(14), 0
    spans = []
    for number in range(1, 4):
        made.begin()
        spans.append(apart(lambda number=number: made.write(number))[1])
    found = {"kills": 0, "too late": 0, "torn": 0, "stuck": 0}
    while found["kills"] < count:
        number += 1
        made.begin()
        ended, _ = apart(lambda number=number: made.write(number), rng.uniform(0, max(spans)))
        found["kills" if ended == signal.SIGKILL else "too late"] += 1
        _count(made, found, 0)
    _count(made, found, number + 1)
    return found


def _count(made: Work, found: dict[str, int], following: int) -> None:
    wrong, stuck = made.torn(), ""
    if following and not wrong:  # can the next release be written?
        try:
            made.write(following)
        except RWNError as refusal:
            stuck = f"afterwards: {refusal}"
    found["torn"] += bool(wrong)
    found["stuck"] += bool(stuck)
    sys.stdout.write("".join(f"  {words}\n" for words in (*wrong, stuck) if words))


def at_every_call(made: Work, act: Callable[[], None]) -> dict[str, int]:
    """Kill or fail at each call that changes the disk, beginning with a new ledger each time."""
    counted: list[str] = []
    _anew(made)
    with at_call(0, act, counted):
        made.write(1)
    found = {"moments": len(counted), "torn": 0, "stuck": 0, "tracebacks": 0, "left": 0}
    for number in range(1, len(counted) + 1):
        _anew(made)

        def broken(number: int = number) -> None:
            with at_call(number, act, []):
                made.write(2)

        ended, _ = apart(broken)
        found["tracebacks"] += ended == -1
        if ended == -1:
            sys.stdout.write(f"  call {number}, {counted[number - 1]}: no sentence\n")
        found["left"] += act is _fail and any(made.root.rglob(".part-*"))
        _count(made, found, 3)
    return found


def _anew(made: Work) -> None:
    subprocess.run(["rm", "-rf", str(made.root)], check=True)
    made.root.mkdir()
    made.begin()


@contextmanager
def small_disk(folder: Path, size: int) -> Iterator[Path]:
    """A disk of so many bytes; only for who may mount one."""
    folder.mkdir(exist_ok=True)
    options = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)]
    subprocess.run(options, check=True, capture_output=True)
    try:
        yield folder
    finally:
        subprocess.run(["umount", str(folder)], check=True)


def full_disks(made: Work, place: Path, steps: int = 40) -> dict[str, int]:
    """Write onto disks of growing size, from hardly any room to enough."""
    need = 3 * sum(map(len, made.files.values())) + 400_000
    found = {"disks": 0, "written": 0, "torn": 0, "stuck": 0, "tracebacks": 0}
    for step in range(steps):
        size = 32_768 + step * need // steps
        with small_disk(place, size) as disk:
            there = Work(root=disk, files=made.files, record=made.record, data=made.data)
            there.begin()
            ended, _ = apart(lambda there=there: there.write(1))
            found["disks"] += 1
            found["written"] += ended == 0
            found["tracebacks"] += ended == -1
            _count(there, found, 0)
    return found


def main() -> int:
    """Print what was torn, and exit with 1 if anything was."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    bad = 0
    with tempfile.TemporaryDirectory() as folder:
        made = work(Path(folder) / "house")
        ways: list[tuple[str, Callable[[], dict[str, int]]]] = [
            ("a kill before and after every call", lambda: at_every_call(made, _die)),
            ("an error (EIO) before and after every call", lambda: at_every_call(made, _fail)),
            ("kills at random moments", lambda: random_kills(made, count)),
            ("full disks", lambda: full_disks(made, Path(folder) / "disk")),
        ]
        for name, way in ways:
            try:
                found = way()
            except subprocess.CalledProcessError:
                sys.stdout.write(f"{name}: not tried, no disk may be mounted here\n")
                continue
            bad += sum(found.get(fault, 0) for fault in FAULTS)
            said = ", ".join(f"{number} {what}" for what, number in found.items())
            sys.stdout.write(f"{name}: {said}\n")
            sys.stdout.flush()
    return int(bad > 0)


if __name__ == "__main__":
    sys.exit(main())
