"""The least loss of each method at limits of risk, by judges and attacks that know no method.

``python -m benchmarks.methods [TABLE ...]`` masks two random halves of each table in turn, at most
400 records each, with every method along its strength; the other half stays outside. It writes
docs/explanation/methods-compared.csv table by table, and the numbers of the page of that name.
Without names it does the tables that are not in the file.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

import rwn_core as rwn
from benchmarks.pages import HERE, read_lines, say, write_end, write_lines
from benchmarks.tables import mixed, survey, with_roles
from rwn_core.data.schema import Question, Slices
from rwn_core.data.variable import Role
from rwn_core.masking import METHODS, RWN, CARTSynthesis, SoftRWN
from rwn_core.masking.lever import neutral_levers
from rwn_core.masking.method import Prepared
from rwn_core.measures.measure import Reading
from rwn_core.tuning.policy import Policy
from rwn_core.tuning.slice_presets import preset_slices

FILE, PAGE = HERE / "methods-compared.csv", HERE / "methods-compared.md"
BEGINS = "## All tables\n"  # of the page: what this program writes
RECORDS, RELEASES, SAMPLE_SEED = 400, 4, 0
PLACES = (0.05, 0.1, 0.2, 0.3, 0.45, 0.6, 0.8, 1.0)  # of the strength's slider
SLICES = ("keys_apart", "confidential_apart", "related_2", "related_5")
LEAVES, SMOOTHING = (3, 5, 10, 20, 35, 50), (0.0, 0.5)
LIMITS = {"5 %": 0.05, "10 %": 0.1, "20 %": 0.2}
"""Of `linkage`, rows whose nearest original is the right one, and of `attribute`."""
POLICY = "usual policy"
JUDGES = {"correlations": "correlations", "tree": "tree pMSE", "overlap": "overlap lost"}
"""Correlations moved, tree pMSE, and 1 less the interval overlap: less is better."""
COLUMNS = ("table", "records", "method", "setting", *JUDGES, "linkage", "attribute", "policy")
HOPELESS = 0.3  # of a limit's measure in the first release: the setting is left out
SHUFFLES, LEAF_SHARE = 10, 20


def asked(data: rwn.Microdata, response: str, predictors: str) -> rwn.Microdata:
    """A table with a regression."""
    question = Question(response=response, predictors=tuple(predictors.split()))
    return data.with_schema(replace(data.schema, question=question))


def factors() -> rwn.Microdata:
    """Eight simulated variables, three of them keys and two confidential."""
    data = with_roles(pd.DataFrame(mixed(2_000, 8)).add_prefix("x"), "x1 x2 x3", "x0 x5")
    return asked(data, "x0", "x1 x2 x3 x5 x6")


def randhie() -> rwn.Microdata:
    """The table with a regression without health that is fair or poor, which few are in."""
    return asked(rwn.load_demo("randhie"), "mdvis", "lncoins idp lpi fmde physlm disea hlthg")


TABLES: Mapping[str, Callable[[], rwn.Microdata]] = {
    **{name: partial(rwn.load_demo, name) for name in ("bodyfat", "pima", "cps1988")},
    "randhie": randhie,
    "factors": factors,
    "survey": lambda: asked(survey(4_000), "income", "age education hours rent"),
}


def tree_pmse(original: pd.DataFrame, released: pd.DataFrame, seed: int = 0) -> float:
    """Return how well a tree tells two files apart, over its mean with shuffled labels.

    It is 0 for the same file twice, and about 1 for another sample of the same people.
    """
    # Snoke and others 2018: pMSE with a tree, its null by permutation.
    from sklearn.tree import DecisionTreeClassifier

    both = pd.concat([original, released[list(original)]], ignore_index=True)
    columns = pd.get_dummies(both, dtype=float).to_numpy(dtype=np.float32)
    labels = np.repeat([0, 1], [len(original), len(released)])
    tree = DecisionTreeClassifier(min_samples_leaf=-(-len(both) // LEAF_SHARE), random_state=0)
    draw = np.random.default_rng(seed)

    def pmse(labels: Any) -> float:
        chances = tree.fit(columns, labels).predict_proba(columns)[:, 1]
        return float(((chances - labels.mean()) ** 2).mean())

    return pmse(labels) / float(np.mean([pmse(draw.permutation(labels)) for _ in range(SHUFFLES)]))


def settings(table: rwn.Microdata) -> Iterator[tuple[str, str, Slices, Any]]:
    """Yield each method's name, words on its slices, these, and its parameters."""
    question = table.schema.question
    assert question is not None, "every table has a regression"
    rest = [v.name for v in table.schema.released if v.masked and v.name != question.response]
    cut: dict[str, Slices] = {"": (), "response apart": (tuple(rest),)}
    cut |= {key: preset_slices(table, key) for key in SLICES}
    unique = {slices: words for words, slices in reversed(cut.items()) if slices or not words}
    for slices, words in reversed(unique.items()):
        where = "in slices" if slices else "each alone"
        yield f"RWN, {where}", words, slices, RWN(**neutral_levers(RWN))
        for balance in (0.0, 1.0) if words in {"", "response apart", "related_2"} else ():
            soft = f"{'balanced ' * bool(balance)}{words}"
            params = SoftRWN(kernel="gaussian", balance=balance)
            yield f"RWN, soft kernel, {where}", soft, slices, params
    for smoothing in SMOOTHING:
        name = "CART synthesis, smoothed" if smoothing else "CART synthesis"
        for leaf in LEAVES:
            yield name, "", (), CARTSynthesis(leaf=leaf, smoothing=smoothing)
    for key, method in METHODS.items():
        if key not in {"rwn", "soft_rwn", "cart_synthesis"}:
            numbers = {"variables": table.numeric_names} if key == "data_shuffling" else {}
            yield method.title, "", (), method(**neutral_levers(method), **numbers)


