"""The sidebar of the Sweep page: which settings, which measures, how many releases."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

import rwn_core as rwn
from rwn_core.data.rounding import Steps, check_precision, given_steps, steps_by_name
from rwn_core.data.schema import Slices, slices_words
from rwn_core.errors import ParameterError
from rwn_core.masking import Lever, LeverRange, method_options
from rwn_core.reporting.scenario import SavedSearch
from rwn_core.tuning import USUAL, Grid, Plan, parse_values
from rwn_core.tuning.slice_presets import PRESETS, preset_key, preset_slices
from rwn_ui.state.results import prepared
from rwn_ui.state.session import Session
from rwn_ui.state.work import user_work
from rwn_ui.sweep import run as sweep_run
from rwn_ui.widgets.precision import CHOICES, precision_choice

_FIELDS = (
    *("shares", "steps", "slices", "weights", "method", "others"),
    *("measures", "releases", "seed"),
)


# label, example and help of the fields of several lines
_STEPS = (
    *("Own steps to try", "age=5\nage=10 weight=20"),
    "A line for each set of steps, in the variables’ own units.",
)
_WEIGHTS = (
    *("Weights to try in addition to the table’s", "age=2\nage=0.5 height=0.5"),
    "A line for each set of weights.",
)
_OTHERS = (
    *("Other parameters", "scale=sd,range"),
    "A line for each parameter of the method: its name and its values. Variables that are chosen "
    "together have a + between them: variables=age+height, age.",
)


def form(session: Session) -> None:
    """Ranges, measures and releases; the button begins the sweep in the background."""
    _fill(session)
    with st.form(session.key("sweep.form"), border=False):
        for lever in _levers(session):
            st.text_input(
                lever.title,
                key=session.key(f"sweep.{lever.name}"),
                help="Values with commas between them; 0:2:0.5 stands for 0, 0.5, 1, 1.5, 2.",
            )
        with st.expander("Precision, slices, weights and other parameters"):
            st.multiselect(
                "Release precision of all numbers",
                list(CHOICES),
                key=session.key("sweep.shares"),
                help="Steps to try for all numbers together, in standard deviations (SD) of each; "
                "“as is” rounds nothing.",
            )
            _lines(session, "steps", *_STEPS)
            st.multiselect(
                "Variables that travel together",
                _partitions(session),
                key=session.key("sweep.slices"),
                format_func=lambda slices: _slices_title(session, slices),
                help="Choices to try; own slices are put together on the Tune page.",
            )
            _lines(session, "weights", *_WEIGHTS)
            st.multiselect(
                "Methods",
                list(rwn.METHODS),
                key=session.key("sweep.method"),
                format_func=lambda key: rwn.METHODS[key].title,
                help="Each takes those of the parameters that it has.",
            )
            _lines(session, "others", *_OTHERS)
        st.multiselect(
            "Measures",
            list(rwn.MEASURES),
            key=session.key("sweep.measures"),
            format_func=lambda key: rwn.MEASURES[key].title_for(session.data.n),
        )
        left, right = st.columns(2)
        left.number_input("Releases", 1, 1000, key=session.key("sweep.releases"))
        right.number_input(
            "Seed",
            0,
            2**31 - 1,
            key=session.key("sweep.seed"),
            help="Of the first release; no secret.",
        )
        if st.form_submit_button("Start sweep", type="primary", width="stretch"):
            start(session)


def _lines(session: Session, what: str, label: str, example: str, words: str) -> None:
    """A field of several lines."""
    key = session.key(f"sweep.{what}")
    st.text_area(label, key=key, placeholder=example, height=76, help=words)


def _fill(session: Session) -> None:
    """The form's first values; Streamlit forgets them on another page, the session does not."""
    shown = (session.search, session.params.levers)
    if shown != st.session_state.get(session.key("sweep.shown")):
        _show(session, session.search)
        for name in (*_names(session), *_FIELDS):
            st.session_state.pop(session.key(f"sweep.{name}"), None)
    search = session.search or first_search(session)
    axes = search.grid.axes
    texts = {name: ", ".join(f"{v:g}" for v in axes.get(name, ())) for name in _names(session)}
    values = {
        **texts,
        "weights": "\n".join(_line(each) for each in search.grid.weights if each),
        **_precision_texts(session, search.grid),
        "slices": _chosen_slices(session, search.grid),
        "method": list(search.grid.methods),
        "others": "\n".join(
            f"{name}={','.join(map(_text, each))}"
            for name, each in axes.items()
            if name not in texts
        ),
        "measures": [key for key in search.plan.measures if key in rwn.MEASURES],
        "releases": search.plan.releases,
        "seed": search.plan.seed,
    }
    for name, value in values.items():
        st.session_state.setdefault(session.key(f"sweep.{name}"), value)


