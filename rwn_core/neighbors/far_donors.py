"""Every position of a slider beyond a stored table: sizes, and the donors that a key may draw.

A cell's donor is the member of a rank, and the ranks that its chain has are few: about one for
each doubling of the size, whatever the radius. So whoever has those ranks is looked up once for a
key, in one search out to the slider's end; then a move reads them, and ranks nobody.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rwn_core.neighbors.distance import TIE
from rwn_core.neighbors.draw_request import Drawing
from rwn_core.neighbors.far_kernel import Far, donors_of_links, far_links, find_far
from rwn_core.neighbors.lazy_table import sizes_alone, without_members
from rwn_core.neighbors.search import Search
from rwn_core.neighbors.stored_draws import Chains, in_parts
from rwn_core.neighbors.table import Neighborhoods, NeighborTable
from rwn_core.parallel.threads import Watch


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FarDonors:
    """The donors of one key's cells out to the end of a slider.

    Attributes
    ----------
    identity : str
        Of the key.
    streams : tuple of int
    table : NeighborTable
        The nearest neighbors; the ranks beyond are looked up.
    radii : ndarray of float64, shape (positions,)
        Those of the slider's positions.
    counts : ndarray of int32, shape (m, positions)
        Members within each position's radius.
    chains : Chains
    places, beyond : ndarray of int32
        Each link's number among the ranks that were looked up, and who has them.
    """

    identity: str
    streams: tuple[int, ...]
    table: NeighborTable
    radii: NDArray[np.float64]
    counts: NDArray[np.int32]
    chains: Chains
    places: NDArray[np.int32]
    beyond: NDArray[np.int32]

    def belong_to(self, drawing: Drawing) -> bool:
        """Whether they are those of this key."""
        return drawing.key.identity == self.identity and tuple(drawing.streams) == self.streams

    def find(
        self, search: Search, drawing: Drawing, threads: int
    ) -> tuple[Neighborhoods, NDArray[np.int64]]:
        """The neighborhoods of a setting, and its donors, without a search.

        Parameters
        ----------
        search : Search
            What would find the members, should anybody ask for them.
        drawing : Drawing
        threads : int
        """
        epsilon = float(search.epsilon or 0.0)  # type: ignore[arg-type]  # sliders have one radius
        number = int(np.searchsorted(self.radii, epsilon))
        k, table = search.k, self.table
        within = self.counts[:, number].astype(np.int64)
        sizes, kth = within, np.zeros(len(within))
        if k:
            nearest = table.narrow(k=k, epsilon=0.0)
            short = within < k
            kth = np.where(short, _kth(table, k), 0.0)
            sizes = np.where(short, nearest.sizes, within)
        has_any = sizes > 0
        first = np.full(len(sizes), np.nan)
        first[has_any] = table.squared[table.offsets[:-1][has_any]]
        result = sizes_alone(within, sizes, kth, first)
        neighborhoods = without_members(search, result, Watch(threads=threads))
        return neighborhoods, self._donors(sizes, drawing, threads)

    def _donors(
        self, sizes: NDArray[np.int64], drawing: Drawing, threads: int
    ) -> NDArray[np.int64]:
        chains, table = self.chains, self.table
        donors = np.empty(chains.modify.shape, np.int64)
        q = np.array(drawing.q, dtype=np.float64)

        def read(first: int, last: int) -> None:
            donors_of_links(
                table.offsets,
                table.records,
                sizes,
                chains.records,
                chains.modify,
                chains.ends,
                chains.links,
                self.places,
                self.beyond,
                q,
                donors,
                first,
                last,
            )

        in_parts(read, donors, threads)
        return donors


def _kth(table: NeighborTable, k: int) -> NDArray[np.float64]:
    """Squared distance to the k-th nearest, or to the last one of a record with fewer."""
    last = np.minimum(table.offsets[:-1] + k, table.offsets[1:]) - 1
    squared: NDArray[np.float64] = table.squared[np.maximum(last, 0)]
    return squared


def find_far_donors(
    search: Search,
    table: NeighborTable,
    radii: NDArray[np.float64],
    drawing: Drawing,
    watch: Watch,
) -> FarDonors:
    """Look up the donors of a key's cells, out to the radius of a search.

    Parameters
    ----------
    search : Search
        To the end of a slider.
    table : NeighborTable
        Of the search's records, ranked some way.
    radii : ndarray of float64, shape (positions,)
        Of the slider, evenly spaced from 0 to the search's own.
    drawing : Drawing
    watch : Watch
        It may cancel the work.

    Returns
    -------
    FarDonors

    Raises
    ------
    Cancelled
    """
    m, streams = search.query.n, np.array(drawing.streams, dtype=np.int64)
    records = search.query.side.numbers
    # ranks are looked up before anybody knows the sizes: as far as there are records
    longest = np.full(m, search.target.n - 1)
    chains = Chains(drawing.key, records, streams, longest)
    places, starts = np.empty(len(chains.links), np.int32), np.empty(m + 1, np.int64)
    rows = np.arange(m)
    count = far_links(
        table.offsets, rows, len(streams), chains.ends, chains.links, longest, places, starts
    )
    far = Far(
        edges=radii * radii * (1 + TIE),
        counts=np.zeros((m, len(radii)), np.int32),
        starts=starts,
        ranks=chains.links[places >= 0],
        donors=np.full(count, -1, np.int32),
    )
    request = search.request(None)
    query, target = search.query.querying, search.target.side

    def work(first: int, last: int) -> None:
        find_far(query, target, request, far, first, last)

    watch.run(work, search.query.leaves)
    return FarDonors(
        identity=drawing.key.identity,
        streams=tuple(drawing.streams),
        table=table,
        radii=radii,
        counts=far.counts,
        chains=chains,
        places=places,
        beyond=far.donors,
    )