def along(made: Prepared) -> Iterator[tuple[str, dict[str, float]]]:
    """Yield positions of the levers along a method's strength; of CART synthesis the one given."""
    if isinstance(made.params, CARTSynthesis):
        yield f"leaf {made.params.leaf}", {}
        return
    strength = made.params.strength
    ends, usual = made.ranges[strength], dict(made.presets["Standard"])
    steps = sorted({round((ends.high - ends.low) * place / ends.step) for place in PLACES})
    for step in steps:
        value = ends.clip(round(ends.low + step * ends.step, 9))
        yield f"{strength} {value:g}", {**usual, strength: value}


@dataclass(frozen=True, slots=True)
class Half:
    """What one half of a table is compared with, as a whole and by confidential variable."""

    whole: rwn.Comparison
    alone: tuple[rwn.Comparison, ...]


def halves(data: rwn.Microdata, records: int) -> Iterator[Half]:
    """Yield two random halves of a table, each with the other as the people outside."""
    order = np.random.default_rng(SAMPLE_SEED).permutation(data.n)[: 2 * records]
    parts = [data.take(np.sort(part)) for part in np.array_split(order, 2)]
    secrets = [v.name for v in data.schema.released if v.role is Role.CONFIDENTIAL]
    for own, outside in (parts, parts[::-1]):
        found = []
        for secret in secrets:  # the others are no keys
            schema = own.schema
            for other in secrets:
                if other != secret:
                    schema = schema.replace_variable(other, role=Role.OTHER)
            table = own.with_schema(schema)
            found.append(rwn.Comparison(original=table, masked=table, holdout=outside))
        yield Half(rwn.Comparison(original=own, masked=own, holdout=outside), tuple(found))


