"""Reads every import of every file and holds it against the law of ARCHITECTURE.md."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import Any, TypeVar

from tools import sentences

ROOT = Path(__file__).resolve().parents[2]

LAW = """
errors _version moved_names
data randomness parallel
io neighbors
laws
masking measures
evaluation compile_ahead
tuning charts datasets process_to_fork
reporting
rwn_ui
rwn_cli pages app
"""
"""A file imports from its own room and from rooms on earlier lines, never from its own line."""

INSIDE = {
    "measures": "comparison measure sentence view\nstatistics\nattacks drawing\nutility risk",
    "rwn_ui": (
        "server panel\nbackground progress\nstate\nwidgets\nfeatures\n"
        "data tune utility risk compare find release learn\nnotebook"
    ),
}
"""The same inside two rooms, by file or folder."""

ONE_ROOM = {"comparison", "measure", "sentence", "view"}
"""Files of measures on one line that are one room together."""

SIBLINGS = {
    "rwn_core.io": "*_format",
    "rwn_core.masking": (
        "* but chain intervals lever method neighborhood_method option release second_reading "
        "sliced_method"
    ),
    "rwn_core.measures.utility": "*",
    "rwn_core.measures.risk": "*",
    "rwn_core.charts.tuning": "*",
    "rwn_core.charts.lessons": "*",
    "rwn_core.evaluation.lessons": "*",
    "pages": "*",
}
"""Folders, and which of their files do not know each other."""

ALONE = {"rwn_core.measures.attacks": "red_team"}
"""In a folder the one that knows no other and that no other knows: an independent second look."""

PARTS = ("app.py", "pages", "rwn_cli", "rwn_ui", "rwn_core")
Program = Mapping[str, str]
"""The source text of every file, by its dotted name."""
Arrow = tuple[str, str]
"""A file and one that it imports."""
Node = TypeVar("Node", bound=ast.AST)


def ranks(law: str) -> dict[str, int]:
    """The line of each room."""
    return {room: line for line, rooms in enumerate(law.split("\n")) for room in rooms.split()}


RANK = ranks(LAW.strip())


def law_text() -> str:
    """The law as ARCHITECTURE.md states it: ten numbered lines, and the order inside two rooms."""
    lines = [
        f"{number:>2}  {'  '.join(rooms.split())}"
        for number, rooms in enumerate(LAW.strip().split("\n"), start=1)
    ]
    lines += [
        f"inside {room}: {' < '.join(', '.join(line.split()) for line in order.split(chr(10)))}"
        for room, order in INSIDE.items()
    ]
    return "\n".join(lines)


@cache
def sources(root: Path = ROOT) -> tuple[Path, ...]:
    """Every file of the program."""
    paths: list[Path] = []
    for part in PARTS:
        paths += [root / part] if part.endswith(".py") else sorted((root / part).rglob("*.py"))
    return tuple(paths)


def module_of(path: Path, root: Path = ROOT) -> str:
    """The dotted name of a file."""
    parts = path.relative_to(root).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache
def program(root: Path = ROOT) -> Program:
    """The source text of every file under a root, by its dotted name."""
    return {module_of(path, root): path.read_text(encoding="utf-8") for path in sources(root)}


def room_of(module: str) -> str:
    """The room of a module: a folder or file of rwn_core, or another part of the program."""
    first, *rest = module.split(".")
    return rest[0] if first == "rwn_core" and rest else first


@cache
def parsed(text: str) -> ast.Module:
    """A source, parsed once for all rules."""
    return ast.parse(text)


@cache
def _by_class(text: str) -> Mapping[type, list[Any]]:
    result = defaultdict(list)
    for node in sentences.nodes(parsed(text)):
        result[type(node)].append(node)
    return result


def nodes(text: str, *classes: type[Node]) -> Iterator[Node]:
    """The parts of a source of these classes; all rules together walk through it once."""
    found = _by_class(text)
    return (node for each in classes for node in found.get(each, ()))


@cache
def imported_names(text: str) -> frozenset[str]:
    """The full names that a source imports, in functions and for types alone too."""
    names = {alias.name for node in nodes(text, ast.Import) for alias in node.names}
    for node in nodes(text, ast.ImportFrom):
        names |= {f"{node.module}.{alias.name}" for alias in node.names}
    for call in nodes(text, ast.Call):
        if isinstance(call.func, ast.Name) and call.func.id == "when_called":
            names.add(ast.literal_eval(call.args[0]))
    return frozenset(names)


def arrows(files: Program) -> frozenset[Arrow]:
    """Every import from one file of the program to another."""
    return frozenset(
        (module, target)
        for module, text in files.items()
        for name in imported_names(text)
        if (target := _module_with(name, files)) is not None and target != module
    )


def _module_with(name: str, files: Program) -> str | None:
    """The file that a full name leads to; None outside of the program."""
    parts = name.split(".")
    candidates = (".".join(parts[:length]) for length in range(len(parts), 0, -1))
    return next((module for module in candidates if module in files), None)


def broken(pairs: Iterable[Arrow]) -> dict[Arrow, str]:
    """The arrows that the law forbids, each with the reason."""
    # `rwn_core` itself is the list of public names, each imported on demand
    reasons = {(one, two): _reason(one, two) for one, two in sorted(pairs) if one != "rwn_core"}
    return {arrow: reason for arrow, reason in reasons.items() if reason}


def _reason(here: str, there: str) -> str:
    """Say why one file may not import another; nothing where it may."""
    room, other = room_of(here), room_of(there)
    if other == "rwn_core":
        inside = here.startswith("rwn_core.")
        return "the package lists the public names of its own files" if inside else ""
    if room != other:
        return _not_before(other, room, RANK)
    return _within_room(here, there) or _siblings(here, there) or _alone(here, there)


def _within_room(here: str, there: str) -> str:
    """Say why a part of a room may not import another, where the room has an order of its own."""
    room = room_of(here)
    part, second = _part_of(here), _part_of(there)
    if room not in INSIDE or not part:  # the catalogue sees all
        return ""
    if not second:
        return f"{room} is the catalogue of its own files"
    if part == second or {part, second} <= ONE_ROOM:
        return ""
    return _not_before(second, part, ranks(INSIDE[room]))


def _siblings(here: str, there: str) -> str:
    """Say which folder has files of one sort, of which one imports another."""
    for folder, which in SIBLINGS.items():
        one, two = (_stem_in(folder, module) for module in (here, there))
        if one != two and _is_one_of(one, which) and _is_one_of(two, which):
            return f"files of {folder} do not know each other"
    return ""


def _alone(here: str, there: str) -> str:
    """Say which folder has a file that stands alone, and is imported or imports."""
    for folder, alone in ALONE.items():
        one, two = (_stem_in(folder, module) for module in (here, there))
        if one and two and one != two and alone in (one, two):
            return f"{alone} and the other files of {folder} do not know each other"
    return ""


def _not_before(there: str, here: str, order: Mapping[str, int]) -> str:
    if {here, there} <= order.keys() and order[there] < order[here]:
        return ""
    return f"{there} does not stand before {here}"


def _part_of(module: str) -> str:
    """The file or folder of a room that a module is, or is in; nothing for the room's list."""
    parts = module.split(".")[2 if module.startswith("rwn_core.") else 1 :]
    return parts[0] if parts else ""


def _stem_in(folder: str, module: str) -> str:
    """The name of a module's file or folder within a folder; nothing if it is not in it."""
    start = f"{folder}."
    return module[len(start) :].split(".")[0] if module.startswith(start) else ""


def _is_one_of(stem: str, which: str) -> bool:
    pattern, _, but = which.partition(" but ")
    return bool(stem) and stem.endswith(pattern.removeprefix("*")) and stem not in but.split()


def homeless(files: Program) -> list[str]:
    """The rooms, and parts of two of them, that have no line in the law."""
    unknown = {room_of(module) for module in files} - RANK.keys() - {"rwn_core"}
    for room, order in INSIDE.items():
        parts = {_part_of(module) for module in files if room_of(module) == room}
        unknown |= {f"{room}/{part}" for part in parts - ranks(order).keys() - {""}}
    return sorted(unknown)


def circle(pairs: Iterable[Arrow]) -> list[str]:
    """Files that import each other, directly or through others; none where there is no circle."""
    order = TopologicalSorter[str]()
    for here, there in pairs:
        order.add(here, there)
    try:
        order.prepare()
    except CycleError as found:
        return list(found.args[1])
    return []
