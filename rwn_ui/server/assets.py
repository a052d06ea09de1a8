"""Static files: the script of the charts, and the tab's icon.

No page may load anything from another host, so Plotly's browser library is copied from the
installed package into the `static/` folder next to app.py, served by Streamlit under `app/static/`.
"""

import base64
import os
import shutil
import tempfile
from importlib.resources import as_file, files
from pathlib import Path

from rwn_core.errors import RWNError

SCRIPT = "plotly.min.js"


def provide_plotly(folder: Path) -> Path:
    """Make the installed plotly's browser library available in `folder`; copy it only if needed."""
    target = folder / SCRIPT
    with as_file(files("plotly") / "package_data" / SCRIPT) as source:
        if target.is_file() and target.stat().st_size == source.stat().st_size:
            return target
        try:
            folder.mkdir(parents=True, exist_ok=True)
            _copy_atomically(source, target)
        except OSError as error:
            raise RWNError(
                f"The charts need {SCRIPT} in the folder {folder}, which cannot be written "
                f"({error.strerror}); make the folder writable once, or copy the file "
                f"package_data/{SCRIPT} of the installed plotly package there."
            ) from error
    return target


def plotly_script() -> bytes:
    """Return the installed plotly's browser library."""
    return (files("plotly") / "package_data" / SCRIPT).read_bytes()


def icon() -> str:
    """The tab's icon as an address that holds it: a browser asks for any other after each move."""
    png = Path(__file__).with_name("icon.png").read_bytes()
    return f"data:image/png;base64,{base64.b64encode(png).decode()}"


def _copy_atomically(source: Path, target: Path) -> None:
    """Copy under another name, then rename: no browser meets half a file."""
    handle, name = tempfile.mkstemp(prefix=".plotly-", dir=target.parent)
    os.close(handle)
    partial = Path(name)
    try:
        shutil.copyfile(source, partial)
        partial.chmod(0o644)
        partial.replace(target)
    finally:
        partial.unlink(missing_ok=True)
