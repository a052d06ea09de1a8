"""The widget: messages between the panel in a notebook and its table in Python."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import anywidget
import traitlets

import rwn_core as rwn
from rwn_core.errors import RWNError, log_fault
from rwn_ui import panel
from rwn_ui.notebook.tuned_table import TunedTable
from rwn_ui.panel import live_sliders
from rwn_ui.server.assets import plotly_script

_HERE = Path(__file__).parent
_PANEL = Path(panel.__file__).parent


def _read(*names: str) -> str:
    return "\n".join((_PANEL / name).read_text(encoding="utf-8") for name in names)


def script() -> str:
    """Return the widget's module: the app's own scripts, each with the channel of one view."""
    parts = {"Panel": _read(*panel.SCRIPTS), "Sliders": _read(live_sliders.SCRIPT)}
    classes = [
        f"function own{name}(channel) {{\n{text}\nreturn {name};\n}}"
        for name, text in parts.items()
    ]
    own = (_HERE / "notebook.js").read_text(encoding="utf-8")
    return "\n".join([_read("channel.js"), *classes, own])


def style() -> str:
    """Return the app's own styles, and those of a notebook's cell."""
    own = (_HERE / "notebook.css").read_text(encoding="utf-8")
    return "\n".join([_read("panel.css", "live_sliders.css"), own])


class TuneWidget(anywidget.AnyWidget):
    """The panel of one table; a notebook that is saved holds its scripts and nothing of the table.

    Pictures travel as messages, which no notebook stores.

    Attributes
    ----------
    setting : Method
        The method with the parameters of the sliders, and with the rounding if there is any.
        Assign another to move the sliders; ``observe(function, "setting")`` follows their moves.
    """

    _esm = script()
    _css = style()
    setting = traitlets.Instance(object, help="the method with the parameters of the sliders")

    def __init__(self, tuned: TunedTable) -> None:
        self._tuned = tuned
        self._views = set[str]()
        super().__init__(setting=tuned.setting)
        self.on_msg(self._on_message)

    @property
    def data(self) -> rwn.Microdata:
        """The table under the weights and slices of the panel."""
        return self._tuned.session.data

    def mask(self, seed: int | rwn.SecretKey | None = None) -> rwn.Release:
        """Draw a release of all records under the present setting, as ``rwn.mask`` does."""
        return rwn.mask(self.data, self._tuned.setting, seed=seed)

    def close(self) -> None:
        """Take the panel off the notebook, and end its processes."""
        self._tuned.close()
        super().close()

    def __repr__(self) -> str:
        """One line, without anything of the table's values."""
        return f"TuneWidget({self.data.n} records, {self._tuned.session.words})"

    @traitlets.validate("setting")
    def _use(self, proposal: Any) -> Any:
        """Go over to a setting, and show it; the sliders' own is in use already."""
        tuned = self._tuned
        if proposal["value"] != tuned.setting:
            tuned.use(proposal["value"])
            if self._views:
                self._show(tuned.picture(), {"note": ""})
        return tuned.setting

    def _show(self, picture: bytes | None, about: Mapping[str, Any]) -> None:
        self.send(dict(about), [] if picture is None else [picture])

    def _on_message(self, _: Any, message: Mapping[str, Any], buffers: Any) -> None:
        """Answer a view; the reason of a refusal travels with the picture that stays."""
        if message.get("left"):
            self._views.discard(message["view"])
            if not self._views:
                self._tuned.pause()
            return
        self._views.add(message["view"])
        about = {"id": message["id"]}
        if message.get("library"):
            self._show(plotly_script(), about)
            return
        if "edits" in message:
            about["note"] = ""
        try:
            self._show(self._answer(message, about), about)
        except Exception as error:  # its text may hold a value
            number = log_fault(error)
            note = f"Unexpected error {number}: the last picture stays; change a setting to go on."
            self._show(None, {**about, "note": note})
        self.setting = self._tuned.setting

    def _answer(self, message: Mapping[str, Any], about: dict[str, Any]) -> bytes | None:
        try:
            return self._tuned.answer(message)
        except RWNError as refusal:
            about["note"] = str(refusal)
            return self._tuned.picture()
