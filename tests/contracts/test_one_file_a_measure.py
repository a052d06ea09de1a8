"""A measure in one file is on the pages, in reports, plots, the reference and the command."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

PLANTED = '''
"""A measure that was planted."""
from rwn_core.measures.measure import Detail, Measure, Reading
from rwn_core.measures.view import Linker, Tile


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
    about="value",
    charts={"planted": draw},
    tables=(table,),
    tile=Tile(places={"risk": 9, "tune": 9}, label="Planted", words="{:.2f}".format),
    bands={"value": (0.0, 1.0)},
    recorded=("scope",),
    linkers=(Linker(place=99, words="planted"),),
    warn=lambda reading, **_: ["A planted warning."],
    places={"risk": 99, "tune": 99, "report": 98, "tables of keys": 99, "sweep": 99,
            "warnings": 1},
)
'''

BESIDE = """
import sys
from importlib.machinery import PathFinder

class Beside(PathFinder):
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        spec = super().find_spec(name, path, target)
        if name == "rwn_core.measures.risk":
            spec.submodule_search_locations.append(sys.argv[1])
        return spec

sys.meta_path.insert(0, Beside)
"""
"""What has Python look for measures of risk in one more folder."""

ASKED = """
from contextlib import redirect_stdout
from io import StringIO
from types import SimpleNamespace
import rwn_core as rwn
from rwn_cli.main import measures as list_measures
from rwn_core.charts import CHARTS
from rwn_core.measures import measures_of, tiles_of
from rwn_core.evaluation.attack_list import attacks
from rwn_core.reporting.evidence import DRAWN, REPORTED, kept_detail
from rwn_core.reporting.plot import _CHARTS
from rwn_core.tuning import USUAL
from rwn_ui.panel.parts import draw_tile
from rwn_ui.risk import sentences, view
from rwn_ui.state.results import CARDS, SHOWN
from rwn_ui.tune.tiles import TILES
from rwn_ui.risk.warnings import warnings
from rwn_ui.panel.parts import measure_tables
from docs.reference_of import measures

readings = dict.fromkeys(rwn.MEASURES, rwn.NotApplicable("None."))
readings["planted"] = reading = rwn.MEASURES["planted"].compute(None)
assert CHARTS["planted"](reading)["value"] == 0.5
assert view.cards(SimpleNamespace(readings=readings))[-1]["title"] == "Planted"
assert draw_tile(tiles_of("risk")["planted"], reading)["released"] == "0.50"
method = SimpleNamespace(cautions=list, releases_true_rows=True, uses_slices=False)
assert "A planted warning." in warnings(method, readings, digits=False, separate=0)
listed = attacks(readings)
assert {"words": "planted", "success": 0.5, "worst": False} == {
    key: listed[-1][key] for key in ("words", "success", "worst")
}
data = rwn.load_demo("bodyfat").take(range(60))
audit = rwn.audit(data, rwn.mask(data, rwn.RWN(k=5), seed=1), measures=["planted"])
assert audit["planted"].value == 0.5
assert rwn.Limit(measure="planted", at_most=0.1).title == "Planted"
assert "### `planted`" in measures.page()
shown = StringIO()
with redirect_stdout(shown):
    list_measures()
assert "planted" in shown.getvalue()
assert [each["rows"] for each in measure_tables("tables of keys", readings, 7)] == [[[7]]]
assert "It is there." in str(sentences.tables(readings, 7)[1])
assert "planted" in TILES and "planted" in SHOWN and CARDS[-1].key == "planted"
assert "planted" in USUAL and "planted" in REPORTED and DRAWN["planted"] == "planted"
assert "planted" in _CHARTS and kept_detail("planted", reading) == {"scope": ""}
"""


def test_a_measure_with_its_views_is_one_file(tmp_path: Path) -> None:
    (tmp_path / "planted.py").write_text(PLANTED.lstrip(), "utf-8")
    command = [sys.executable, "-c", BESIDE + ASKED, str(tmp_path)]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
