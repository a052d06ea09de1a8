"""The sweep: every setting of a grid, several releases each, all chosen measures.

Finished points are kept in a folder, where one is given: a second call goes on from there.

Its grid is every combination of settings, up to a largest number of them. Its folder holds finished
points, each written whole: metrics only. No value of the table, no release and no key ever goes
there; the seed it names is a teaching seed, which is no secret.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, fields
from itertools import product
from pathlib import Path
from typing import Any

import orjson
import pandas as pd

from rwn_core._version import __version__
from rwn_core.data.given_tables import takes_tables
from rwn_core.data.microdata import Microdata
from rwn_core.data.plain import LONGEST_FORMULA, check_letters
from rwn_core.data.schema import Slices, as_slices
from rwn_core.data.summary import Plotted, Summary
from rwn_core.data.variable import NamedParameters
from rwn_core.errors import ParameterError
from rwn_core.io.write import write_atomically
from rwn_core.masking import METHODS, in_present_names
from rwn_core.measures import MEASURES, measures_of
from rwn_core.parallel.pace import Part
from rwn_core.parallel.threads import Progress, thread_count, work
from rwn_core.tuning.evaluate import Plan, SettingPool, together
from rwn_core.tuning.point import LEAST_RELEASED, Point, Setting
from rwn_core.tuning.policy import Policy
from rwn_core.tuning.verdict import counted, not_judged

LARGEST = 20_000  # settings; more are a slip of the hand


@dataclass(frozen=True, slots=True, kw_only=True)
class Grid(NamedParameters):
    """A grid of all combinations of the values of the parameters.

    Parameters
    ----------
    axes : mapping of str to sequence
        For each parameter of the method the values to try, such as ``{"epsilon": (0, 1, 2),
        "k": (3, 5), "q": (0.5, 1.0)}``. A parameter that is left out keeps its default.
    method : str or sequence of str
        Key of the method, or of several; each of several takes those parameters that it has.
    weights : sequence of mappings
        Weights of variables to try together; the table's own by default.
    precision : sequence of mappings
        Steps of release precision to try together, such as ``({}, {"age": 5, "weight": 10})``;
        nothing is rounded by default.
    slices : sequence
        Partitions of the variables to try, such as ``((), (("age", "weight"), ("a", "b")))``:
        which of them travel together. None stands for the table's own groups, the default.

    Raises
    ------
    ParameterError
        A list is empty, none of several methods has a parameter, or there are more than 20,000
        combinations.

    Examples
    --------
    >>> [setting.words for setting in Grid(axes={"k": (3, 5), "q": (0.5,)}).settings()]
    ['k = 3 · q = 0.5', 'k = 5 · q = 0.5']
    """

    axes: Mapping[str, Sequence[Any]]
    method: str | Sequence[str] = "rwn"
    weights: Sequence[Mapping[str, float]] = field(default=({},))
    precision: Sequence[Mapping[str, float]] = field(default=({},))
    slices: Sequence[Slices | None] = (None,)

    def __post_init__(self) -> None:
        """Refuse a grid without points, or with too many."""
        if not self.methods:
            raise ParameterError("The grid needs at least one method.")
        of_any = {e.name for method in self.methods for e in fields(METHODS[method])}
        for name, values in self.axes.items():
            if len(self.methods) > 1 and name not in of_any:
                raise ParameterError(
                    f"None of the methods {', '.join(self.methods)} has a parameter {name}; "
                    f"they have: {', '.join(sorted(of_any))}."
                )
            if isinstance(values, str) or not len(values):
                raise ParameterError(f"The grid needs at least one value of {name}.")
        for entries, words in (
            (self.weights, "set of weights; {} keeps the table's."),
            (self.precision, "release precision; {} rounds nothing."),
            (self.slices, "choice of slices; () lets each variable stand alone."),
        ):
            if not entries:
                raise ParameterError(f"The grid needs at least one {words}")
        chosen = tuple(None if each is None else as_slices(each) for each in self.slices)
        object.__setattr__(self, "slices", chosen)
        if len(self) > LARGEST:
            raise ParameterError(
                f"The grid has {len(self):,} settings; {LARGEST:,} at most can be tried at once."
            )

    @property
    def methods(self) -> tuple[str, ...]:
        """Keys of the methods."""
        given = (self.method,) if isinstance(self.method, str) else self.method
        first = {name: values[0] for name, values in self.axes.items() if len(values)}
        return tuple(in_present_names(each, first)[0] for each in given)

    def _method_axes(self, method: str) -> Mapping[str, Sequence[Any]]:
        if len(self.methods) == 1:
            return self.axes
        own = {each.name for each in fields(METHODS[method])}
        return {name: values for name, values in self.axes.items() if name in own}

    def __len__(self) -> int:
        """Number of settings, before equal ones are joined."""
        axes = [self._method_axes(method).values() for method in self.methods]
        combinations = sum(math.prod(map(len, values)) for values in axes)
        return combinations * len(self.weights) * len(self.precision) * len(self.slices)

    def settings(self) -> list[Setting]:
        """Every combination once, the first parameter changing slowest.

        Raises
        ------
        ParameterError
            The method refuses a combination.
        """
        made = [
            Setting.of(method, dict(zip(axes, values, strict=True)), weights, precision, slices)
            for method in self.methods
            for axes in (self._method_axes(method),)
            for weights, precision, slices in product(self.weights, self.precision, self.slices)
            for values in product(*axes.values())
        ]
        return list({setting.key: setting for setting in made}.values())


def parse_values(text: str, name: str = "The list") -> tuple[Any, ...]:
    """Values as people type them: 0, 1, 2.5 with commas, and 0:2:0.5 for every half from 0 to 2.

    >>> parse_values("0:1:0.5, 3")
    (0.0, 0.5, 1.0, 3)
    """
    check_letters(text, LONGEST_FORMULA, name, ParameterError)
    parts = [part.strip() for part in text.split(",")]
    refusal = f"{name} must be values with commas between them, such as 1, 2, 5 or 0:2:0.5."
    if not all(parts):
        raise ParameterError(refusal)
    values: list[Any] = []
    for part in parts:
        ends = [typed_value(end) for end in part.split(":")]
        values += ends if len(ends) == 1 else _values_between(ends, refusal)
        if len(values) > LARGEST:
            raise ParameterError(f"{name} has more than {LARGEST:,} values; take some out.")
    return tuple(dict.fromkeys(values))


def _values_between(ends: Sequence[Any], refusal: str) -> list[Any]:
    """Return the values from the first to the second number, by the third or by 1."""
    if len(ends) > 3 or not all(isinstance(end, int | float) for end in ends):
        raise ParameterError(refusal)
    low, high, step = (*ends, 1) if len(ends) == 2 else ends
    finite = step > 0 and low <= high and math.isfinite(high)
    if not finite or (high - low) / step > LARGEST:
        raise ParameterError(refusal)
    count = math.floor((high - low) / step + 1e-9)
    values = [low + i * step for i in range(count + 1)]
    if isinstance(low, int) and isinstance(step, int):
        return values
    return [round(value, 10) for value in values]


def typed_value(text: str) -> Any:
    """Return what a text says: a number, true or false, or itself."""
    if text in ("true", "false"):
        return text == "true"
    for kind in (int, float):
        with suppress(ValueError):
            return kind(text)
    return text


FORMAT = "rwn sweep 3"
_MANIFEST = "manifest.json"
_UNFINISHED = ".part-*"


def identity(microdata: Microdata, plan: Plan) -> dict[str, Any]:
    """Return the identity of a sweep: equal for points that belong together."""
    unweighted = {variable.name: 1.0 for variable in microdata.schema.variables}
    schema = microdata.schema.with_weights(unweighted).with_slices(()).to_toml()
    return {
        "format": FORMAT,
        "version": __version__,
        "table": microdata.fingerprint,
        "schema": hashlib.sha256(schema.encode("utf-8")).hexdigest(),
        "measures": list(plan.measures),
        "releases": plan.releases,
        "seed": plan.seed,
    }


class JobFolder:
    """The finished points of a sweep on disk, in a new folder or one of the same sweep.

    Raises
    ------
    ParameterError
        The folder has other files, or is of another table or plan.
    """

    def __init__(self, root: Path, microdata: Microdata, plan: Plan) -> None:
        self.root = root
        root.mkdir(mode=0o700, parents=True, exist_ok=True)
        wanted = identity(microdata, plan)
        manifest = root / _MANIFEST
        stored = None
        with suppress(orjson.JSONDecodeError):
            stored = orjson.loads(manifest.read_bytes()) if manifest.exists() else None
        if stored is None and any(root.iterdir()):
            raise ParameterError(f"The folder {root.name} holds other files; choose another one.")
        if stored is not None and stored != wanted:
            raise ParameterError(
                f"The folder {root.name} holds a sweep of another table, other measures, "
                "releases or seed, or of another version; remove it or choose another one."
            )
        for left in root.glob(_UNFINISHED):
            left.unlink(missing_ok=True)
        if stored is None:
            write_atomically(manifest, orjson.dumps(wanted, option=orjson.OPT_INDENT_2))

    def points(self, settings: Sequence[Setting]) -> dict[str, Point]:
        """Those of the settings that are finished, by key; one with a damaged file is not."""
        found = {}
        for setting in settings:
            with suppress(OSError, ValueError, KeyError, TypeError):
                found[setting.key] = Point.from_dict(orjson.loads(self.path(setting).read_bytes()))
        return found

    def path(self, setting: Setting) -> Path:
        """Return the path of a setting's point."""
        return self.root / f"{setting.key}.json"

    def save(self, point: Point) -> None:
        """Write a point, whole or not at all."""
        write_atomically(self.path(point.setting), orjson.dumps(point.to_dict()))


