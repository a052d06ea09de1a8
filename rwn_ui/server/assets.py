"""Static files: the script of the charts, and the tab's icon.

No page may load anything from another host, so the server answers with Plotly's browser library
from the installed package (`serve_plotly`), and no file is written into the folder of app.py.
"""

from __future__ import annotations

import base64
from importlib.resources import files
from pathlib import Path

SCRIPT = "plotly.min.js"


def plotly_script() -> bytes:
    """Return the installed plotly's browser library."""
    return (files("plotly") / "package_data" / SCRIPT).read_bytes()


def icon() -> str:
    """The tab's icon as an address that holds it: a browser asks for any other after each move."""
    png = Path(__file__).with_name("icon.png").read_bytes()
    return f"data:image/png;base64,{base64.b64encode(png).decode()}"
