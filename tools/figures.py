"""Print the size of the code beside its targets: ``python -m tools.figures``."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from docs.reference_of.thresholds import thresholds
from tools import language

ROOT = language.ROOT


def lines_of(*patterns: str) -> int:
    """Return the number of lines of all files that match."""
    files = {file for pattern in patterns for file in ROOT.glob(pattern) if file.is_file()}
    return sum(file.read_text(encoding="utf-8").count("\n") for file in files)


def _compiled(file: Path) -> bool:
    return file.name.endswith("_kernel.py") or (
        file.parent.name == "kernels" and file.name != "__init__.py"
    )


def figures() -> list[tuple[str, int, int]]:
    """Return name, present value and target of each figure that needs no run of the program."""
    kernels = [file for file in (ROOT / "rwn_core").rglob("*.py") if _compiled(file)]
    words = language.counts(language.offenders())
    return [
        ("lines of rwn_core", lines_of("rwn_core/**/*.py"), 52_000),
        (
            "lines of rwn_ui, pages, app.py with js and css",
            lines_of("rwn_ui/**/*.py", "rwn_ui/**/*.js", "rwn_ui/**/*.css", "pages/*.py", "app.py"),
            14_500,
        ),
        ("lines of rwn_cli", lines_of("rwn_cli/**/*.py"), 3_000),
        ("lines of tests", lines_of("tests/**/*.py"), 38_000),
        ("lines of benchmarks and tools", lines_of("benchmarks/*.py", "tools/*.py"), 3_200),
        (
            "thresholds (# decides: ...)",
            len(thresholds()),
            25,
        ),
        ("files of compiled functions", len(kernels), 10),
        (
            "lines of compiled functions",
            lines_of(*(str(k.relative_to(ROOT)) for k in kernels)),
            2_100,
        ),
        ("first docstring lines in the private idiom", words["first line"], 0),
        ("names in the private idiom", words["name"], 0),
        ("sentences in the private idiom", words["sentence"], 0),
    ]


def table(rows: Sequence[tuple[str, int, int]]) -> str:
    """Return the figures as a Markdown table."""
    body = [f"| {name} | {value:,} | {target:,} |" for name, value, target in rows]
    return "\n".join(["| figure | today | target |", "|---|---:|---:|", *body])


def main() -> int:
    """Print the table."""
    sys.stdout.write(table(figures()) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