def _lists(methods: list[str]) -> set[str]:
    """The parameters that take several variables at once."""
    options = [option for method in methods for option in method_options(rwn.METHODS[method])]
    return {option.name for option in options if option.form == "names"}


def _chosen(text: str, name: str) -> tuple[tuple[str, ...], ...]:
    """Choices of variables with commas between them; each with a + between its variables."""
    found = [tuple(part.strip() for part in each.split("+")) for each in text.split(",")]
    if not all(all(each) for each in found):
        raise ParameterError(f"{name} must be variables with + between them, such as age+height.")
    return tuple(found)


def _text(value: Any) -> str:
    if isinstance(value, tuple):
        return "+".join(value)
    return str(value).lower() if isinstance(value, bool) else str(value)


def _show(session: Session, search: SavedSearch | None) -> None:
    """Remember which search the form shows; a scenario may bring another."""
    st.session_state[session.key("sweep.shown")] = (search, session.params.levers)


def _levers(session: Session) -> list[Lever]:
    """The levers that have a field: those of the method on Tune, and of the methods to try."""
    tried = session.search.grid.methods if session.search else ()
    others = [each for each in tried if each != session.method]
    levers = [*session.params.levers, *(x for each in others for x in rwn.METHODS[each].levers)]
    return list({lever.name: lever for lever in reversed(levers)}.values())[::-1]


def _names(session: Session) -> list[str]:
    return [lever.name for lever in _levers(session)]


def read(session: Session) -> SavedSearch:
    """Values of the form."""
    typed = {name: st.session_state[session.key(f"sweep.{name}")] for name in _FIELDS}
    axes = {
        lever.name: parse_values(text, lever.title)
        for lever in _levers(session)
        if (text := st.session_state[session.key(f"sweep.{lever.name}")]).strip()
    }
    for line in typed["others"].splitlines():
        name, sign, values = line.partition("=")
        if sign:
            read_values = _chosen if name.strip() in _lists(typed["method"]) else parse_values
            axes[name.strip()] = read_values(values, name.strip())
    weights = _numbers(typed["weights"], "weights", "at least 0")
    return SavedSearch(
        grid=Grid(
            axes=axes,
            method=tuple(typed["method"]),
            weights=({}, *weights),
            precision=_precision(session, typed["shares"], typed["steps"]),
            slices=tuple(typed["slices"]) or (session.slices,),
        ),
        plan=Plan(
            measures=tuple(typed["measures"]),
            releases=int(typed["releases"]),
            seed=int(typed["seed"]),
        ),
    )


def _chosen_slices(session: Session, grid: Grid) -> list[Slices]:
    """The slices of a grid, those of the table where it leaves them to the table."""
    return list(dict.fromkeys(session.slices if each is None else each for each in grid.slices))


def _partitions(session: Session) -> list[Slices]:
    """Slices to try: usual ones, those on Tune, and those of the current search."""
    usual = list(dict.fromkeys(preset_slices(session.data, key) for key in PRESETS))
    grid = (session.search or first_search(session)).grid
    return list(dict.fromkeys([*usual, session.slices, *_chosen_slices(session, grid)]))


def _slices_title(session: Session, slices: Slices) -> str:
    preset = preset_key(session.data, slices)
    return slices_words(slices, short=True) if preset is None else PRESETS[preset].title


def _precision(session: Session, shares: list[str], text: str) -> tuple[dict[str, float], ...]:
    """Every release precision to try: those of all numbers, then the lines of steps."""
    chosen = [given_steps(session.data, CHOICES[words]) for words in shares]
    chosen += _numbers(text, "steps", "above 0")
    for steps in chosen:
        check_precision(session.data, steps)
    return tuple(chosen) or ({},)


