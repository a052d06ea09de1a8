"""Donors of a dataset's records: among all leaves, by soft kernels, or of one random sample.

The search among all leaves is that of a table in memory. Its index lies on the stage and is mapped:
of the other leaves only those tiles are read that some record of this one reaches.

A soft kernel lists the nearest of each leaf; rows of weights are made where needed. The lists of a
leaf's records take entries of all leaves, since lists are symmetric. Distances to one neighbor of
each record, and for balance a factor of each, are all that a task knows of the others' weights.

By Method 1 every record's values come from one random sample of the records.

Rows of the release are put into secret order without having all of them in one place: a record's
place is decided by a random number of its own, the one that a table in memory is ordered by. Each
task deals its masked rows out to the files of the release by that number; then each file sorts its
own. No row names its record.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from rwn_core.data.arrays import Integers
from rwn_core.data.fingerprint import fingerprint
from rwn_core.data.microdata import Microdata
from rwn_core.datasets.dataset import to_frame
from rwn_core.datasets.run import Run, Task
from rwn_core.datasets.spatial_parts import (
    common_frame,
    joined_index,
    leaves_with_records,
    load_side,
)
from rwn_core.datasets.stage import atomic_file
from rwn_core.datasets.staged_arrays import (
    give_back,
    load,
    points_like,
    save,
    values_of_donors,
    write_batches,
)
from rwn_core.io.other_readers import arrow_again
from rwn_core.laws.donor_lists import lists_of
from rwn_core.laws.donors import Draws, draw_donors, random_streams
from rwn_core.laws.tie_kernel import DonorScores, Tie
from rwn_core.laws.tied_law import (
    FittedTie,
    TiedLaw,
    directions_of,
    fitted_records,
    found_scores,
    scores_of,
)
from rwn_core.masking.second_reading import refuse_difference
from rwn_core.neighbors.compressed_rows import Entries
from rwn_core.neighbors.distance import Points, point_values
from rwn_core.neighbors.index import Index, build_index, shared_frame
from rwn_core.neighbors.kernel import RadiusAndK
from rwn_core.neighbors.record_draws import DrawRequest, two_uniforms
from rwn_core.neighbors.search import Search
from rwn_core.neighbors.soft_lists import (
    FEWER,
    entries_back,
    joined,
    list_both_ways,
    list_length,
    to_rank,
)
from rwn_core.neighbors.soft_neighborhoods import column_factors, scale, soft_neighborhoods
from rwn_core.neighbors.table import Neighborhoods, NeighborTable
from rwn_core.parallel.memory import budget_bytes, check_fits, pairs_bytes
from rwn_core.randomness import ORDER_STREAM

ORDER_STEP, ROWS = "order", "masked"


def file_name(number: int) -> str:
    """Name of a file of the release."""
    return f"part-{number:06d}.parquet"


class TaskTables(NamedTuple):
    """The records of a task, in the same order."""

    original: pa.Table
    masked: pa.Table


def keep_rows(
    run: Run,
    number: int,
    ids: NDArray[np.int64],
    tables: TaskTables,
    sizes: NDArray[np.int64],
    within: NDArray[np.int64],
) -> dict[str, Any]:
    """Keep a task's masked rows for the files of the release."""
    # Write masked rows so that each file of the release finds its own together.
    masked = tables.masked
    files = run.files
    draws = two_uniforms(run.key, ids, ORDER_STREAM)
    # numbers of few bits are sorted by counting
    target = (draws[0] * files).astype(np.min_scalar_type(files))
    order = np.argsort(target, kind="stable")
    dealt = masked.take(pa.array(order)) if files > 1 else masked
    for values in draws[:, order]:
        dealt = dealt.append_column("", pa.array(values))
    counts = np.bincount(target, minlength=files).tolist()
    write_batches(run.path(ROWS, number, "rows.arrow"), dealt, counts, packed=False)
    # the records with a changed value, column by column; missing in both is the same
    changed = []
    for one, other in zip(tables.original.columns, masked.columns, strict=True):
        different = pc.sum(pc.not_equal(one, other)).as_py() or 0
        if one.null_count or other.null_count:
            different += pc.sum(pc.xor(pc.is_null(one), pc.is_null(other))).as_py() or 0
        changed.append(int(different))
    return {
        "empty": int((sizes == 0).sum()),
        "governed": int((within < (run.params.ball.k or 0)).sum()),
        "changed": changed,
    }


