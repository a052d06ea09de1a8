"""Try many users of one server: does anything of one reach another, or stay in its memory.

``python -m tools.sessions --users 20 --actions 1000`` gives each user a table with a word of
its own, and looks for the words of the others in every message.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import re
import socket
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from rwn_ui.server import launch
from tools.protocol_client import Client, fetched

PAGES = ("data", "", "utility", "risk", "compare", "release")
_WORD = re.compile(rb"QX(\d\d\d)Z")
_PLANTED = re.compile(rb"QX\d\d\dZ N\d\d")
LEVELS = 20  # words of a user's table
_SERVERS: dict[int, int] = {}  # the process that serves a port


def found_in_memory(process: int, words: re.Pattern[bytes]) -> int:
    """Return how many different words of a pattern a process holds in its memory."""
    found: set[bytes] = set()
    with Path(f"/proc/{process}/mem").open("rb", buffering=0) as memory:
        for line in Path(f"/proc/{process}/maps").read_text().splitlines():
            span, rights, *_ = line.split()
            if rights.startswith("rw"):
                begin, end = (int(part, 16) for part in span.split("-"))
                with suppress(OSError, ValueError):  # not readable
                    memory.seek(begin)
                    found |= set(words.findall(memory.read(end - begin)))
    return len(found)


class User:
    """A user whose table has words that nobody else's has."""

    def __init__(self, port: int, number: int) -> None:
        self.number, self.foreign, self.own, self.acted = number, 0, 0, 0
        self.client = Client(port, self._hear)
        self.errors: list[str] = []

    def _hear(self, message: bytes) -> None:
        words = {int(word) for word in _WORD.findall(message)}
        self.own += self.number in words
        self.foreign += bool(words - {self.number})

    def table(self, n: int = 200, p: int = 3) -> bytes:
        """A CSV file; its category, a name and the name of a column hold the user's word."""
        rng = np.random.default_rng(self.number)
        frame = pd.DataFrame(rng.normal(size=(n, p)).round(4), columns=[f"x{j}" for j in range(p)])
        word = f"QX{self.number:03d}Z"
        frame[f"town_{word}"] = rng.choice([f"{word} N{level:02d}" for level in range(LEVELS)], n)
        return frame.to_csv(index=False).encode()

    async def arrive(self, n: int = 200, p: int = 3) -> None:
        """Open the app and a file."""
        await self.client.open()
        await self.client.visit("data")
        shown = f"The table: {n:,} records".encode()
        await self.client.upload(f"QX{self.number:03d}Z.csv", self.table(n, p), shown)
        self.errors += self.client.page.errors

    async def act(self, actions: int, rng: random.Random, until: float) -> None:
        """Move sliders, and go to another page now and then; no longer than until a time."""
        await self.client.visit("")
        while self.acted < actions and time.monotonic() < until:
            self.acted += 1
            try:
                await self._one(rng)
            except LookupError:
                await self.client.visit("")
            self.errors += self.client.page.errors
            self.client.page.errors.clear()

    async def _one(self, rng: random.Random) -> None:
        if rng.random() < 0.1:
            await self.client.visit(rng.choice(PAGES))
        else:
            await self.client.move(rng.choice(("k", "epsilon", "q")), rng.random())


async def crossings(
    port: int, users: int, actions: int, minutes: float, gone: float = 60.0
) -> dict[str, Any]:
    """Count messages with a word of another user, and see what is left after Erase."""
    everybody = [User(port, number) for number in range(users)]
    for user in everybody:
        await user.arrive()
    began = time.monotonic()
    until = began + 60 * minutes
    await asyncio.gather(*(u.act(actions, random.Random(u.number), until) for u in everybody))
    took = time.monotonic() - began
    answers = []
    for user in everybody:
        await user.client.visit("data")
        address = await user.client.address_of(user.client.page.deferred[0])
        stranger = everybody[(user.number + 1) % users].client
        before = stranger.fetch(address)
        await user.client.erase()
        answers.append((before, stranger.fetch(address)))
    erased = found_in_memory(_SERVERS[port], _PLANTED)
    for user in everybody:
        await user.client.close()
    await asyncio.sleep(gone)
    return {
        "users": users,
        "actions": sum(user.acted for user in everybody),
        "messages with an own word": sum(user.own for user in everybody),
        "messages with a foreign word": sum(user.foreign for user in everybody),
        "errors on pages": sum(len(user.errors) for user in everybody),
        "addresses that answer before Erase": sum(before == 200 for before, _ in answers),
        "addresses that answer after Erase": sum(after == 200 for _, after in answers),
        "words in temporary files": words_on_disk(),
        "words in the server's memory after Erase": f"{erased} of {users * LEVELS}",
        f"{gone:g} s after all have left": found_in_memory(_SERVERS[port], _PLANTED),
        "seconds": round(took),
    }


def words_on_disk() -> int:
    """How many files in the folder for temporary files hold a word."""
    files = [path for path in Path(os.environ["TMPDIR"]).rglob("*") if path.is_file()]
    return sum(bool(_WORD.search(path.read_bytes())) for path in files)


def words_said(folder: Path) -> int:
    """How many words are in what the server said on the terminal."""
    return len(_WORD.findall((folder / "stderr").read_bytes()))


@contextmanager
def app() -> Iterator[int]:
    """The app on a free port, in a folder for temporary files of its own."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = int(probe.getsockname()[1])
    with tempfile.TemporaryDirectory() as folder:
        os.environ["TMPDIR"] = folder
        try:
            with _said_to(Path(folder)), launch.serving(port) as server:
                _SERVERS[port] = server.pid
                yield port
                assert fetched(f"http://127.0.0.1:{port}/_stcore/health") == 200
            sys.stdout.write(f"words on the terminal: {words_said(Path(folder))}\n")
        finally:
            del os.environ["TMPDIR"]


@contextmanager
def _said_to(folder: Path) -> Iterator[None]:
    """Keep what this process and the server say on the terminal, to be searched."""
    terminal = os.dup(2)
    with (folder / "stderr").open("wb") as said:
        os.dup2(said.fileno(), 2)
        try:
            yield
        finally:
            os.dup2(terminal, 2)
            os.close(terminal)


def main() -> int:
    """Print what was found; exit with 1 if anything crossed or stayed."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--users", type=int, default=20)
    parser.add_argument("--actions", type=int, default=0)
    parser.add_argument("--minutes", type=float, default=600.0)
    parser.add_argument("--gone", type=float, default=60.0, help="seconds after all have left")
    given = parser.parse_args()
    with app() as port:
        found = asyncio.run(crossings(port, given.users, given.actions, given.minutes, given.gone))
    sys.stdout.write(", ".join(f"{what}: {number}" for what, number in found.items()) + "\n")
    return int(
        found["messages with a foreign word"] > 0 or found["addresses that answer after Erase"] > 0
    )


if __name__ == "__main__":
    sys.exit(main())
