"""Pins whose limits were still to come when they were put aside, and what has come since."""

from __future__ import annotations

from dataclasses import replace

from rwn_core.measures.measure import Reading
from rwn_core.tuning.limit_bounds import stated_bounds
from rwn_ui.features.risk_axis import Readings, of_pins, of_release
from rwn_ui.state.results import memo
from rwn_ui.state.session import Pin, Session
from rwn_ui.state.work import own_work


def complete_pins(session: Session) -> None:
    """Give the pins what was to come when they were put aside, as far as it is known."""
    reader, kept = own_work().on_demand, memo("limits", 32)
    for name, pin in list(session.pins.items()):
        found = {}
        for key in pin.to_come:
            assert pin.params is not None
            question = of_release(pin.params, pin.seed, key)
            reading = kept.get((*pin.about, key))
            if reading is None and reader is not None and question in of_pins(session):
                reading = reader.known(question) if reader.data is session.data else None
            if reading is not None:
                found[key] = reading
        if found:
            session.pins[name] = with_readings(pin, found)


def with_readings(pin: Pin, found: Readings) -> Pin:
    """A pin that knows more."""
    known = {key: each for key, each in found.items() if isinstance(each, Reading)}
    return replace(
        pin,
        values=pin.values | {key: each.value for key, each in known.items()},
        bounds=pin.bounds | {key: stated_bounds(each) for key, each in known.items()},
        to_come=tuple(key for key in pin.to_come if key not in found),
    )
