"""The release that the steward's notebook draws, from a seed, for comparison with other ways."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import nbformat

import rwn_core as rwn
from rwn_core.reporting.scenario import Scenario

FOLDER = Path(__file__).parents[1] / "docs" / "notebooks"
SEED = 7
CELLS = ("table", "policy", "setting", "release")


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawn:
    """Hold what the notebook has after its cell "release"."""

    table: rwn.Microdata
    setting: rwn.Setting
    release: rwn.Release
    content: bytes

    def write_inputs(self, folder: Path) -> tuple[str, dict[str, str]]:
        """Write table, schema and setting; return the table's path and options of `rwn mask`."""
        schema, scenario = folder / "schema.toml", folder / "setting.toml"
        self.table.frame.to_parquet(folder / "table.parquet")
        schema.write_text(self.table.schema.to_toml(), encoding="utf-8")
        made = Scenario(name="steward", setting=self.setting, table=self.table.fingerprint)
        scenario.write_text(made.to_toml(), encoding="utf-8")
        options = {"schema": str(schema), "scenario": str(scenario), "seed": str(SEED)}
        return str(folder / "table.parquet"), options


def draw() -> Drawn:
    """Run the cells of the notebook that draw its release, with a seed in place of a secret."""
    book = nbformat.read(FOLDER / "steward.ipynb", 4)
    sources = {cell["id"]: cell["source"] for cell in book["cells"]}
    assert "SEED = None" in sources["release"]
    names: dict[str, object] = {}
    for cell in CELLS:
        code = sources[cell].replace("SEED = None", f"SEED = {SEED}")
        exec(compile(code, cell, "exec"), names)  # the project's own notebook
    table, setting, release = (names[name] for name in ("table", "setting", "release"))
    assert isinstance(table, rwn.Microdata)
    assert isinstance(setting, rwn.Setting)
    assert isinstance(release, rwn.Release)
    content = release.to_bytes("csv")
    return Drawn(table=table, setting=setting, release=release, content=content)
