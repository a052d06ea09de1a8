"""Relations between variables: correlations of all kinds, and their principal directions."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from rwn_core.data.arrays import Floats, Integers
from rwn_core.data.variable import Kind
from rwn_core.errors import NotApplicable
from rwn_core.measures.comparison import Comparison, matrix, standardized, varies
from rwn_core.measures.drawing import style
from rwn_core.measures.drawing.bands import NAME, Drawn, area, columns, marks
from rwn_core.measures.drawing.signed_heatmap import (
    GAPS,
    color_span,
    colorbar,
    pair_layout,
    pair_table,
    pair_texts,
    signed_heatmap,
)
from rwn_core.measures.drawing.tables import table
from rwn_core.measures.measure import FROM_ZERO, SHARE, BothFiles, Detail, Reading, utility_measure
from rwn_core.measures.statistics.association import (
    GONE,
    Loss,
    associations,
    correlation_matrix,
    correlations,
    faded,
    is_category,
    numbers_of_both,
    original_chance,
    pair_changes,
    rank_correlation_matrix,
    relation_loss,
    shown,
)
from rwn_core.measures.statistics.intervals import Band


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Relations(BothFiles):
    """The relations of m variables: squares of shape (m, m) of both files.

    Attributes
    ----------
    mean_absolute_change : float
        Of the pairs that vary in the original.
    pairs : int
        How many these are.
    sign_changes : int
        How many of them changed their sign.
    coefficient : ndarray of int, shape (m, m), optional
        How many of a pair's variables are categories.
    """

    mean_absolute_change: float
    pairs: int
    sign_changes: int = 0
    coefficient: Integers | None = None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Components(Detail):
    """The principal components of m standardized variables in both files.

    Attributes
    ----------
    names : sequence of str
        The variables that vary in the original.
    share_original, share_released : ndarray of float64, shape (m,)
        Each component's share of the variance, descending.
    sd1_original, sd1_released : float
        Standard deviation of the first.
    cumulative5_original, cumulative5_released : float
        Share of the first five together.
    n_original, n_released : int
        Complete records.
    """

    share_original: Floats
    share_released: Floats
    sd1_original: float
    sd1_released: float
    cumulative5_original: float
    cumulative5_released: float
    n_original: int
    n_released: int

    @property
    def cumulative_released(self) -> Floats:
        """Share of the first components together, shape (m,)."""
        return np.cumsum(self.share_released)


relation_measure = partial(utility_measure, bounds=(0.0, 2.0), unit="mean absolute change")
"""A measure of all pairs of variables."""

# Correlations: change of the linear relation of each pair

ZERO = 1e-12  # a correlation nearer to 0 has no sign but that of rounding


def sign_changes(before: Floats, after: Floats) -> int:
    """Count the correlations that changed sign; NaN has no sign."""
    signs = [np.where(np.abs(r) > ZERO, np.sign(r), 0.0) for r in (before, after)]
    return int((signs[0] * signs[1] < 0).sum())


def compute_correlation(comparison: Comparison) -> Reading[Relations]:
    """Return the mean absolute change of the correlations of all pairs of numeric variables."""
    names = comparison.original.numeric_names
    if len(names) < 2:
        raise NotApplicable("Correlations need at least two continuous or count variables.")
    before, after = [correlations(comparison, table) for table in comparison.tables]
    change = pair_changes(before, after, "No pair of numeric variables varies in both tables.")
    pairs = np.triu_indices(len(names), 1)
    detail = Relations(
        names=list(names),
        original=before,
        released=after,
        mean_absolute_change=float(change.mean()),
        sign_changes=sign_changes(before[pairs], after[pairs]),
        pairs=len(change),
    )
    return Reading(value=detail.mean_absolute_change, baseline=0.0, detail=detail)


# Correlations as a heatmap and its colors: original below the diagonal, released above

# Red for positive, blue for negative; rwn_ui/panel/card.js has the colors of a dark page.
_SCALE = [
    [0.0, "rgb(33,102,172)"],
    [0.25, "rgb(146,197,222)"],
    [0.5, "rgb(242,242,242)"],
    [0.75, "rgb(244,165,130)"],
    [1.0, "rgb(178,24,43)"],
]
_COEFFICIENTS = "Pearson’s correlation", "correlation ratio", "Cramér’s V"
"""By how many of a pair are categories."""
_LEGEND = (
    "Two numbers: Pearson’s correlation, −1 to 1. A number and a category: correlation ratio, 0 to "
    "1. Two categories: Cramér’s V, 0 to 1. The last two are corrected for the number of levels."
)


_ROOM = 40, 40
"""Number of names down and across; a small card leaves out every second, third, ... of them."""


def draw_correlation(reading: Reading[Relations], drawn: Drawn | None = None) -> style.Chart:
    """Draw the correlation matrices as one heatmap on the fixed scale -1 to 1."""
    detail = reading.detail
    return style.chart(
        "correlation",
        "Correlations",
        "◣ original · released ◥",
        f"Heatmap of the {detail.pairs} correlations of {len(detail.names)} variables, original "
        f"below and released above the diagonal; mean absolute change "
        f"{style.number(detail.mean_absolute_change)}, {detail.sign_changes} changed sign",
        **_square(detail, drawn),
    )


def draw_association(reading: Reading[Relations], drawn: Drawn | None = None) -> style.Chart:
    """Draw the association of all variables as one heatmap on the fixed scale -1 to 1."""
    detail = reading.detail
    made = _square(detail, drawn)
    # pairs with their coefficient and its change
    texts = made["data"][0]["text"]
    change = detail.released - detail.original
    made["data"][0]["text"] = [
        [
            f"{text}<br>{_COEFFICIENTS[kind]}, change "
            + (f"{moved:+.2f}".replace("-", "−") if np.isfinite(moved) else "–")
            for text, kind, moved in zip(*row, strict=True)
        ]
        for row in zip(texts, np.asarray(detail.coefficient).tolist(), change.tolist(), strict=True)
    ]
    made["table"]["caption"] = " ".join(filter(None, (_LEGEND, made["table"].get("caption"))))
    return style.chart(
        "association",
        "Associations",
        "◣ original · released ◥",
        f"Heatmap of the association of {detail.pairs} pairs of {len(detail.names)} variables, "
        f"original below and released above the diagonal; mean absolute change "
        f"{style.number(detail.mean_absolute_change)}. {_LEGEND}",
        **made,
    )


def _square(detail: Relations, drawn: Drawn | None) -> dict[str, Any]:
    names = detail.names
    # every pair of variables; cut tables hold the most changed
    before, after = detail.original, detail.released
    made = {"original": before, "released": after, "absolute change": np.abs(after - before)}
    if detail.coefficient is not None:
        made["measured by"] = np.array(_COEFFICIENTS, dtype=object)[detail.coefficient]
    if drawn is not None:
        made |= columns(drawn["released"])
    # the original below the diagonal, the release above it
    square = np.tril(detail.original, -1) + np.triu(detail.released, 1)
    np.fill_diagonal(square, np.nan)
    gap = 1 if len(names) <= GAPS else 0
    heatmap = style.heatmap(
        np.round(square, 3),
        (-1, 1),
        _SCALE,
        colorbar=colorbar([-1, 0, 1], ["−1", "0", "1"]),
        text=pair_texts(names, None if drawn is None else drawn["released"], above=True),
        hovertemplate="%{text}: %{z:.2f}<extra></extra>",
        xgap=gap,
        ygap=gap,
    )
    return {
        "data": [heatmap],
        "layout": pair_layout(names, _ROOM, 44),
        "table": pair_table(names, made, rank=4),
    }


# Change of the correlations

_CHANGE_ROOM = 15, 19
"""How many names can be read down and across."""


def draw_correlation_change(reading: Reading[Relations], drawn: Drawn | None = None) -> style.Chart:
    """Draw released less original as a heatmap."""
    # `drawn` has the band "released"
    detail = reading.detail
    names, original = detail.names, detail.original
    change = detail.released - original
    square = change.copy()
    np.fill_diagonal(square, np.nan)
    band = None
    if drawn is not None:  # of the changes, from that of the released correlations
        low, middle, high = (getattr(drawn["released"], e) for e in ("low", "median", "high"))
        band = Band(low=low - original, median=middle - original, high=high - original)
    outside = np.zeros(square.shape, dtype=bool)
    if band is not None:
        outside = np.tril(band.outside(change), -1)
    texts = pair_texts(names, band, above=False)
    gap = 1 if len(names) <= GAPS else 0
    count = int(outside.sum())
    beyond = f"{count} pairs are outside {NAME}"
    # the pair that changed most, in the draw
    lower = np.abs(np.where(np.tril(np.ones(change.shape, dtype=bool), -1), change, np.nan))
    worst = "no pair is defined"
    if np.isfinite(lower).any():
        i, j = map(int, np.unravel_index(np.nanargmax(lower), lower.shape))
        moved = style.number(float(change[i, j]))
        worst = f"the largest is {moved}, of {names[j]} with {names[i]}"
    made = {"original": original, "change of this draw": change}
    if band is not None:
        made |= columns(band)
        made["this draw"] = np.where(band.outside(change), "outside", "inside")
    return style.chart(
        "correlation_change",
        "Change of correlations",
        "of this draw" if band is None else f"○ {count} outside",
        f"Heatmap of released less original correlations of {len(names)} variables; "
        + worst
        + ("" if band is None else f"; {beyond}"),
        data=[
            signed_heatmap(square, color_span(square), texts, "%{z:+.3f}", gap=gap),
            *marks(outside),
        ],
        layout=pair_layout(names, _CHANGE_ROOM, 48),
        table=pair_table(names, made, rank=3),
    )


CORRELATION = relation_measure(
    key="correlation",
    title="Correlations",
    question="How far did the correlations of pairs of numeric variables move?",
    source="Perry, Matloff, Tendick 2022, section 8",
    compute=compute_correlation,
    of_all_kinds="association",
    charts={"correlation": draw_correlation, "correlation_change": draw_correlation_change},
    level=("", "mean_absolute_change"),
    bands={"released": (-1.0, 1.0)},
    places={"record of a dataset": 4, "sweep": 4, "report": 1, "tune": 3, "utility": 1},
)


# Rank correlations: change of the monotone relation of each pair

RANKED = (Kind.CONTINUOUS, Kind.COUNT, Kind.ORDERED, Kind.DATE)


def compute_rank_correlation(comparison: Comparison) -> Reading:
    """Return the mean absolute change of Spearman's correlation of all ranked pairs."""
    original = comparison.original
    names = [v.name for v in original.schema.released if v.kind in RANKED]
    if len(names) < 2:
        raise NotApplicable(
            "Rank correlations need at least two variables whose values have order."
        )
    before = comparison.cached_for_original(
        "rank correlations", lambda: rank_correlation_matrix(matrix(original, original, names))
    )
    after = rank_correlation_matrix(matrix(original, comparison.masked, names))
    refusal = "No pair of variables whose values have order varies in both tables."
    change = pair_changes(before, after, refusal)
    detail = BothFiles(names=names, original=before, released=after)
    return Reading(value=float(change.mean()), baseline=0.0, detail=detail)


