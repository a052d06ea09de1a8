"""A measure in one file, with a line in the list, is on the pages, in the report and in plots."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

PLANTED = '''
"""A measure that was planted."""
from rwn_core.measures.measure import Detail, Measure, Reading
from rwn_core.measures.view import Tile, View


def draw(reading):
    return {"key": "planted", "title": "Planted", "note": "", "value": reading.value}


def table(reading, n):
    return {"title": "Planted", "columns": ["records"], "rows": [[n]]}


MEASURE = Measure(
    key="planted",
    title="Planted",
    question="Is it there?",
    source="this test",
    compute=lambda comparison: Reading(value=0.5, detail=Detail()),
    sentence=lambda reading, n: "It is there.",
    view=View(
        about="value",
        charts={"planted": draw},
        tables=(table,),
        tiles=(Tile(places={"risk": 9, "tune": 9}, label="Planted", words="{:.2f}".format),),
        bands={"value": (0.0, 1.0)},
        recorded=("scope",),
        places={"risk": 99, "tune": 99, "report": 98, "tables of keys": 99, "sweep": 99},
    ),
)
'''

ASKED = """
from types import SimpleNamespace
import rwn_core as rwn
from rwn_core.charts import CHARTS
from rwn_core.measures import measures_of, tiles_of
from rwn_core.reporting.evidence import DRAWN, REPORTED, kept_detail
from rwn_core.reporting.plot import _CHARTS
from rwn_core.tuning import USUAL
from rwn_ui.panel.parts import draw_tile
from rwn_ui.risk import sentences, view
from rwn_ui.state.results import CARDS, SHOWN
from rwn_ui.tune.tiles import TILES
from rwn_ui.widgets.tables import measure_tables

readings = dict.fromkeys(rwn.MEASURES, rwn.NotApplicable("None."))
readings["planted"] = reading = rwn.MEASURES["planted"].compute(None)
assert CHARTS["planted"](reading)["value"] == 0.5
assert view.cards(SimpleNamespace(readings=readings))[-1]["title"] == "Planted"
assert draw_tile(tiles_of("risk")["planted"], reading)["released"] == "0.50"
assert [each["rows"] for each in measure_tables("tables of keys", readings, 7)] == [[[7]]]
assert "It is there." in str(sentences.tables(readings, 7)[1])
assert "planted" in TILES and "planted" in SHOWN and CARDS[-1].key == "planted"
assert "planted" in USUAL and "planted" in REPORTED and DRAWN["planted"] == "planted"
assert "planted" in _CHARTS and kept_detail("planted", reading) == {"scope": ""}
"""


def copied(folder: Path) -> Path:
    """A copy of the program with the measure, and its line in the list."""
    for package in ("rwn_core", "rwn_ui"):
        shutil.copytree(ROOT / package, folder / package, ignore=shutil.ignore_patterns("*.pyc"))
    (folder / "rwn_core/measures/risk/planted.py").write_text(PLANTED.lstrip(), "utf-8")
    catalogue = folder / "rwn_core/measures/__init__.py"
    text = catalogue.read_text("utf-8").replace(
        "    outliers,\n", "    outliers,\n    planted,\n", 1
    )
    text = text.replace(
        "    guesses.INFERENCE,\n", "    guesses.INFERENCE,\n    planted.MEASURE,\n"
    )
    catalogue.write_text(text, "utf-8")
    return folder


def answer(folder: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", f"import sys; sys.path.insert(0, {str(folder)!r})\n{ASKED}"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def test_a_measure_with_its_views_is_one_file(tmp_path: Path) -> None:
    ran = answer(copied(tmp_path))
    assert ran.returncode == 0, ran.stderr


def test_a_measure_that_no_list_has_is_nowhere(tmp_path: Path) -> None:
    folder = copied(tmp_path)
    catalogue = folder / "rwn_core/measures/__init__.py"
    text = catalogue.read_text("utf-8").replace("    planted.MEASURE,\n", "")
    catalogue.write_text(text, "utf-8")
    ran = answer(folder)
    assert ran.returncode != 0
    assert "planted" in ran.stderr
