"""The one script the pages need, taken from the installed plotly package and served from here.

No page may load anything from another host, so Plotly's browser library is copied into the
`static/` folder beside app.py, which Streamlit serves under `app/static/`.
"""

import os
import shutil
import tempfile
from importlib.resources import as_file, files
from pathlib import Path

from rwn_core.errors import RWNError

SCRIPT = "plotly.min.js"


def provide_plotly(folder: Path) -> Path:
    """Make the installed plotly's browser library available in `folder`; copy it only if needed.

    Parameters
    ----------
    folder : Path
        The `static` folder beside app.py; made if missing.

    Returns
    -------
    Path of the script.

    Raises
    ------
    RWNError
        If the script is needed and the folder cannot be written.
    """
    target = folder / SCRIPT
    with as_file(files("plotly") / "package_data" / SCRIPT) as source:
        if target.is_file() and target.stat().st_size == source.stat().st_size:
            return target
        try:
            folder.mkdir(parents=True, exist_ok=True)
            _copy_whole(source, target)
        except OSError as error:
            raise RWNError(
                f"The charts need {SCRIPT} in the folder {folder}, which cannot be written "
                f"({error.strerror}); make the folder writable once, or copy the file "
                f"package_data/{SCRIPT} of the installed plotly package there."
            ) from error
    return target


def _copy_whole(source: Path, target: Path) -> None:
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