RANK_CORRELATION = relation_measure(
    key="rank_correlation",
    title="Rank correlations",
    question="How far did the monotone relations of pairs of variables move?",
    source="Spearman 1904",
    compute=compute_rank_correlation,
)


# Associations of all pairs of variables: mean change


def compute_association(comparison: Comparison) -> Reading[Relations]:
    """Return the mean absolute change of the association of all pairs of variables."""
    original = comparison.original
    names = [variable.name for variable in original.schema.released]
    if len(names) < 2:
        raise NotApplicable("Association needs at least two variables.")
    category = is_category(original)
    before, after = map(partial(associations, comparison), comparison.tables)
    before, after = shown(before, category), shown(after, category)
    change = pair_changes(before, after, "No pair of variables varies in both tables.")
    detail = Relations(
        names=names,
        original=before,
        released=after,
        coefficient=category[:, None] + category[None, :],
        mean_absolute_change=float(change.mean()),
        pairs=len(change),
    )
    return Reading(value=float(change.mean()), baseline=0.0, detail=detail)


ASSOCIATION = relation_measure(
    key="association",
    title="Associations",
    question="How far did the association of pairs of variables move, categories among them?",
    source="Pearson; correlation ratio (Kelley 1935); Cramer's V (Bergsma 2013)",
    compute=compute_association,
    charts={"association": draw_association},
    level=("", "mean_absolute_change"),
    bands={"released": (-1.0, 1.0)},
)


