"""The Tune page's verdict and tiles: limits, headline numbers, draws, scenarios."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import rwn_core as rwn
from rwn_core.measures import ORDINARY, USE, UTILITY, tiles_of
from rwn_core.measures.measure import UNRELATED, Reading
from rwn_core.measures.sentence import tenths
from rwn_core.measures.view import Tile
from rwn_core.reporting.places_on_map import POLICY
from rwn_ui.features import limit_queue, unchanged_categories
from rwn_ui.features.repeated_draws import interval
from rwn_ui.panel.parts import draw_tile
from rwn_ui.state.results import CurrentRelease, Snapshot

TILES = tiles_of("tune")


def draw(now: Snapshot) -> list[dict[str, Any]]:
    """Every tile of a release as plain data: the risk that the map shows, then the others."""
    shown = TILES
    if now.axis != POLICY:
        about = rwn.MEASURES[now.axis]
        shown = {now.axis: Tile(places={}, label=about.title, words=tenths, help=about.question)}
        shown |= TILES
    told = [_tile(key, tile, now) for key, tile in shown.items()]
    # what the verdict's lines say stands there alone, until a tile has more to say
    more = now.compared or now.draws is not None or not now.release.prepared.masks_all_records
    for key, tile in zip(shown, told, strict=True):
        tile["quiet"] = key in TILES and not more
    return told


def verdict(now: Snapshot) -> dict[str, Any]:
    """The verdict on the release in words, and its limit at the compared scenarios."""
    pending = [key for key in now.policy.measures if key in now.pending]
    if now.of_setting is not None:  # over further draws, whatever this one still lacks
        pending = []
    judged, readings = now.verdict, now.readings
    shown = limit_queue.draw_verdict(
        now.policy,
        readings,
        judged,
        records=now.table.n,
        pending=len(pending),
        coming=now.coming,
    )
    shown["unmasked"] = unchanged_categories.unmasked_words(now)
    for name, before in now.before(judged.first or ""):
        if not pending and judged.first is not None:
            value = judged.values[judged.first]
            share = rwn.MEASURES[judged.first].is_share
            words = tenths if share else rwn.MEASURES[judged.first].words
            stated = before.get("at_most", before["median"])  # what a limit judges
            shown["against"].append(_against(words, name, value, stated))
    return shown


def _tile(key: str, tile: Tile, now: Snapshot) -> dict[str, Any]:
    reading = now.readings[key]
    about = rwn.MEASURES[key]
    tile = _called(about, tile, reading, now.table.n)
    shown = draw_tile(tile, reading)
    if reading is limit_queue.PENDING:
        shown |= {"released": "…"}
    if not isinstance(reading, Reading):
        return shown
    if about.side == "risk" and key not in TILES:
        shown["help"] += _which_attack(key, reading, now.table.n)
        # no risk stands alone: the ordinary intruder's number, and what it is read against
        linked = now.readings[ORDINARY]
        if key != ORDINARY and isinstance(linked, Reading):
            shown["help"] += f" Distance linkage, an ordinary intruder: {100 * linked.value:.1f} %."
        if reading.baseline is not None:
            shown["help"] += f" Read it against {100 * reading.baseline:.2g} %."
        # the upper bound below a number that is a lower one
        most = reading.detail.at_most if limit_queue.is_lower_bound(reading) else None
        shown |= {} if most is None else {"limit": f"at most {tile.words(most)}"}
    if about.side == "utility":
        _mark(shown, key, tile, reading, now.release)
        if key == USE:
            _name_faded(shown, now.readings[UTILITY])
    spread = interval(now.draws, key, tile.part)
    if spread is not None:
        low, high = (tile.words(end) for end in spread)
        is_full = now.release.prepared.masks_all_records
        shown["limit"] = f"draws {'' if is_full else 'of all '}{low} – {high}"
        shown["help"] += " “Draws”: where 9 of 10 draws of this setting fall."
    for name, before in now.before(key):
        value = tile.value(reading)
        mark = _against(tile.words, name, value, before["median"], higher=about.better == "higher")
        shown["against"].append(mark)
        if "low" not in before:
            shown["help"] += f" How much releases of {name} differ is not known."
        elif before["low"] <= value <= before["high"]:
            shown["help"] += f" This release lies where releases of {name} fall: the difference "
            shown["help"] += "may be luck."
        else:
            shown["help"] += f" This release lies outside of where releases of {name} fall."
    return shown


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
    shown: dict[str, Any], key: str, tile: Tile, reading: Reading[Any], current: CurrentRelease
) -> None:
    """State on a tile of utility what it would be without any relation."""
    if tile.sampled and not current.prepared.masks_all_records:
        shown["limit"] = tile.sampled
        shown["help"] += (
            " The full table has smaller standard errors, so the change is larger in their units."
        )
        return
    if key == USE:
        shown["limit"] = reading.detail.least_words
        return
    most = rwn.MEASURES[key].ends(current.comparison).get(UNRELATED)
    if most is not None:
        shown["limit"] = f"with no relation left {tile.words(most)}"


def _name_faded(shown: dict[str, Any], relations: Reading[Any] | rwn.NotApplicable) -> None:
    """Name the relations that faded most in the help of a tile."""
    if isinstance(relations, Reading):
        named = [f"{one} with {other}" for one, other in relations.detail.faded]
        shown["help"] += f" Faded most: {', '.join(named)}." if named else ""


def _against(
    write: Callable[[float], str],
    name: str,
    released: float,
    pinned: float,
    *,
    higher: bool = False,
) -> dict[str, Any]:
    """The change from a compared scenario in words; `higher`: more is better."""
    change = released - pinned
    words = write(abs(change))
    same = words == write(0.0)
    better = None if same else (change > 0) == higher
    sign = "+" if change > 0 else "−"
    if same:
        sign = "±"
    words = words.replace(" %", " pp")  # a difference of shares is in percentage points
    return {"pin": name, "text": f"{sign}{words} vs {name}", "better": better}


def _which_attack(key: str, reading: Reading, records: int) -> str:
    """Return the sentence on which of three attacks links most; none where there is one attack."""
    sentence = rwn.MEASURES[key].sentence
    several = getattr(reading.detail, "row_by_row", None) is not None
    return f" {sentence(reading, records)}" if sentence and several else ""
