"""The Tune page's verdict and tiles: limits, headline numbers, draws and pins."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import rwn_core as rwn
from rwn_core.evaluation.draws import Ensemble
from rwn_core.measures import ORDINARY, UTILITY, tiles_of
from rwn_core.measures.measure import UNRELATED, Reading
from rwn_core.measures.sentence import tenths
from rwn_core.measures.view import Tile
from rwn_core.reporting.places_on_map import POLICY
from rwn_core.tuning import Verdict
from rwn_ui.features import limit_queue
from rwn_ui.features.repeated_draws import interval
from rwn_ui.panel.parts import draw_tile
from rwn_ui.state.results import CurrentRelease
from rwn_ui.state.session import Session

Readings = Mapping[str, Reading[Any] | rwn.NotApplicable]


def _three(value: float) -> str:
    return f"{value:.3g}" if abs(value) < 1000 else f"{value:,.0f}"


TILES = tiles_of("tune")


def chosen(session: Session) -> dict[str, Tile]:
    """The page's tiles: the risk that the map shows, then the others."""
    key = limit_queue.axis_measure(session)
    if key == POLICY:
        return TILES
    about = rwn.MEASURES[key]
    shown = Tile(places={}, label=about.title, words=tenths, help=about.question)
    return {key: shown, **TILES}


def draw(
    session: Session, current: CurrentRelease, readings: Readings, draws: Ensemble | None
) -> list[dict[str, Any]]:
    """Every tile of a release as plain data."""
    tiles = chosen(session).items()
    return [_tile(key, tile, readings, session, current, draws) for key, tile in tiles]


def verdict(session: Session, readings: Readings, judged: Verdict) -> dict[str, Any]:
    """The verdict on the release in words, and its limit at the pins."""
    pending = [key for key in session.policy.measures if limit_queue.is_partial(readings[key])]
    shown = limit_queue.draw_verdict(session.policy, readings, judged, pending=len(pending))
    for name, pinned in session.pins.items():
        before = session.policy.judge(pinned.stated).values
        if not pending and judged.first is not None and judged.first in before:
            now, share = judged.values[judged.first], rwn.MEASURES[judged.first].is_share
            words = tenths if share else _three
            shown["against"].append(_against(words, name, now, before[judged.first]))
    return shown


def _tile(
    key: str,
    tile: Tile,
    readings: Readings,
    session: Session,
    current: CurrentRelease,
    draws: Ensemble | None,
) -> dict[str, Any]:
    reading = readings[key]
    tile = _called(rwn.MEASURES[key], tile, reading, session.data.n)
    shown = draw_tile(tile, reading)
    if reading is limit_queue.PENDING:
        shown |= {"released": "…"}
    if not isinstance(reading, Reading):
        return shown
    if rwn.MEASURES[key].side == "risk" and key not in TILES:
        shown["help"] += _which_attack(key, reading, session.data.n)
        # no risk stands alone: the ordinary intruder's number, and what it is read against
        linked = readings[ORDINARY]
        if key != ORDINARY and isinstance(linked, Reading):
            shown["help"] += f" Distance linkage, an ordinary intruder: {100 * linked.value:.1f} %."
        if reading.baseline is not None:
            shown["help"] += f" Read it against {100 * reading.baseline:.2g} %."
        # the upper bound below a number that is a lower one
        most = reading.detail.at_most if limit_queue.is_lower_bound(reading) else None
        shown |= {} if most is None else {"limit": f"at most {tile.words(most)}"}
    if tile.aim:
        _mark(shown, key, tile, reading, session, current)
    spread = interval(draws, key, tile.part)
    if spread is not None:
        low, high = (tile.words(end) for end in spread)
        is_full = current.prepared.masks_all_records
        shown["limit"] = f"draws {'' if is_full else 'of all '}{low} – {high}"
        shown["help"] += " “Draws”: where 9 of 10 draws of this setting fall."
    for name, pinned in session.pins.items():
        if key in pinned.values:
            before = pinned.values[key]
            shown["against"].append(_against(tile.words, name, tile.value(reading), before))
            shown["help"] += _noise(name, before, spread)
    return shown


def _noise(name: str, pinned: float, spread: tuple[float, float] | None) -> str:
    """True if the difference to a pin is within chance."""
    if spread is None:
        return (
            f" {name} is one draw, and so is this release: draw 25 to see which differences are "
            "luck."
        )
    low, high = spread
    if low <= pinned <= high:
        return f" {name} lies where draws of this setting fall: the difference may be luck."
    return f" {name} lies outside of where draws of this setting fall."


def _called(
    about: rwn.Measure, tile: Tile, reading: Reading | rwn.NotApplicable, records: int
) -> Tile:
    """The tile, which claims a worst case only where it is one, and while it may become one."""
    pending = reading is limit_queue.PENDING and about.title_for(records) != about.title
    if not (pending or limit_queue.is_lower_bound(reading)):
        return tile
    return replace(
        tile,
        label=about.at_least,
        help="Share of released records that an intruder with the original file and the method "
        "(not "
        "the key) links correctly. Lower bound: a stronger attack may link more.",
    )


def _mark(
    shown: dict[str, Any],
    key: str,
    tile: Tile,
    reading: Reading[Any],
    session: Session,
    current: CurrentRelease,
) -> None:
    """Hold a tile of utility against its aim; within it nothing is said to be well."""
    if tile.aim == "slope" and not current.prepared.masks_all_records:
        shown["limit"] = "SE of the shown records"
        shown["help"] += (
            " It is not compared with the aim: the full table has smaller standard errors, so the "
            "change is larger in their units."
        )
        return
    aim = float(getattr(session.aims, tile.aim))
    shown["state"] = "over" if tile.value(reading) > aim else None
    shown |= {"limit": f"aim {tile.words(aim)}", "aim": True}
    if key == UTILITY:
        named = [f"{one} with {other}" for one, other in reading.detail.faded]
        shown["help"] += f" Faded most: {', '.join(named)}." if named else ""
    most = rwn.MEASURES[key].ends(current.comparison).get(UNRELATED)
    shown["help"] += f" The aim for utility: at most {tile.words(aim)}."
    if most is None:
        return
    shown["help"] += f" Without any relation left it would be {tile.words(most)}."
    if aim >= most:  # a file without relations keeps such an aim
        shown["limit"] = f"empty aim {tile.words(aim)}, none left {tile.words(most)}"
        shown["help"] += " So this aim is empty: choose a smaller one."


def _against(
    write: Callable[[float], str], name: str, released: float, pinned: float
) -> dict[str, Any]:
    change = released - pinned
    words = write(abs(change))
    same = words == write(0.0)
    better = None if same else change < 0
    sign = "±" if same else "+" if change > 0 else "−"
    words = words.replace(" %", " pp")  # a difference of shares is in percentage points
    return {"pin": name, "text": f"{sign}{words} vs {name}", "better": better}


def _which_attack(key: str, reading: Reading, records: int) -> str:
    """The sentence on which of three attacks links so many; nothing of a measure with one."""
    sentence = rwn.MEASURES[key].sentence
    several = getattr(reading.detail, "row_by_row", None) is not None
    return f" {sentence(reading, records)}" if sentence and several else ""