# Relations lost: share of the relations between variables that a release no longer shows


def compute_association_loss(comparison: Comparison) -> Reading[Loss]:
    """Return the share of the original's relations that is lost."""
    names = [variable.name for variable in comparison.original.schema.released]
    if len(names) < 2:
        raise NotApplicable("Relations need at least two variables.")
    before, after = map(partial(associations, comparison), comparison.tables)
    if np.isnan(after[np.triu_indices(len(names), 1)]).all():
        raise NotApplicable("No pair of variables varies in the released table.")
    loss = relation_loss(before, after, original_chance(comparison))
    if np.isnan(loss.value):
        raise NotApplicable(
            "No two variables of the original are related beyond chance, so that there is no "
            "relation to lose; choose another measure."
        )
    detail = replace(
        loss,
        pairs=int((loss.weight > 0).sum()),
        faded=faded(names, before, after, loss),
        gone=faded(names, before, after, loss, GONE),
    )
    return Reading(value=loss.value, baseline=0.0, detail=detail)


ASSOCIATION_LOSS = utility_measure(
    key="association_loss",
    title="Relations lost",
    unit="share of all relations between variables",
    question="How much of the relations between variables is lost: 0 none, 1 all?",
    source="Pearson; correlation ratio (Kelley 1935); Cramer's V (Bergsma 2013); chance: "
    "Kazi-Aoual and others 1995",
    compute=compute_association_loss,
    recorded=("faded", "gone", "invented"),
    steps=(0.05, 0.2, 0.4, 0.6, 0.85),
    places={"record of a dataset": 2, "sweep": 3, "report": 99, "picture": 2},
)


