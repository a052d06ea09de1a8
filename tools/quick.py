"""Check a change in about 90 seconds: ``python -m tools.quick [SECONDS]`` (``make quick``).

Lint, types, rules, golden bytes, contracts; then the tests nearest to the changed files, until
the time is over. Changed is what differs from the last commit, or else the last commit itself.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterable
from pathlib import Path

import pytest

from tests.rules import import_law

ROOT = Path(__file__).resolve().parents[1]
SECONDS = 90.0
CHECKS = (("ruff", "check", "-q", "."), ("ruff", "format", "-q", "--check", "."), ("mypy",))
RULES = ("architecture", "language", "sentences")
ALWAYS = (
    *(f"tests/rules/test_{name}.py" for name in RULES),
    "tests/golden/test_release_bytes.py",
    "tests/golden/test_example_e1.py",
    "tests/contracts/test_measures.py",
    "tests/contracts/test_units.py",
)


def changed() -> list[str]:
    """Return the paths that differ from the last commit, or that the last commit changed."""
    for arguments in (("HEAD",), ("HEAD~1", "HEAD")):
        names = _git("diff", "--name-only", *arguments)
        if arguments == ("HEAD",):
            names += _git("ls-files", "--others", "--exclude-standard")
        if names:
            return names
    return []


def _git(*arguments: str) -> list[str]:
    command = ["git", *arguments]
    return subprocess.run(
        command, cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout.split()


def nearest_tests(paths: Iterable[str]) -> list[str]:
    """Return files of tests: those that changed, then of changed modules, then of importers."""
    names = sorted(paths)
    modules = {
        path.removesuffix(".py").replace("/", ".").removesuffix(".__init__") for path in names
    }
    arrows = import_law.arrows(import_law.program())
    importers = {here for here, there in arrows if there in modules}
    texts = {
        path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8")
        for path in sorted((ROOT / "tests").rglob("test_*.py"))
        if "browser" not in path.parts and "nightly" not in path.parts
    }
    ranked = {
        path: rank
        for rank, known in ((2, importers), (1, modules))
        for path, text in texts.items()
        if any(_mentions(text, module) for module in known)
    } | {path: 0 for path in names if path in texts}
    return sorted(ranked.keys() - set(ALWAYS), key=lambda path: (ranked[path], path))


def _mentions(text: str, module: str) -> bool:
    parent, _, name = module.rpartition(".")
    return f"{module} import" in text or f"from {parent} import {name}\n" in text


class _UntilLate:
    """End a run of pytest in good order when the time is over."""

    def __init__(self, end: float) -> None:
        self.end = end
        self.session: pytest.Session | None = None

    def pytest_sessionstart(self, session: pytest.Session) -> None:
        self.session = session

    def pytest_runtest_logreport(self) -> None:
        if time.monotonic() > self.end and self.session is not None:
            self.session.shouldstop = "the time is over: .ci/run has the other tests"


def main(arguments: list[str]) -> int:
    """Run the checks; return 1 if one fails."""
    end = time.monotonic() + (float(arguments[0]) if arguments else SECONDS)
    running = [subprocess.Popen([sys.executable, "-m", *check], cwd=ROOT) for check in CHECKS]
    tests = nearest_tests(changed())
    sys.stdout.write(f"{len(tests)} files of tests are near to the change\n")
    options = ["-q", "-p", "no:cacheprovider", "-m", "not slow and not nightly and not engines"]
    code = pytest.main([*options, *ALWAYS, *tests], plugins=[_UntilLate(end)])
    stopped = pytest.ExitCode.INTERRUPTED if time.monotonic() > end else pytest.ExitCode.OK
    failed = [process.args for process in running if process.wait()]
    return int(bool(failed) or code not in {pytest.ExitCode.OK, stopped})


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