def order_file(run: Run, task: Task) -> dict[str, Any]:
    """Put one file of the release into its order and write it."""
    number = task["number"]
    pieces = []
    for other in task["pieces"]:
        with pa.memory_map(str(run.path(ROWS, other, "rows.arrow"))) as source:
            file = pa.ipc.open_file(source)
            pieces.append(pa.Table.from_batches([file.get_batch(number)], file.schema))
    rows = pa.concat_tables(pieces)
    first, second = (rows.column(i).to_numpy() for i in (-2, -1))
    order = np.argsort(first)
    if (np.diff(first[order]) == 0).any():  # very rare
        order = np.lexsort((second, first))
    released = rows.select(run.names).take(pa.array(order)).combine_chunks()
    with atomic_file(run.release.folder / file_name(number)) as unfinished:
        pq.write_table(
            released.replace_schema_metadata(None),
            unfinished,
            compression="zstd",
            write_statistics=False,
            store_schema=False,
            write_page_checksum=True,
        )
        frame = to_frame(released)
        again = arrow_again(unfinished.read_bytes(), frame, run.schema)
        refuse_difference("A file of the release", frame, again, run.schema)
    return {"rows": len(released)}


EXACT = "mask-leaf"


def search_of_leaf(run: Run, leaf: int, ball: RadiusAndK) -> Search:
    """Return the search for the neighbors of a leaf's records among those of all leaves."""
    frame = common_frame(run)
    # The index of a leaf that has records: its arrays are mapped, and read where needed.
    side = load_side(run, leaf)
    querying = side if frame.embedding is None else load_side(run, leaf, "query")
    query = Index(side=side, querying=querying, frame=frame)
    own = query.side.numbers.astype(np.int32)
    return Search(joined_index(run, frame), query, ball=ball, own=own)


def mask_leaf(run: Run, task: Task) -> dict[str, Any]:
    """Mask the records of one leaf; see `release_rows` for what it answers."""
    leaf = task["number"]
    search = search_of_leaf(run, leaf, run.params.ball)
    numbers = search.query.side.numbers
    found = search.run(draw_request(run))
    # no neighbor means no donor either: refused when all are counted
    donors = np.where(found.donors < 0, numbers[:, None], found.donors)
    return release_rows(run, leaf, numbers, donors, found.sizes, found.within)


def draw_request(run: Run) -> DrawRequest:
    """Return the draw request for every record."""
    nobody = Microdata(run.survey_result.sample.slice(0, 0).to_pandas(), run.survey_result.schema)
    return DrawRequest(
        key=run.key, streams=random_streams(nobody), q=run.params.draw_probability(nobody)
    )


def release_rows(
    run: Run, number: int, ids: Integers, donors: Integers, sizes: Integers, within: Integers
) -> dict[str, Any]:
    """Copy the donors' values, and keep the rows for the files of the release."""
    # ids, sizes, within: shape (n,): members, and those of them within epsilon; donors: (n, p)
    masked = values_of_donors(run, donors)
    before = values_of_donors(run, np.repeat(ids[:, None], len(run.names), axis=1))
    return keep_rows(run, number, ids, TaskTables(before, masked), sizes, within)


LIST, STATE, SOFT = "list-leaf", "weigh-all", "mask-soft-leaf"
_ARRAYS = ("offsets", "records", "squared")


