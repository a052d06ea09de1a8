"""Count what a reader must hold in mind: names with two meanings, detail keys, unexplained arrays.

Read from the source, except two figures that run a command: the files that a mask enters, and the
deepest chain of calls of an audit.
"""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from tools.sentences import ROOT

CORE = ROOT / "rwn_core"
_ARRAY = re.compile(r"NDArray|ndarray|\bFloats\b|\bInts\b|\bBools\b|\bMask\b")
_SHAPE = re.compile(r"shapes?[: ]|\(\w+,( ?\w+)?\)|same shape|one (number|entry|value) (for|a|per)")
_DETAIL = re.compile(r"""detail(?:\[["']|\.get\(["'])""")
LONG = 30  # lines of a function that needs comments

_RUN = """
import atexit, os, sys
root, files, most, depth = sys.argv[1], set(), 0, 0
def profile(frame, event, argument):
    global most, depth
    code = frame.f_code  # a function's, not that of a module or a class
    if not code.co_filename.startswith(root) or not code.co_flags & 1: return
    if event == 'call':
        depth += 1; most = max(most, depth); files.add(code.co_filename)
    elif event == 'return': depth -= 1
os.environ['RWN_THREADS'] = '1'
atexit.register(lambda: print(f'entered {len(files)} depth {most}', file=sys.stderr))
sys.argv = ['rwn', *sys.argv[2:]]
from rwn_cli.main import main
sys.setprofile(profile)
main()
"""


def _files() -> Iterator[tuple[Path, str, ast.Module]]:
    for file in sorted(CORE.rglob("*.py")):
        text = file.read_text(encoding="utf-8")
        yield file, text, ast.parse(text)


def functions() -> Iterator[tuple[Path, ast.FunctionDef, str]]:
    """Return each function of the core with its file and its text, comments included."""
    for file, text, tree in _files():
        lines = text.splitlines()
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef):
                yield file, node, "\n".join(lines[node.lineno - 1 : node.end_lineno])


def twice() -> list[str]:
    """Return the names that more than one class of the core has."""
    nodes = [node for _, _, tree in _files() for node in ast.walk(tree)]
    names = Counter(node.name for node in nodes if isinstance(node, ast.ClassDef))
    return sorted(name for name, count in names.items() if count > 1)


def detail_reads() -> int:
    """Return how often the core reads a detail by a text key."""
    return sum(len(_DETAIL.findall(text)) for _, text, _ in _files())


def shapeless() -> list[str]:
    """Return the functions that take or return arrays and name no shape."""
    found = []
    for file, node, text in functions():
        hints = [each.annotation for each in (*node.args.args, *node.args.kwonlyargs)]
        written = " ".join(ast.unparse(hint) for hint in (*hints, node.returns) if hint is not None)
        if _ARRAY.search(written) and not _SHAPE.search(text):
            found.append(f"{file.relative_to(ROOT)}:{node.lineno} {node.name}")
    return found


def silent() -> list[str]:
    """Return the long functions without a comment."""
    found = []
    for file, node, text in functions():
        stated = node.body[0].end_lineno if ast.get_docstring(node) else node.lineno
        long = (node.end_lineno or 0) - (stated or 0) >= LONG
        if long and not re.search(r"(^|\s)# ", text):
            found.append(f"{file.relative_to(ROOT)}:{node.lineno} {node.name}")
    return found


def most_named() -> tuple[str, int]:
    """Return the measure whose key stands in most files by hand, and in how many."""
    from rwn_core.measures import MEASURES

    named = Counter[str]()
    for package in ("rwn_core", "rwn_ui", "rwn_cli"):
        for file in (ROOT / package).rglob("*.py"):
            text = file.read_text(encoding="utf-8")
            named.update(key for key in MEASURES if f'"{key}"' in text)
    return named.most_common(1)[0]


_OWN = re.compile(
    r"\b(pin|preset|aim|trial|candidate|lever|sweep|seek|advice|board|draft|shelf)s?\b",
    re.I,
)
# setting, scenario, policy, limit, verdict, donor, neighborhood, slice, method, loss, risk, release
_TERMS = 12


def classes(*rooms: str) -> Iterator[tuple[str, set[str], set[str]]]:
    """Yield the name, the fields and the methods of each class of some rooms."""
    for file in (file for room in rooms for file in (ROOT / room).rglob("*.py")):
        for node in ast.parse(file.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef):
                hints = [each.target for each in node.body if isinstance(each, ast.AnnAssign)]
                methods = {each.name for each in node.body if isinstance(each, ast.FunctionDef)}
                yield node.name, {ast.unparse(hint) for hint in hints}, methods


def forms() -> dict[str, int]:
    """Count the forms of a setting and of a limit's number, and the classes of slow work."""
    everywhere = list(classes("rwn_core", "rwn_ui"))
    setting = {n for n, held, _ in everywhere if "params" in held and held & {"weights", "seed"}}
    bound = {n for n, held, _ in classes("rwn_core/tuning") if held & {"ends", "at_most"}}
    slow = {n for n, _, can in everywhere if {"running", "cancel"} <= can}
    return {"setting": len(setting), "limit": len(bound), "slow": len(slow)}


def words() -> int:
    """Return the field's terms on the pages, and the words of our own that texts of pages have."""
    found = set()
    for file in (*(ROOT / "rwn_ui").rglob("*.py"), *(ROOT / "pages").glob("*.py")):
        tree = ast.parse(file.read_text(encoding="utf-8"))
        notes = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
        for node in ast.walk(tree):
            text = getattr(node, "value", None) if isinstance(node, ast.Constant) else None
            if (
                isinstance(text, str)
                and re.search("^[^\\n]* [^\\n]*$", text)
                and id(node) not in notes
            ):
                found |= {word.lower() for word in _OWN.findall(text)}
    return _TERMS + len(found)


def controls() -> int:
    """Return the controls in Tune's sidebar with "More" open; a closed box is one."""
    import orjson
    from streamlit.testing.v1 import AppTest

    from rwn_ui.state import visit

    visit.tab = lambda _, **of: of["on_answer"]("", "") if of["waits"] else None  # type: ignore
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=200)
    app.session_state["tune.more.box"] = True
    count, blocks = 0, [app.run().sidebar]
    for block in blocks:
        for each in block.children.values():
            blocks += [each] if hasattr(each, "children") else []  # type: ignore[list-item]
            if each.type == "bidi_component":
                told = orjson.loads(each.proto.bytes)
                count += sum(len(told[part]) for part in ("sliders", "presets", "steps"))
            else:
                count += hasattr(each, "label") and bool(each.label)
    return count


def traced(*arguments: str, folder: Path) -> tuple[int, int]:
    """Run a command of the shell; return the product's files that it enters, and its depth."""
    ran = subprocess.run(
        [sys.executable, "-c", _RUN, str(ROOT / "rwn_"), *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    found = re.search(r"entered (\d+) depth (\d+)", ran.stderr)
    return (int(found[1]), int(found[2])) if found else (0, 0)


def mask_and_audit() -> tuple[int, int]:
    """Return the files that `rwn mask` enters on bodyfat, and the depth of an audit of it."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        traced("demo", "bodyfat", "-o", "before.csv", "--schema", folder=folder)
        schema = ("--schema", "before.toml")
        mask = ("mask", "before.csv", "after.csv", *schema, "--epsilon", "2", "--k", "5")
        entered, _ = traced(*mask, "--order", "original", folder=folder)
        _, depth = traced("audit", "before.csv", "after.csv", *schema, folder=folder)
    return entered, depth
