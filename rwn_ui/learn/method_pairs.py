"""Folded notes on the papers: numbers that do not come out, and two pairs of methods."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import streamlit as st

import rwn_core as rwn
from rwn_core.evaluation.errors_of_numbers import RELEASES, NumberErrors, errors_of_numbers
from rwn_core.evaluation.lessons.sampling import leakage
from rwn_core.evaluation.lessons.theorem import disc_moments
from rwn_core.evaluation.nbrs2015_vs_rwn import LawSummary, nbrs2015_vs_rwn
from rwn_core.parallel.threads import Progress
from rwn_ui.background.job import Job
from rwn_ui.background.progress import is_done
from rwn_ui.panel import panel
from rwn_ui.panel.parts import RADIUS
from rwn_ui.server.messages import escaped
from rwn_ui.state.session import Session
from rwn_ui.state.work import user_work

ERRORS, LAWS = "errors of numbers", "two laws"
_MOMENTS = disc_moments()
_LEAKAGE = {keys: leakage(keys, 100_000, 2_000) for keys in (10, 11)}
NUMBERS = (
    "- Coordinates inside a disc are *not* independent, only uncorrelated: uniform on the unit "
    f"disc, E[X²Y²] = {_MOMENTS.product:.4f} = 1/24, but E[X²]·E[Y²] = {_MOMENTS.square**2:.4f} = "
    f"1/16. The correlation of the squares is −{abs(_MOMENTS.correlation):.3f}. The theorem "
    "(lesson 1) does not need it: U and V are independent because they are drawn so.\n"
    "- The slides give a leakage of 0.016 for a sample of 2 %, a population of 100,000 and 11 "
    f"keys. The stated design gives {_LEAKAGE[11]:.4f}, by formula and in 1,000 simulated "
    f"populations (0.0209 ± 0.0003). With 10 keys it would be {_LEAKAGE[10]:.4f}. No other "
    "reading that we tried gives 0.016 either.\n"
    "- The published table of biases of k-PRAM and k-noise is no evidence that k-noise has the "
    "smaller bias: both are within one standard error of 0."
)
_LEAST = 0.0005  # probability of a number of changed cells that is worth a row
_NEAR = 2.0  # standard errors within which a number is what the law expects


def draw(session: Session) -> None:
    """Draw the sections, folded at first."""
    with st.expander("Numbers of the papers that do not come out"):
        st.markdown(NUMBERS)
    with st.expander("k-PRAM and k-noise as in their paper"):
        _errors(session)
    with st.expander("The law of 2015 and the law of 2022"):
        _laws(session)


def _follow(session: Session, name: str, show: Callable[[Any], None]) -> None:
    """Progress and Cancel, then what was found, if it is of this table."""
    job = user_work().jobs.get(name)
    own = job is not None and job.about == (session.data.fingerprint,)
    if own and is_done(job, session.key(f"learn.{name}.cancel"), before=""):
        show(job.result)


def _begin(session: Session, name: str, work: Callable[..., Any], **arguments: Any) -> None:
    user_work().jobs[name] = Job(
        name,
        work,
        words="Computing",
        about=(session.data.fingerprint,),
        microdata=session.data,
        **arguments,
    )
    st.rerun()


# ------------------------------------------------------------------ k-PRAM and k-noise


def _errors(session: Session) -> None:
    st.caption(
        "How far released numbers of one variable are from the original ones: bias is the mean of "
        "released minus original, MSE the mean of its square, RMSE the root of that. k-PRAM draws "
        "one of the interval's records; k-noise adds uniform noise, not rounded."
    )
    data = session.data
    numeric = [v.name for v in data.schema.released if v.name in data.numeric_names]
    if not numeric:
        st.info("No released variable has numbers.", icon=":material/info:")
        return
    which, least, press = st.columns([2, 1, 1], vertical_alignment="bottom")
    key = session.key("learn.errors")
    first = numeric.index(session.variable) if session.variable in numeric else 0
    variable = which.selectbox("Variable", numeric, first, key=f"{key}.variable")
    k = least.number_input(
        "Records k",
        2,
        session.data.n,
        min(10, session.data.n),
        key=f"{key}.k",
        help="In every interval of k-PRAM, and within reach of the noise of k-noise.",
    )
    if press.button(
        f"Draw {RELEASES} releases", key=f"{key}.begin", disabled=user_work().busy, width="stretch"
    ):
        _begin(session, ERRORS, measure_errors, variable=variable, k=int(k), seed=session.seed)
    _follow(session, ERRORS, _show_errors)


def measure_errors(
    microdata: rwn.Microdata, variable: str, k: int, seed: int, progress: Progress
) -> tuple[str, int, list[NumberErrors]]:
    """Return the form's values and the errors of both methods; run in the process."""
    found = errors_of_numbers(microdata, variable, k=k, seed=seed, progress=progress)
    return variable, k, found