def list_leaf(run: Run, task: Task) -> dict[str, Any]:
    """List the nearest others of a leaf's records, and which leaf each of them lies in."""
    leaf = task["number"]
    leaves = leaves_with_records(run)
    kernel = run.params.ball.kernel
    n = run.dataset.n
    ball = RadiusAndK(k=list_length(n, kernel.bandwidth_k), epsilon=None)
    near = search_of_leaf(run, leaf, ball).table()
    leaf_of = np.empty(n, np.int32)
    for each in leaves:
        leaf_of[load_side(run, each).numbers] = each
    there = leaf_of[near.records]
    for name in _ARRAYS:
        save(run, LIST, f"{leaf:06d}-{name}", getattr(near, name))
    save(run, LIST, f"{leaf:06d}-scaling", to_rank(near, kernel.bandwidth_k))
    save(run, LIST, f"{leaf:06d}-order", np.argsort(there, kind="stable"))
    save(run, LIST, f"{leaf:06d}-ends", np.searchsorted(np.sort(there), np.arange(max(leaves) + 2)))
    return {"least": int(np.diff(near.offsets).min())}


def weigh_all(run: Run, task: Task) -> dict[str, Any]:
    """Gather what the weights of a row take from all records: scales, and factors of columns."""
    leaves = leaves_with_records(run)
    n = run.dataset.n
    kernel = run.params.ball.kernel
    scaling = np.empty(n)
    column = np.zeros(n)
    least = n
    for leaf in leaves:
        scaling[load_side(run, leaf).numbers] = load(run, LIST, f"{leaf:06d}-scaling")
        least = min(least, int(run.answer(LIST, leaf)["least"]))
    error = 0.0
    if kernel.balance:
        pairs = sum(len(load(run, LIST, f"{leaf:06d}-records")) for leaf in leaves)
        check_fits(pairs_bytes(8.0 * pairs), budget_bytes(), "The balance of all records", FEWER)
        near = NeighborTable.joined([_near(run, leaf) for leaf in leaves])
        column, error = column_factors(
            kernel, list_both_ways(near, entries_back(near), scaling, least)
        )
    save(run, STATE, "scaling", scaling)
    save(run, STATE, "column", column)
    return {"least": least, "imbalance": error}


def soft_leaf(run: Run, leaf: int) -> tuple[Neighborhoods, Integers]:
    """Return the neighborhoods of a leaf's records, and their numbers."""
    near = _near(run, leaf)
    numbers = load_side(run, leaf).numbers
    place = np.full(run.dataset.n, -1, np.int32)
    place[numbers] = np.arange(len(numbers))
    # the entries of the lists of all leaves that lie in this one, by the rows here
    back = []
    for other in leaves_with_records(run):
        theirs = _near(run, other)
        first, last = load(run, LIST, f"{other:06d}-ends")[leaf : leaf + 2]
        entries = load(run, LIST, f"{other:06d}-order")[first:last]
        row = np.searchsorted(theirs.offsets, entries, side="right") - 1
        holder = load_side(run, other).numbers[row]
        rows = place[theirs.records[entries]]
        give_back()
        back.append(Entries(rows, holder.astype(np.int32), theirs.squared[entries]))
    kernel = run.params.ball.kernel
    scaling = load(run, STATE, "scaling")
    lists = list_both_ways(near, joined(back), scaling, run.answer(STATE, 0)["least"])
    column = load(run, STATE, "column")
    return soft_neighborhoods(kernel, scale(kernel, lists), column=column), numbers


TIE = "tie-slices"


def tie_slices(run: Run, task: Task) -> dict[str, Any]:
    """Put all records into the order of each slice, and fit how strongly slices are tied."""
    names = [name for name, _ in run.dataset.columns]
    n = run.dataset.n
    check_fits(24.0 * n * len(names), budget_bytes(), "The table whose slices are tied", FEWER)
    table = run.dataset.read(0, n, names)
    data = run.survey_result.microdata(table.select(run.names))
    units = run.params.tied_units(data)
    scores, ranks = scores_of(*directions_of(data, units), units, data)
    # the donors of some records, leaf by leaf
    fitted = fitted_records(fingerprint(to_frame(table)), n)
    records = []
    by_leaf = []
    for leaf in leaves_with_records(run):
        neighborhoods, numbers = soft_leaf(run, leaf)
        (lists,) = lists_of(neighborhoods, np.intersect1d(fitted, numbers))
        records.append(lists.records)
        by_leaf.append(found_scores(lists, ranks, scores))
    order = np.argsort(np.concatenate(records))
    parts = (np.concatenate(each, axis=1)[:, order] for each in zip(*by_leaf, strict=True))
    fit = FittedTie.fitted_to(scores, ranks, DonorScores(*parts), run.params.tie_factors)
    for name, array in fit.tie._asdict().items():
        save(run, TIE, name, array)
    return {"units": units, "kept": float(fit.kept)}


