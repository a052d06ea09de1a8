"""Static files: the script of the charts, and the tab's icon.

No page may load anything from another host, so the server answers with Plotly's browser library
from the installed package; nothing is written in the folder of app.py.
"""

from __future__ import annotations

import base64
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.routing import Route

SCRIPT = "plotly.min.js"


def plotly_script() -> bytes:
    """Return the installed plotly's browser library."""
    return (files("plotly") / "package_data" / SCRIPT).read_bytes()


def route() -> Route:
    """Return the route of the library, under any base path of the server."""
    from starlette.responses import FileResponse
    from starlette.routing import Route

    async def respond(request: Request) -> Response:
        return FileResponse(str(files("plotly") / "package_data" / SCRIPT))

    return Route(f"/{{base:path}}app/static/{SCRIPT}", respond)


def icon() -> str:
    """The tab's icon as an address that holds it: a browser asks for any other after each move."""
    png = Path(__file__).with_name("icon.png").read_bytes()
    return f"data:image/png;base64,{base64.b64encode(png).decode()}"