# Eigenvalues of the correlation matrix, small ones included

SINGULAR = 1e-10  # smallest over largest eigenvalue at which a direction is rounding
LOADING = 0.1  # a variable with less is no part of a direction


def eigenvalues_of_correlations(values: Floats) -> Floats:
    """Return the descending eigenvalues of the correlation matrix, shape (m,)."""
    found = correlation_matrix(values)
    # a constant column has no correlation with any other
    variances, _ = np.linalg.eigh(np.where(np.isnan(found), np.eye(len(found)), found))
    return variances[::-1].copy()


def compute_eigenvalues(comparison: Comparison) -> Reading:
    """Return the sum of relative changes of the correlation matrix's eigenvalues."""
    names, own, released = numbers_of_both(comparison, "eigenvalues")
    before = comparison.cached_for_original(("eigenvalues", names), lambda: _original(own, names))
    # the routine of the original: two routines differ in the last digit
    after = eigenvalues_of_correlations(released)
    change = (after - before) / before
    detail = BothFiles(
        names=list(names), original=before, released=np.maximum(after, 0.0), change=change
    )
    return Reading(value=float(np.abs(change).sum()), baseline=0.0, detail=detail)


def _original(values: Floats, names: tuple[str, ...]) -> Floats:
    # Shapes: values (n, v); the answer (v,), the largest first.
    spectrum, directions = np.linalg.eigh(correlation_matrix(values))
    if spectrum[0] > SINGULAR * spectrum[-1]:
        return np.ascontiguousarray(spectrum[::-1])
    loadings = np.abs(directions[:, spectrum <= SINGULAR * spectrum[-1]]).max(axis=1)
    tied = [name for name, loading in zip(names, loadings, strict=True) if loading > LOADING]
    raise NotApplicable(
        f"These variables are collinear in the original, so an eigenvalue is 0 and has no "
        f"relative change: {', '.join(tied)}."
    )


EIGENVALUES = utility_measure(
    key="eigenvalues",
    title="Eigenvalues",
    bounds=FROM_ZERO,
    unit="sum of relative changes",
    question="Does the correlation matrix keep its directions, the weak ones too?",
    source="Domingo-Ferrer and Torra 2001; of correlations, as in sdcMicro’s “eigen”",
    compute=compute_eigenvalues,
)


# Principal components: share of the variance of the main directions

COMPONENTS = 5  # the paper reports the share that this many hold together


