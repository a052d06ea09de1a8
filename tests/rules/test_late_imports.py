"""What a process does not need, it does not import: half a second for scipy.stats alone."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
HEAVY = {
    *("numba", "plotly", "streamlit", "sklearn", "statsmodels"),
    *("scipy.optimize", "scipy.spatial", "scipy.stats"),
}
WORK = {
    "the catalogue of measures": "import rwn_core.measures",
    "the workers of a sweep, of a page and of a slider": (
        "import rwn_core.tuning.sweep, rwn_ui.background.job, rwn_ui.background.measure_worker"
    ),
    "the command rwn mask": (
        "from rwn_cli import main\n"
        "assert main.run(['mask', 'demo:bodyfat', 'out.csv', '--k', '5', '--seed', '7']) == 0"
    ),
    "the command rwn mask beyond the records that it judges": (
        "from pathlib import Path\n"
        "from rwn_cli import main\n"
        "rows = ''.join(f'{n * n % 97},{n % 13}\\n' for n in range(2_100))\n"
        "Path('in.csv').write_text('a,b\\n' + rows)\n"
        "assert main.run(['mask', 'in.csv', 'out.csv', '--k', '5', '--seed', '7']) == 0"
    ),
}
JUDGED = HEAVY - {"plotly", "streamlit", "statsmodels"}
"""What the verdict on a release needs: assignments, distances, and the red team's models."""


@pytest.mark.parametrize("work", WORK)
def test_work_imports_nothing_heavy_that_it_does_not_need(work: str, tmp_path: Path) -> None:
    code = f"import sys\nsys.path.insert(0, {str(ROOT)!r})\n{WORK[work]}\nprint(*sys.modules)"
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=tmp_path
    )
    needed = {"numba"} if "mask" in work else set()  # draws are compiled for tables of all sizes
    needed = JUDGED if "rwn mask" in work else needed  # or says what cannot be judged
    assert sorted(HEAVY - needed & set(run.stdout.split())) == []