def _show_errors(result: tuple[str, int, list[NumberErrors]]) -> None:
    variable, k, found = result
    rows = [
        [
            rwn.METHODS[one.method].title,
            one.words,
            *(
                f"{each.value:.4g} ± {each.error:.2g}".replace("-", "−")
                for each in (one.bias, one.mse, one.rmse)
            ),
            f"{one.expected_mse:.4g}",
            f"± {one.bias.spread:.2g}, ± {one.mse.spread:.2g}",
        ]
        for one in found
    ]
    table = {
        "title": f"{variable}, k = {k}",
        "columns": [
            "method",
            "what k makes of it",
            "bias",
            "MSE",
            "RMSE",
            "MSE by the law",
            "standard error of one release: bias, MSE",
        ],
        "rows": rows,
        "file": "k-pram-and-k-noise.csv",
        "caption": f"Means over {RELEASES} releases of each, ± their Monte Carlo standard error. "
        "By the law both have a bias of exactly 0.",
    }
    panel({"tables": [table]}, key="learn.errors")
    for one in found:
        st.markdown(f"- {escaped(bias_words(one))}")


def bias_words(one: NumberErrors) -> str:
    """Compare the measured bias with zero, and with the spread of one release."""
    name = rwn.METHODS[one.method].title
    if not one.bias.error:
        return f"{name}: every release has the same bias, {one.bias.value:.3g}."
    ratio = abs(one.bias.value) / one.bias.error
    stands = "no evidence of a bias" if ratio <= _NEAR else "more than luck explains easily"
    return (
        f"{name}: the measured bias is {ratio:.1f} standard errors from 0, {stands}; one release "
        f"alone has a bias of about ± {one.bias.spread:.2g} by luck."
    )


# ------------------------------------------------------------------ the laws of 2015 and 2022


def _laws(session: Session) -> None:
    st.caption(
        "Exact, without any draw: 2022 modifies each cell with probability q, from the records "
        "within ε or the k nearest; 2015 modifies whole records, from the records nearer than ε "
        f"only, and loses the values of a record that has none. {RADIUS}"
    )
    number, radius, share, least, press = st.columns([1, 1, 1, 1, 1], vertical_alignment="bottom")
    key, n = session.key("learn.laws"), session.data.n
    record = number.number_input("Record", 1, n, 1, key=f"{key}.record")
    start = max(float(session.levers.get("epsilon", 1.0)), 0.01)
    epsilon = radius.number_input("Radius ε", 0.01, None, start, step=0.1, key=f"{key}.epsilon")
    q = share.number_input(
        "Probability q",
        0.0,
        1.0,
        0.5,
        step=0.05,
        key=f"{key}.q",
        help="Of a cell in 2022, of a whole record in 2015. At 1 the two differ by neighborhoods "
        "only.",
    )
    most, start_k = max(n - 1, 1), min(int(session.levers.get("k", 5)), n - 1)
    k = least.number_input("Neighbors k (2022)", 1, most, start_k, key=f"{key}.k")
    if press.button(
        "Compare the laws", key=f"{key}.begin", disabled=user_work().busy, width="stretch"
    ):
        asked = {"record": int(record) - 1, "epsilon": float(epsilon), "q": float(q), "k": int(k)}
        _begin(session, LAWS, compare_laws, asked=asked)
    _follow(session, LAWS, _show_laws)


def compare_laws(
    microdata: rwn.Microdata, asked: dict[str, Any], progress: Progress
) -> tuple[dict[str, Any], list[LawSummary]]:
    """Return the form's values and the statements of both laws; run in the process."""
    found = nbrs2015_vs_rwn(microdata, **asked)
    progress(1.0)
    return asked, found


def _show_laws(result: tuple[dict[str, Any], list[LawSummary]]) -> None:
    asked, found = result
    where = f"ε = {asked['epsilon']:g} · q = {asked['q']:g}, k = {asked['k']} in 2022"
    columns = ["", *(law.name for law in found)]
    panel(
        {
            "tables": [
                {
                    "title": f"Record {asked['record'] + 1}, {where}",
                    "columns": columns,
                    "rows": _record_rows(found),
                    "file": "two-laws-of-a-record.csv",
                    "caption": "Internal: it speaks of one record. Numbers of changed cells with "
                    f"less than {100 * _LEAST:g} % under all three are left out.",
                },
                {
                    "title": f"The whole table, {where}",
                    "columns": columns,
                    "rows": _table_rows(found),
                    "file": "two-laws-of-the-table.csv",
                    "caption": "Expected ± the standard deviation from release to release.",
                },
            ]
        },
        key="learn.laws",
    )


def _record_rows(found: list[LawSummary]) -> list[list[str]]:
    rows = [["records that may give their values", *(f"{law.neighbors:,}" for law in found)]]
    for name in found[0].stays:
        rows.append([f"{name} stays as it is", *(_percent(law.stays[name]) for law in found)])
    rows.append(["values are lost: no neighbor", *(_percent(law.lost) for law in found)])
    rows.append(["the row stays intact", *(_percent(float(law.changed[0])) for law in found)])
    for count in range(1, len(found[0].changed)):
        if max(float(law.changed[count]) for law in found) < _LEAST:
            continue
        words = "exactly 1 cell changes" if count == 1 else f"exactly {count} cells change"
        rows.append([words, *(_percent(float(law.changed[count])) for law in found)])
    return rows


def _table_rows(found: list[LawSummary]) -> list[list[str]]:
    parts = {"changed records": "records", "changed cells": "cells", "lost cells": "missing"}
    return [
        [words, *(f"{(each := getattr(law, part)).mean:,.1f} ± {each.sd:,.1f}" for law in found)]
        for words, part in parts.items()
    ]


def _percent(share: float) -> str:
    return f"{100 * share:.3g} %"
