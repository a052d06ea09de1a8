"""What a stranger reads first is true: name, license, citation, and how to install."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import rwn_core as rwn

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
TEXTS = [
    path
    for folder in ("rwn_core", "rwn_ui", "rwn_cli", "docs", "r", "pages", "demo_data", ".")
    for path in ((ROOT / folder).rglob("*") if folder != "." else ROOT.glob("*"))
    if path.suffix in {".py", ".md", ".R", ".Rd", ".toml", ".ipynb", ".js", ".cff"}
]
# a name on a package index that is not ours: anybody could register it
INSTALL = re.compile(
    r"(pip|pipx|uv)( tool)? install[^\n&;]*?[ '\"]rwn\b(?!_)|install\.packages\([\"']rwn"
)


def test_nothing_says_to_install_a_package_that_is_not_published() -> None:
    assert len(TEXTS) > 500
    found = [p.name for p in TEXTS if INSTALL.search(p.read_text("utf-8", errors="replace"))]
    assert found == []
    for line in ("pip install rwn", "pip install 'rwn[dask]'", 'install.packages("rwn")'):
        assert INSTALL.search(line)
    for line in ("pip install .", "pip install '.[dask]' && rwn app", "pip install anywidget"):
        assert not INSTALL.search(line)


def test_the_citation_names_this_version_and_license() -> None:
    text = (ROOT / "CITATION.cff").read_text("utf-8")
    assert f'version: "{rwn.__version__}"' in text
    assert f"license: {PROJECT['license']}" in text
    assert "Novel Neighborhood-Based Method" in text
    for field in ("cff-version", "message", "title", "authors"):
        assert re.search(rf"^{field}:", text, re.M)


def test_one_license_everywhere() -> None:
    description = (ROOT / "r" / "DESCRIPTION").read_text("utf-8")
    assert PROJECT["license"] == "Apache-2.0"
    assert "License: Apache License (== 2.0)" in description
    assert f"Version: {rwn.__version__}" in description


def test_no_address_of_the_project_is_made_up() -> None:
    for address in PROJECT.get("urls", {}).values():
        assert not re.search(r"example\.(org|com)|localhost", address)


def test_what_a_visitor_looks_for_is_there_and_linked() -> None:
    readme = (ROOT / "README.md").read_text("utf-8")
    for name in ("SECURITY.md", "ACCESSIBILITY.md", "CITATION.cff", "LICENSE", "CONTRIBUTING.md"):
        assert (ROOT / name).is_file()
        assert f"({name})" in readme
    named = set(re.findall(r"`(tests/[^`]+)`", (ROOT / "ACCESSIBILITY.md").read_text("utf-8")))
    assert all((ROOT / each).exists() for each in named)
    methods = {12: "twelve", 17: "seventeen", 18: "eighteen", 19: "nineteen", 20: "twenty"}
    assert f"one of {methods[len(rwn.METHODS)]} [methods]" in readme


def test_the_readmes_command_line_shows_the_worst_case() -> None:
    readme = (ROOT / "README.md").read_text("utf-8")
    (audit,) = re.findall(r"^rwn audit .*$", readme, re.M)
    assert "--record" in audit