def mask_soft_leaf(run: Run, task: Task) -> dict[str, Any]:
    """Mask the records of one leaf; see `release_rows` for what it answers."""
    leaf = task["number"]
    drawing = draw_request(run)
    neighborhoods, numbers = soft_leaf(run, leaf)
    q = np.asarray(drawing.q)
    tied = run.stage.answer(TIE, 0)
    if tied:
        units = tuple(map(tuple, tied["units"]))
        arrays = [load(run, TIE, x) for x in Tie._fields]
        fitted = FittedTie(units=units, kept=tied["kept"], tie=Tie(*arrays))
        nobody = run.survey_result.microdata(run.survey_result.sample.slice(0, 0))
        law = TiedLaw(nobody, neighborhoods, q, None, fitted)
        donors = law.drawn(numbers, law.numbers(run.key, numbers))
    else:
        donors = draw_donors(neighborhoods, Draws(run.key, numbers, drawing.streams), q)
    return release_rows(run, leaf, numbers, donors, neighborhoods.sizes, neighborhoods.sizes)


def _near(run: Run, leaf: int) -> NeighborTable:
    """Return the nearest others of a leaf's records."""
    offsets, records, squared = (load(run, LIST, f"{leaf:06d}-{name}") for name in _ARRAYS)
    return NeighborTable(
        offsets=offsets,
        records=records,
        squared=squared,
        k=int(np.diff(offsets).min()),
        epsilon=0.0,
        numbers=load_side(run, leaf).numbers,
    )


SAMPLE = "mask"


def mask_rows(run: Run, task: Task) -> dict[str, Any]:
    """Mask one range of records with donors from the sample."""
    found = run.survey_result
    ball = run.params.ball
    table = run.dataset.read(task["start"], task["stop"], run.names)
    microdata = found.microdata(table)
    ids = np.arange(task["start"], task["stop"], dtype=np.int64)
    points = found.metric.coded(microdata)
    # the least and the greatest value of each column, as two records, before those of the sample
    values = point_values(points)
    ends = points_like(points, np.stack([values.min(axis=0), values.max(axis=0)]))
    frame = shared_frame(together(ends, found.points))
    query = build_index(points, numbers=ids, frame=frame)
    # numbered below 0 in their order: a donor's number says at once where its values are
    target = build_index(found.points, numbers=np.arange(-len(found.ids), 0), frame=frame)
    # the place in the sample of each record, -1 for none
    own = np.full(len(ids), -1, dtype=np.int32)
    first, last = np.searchsorted(found.ids, [ids[0], ids[-1] + 1])
    own[found.ids[first:last] - ids[0]] = np.arange(first, last)
    search = Search(target, query, ball=ball, own=own)
    q = run.params.draw_probability(microdata)
    result = search.run(DrawRequest(key=run.key, streams=random_streams(microdata), q=q))
    # Fill every column from its donors.
    columns = []
    for position, name in enumerate(table.column_names):
        retained = result.donors[:, position] >= 0
        rows = np.where(retained, 0, result.donors[:, position] + len(found.sample))
        given = found.sample.column(name).combine_chunks().take(pa.array(rows))
        if retained.any():
            given = pc.if_else(pa.array(retained), table.column(name).combine_chunks(), given)
        columns.append(given)
    masked = pa.table(columns, schema=table.schema)
    tables = TaskTables(table, masked)
    return keep_rows(run, task["number"], ids, tables, result.sizes, result.within)


def together(one: Points, other: Points) -> Points:
    """Two tables' points, one after the other."""
    return points_like(one, np.concatenate((point_values(one), point_values(other))))
