"""The recommendation against a full search, and the quick verdict, on fourteen tables.

``python -m benchmarks recommend [TABLE ...]`` looks for the setting of least loss that keeps the
usual policy among all methods, and for RWN among all kernels and usual slices. It adds a line for
each to docs/explanation/recommend.csv, which it skips when run again, and writes the tables of
docs/explanation/recommended.md; ``--page`` does no more than that. The rules of the recommendation
were found on other tables, and changed while looking at all of these but the last two.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd

import rwn_core as rwn
from benchmarks.pages import HERE, read_lines, say, write_end, write_lines
from benchmarks.tables import sampled, with_roles
from rwn_core.masking import METHODS
from rwn_core.masking.lever import neutral_levers
from rwn_core.tuning.slice_presets import PRESETS, preset_slices
from rwn_core.tuning.strength import MOST_LOST, TableSearch

FILE, PAGE = HERE / "recommend.csv", HERE / "recommended.md"
BEGINS = "## All tables\n"  # of the page: what this program writes
STEPS, EVERY = 32, 10_000  # between the ends of a strength, and all
RATIO, LITTLE = 1.2, 0.02  # of the least loss: what counts as good
KERNELS: Mapping[str, Any] = {
    "even": rwn.RWN(epsilon=1.0, k=5),
    "gaussian": rwn.SoftRWN(),
    "balanced": rwn.SoftRWN(balance=1.0),
}
COLUMNS = ("table", "records", "variables", "what", "setting", "kept", "loss", "verdict", "seconds")


def bundled(name: str) -> pd.DataFrame:
    """A table of scikit-learn or statsmodels, names without blanks."""
    from sklearn import datasets
    from statsmodels import datasets as others

    load = getattr(datasets, f"load_{name}", None)
    frame = load(as_frame=True).frame if load else getattr(others, name).load_pandas().data
    return frame.rename(columns=lambda text: str(text).replace(" ", "_"))


def survey(n: int = 800) -> pd.DataFrame:
    """Households of one to four people: codes, levels, numbers, and which household it is."""
    rng = np.random.default_rng(99)
    household = np.repeat(np.arange(n), rng.integers(1, 5, n))[:n]
    home, own = rng.standard_normal(n)[household], rng.standard_normal(n)
    age = np.clip(np.round(42 + 18 * own + 4 * home), 0, 97).astype(int)
    sex = rng.choice(["f", "m"], n)
    district = np.char.add("d", (np.abs(3 * home).astype(int)).astype(str))
    school = np.clip(np.round(1.5 + home + rng.standard_normal(n)), 0, 3).astype(int)
    wage = np.round(np.exp(7 + 0.5 * home + 0.3 * own + 0.4 * rng.standard_normal(n)))
    code = rng.integers(1, 6, n).astype(str)
    health = np.clip(np.round(1 - own / 2 + rng.standard_normal(n)), 0, 2).astype(int)
    words = np.array(["none", "basic", "middle", "high"]), np.array(["good", "fair", "poor"])
    columns = (household, age, sex, district, words[0][school], wage, code, words[1][health])
    names = ("household", "age", "sex", "district", "school", "wage", "code", "health")
    return pd.DataFrame(dict(zip(names, columns, strict=True)))


TABLES: dict[str, Callable[[], rwn.Microdata]] = {
    "iris": lambda: with_roles(bundled("iris"), "target", "petal_width_(cm)"),
    "wine": lambda: with_roles(bundled("wine"), "alcohol ash target", "proline"),
    "bodyfat": lambda: rwn.load_demo("bodyfat"),
    "diabetes": lambda: with_roles(bundled("diabetes"), "age sex bmi", "target"),
    "breast_cancer": lambda: with_roles(
        bundled("breast_cancer"), "mean_radius mean_texture", "target"
    ),
    "pima": lambda: rwn.load_demo("pima"),
    "modechoice": lambda: with_roles(
        bundled("modechoice").drop(columns="choice"), "hinc psize", "mode", "individual"
    ),
    "anes96": lambda: with_roles(
        bundled("anes96").drop(columns="logpopul"), "age educ income", "vote PID"
    ),
    "survey": lambda: with_roles(survey(), "age sex district school", "wage health", "household"),
    "cps1988": lambda: sampled("cps1988", 1_000)[0],
    "randhie": lambda: sampled("randhie", 2_000)[0],
    "fair": lambda: with_roles(
        bundled("fair").sample(2_000, random_state=1),
        "age educ occupation children",
        "affairs rate_marriage",
    ),
    "star98": lambda: with_roles(bundled("star98"), "LOWINC PERASIAN PERBLACK PERHISP", "NABOVE"),
    "ccard": lambda: with_roles(bundled("ccard"), "AGE INCOME OWNRENT", "AVGEXP"),
}


def candidates(data: rwn.Microdata) -> Iterator[tuple[str, rwn.Setting]]:
    """What is recommended, every method, and RWN with each kernel and usual slices."""
    yield "recommended", rwn.recommend(data).setting
    yield "rwn", rwn.Setting(params=rwn.RWN(epsilon=1.0, k=5), slices=())
    for key, method in METHODS.items():
        if key not in ("rwn", "soft_rwn"):
            yield key, rwn.Setting(params=method(**neutral_levers(method)))
    for kernel, params in KERNELS.items():
        known: set[Any] = {()} if kernel == "even" else set()
        for preset in PRESETS:
            slices = preset_slices(data, preset)
            if slices not in known:
                known.add(slices)
                yield (
                    f"rwn {kernel} {preset}",
                    rwn.Setting(params=params, slices=slices),
                )


def searched(name: str, rows: list[dict[str, str]]) -> Iterator[dict[str, Any]]:
    """The lines of a table that are not in the file."""
    mine = {row["what"]: row for row in rows if row["table"] == name}
    data = TABLES[name]()
    judged, _ = rwn.Policy().judgeable(data)
    best = min((float(r["loss"]) for r in mine.values() if r["kept"] == "yes"), default=MOST_LOST)
    for what, setting in candidates(data):
        if what in mine:
            continue
        start = time.process_time()
        row = {"table": name, "records": data.n, "variables": len(data.schema.released)}
        row |= {"what": what, "setting": "", "kept": "no", "loss": "", "verdict": ""}
        sliced = " " in what  # of these only what may be the best is looked for
        try:
            verdict = "" if sliced else _answer(data, setting)
            search = TableSearch(microdata=data, policy=judged or rwn.Policy(), places=STEPS)
            found = search.look(setting, best if sliced else MOST_LOST)
            if verdict == "can" and not (found and found.kept):  # look at every step
                search.places = EVERY
                found = search.look(setting, MOST_LOST)
            row["verdict"] = verdict
            if found is not None and found.kept:
                row |= {"setting": found.setting.words, "kept": "yes", "loss": f"{found.loss:.4f}"}
                best = min(best, found.loss)
        except rwn.ParameterError:
            row["kept"] = "refused"
            row["verdict"] = "" if sliced else _answer(data, setting)
        yield row | {"seconds": f"{time.process_time() - start:.1f}"}


def _answer(data: rwn.Microdata, setting: rwn.Setting) -> str:
    """What the quick verdict says when it may take as long as it needs."""
    return rwn.quick_verdict(data, setting, within=math.inf, steps=False).answer


def written(name: str) -> None:
    """Add the lines of a table to the file, each as soon as it is known."""
    rows: list[Mapping[str, Any]] = [*read_lines(FILE)]
    for row in searched(name, read_lines(FILE)):
        rows.append(row)
        write_lines(FILE, rows, COLUMNS)
        say(", ".join(str(value) for value in row.values()))


def page(rows: list[dict[str, str]]) -> Iterator[str]:
    """The tables of the page: what was recommended, and what the quick verdict said."""
    yield "| table | records | variables | least loss | found by | recommended | loss | good |"
    yield "|---|---|---|---|---|---|---|---|"
    good, some, wrong, unknown, read = 0, 0, 0, 0, 0
    ended = {row["table"] for row in rows if row["what"] == "rwn balanced whole"}
    names = [name for name in TABLES if any(row["table"] == name for row in rows)]
    for name in names:
        mine = [row for row in rows if row["table"] == name]
        kept = [row for row in mine if row["kept"] == "yes"]
        best = min(kept, key=lambda row: float(row["loss"]), default=None)
        advised = next(row for row in mine if row["what"] == "recommended")
        fits = best is None or (
            advised["kept"] == "yes" and _close(float(advised["loss"]), float(best["loss"]))
        )
        good += fits and best is not None
        some += best is not None
        title = name if name in ended else f"{name} (unfinished)"
        yield (
            f"| {title} | {mine[0]['records']} | {mine[0]['variables']} | "
            f"{best['loss'] if best else 'none'} | {best['what'] if best else '–'} | "
            f"{advised['setting'].split(' · ')[0] or '–'} | {advised['loss'] or '–'} | "
            f"{'–' if best is None else 'yes' if fits else 'no'} |"
        )
        for row in (row for row in mine if row["verdict"]):
            found = row["kept"] == "yes"
            read += 1
            unknown += row["verdict"] == "unknown"
            wrong += row["verdict"] == ("cannot" if found else "can")
    yield ""
    yield (
        f"The recommendation is good on {good} of {some} tables where a setting exists; on "
        f"{len(names) - some} the search finds none. Of {read} quick verdicts {wrong} contradict "
        f"the search and {unknown} are unknown."
    )


def _close(loss: float, best: float) -> bool:
    return loss <= max(RATIO * best, best + LITTLE)


def main() -> None:
    """Read the command line, search, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tables", nargs="*", default=list(TABLES))
    parser.add_argument("--page", action="store_true", help="only write the page anew")
    chosen = parser.parse_args()
    for name in [] if chosen.page else chosen.tables:
        written(name)
    write_end(PAGE, BEGINS, "\n" + "\n".join(page(read_lines(FILE))))


if __name__ == "__main__":
    main()