def judged(pairs: Sequence[tuple[Half, Prepared]]) -> dict[str, str] | None:
    """Return the mean of each judge and attack; None where the first release is hopeless."""
    found: dict[str, list[Any]] = {key: [] for key in (*JUDGES, "linkage", "attribute")}
    policy = False
    for seed in range(RELEASES):
        half, made = pairs[seed % 2]
        release = made.release(rwn.SecretKey.from_seed(seed))
        here = half.whole.with_masked(release.masked, release.law)
        found["linkage"].append(value_of("distance_linkage", here))
        if seed == 0 and not found["linkage"][0] <= HOPELESS:
            return None
        gains = [value_of("inference", each.with_masked(release.masked)) for each in half.alone]
        found["attribute"].append(gains)
        if seed == 0 and not max(gains) <= HOPELESS:
            return None
        single = any(len(np.unique(here.masked.values(n))) < 2 for n in here.masked.numeric_names)
        found["correlations"].append(np.nan if single else value_of("correlation", here))
        found["overlap"].append(1 - value_of("ci_overlap", here))
        names = [v.name for v in here.original.schema.released]
        files = (here.original.frame[names], release.masked.frame[names])
        found["tree"].append(tree_pmse(*files, seed))
        if seed == 0 and found["linkage"][0] <= LIMITS["10 %"]:
            policy = keeps_policy(here)
    means = {key: float(np.max(np.mean(values, axis=0))) for key, values in found.items()}
    words = {key: f"{value:.4f}" if np.isfinite(value) else "" for key, value in means.items()}
    return {**words, "policy": "yes" if policy else "no"}


def value_of(measure: str, compared: rwn.Comparison) -> float:
    """Return a reading; NaN where there is none."""
    found = rwn.MEASURES[measure].read(compared, bare=True)
    return found.value if isinstance(found, Reading) else np.nan


def keeps_policy(compared: rwn.Comparison) -> bool:
    """True if a release keeps the usual policy, the cheap limits first."""
    return all(
        Policy(limits=(limit,))
        .judge({limit.measure: rwn.MEASURES[limit.measure].read(compared, bare=True)})
        .kept
        for limit in sorted(Policy().limits, key=lambda limit: limit.measure == "attribute_gain")
    )


def rows_of(name: str, records: int) -> Iterator[dict[str, Any]]:
    """Yield a line for each setting of a table; one without numbers for a method that was tried."""
    start, both = time.process_time(), list(halves(TABLES[name](), records))
    tables = [half.whole.original for half in both]
    for method, words, slices, params in settings(tables[0]):
        line = {"table": name, "records": tables[0].n, "method": method}
        yield line
        try:
            made = [params.prepare(table.with_slices(slices)) for table in tables]
            for at, levers in along(made[0]):
                moved = [each.with_levers(**levers) for each in made]
                found = judged(list(zip(both, moved, strict=True)))
                if found is not None:
                    yield {**line, "setting": f"{at} {words}".strip(), **found}
        except rwn.ParameterError as refusal:
            say(f"{name}: {method} is refused: {refusal}")
        say(f"{name}, {method} {words}: {time.process_time() - start:.0f} CPU s")


def keeps(row: Mapping[str, str], limit: str) -> bool:
    """True if a setting keeps a limit; an attack without an answer keeps none."""
    if not (row["linkage"] and row["attribute"]):
        return False
    if limit == POLICY:
        return row["policy"] == "yes"
    return max(float(row["linkage"]), float(row["attribute"])) <= LIMITS[limit]


Losses = dict[tuple[str, str, str], float]
"""The least loss by method, limit and judge."""


def losses(rows: Sequence[Mapping[str, str]]) -> Losses:
    """The least loss of each method on a table, at each limit and by each judge."""
    found: Losses = {}
    for row in rows:
        for limit in (*LIMITS, POLICY):
            for judge in JUDGES if keeps(row, limit) else ():
                at, value = (row["method"], limit, judge), float(row[judge] or np.inf)
                found[at] = min(value, found.get(at, np.inf))
    return {at: value for at, value in found.items() if value < np.inf}


