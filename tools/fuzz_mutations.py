"""How a valid file is broken: bytes changed, cut, doubled, moved, and changed before packing."""

from __future__ import annotations

import gzip
import io
import random
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tools.fuzz_files import Seed

_NUMBERS = (b"\xff", b"\0", b"\x7f", b"\x80", b"\x01")
_PLAIN = b"0123456789abcdefghijklmnopqrstuvwxyz"
_TOKENS = (
    b'"', b",", b"\n", b"\r", b"\t", b";", b"\0", b"\xef\xbb\xbf", b"\xff\xfe", b"NA", b"1e400",
    b"9007199254740993", b"0x10", b"1_000", b"-", b"+09:00", b"2024-02-30", b"=1+1", b"nan",
    b"inf", b"'", b"\xe2\x80\xae", b"\xc3", b"&lt;", b"<!DOCTYPE x>", b"</v>", b"]]>", b"1.10",
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Mutant:
    """A broken file."""

    seed: Seed  # what it was made of
    content: bytes
    ways: tuple[str, ...]  # what was done, in order

    @property
    def same(self) -> bool:
        """Whether nothing came of it."""
        return self.content == self.seed.content

    @property
    def cut(self) -> bool:
        """Whether it is the beginning of the valid file, and no more."""
        return not self.same and set(self.ways) == {"cut"}

    @property
    def outside(self) -> bool:
        """Whether only the file as it lies was changed, and nothing before it was packed."""
        return "inside" not in self.ways


def mutant(seeds: Sequence[Seed], key: str, number: int) -> Mutant:
    """Break a file; always the same one for the same key and number."""
    rng = random.Random(f"{key}:{number}")
    formats = sorted({each.format for each in seeds})
    form = formats[number % len(formats)]
    seed = rng.choice([each for each in seeds if each.format == form])
    if rng.random() < 0.01:
        return Mutant(seed=seed, content=seed.content, ways=("same",))
    if seed.packed and rng.random() < 0.6:
        return Mutant(seed=seed, content=_inside(seed, rng), ways=("inside",))
    content, ways = _broken(seed.content, rng)
    return Mutant(seed=seed, content=content, ways=ways)


def _broken(content: bytes, rng: random.Random) -> tuple[bytes, tuple[str, ...]]:
    ways = []
    for _ in range(1 if rng.random() < 0.6 else rng.randint(2, 5)):
        name = rng.choice(list(_WAYS))
        content = _WAYS[name](content, rng)
        ways.append(name)
    return content, tuple(ways)


def _inside(seed: Seed, rng: random.Random) -> bytes:
    """Changed before it is packed, so that the checksums of the packing are right."""
    if seed.packed == "gzip":
        return gzip.compress(_broken(gzip.decompress(seed.content), rng)[0], 1, mtime=0)
    stream = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(seed.content)) as old, zipfile.ZipFile(stream, "w", 8) as new:
        parts = old.namelist()
        chosen = rng.choice([part for part in parts if "sheet" in part or rng.random() < 0.3])
        for name in parts:
            part = old.read(name)
            new.writestr(name, _broken(part, rng)[0] if name == chosen else part)
    return stream.getvalue()


def _place(content: bytes, rng: random.Random) -> int:
    """A place, more often in the first kilobyte: that is where headers are."""
    last = min(len(content), 1000) if rng.random() < 0.3 else len(content)
    return rng.randrange(last) if last else 0


def _flip(content: bytes, rng: random.Random) -> bytes:
    changed = bytearray(content)
    for _ in range(rng.choice((1, 1, 2, 8)) if content else 0):
        changed[_place(content, rng)] ^= 1 << rng.randrange(8)
    return bytes(changed)


def _replace(content: bytes, rng: random.Random, new: bytes, old: int) -> bytes:
    """Put bytes in the place of so many at a random place."""
    at = _place(content, rng)
    return content[:at] + new + content[at + old :]


def _extreme(content: bytes, rng: random.Random) -> bytes:
    width = rng.choice((1, 2, 4, 8))
    return _replace(content, rng, (rng.choice(_NUMBERS) * width)[:width], width)


def _chunk(content: bytes, rng: random.Random, make: Callable[[bytes], bytes]) -> bytes:
    """Put what is made of a chunk in its place."""
    begin = _place(content, rng)
    end = min(len(content), begin + 2 ** rng.randint(0, 9))
    return content[:begin] + make(content[begin:end]) + content[end:]


def _move(content: bytes, rng: random.Random) -> bytes:
    chunks: list[bytes] = []
    rest = _chunk(content, rng, lambda chunk: chunks.append(chunk) or b"")
    return _replace(rest, rng, chunks[0], 0)


def _digit(content: bytes, rng: random.Random) -> bytes:
    """Change one digit or letter into another, which a text of the format still allows."""
    at = _place(content, rng)
    digits = [place for place in range(at, min(len(content), at + 200)) if content[place] in _PLAIN]
    if not digits:
        return content
    other = rng.choice(b"0123456789.-" if content[digits[0]] in b"0123456789" else b"abcxyz ")
    return content[: digits[0]] + bytes([other]) + content[digits[0] + 1 :]


_WAYS: dict[str, Callable[[bytes, random.Random], bytes]] = {
    "flip": _flip,
    "set": lambda content, rng: _replace(content, rng, rng.randbytes(1), 1),
    "extreme": _extreme,
    "cut": lambda content, rng: content[: _place(content, rng)],
    "delete": lambda content, rng: _chunk(content, rng, lambda _: b""),
    "double": lambda content, rng: _chunk(content, rng, lambda chunk: chunk + chunk),
    "move": _move,
    "insert": lambda content, rng: _replace(content, rng, rng.randbytes(2 ** rng.randint(0, 6)), 0),
    "zero": lambda content, rng: _chunk(content, rng, lambda chunk: bytes(len(chunk))),
    "token": lambda content, rng: _replace(content, rng, rng.choice(_TOKENS), rng.randint(0, 4)),
    "digit": _digit,
}
