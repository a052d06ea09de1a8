"""What the controller of several workers does once, which each would else do for itself.

It has the byte code of the tests written, with their asserts rewritten, by one collection in a
process of its own, and every kernel compiled in another. Workers begin when the byte code is
there, and are given tests when the kernels are.
"""

from __future__ import annotations

import struct
import subprocess
import sys
from importlib.util import source_hash
from pathlib import Path

import pytest

from rwn_core.parallel.kernel_cache import folder, is_ready

KERNELS = "ready-for-tests"
"""The mark of `tests.compiled_kernels` that all are compiled."""
BY_HASH = 3
"""The flag of byte code that names its source by a hash, not by its size and time (PEP 552)."""
FEW = 10
"""Files that workers rather rewrite themselves than wait for a collection."""


class BeforeWorkers:
    """A plugin of the controller; `config` is that of the run."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self.root = config.rootpath
        self.compiler: subprocess.Popen[bytes] | None = None
        self.kept = 0

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_setupnodes(self) -> None:
        """Have kernels compiled; wait for the byte code alone."""
        if not is_ready(KERNELS):
            self._say("kernels are compiled, once for all workers")
            self.compiler = self._begin("tests.compiled_kernels")
        stale = stale_tests(self.root / "tests")
        if len(stale) > FEW and writes_byte_code(self.root / "tests"):
            self._say(f"{len(stale)} files of tests are read, once for all workers")
            quiet = ("--collect-only", "-qq", "-n", "0", "-p", "no:cacheprovider")
            # a file that cannot be read is reported by the workers
            self._begin("pytest", *quiet, *map(str, stale)).wait()

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self) -> None:
        """Let nobody begin with tests before the kernels are compiled."""
        if self.compiler is not None and self.compiler.wait():
            self._say("not all kernels could be compiled: python -m tests.compiled_kernels")
        self.compiler = None
        self.kept = self.kept or compiled_forms()

    def pytest_sessionfinish(self) -> None:
        """Leave no compiler behind when the run is given up."""
        if self.compiler is not None:
            self.compiler.kill()
            self.compiler.wait()

    def pytest_terminal_summary(self) -> None:
        """Say what workers have compiled themselves, several times perhaps."""
        more = compiled_forms() - self.kept
        if self.kept and more > 0:
            self._say(f"{more} kernels that tests/compiled_kernels.py does not use were compiled")

    def _begin(self, module: str, *words: str) -> subprocess.Popen[bytes]:
        silent = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.DEVNULL)
        return subprocess.Popen([sys.executable, "-m", module, *words], cwd=self.root, **silent)

    def _say(self, words: str) -> None:
        terminal = self.config.pluginmanager.get_plugin("terminalreporter")
        if terminal is not None:
            terminal.write_line(words)


def compiled_forms() -> int:
    """Return how many forms of kernels are kept, for today's sources."""
    return sum(1 for _ in folder().rglob("*.nbc"))


def writes_byte_code(folder: Path) -> bool:
    """True if what is compiled in a folder may be kept, and can be."""
    if sys.dont_write_bytecode:
        return False
    try:
        kept = cached(folder / "conftest.py").parent
        kept.mkdir(parents=True, exist_ok=True)
        with (kept / "written").open("wb"):
            pass
        (kept / "written").unlink()
    except OSError:
        return False
    return True


def stale_tests(folder: Path) -> list[Path]:
    """Return the files of tests whose byte code with rewritten asserts is not that of today."""
    return [file for file in sorted(folder.rglob("test_*.py")) if not _is_current(file)]


def cached(file: Path) -> Path:
    """Where pytest keeps the byte code of a file of tests."""
    name = f"{file.stem}.{sys.implementation.cache_tag}-pytest-{pytest.__version__}.pyc"
    if sys.pycache_prefix:
        return Path(sys.pycache_prefix, *file.parent.parts[1:], name)
    return file.parent / "__pycache__" / name


def _is_current(file: Path) -> bool:
    try:
        with cached(file).open("rb") as stream:
            head = stream.read(16)
    except OSError:
        return False
    if int.from_bytes(head[4:8], "little") == BY_HASH:
        return head[8:] == source_hash(file.read_bytes())
    about = file.stat()
    return head[8:] == struct.pack("<LL", int(about.st_mtime), about.st_size)