def section(name: str, rows: Sequence[Mapping[str, str]]) -> Iterator[str]:
    """Yield the part of the page that is about one table."""
    found, methods = losses(rows), list(dict.fromkeys(row["method"] for row in rows))
    yield f"### {name}: {rows[0]['records']} records masked"
    lines = [f"| method | {' | '.join((*LIMITS, POLICY))} |", f"|{'---|' * (len(LIMITS) + 2)}"]
    able = [method for method in methods if any(method == at[0] for at in found)]
    for method in able:
        cells = [
            " · ".join(_cell(found, method, limit, judge) for judge in JUDGES)
            for limit in (*LIMITS, POLICY)
        ]
        lines.append(f"| {method} | {' | '.join(cells)} |")
    yield "\n".join(lines)
    wins, defeats = [], []
    for judge, words in JUDGES.items():
        for limit in (*LIMITS, POLICY):
            best, least, own = _least(found, limit, judge)
            if least < np.inf and best.startswith("RWN"):
                wins.append(f"{words} at {limit} ({best.removeprefix('RWN, ')})")
            elif least < np.inf:
                against = f"RWN {own:.3f}" if own < np.inf else "RWN does not keep it"
                defeats.append(f"{words} at {limit} ({best} {least:.3f}, {against})")
    yield f"**Where RWN wins.** {'; '.join(wins) or 'Nowhere'}."
    yield f"**Where RWN loses.** {'; '.join(defeats) or 'Nowhere'}."
    unable = [method for method in methods if method not in able]
    yield f"Keeps none of these limits, or does not apply: {', '.join(unable) or 'none'}."


def _cell(found: Losses, method: str, limit: str, judge: str) -> str:
    """A loss in words, bold where it is the least."""
    value = found.get((method, limit, judge))
    if value is None:
        return "–"
    least = _least(found, limit, judge)[1]
    return f"**{value:.3f}**" if value == least else f"{value:.3f}"


def _least(found: Losses, limit: str, judge: str) -> tuple[str, float, float]:
    """The method of least loss with its loss, and the least loss of RWN."""
    here = {at[0]: value for at, value in found.items() if at[1:] == (limit, judge)}
    best, least = min(here.items(), key=lambda each: each[1], default=("", np.inf))
    return best, least, min((v for m, v in here.items() if m.startswith("RWN")), default=np.inf)


def page(rows: Sequence[Mapping[str, str]]) -> str:
    """The part of the page that this program writes."""
    by = {name: [row for row in rows if row["table"] == name] for name in TABLES}
    counts = Counter[str]()
    for mine in filter(None, by.values()):
        for limit in (*LIMITS, POLICY):
            for judge in JUDGES:
                best = _least(losses(mine), limit, judge)[0]
                counts[best.split(",")[0] or "none keeps it"] += 1
    words = ", ".join(f"{method} {count}" for method, count in counts.most_common())
    open_to_all = [
        _least(losses(mine), limit, judge)[0].startswith("RWN")
        for mine in filter(None, by.values())
        for limit in LIMITS
        for judge in JUDGES
    ]
    parts = [
        f"Who has the least of {sum(counts.values())} losses (table, limit, judge): {words}. Of "
        f"the {len(open_to_all)} without the usual policy, RWN has {sum(open_to_all)}. "
        "A cell has three losses: correlations · tree pMSE · overlap lost; the least of a "
        "column is bold."
    ]
    parts += [part for name, mine in by.items() if mine for part in section(name, mine)]
    return "\n\n".join(parts)


def main() -> None:
    """Read the command line, judge, and write the file table by table, and the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tables", nargs="*", help=", ".join(TABLES))
    parser.add_argument("--records", type=int, default=RECORDS, help="of a half, at most")
    given = parser.parse_args()
    known = {row["table"] for row in read_lines(FILE)}
    missing = [name for name in TABLES if name not in known]
    for name in given.tables or missing:
        mine = list({tuple(row.items()): row for row in rows_of(name, given.records)}.values())
        others = [row for row in read_lines(FILE) if row["table"] != name]
        ordered = sorted([*others, *mine], key=lambda row: list(TABLES).index(row["table"]))
        write_lines(FILE, ordered, COLUMNS)
    write_end(PAGE, BEGINS, f"\n{page(read_lines(FILE))}")


if __name__ == "__main__":
    main()