def _precision_texts(session: Session, grid: Grid) -> dict[str, Any]:
    """Text of the form's two fields for a grid."""
    named = [(precision_choice(session, steps_by_name(each)), each) for each in grid.precision]
    return {
        "shares": [words for words, _ in named if words],
        "steps": "\n".join(_line(each) for words, each in named if not words),
    }


def _numbers(text: str, what: str, size: str) -> list[dict[str, float]]:
    """Lines such as age=2 height=0.5."""
    found = []
    for line in text.splitlines():
        numbers = {}
        for part in line.split():
            name, _, number = part.rpartition("=")
            try:
                numbers[name] = float(number)
            except ValueError:
                raise ParameterError(
                    f"A line of {what} must be NAME=NUMBER NAME=NUMBER, each number {size}."
                ) from None
        if numbers:
            found.append(numbers)
    return found


def _line(numbers: Mapping[str, float]) -> str:
    return " ".join(f"{name}={number:.10g}" for name, number in numbers.items())


def start(session: Session) -> None:
    """Begin the sweep of the form, in the place of the last one."""
    search = read(session)
    work = user_work()
    if work.sweep is not None and work.sweep.running:
        work.sweep.cancel()
    if work.busy:
        raise ParameterError("Another job is under way; wait for its end, or cancel it.")
    _show(session, search)
    session.search = search
    work.sweep = sweep_run.begin(session.data, [search.grid], search.plan)


STEP = 0.5  # standard deviations: steps that a release of whole numbers already feels
TRAVEL = "related_3"
"""The preset of slices that is tried where each variable stands alone."""
_SHORT, _LONG = (3, 10, 40), (3, 5, 10, 20, 40)


def first_search(session: Session) -> SavedSearch:
    """About sixty settings within the sliders' ranges; eight releases of each."""
    # Besides the precision and the slices that stand on Tune, one coarser precision and one usual
    # choice of slices are tried, where the table and the method have them.
    table, precision, slices = prepared(session), _first_precision(session), _first_slices(session)
    ways = len(precision) * len(slices)
    axes: dict[str, tuple[Any, ...]] = {}
    for lever in session.params.levers:
        ends = table.prepared.ranges[lever.name]
        if lever.name == session.params.strength:
            count = 6 if ways == 1 else 5
            axes[lever.name] = _even(ends, table.quick_end(session.params, lever.name), count)
        elif lever.off is not None:
            axes[lever.name] = (session.levers[lever.name],)  # as on Tune, mostly off
        elif lever.whole_number:
            tried = _LONG if ways == 1 else _SHORT
            axes[lever.name] = tuple(v for v in tried if v <= ends.high) or (ends.high,)
        else:
            half = () if ways == 4 else ((ends.low + ends.high) / 2,)
            axes[lever.name] = (*half, ends.high)
    # matrices are no values between commas: they are tried from a scenario
    axes |= {name: (value,) for name, value in session.options if not _is_matrix(value)}
    grid = Grid(
        axes=axes,
        method=(session.method,),
        precision=tuple(map(dict, precision)),
        slices=tuple(slices),
    )
    measures = tuple(dict.fromkeys((*session.policy.measures, *USUAL)))
    return SavedSearch(grid=grid, plan=Plan(measures=measures, seed=session.seed))


def _is_matrix(value: Any) -> bool:
    return isinstance(value, tuple) and not all(isinstance(name, str) for name in value)


def _first_precision(session: Session) -> list[Steps]:
    """The steps on Tune; where nothing is rounded, steps of half a standard deviation, too."""
    coarse = steps_by_name(given_steps(session.data, STEP))
    return [session.precision] if session.precision else list(dict.fromkeys([(), coarse]))


def _first_slices(session: Session) -> list[Slices]:
    """The slices on Tune; where each variable stands alone, a usual choice, too."""
    if session.slices or not rwn.METHODS[session.method].uses_slices:
        return [session.slices]
    return list(dict.fromkeys([(), preset_slices(session.data, TRAVEL)]))


def _even(ends: LeverRange, high: float, count: int) -> tuple[float, ...]:
    """So many values from the low end to another, on the slider's steps."""
    part = max((high - ends.low) / (count - 1), ends.step)
    numbers = (round(number * part / ends.step) for number in range(count))
    return tuple(round(ends.low + number * ends.step, 10) for number in numbers)
