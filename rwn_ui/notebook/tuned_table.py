"""One widget's table, choices, results and work, which are per user in the app."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import orjson

import rwn_core as rwn
from rwn_core.masking import Method, lever_values, unrounded
from rwn_ui.features import advice
from rwn_ui.state.change_table import adopt_prepared, set_setting
from rwn_ui.state.results import prepared
from rwn_ui.state.session import KEPT, Session, first_setting
from rwn_ui.tune import question, view

PICKED = "picked"  # names what a button of the panel sends


class TunedTable:
    """The choices of one widget, and the pictures that follow from them."""

    def __init__(
        self, data: rwn.Microdata, method: str | Method, *, policy: rwn.Policy, seed: int
    ) -> None:
        self.session = Session(name="table", demo=None, data=data, policy=policy, seed=seed)
        with self._prepared():
            self.session.clamp(prepared(self.session).prepared)
            if isinstance(method, str) and method != self.session.method:
                setting = replace(self.session.setting, params=first_setting(method))
                set_setting(self.session, setting, KEPT, "Standard")
        if not isinstance(method, str):
            self.use(method)
        self.session.record_undo()

    @property
    def setting(self) -> Any:
        """The method with its parameters, and with the precision where values are rounded."""
        return self.session.masking

    def use(self, params: Any) -> None:
        """Go over to a method with its parameters; weights, slices and Undo stay."""
        if isinstance(params, type) or not hasattr(params, "prepare"):
            raise rwn.ParameterError(
                "setting must be a method with its parameters, such as rwn.RWN(epsilon=2.0, k=5)."
            )
        session = self.session
        plain, precision = unrounded(params)
        steps = tuple(precision.items())
        with self._prepared():
            setting = replace(session.setting, params=plain, precision=steps)
            set_setting(session, setting, undo=True)
        beyond = [
            name
            for name, value in lever_values(plain).items()
            if value is not None and value != session.levers[name]
        ]
        if beyond:
            ends = prepared(session).prepared.ranges[beyond[0]]
            with self._prepared():
                set_setting(session, session.history.go(-1))
            raise rwn.ParameterError(
                f"{beyond[0]} must be from {ends.low:g} to {ends.largest:g} on this table; "
                "rwn.mask takes other values, too."
            )

    def answer(self, message: Mapping[str, Any]) -> bytes | None:
        """Return the picture after edits, or with what an earlier one lacks."""
        session = self.session
        if "card" in message:
            return view.whole_card(session, message["card"])
        if "edits" in message:
            with self._prepared():
                for edit in message["edits"]:
                    if PICKED in edit:
                        question.take(session, edit[PICKED])
                        advice.take(session, edit[PICKED])
                    else:
                        view.apply_edits(session, [edit])
            return self.picture()
        user = session.user
        if message["seq"] == user.endpoint.seq and user.results.tune.picture is not None:
            return view.on_wait(session, message["seq"]) or None
        return self.picture()

    def picture(self) -> bytes:
        """Return the picture of the present setting as JSON, without the app's address."""
        view.note_choice(self.session)
        shown = orjson.loads(view.after_edits(self.session, prepared(self.session)))
        del shown["address"], shown["page"]
        return orjson.dumps(shown)

    @contextmanager
    def _prepared(self) -> Iterator[None]:
        """Change choices; then wait for the table that they need."""
        yield
        work = self.session.user.work
        if work.preparation is not None:
            work.preparation.wait(None)
            adopt_prepared(self.session)
            if work.notice:
                raise rwn.ParameterError(work.notice)

    def pause(self) -> None:
        """End all processes; the next picture begins them again."""
        self.session.user.work.end()

    def close(self) -> None:
        """End all processes for good, and forget the results."""
        user = self.session.user
        user.work.close()
        user.results.end()
        user.results.tables.clear()