USUAL = measures_of("sweep")
"""Measures of a sweep that names none."""


def _plain_setting(setting: Setting, names: Sequence[str]) -> dict[str, Any]:
    """Return what the rows of a setting share, with these parameters."""
    return {
        "method": setting.method,
        **{name: getattr(setting.params, name, None) for name in names},
        "weights": " ".join(f"{name}={weight:g}" for name, weight in setting.weights),
        "precision": " ".join(f"{name}={step:.10g}" for name, step in setting.precision),
        "slices": " ".join("+".join(each) for each in setting.slices or ()),
    }


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Sweep(Plotted):
    """The finished points of a sweep; iterating gives those of the settings asked for.

    Attributes
    ----------
    plan : Plan
    points : tuple of Point
        In the order of the settings; those not finished are left out.
    wanted : int
        Number of settings asked for.
    """

    plan: Plan
    points: tuple[Point, ...]
    wanted: int = 0

    def _summary(self) -> Summary:
        def median(point: Point, measure: str) -> str:
            value = point.median(measure)
            return "not applicable" if value is None else MEASURES[measure].words(value)

        of = f"{counted(len(self), 'setting')} of {self.wanted:,}"
        keys = self.plan.measures
        return Summary(
            title=f"Sweep({of}, {counted(self.plan.releases, 'release')} each)",
            columns=("setting", *keys),
            rows=[(each.setting.words, *(median(each, key) for key in keys)) for each in self],
        )

    @property
    def complete(self) -> bool:
        """True if every setting is finished."""
        return len(self.points) >= self.wanted

    def __len__(self) -> int:
        """Number of finished settings."""
        return len(self.points)

    def __iter__(self) -> Iterator[Point]:
        """The finished points."""
        return iter(self.points)

    def records(self, policy: Policy | None = None) -> list[dict[str, Any]]:
        """A plain row for each setting and measure."""
        names = ["epsilon", "k", "q"]
        for point in self.points:
            names += point.setting.parameters
        names = list(dict.fromkeys(names))
        rows = []
        for point in self.points:
            verdict = None if policy is None else policy.judge(point)
            # what the rows of a setting share, then what each measure reads
            about = _plain_setting(point.setting, names)
            for key in self.plan.measures:
                spread = point.spreads[key]
                measure = MEASURES[key]
                low, high = spread.interval or (None, None)
                row = about | {
                    "measure": key,
                    **{name: getattr(measure, name) for name in ("side", "better", "unit")},
                    "releases": self.plan.releases,
                    "records_released": point.released,
                    "median": spread.median,
                    "low": low,
                    "high": high,
                    **{name: getattr(spread, name) for name in ("at_most", "baseline")},
                    "not_applicable": spread.reason,
                }
                if policy is not None and verdict is not None:
                    row["limit"] = getattr(policy.limit(key), "at_most", None)
                    row["share_of_limit"] = verdict.shares.get(key)
                    row["keeps_all_limits"] = verdict.kept
                rows.append(row)
        return rows

    def frame(self, policy: Policy | None = None) -> pd.DataFrame:
        """The same rows as a pandas frame."""
        return pd.DataFrame(self.records(policy))

    def words(self, policy: Policy) -> str:
        """Which of the settings keep all limits, in a sentence."""
        verdicts = [(policy.judge(point), point) for point in self.points]
        met = sum(verdict.kept for verdict, _ in verdicts)
        settings = counted(len(verdicts), "setting")
        few = _few_words(sum(point.few for point in self.points))
        if met:
            keep = "keeps" if len(verdicts) == 1 else "keep"
            return f"{met:,} of {settings} {keep} all limits.{few}"
        open_one = next((verdict for verdict, _ in verdicts if verdict.unread), None)
        words = f"None of {settings} is known to keep all limits."
        shares = [(v.largest, v, p) for v, p in verdicts if v.largest is not None and not p.few]
        if shares:
            _, judged, nearest = min(shares, key=lambda each: each[0])
            first = str(judged.first)
            words = (
                f"None of {settings} {'is known to keep' if open_one else 'keeps'} all limits; "
                f"nearest is {nearest.setting.words}, which uses {judged.uses(first)} the limit on "
                f"{judged.title(first)}."
            )
        return words + few + (not_judged(open_one.unread, open_one.title) if open_one else "")