def component_variances(values: Floats) -> Floats:
    """Return the descending variances of the standardized columns' components, shape (m,)."""
    different = varies(values)
    scaled = np.zeros_like(values)
    scaled[:, different] = standardized(values[:, different])
    # a constant column has no correlation with any other
    alone = np.diag(np.where(different, 0.0, 1.0))
    eigenvalues = np.linalg.eigvalsh(scaled.T @ scaled / (len(scaled) - 1) + alone)
    return np.asarray(np.maximum(eigenvalues[::-1], 0.0), dtype=np.float64)


def compute_principal_components(comparison: Comparison) -> Reading[Components]:
    """Return the largest change of the cumulative share of variance over the components."""
    names, before, after = numbers_of_both(comparison, "principal components")
    variances = comparison.cached_for_original(
        ("components", names), lambda: component_variances(before)
    )
    released = component_variances(after)
    share, share_released = variances / variances.sum(), released / released.sum()
    cumulative, cumulative_released = np.cumsum(share), np.cumsum(share_released)
    detail = Components(
        names=list(names),
        share_original=share,
        share_released=share_released,
        sd1_original=float(np.sqrt(variances[0])),
        sd1_released=float(np.sqrt(released[0])),
        cumulative5_original=float(cumulative[:COMPONENTS][-1]),
        cumulative5_released=float(cumulative_released[:COMPONENTS][-1]),
        n_original=len(before),
        n_released=len(after),
    )
    value = float(np.abs(cumulative_released - cumulative).max())
    return Reading(value=min(value, 1.0), baseline=0.0, detail=detail)


# Share of the variance of the first principal components, before and after

_HOVER = "first %{x}: %{y:.1%}<extra>%{fullData.name}</extra>"


def draw_principal_components(
    reading: Reading[Components], drawn: Drawn | None = None
) -> style.Chart:
    """Draw the cumulative shares of variance; `drawn` has their bands."""
    detail = reading.detail
    shares = dict(zip(style.SIDES, (detail.share_original, detail.share_released), strict=True))
    sums = {side: np.cumsum(share) for side, share in shares.items()}
    order = np.arange(1, len(shares["original"]) + 1)
    first = {side: style.percent(share[0]) for side, share in shares.items()}
    band = None
    traces = []
    words = ""
    if drawn is not None:
        band, alone = drawn["cumulative_released"], drawn["share_released"]
        traces = [area(order, band.low, band.high)]
        low, high = (style.percent(float(end[0]), 1) for end in (alone.low, alone.high))
        words = f"; in {NAME} {low} to {high}"  # of the first component's share
    for side, total in sums.items():
        released = side == "released"
        curve = style.line(order, style.floats(total), released=released, hovertemplate=_HOVER)
        curve["mode"] = "lines+markers" if len(order) <= 20 else "lines"
        curve["marker"] = style.points([], [], released=released, marker={"opacity": 1})["marker"]
        traces.append(curve)
    least = np.floor(min(share[0] for share in shares.values()) * 10 - 0.2) / 10
    cells = {"component": order} | {f"share, {side}": share for side, share in shares.items()}
    cells |= {f"cumulative, {side}": total for side, total in sums.items()}
    cells |= {} if band is None else columns(band, "cumulative, ")
    return style.chart(
        "principal_components",
        "Principal components",
        f"PC1 {first['original']} → {first['released']}",
        "Cumulative share of the variance held by the principal components; the first holds "
        f"{first['original']} in the original and {first['released']} in the release{words}",
        data=traces,
        layout=style.layout(
            style.axis("components", 0.5, len(order) + 0.5, count=min(7, len(order))),
            style.axis("cumulative variance", max(least, 0.0), 1.03, share=True),
        ),
        large={"legend": True},
        table=table(list(cells), list(cells.values())),
    )


PRINCIPAL_COMPONENTS = utility_measure(
    key="principal_components",
    title="Principal components",
    unit="largest change of the cumulative share of variance",
    question="Do the main directions still hold the same share of the variance?",
    source="Perry, Matloff, Tendick 2022, section 8",
    compute=compute_principal_components,
    charts={"principal_components": draw_principal_components},
    bands={"share_released": SHARE, "cumulative_released": SHARE},
    places={"record of a dataset": 7, "sweep": 6, "utility": 3, "report": 3, "tune": 5},
)