def _few_words(count: int) -> str:
    """Say how many settings release too few records to be chosen; nothing of none."""
    if not count:
        return ""
    release = "releases" if count == 1 else "release"
    return (
        f" {counted(count, 'setting')} {release} fewer than {100 * LEAST_RELEASED:.0f} % of the "
        "records, which keeps no policy; choose one that releases more."
    )


def prepared(
    microdata: Microdata, what: Grid | Setting | Sequence[Grid | Setting]
) -> list[Setting]:
    """The settings of one grid, of several, or given one by one, on a table; each once."""
    if not isinstance(what, Grid | Setting | Sequence) or isinstance(what, str):
        raise ParameterError("Give a Grid or a Setting, or several of them in a list.")
    settings: list[Setting] = []
    for part in [what] if isinstance(what, Grid | Setting) else what:
        settings += part.settings() if isinstance(part, Grid) else [part]
    resolved = [setting.resolved(microdata) for setting in settings]
    return list({setting.key: setting for setting in resolved}.values())


@takes_tables
def sweep(
    microdata: Microdata,
    what: Grid | Setting | Sequence[Grid | Setting],
    *,
    plan: Plan | None = None,
    workers: int | None = None,
    folder: Path | None = None,
    progress: Progress | None = None,
) -> Sweep:
    """Try every setting of a grid.

    Parameters
    ----------
    microdata : Microdata
    what : Grid, Setting or a sequence of them
        Grids of several methods may be swept together.
    plan : Plan, optional
        Measures, releases and seed; six usual measures over 8 releases from seed 1 by default.
    workers : int, optional
        Processes; one for each processor by default. 1 works in this process.
    folder : Path, optional
        Where finished points are kept. A second call with the same folder goes on where the first
        one ended, and may have further settings.
    progress : callable, optional
        Called with the share done, from 0 to 1. Its method `found`, where it has one, is called
        with the `Sweep` of the settings done so far.

    Returns
    -------
    Sweep
        The same for any number of workers.

    Raises
    ------
    ParameterError
        A setting, a measure or the folder is refused.
    RWNError
        A worker ended, for instance for lack of memory; with a folder a second call goes on.

    Examples
    --------
    >>> import rwn_core as rwn
    >>> swept = sweep(
    ...     rwn.load_demo("bodyfat"),
    ...     Grid(axes={"k": (3, 10)}),
    ...     plan=Plan(measures=("quantiles",), releases=2),
    ...     workers=1,
    ... )
    >>> [point.setting.words for point in swept]
    ['k = 3 · q = 1', 'k = 10 · q = 1']
    """
    plan = plan or Plan(measures=USUAL)
    settings = prepared(microdata, what)
    now = work(progress=progress)
    kept = None if folder is None else JobFolder(folder, microdata, plan)
    points = {} if kept is None else kept.points(settings)
    # those that share their neighbors together, in the order of their first
    kinds = list(dict.fromkeys(map(together, settings)))
    left = [setting for setting in settings if setting.key not in points]
    left.sort(key=lambda setting: kinds.index(together(setting)))

    def done() -> Sweep:
        """The finished points, in the order of the settings."""
        found = tuple(points[each.key] for each in settings if each.key in points)
        return Sweep(plan=plan, points=found, wanted=len(settings))

    count = thread_count(workers)
    size = 1 if count == 1 else 2 * count  # of the settings that processes try side by side
    with SettingPool(microdata, left, workers=count) as crew:
        for first in range(0, len(left), size):
            some = left[first : first + size]
            ends = (len(points) / len(settings), (len(points) + len(some)) / len(settings))
            for point in crew.points(some, plan, Part(now.report, *ends)):
                points[point.setting.key] = point
                if kept is not None:
                    kept.save(point)
            now.found(done())
    now.report(1.0)
    return done()
