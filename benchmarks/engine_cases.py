"""One measurement of the search, or of something that a user could pick instead."""

from __future__ import annotations

import resource
import threading
import time
from collections.abc import Callable

import numpy as np
from engine_tables import KINDS, radius_of

from rwn_core.laws.donors import Draws, draw_donors
from rwn_core.neighbors import Drawing, neighbor_table
from rwn_core.neighbors.index import build_index
from rwn_core.neighbors.lazy_table import search_neighborhoods
from rwn_core.neighbors.search import Search
from rwn_core.neighbors.slider_range import slider_range_of
from rwn_core.parallel.threads import Cancelled, Watch
from rwn_core.randomness import SecretKey

KEY = SecretKey.from_seed(1)
QUERIES = {"cKDTree": 2000, "KDTree": 1000, "brute": 100}
PEER_SECONDS = 60  # of the processor, after which the records counted so far stand for all
MOVES = 15
STOPS = 10  # moments at which a search is cancelled
GIGABYTE = 1e6  # of the kilobytes that the operating system counts


class OverTime(Exception):
    """A run took its whole time."""


class Clock:
    """Processor and wall seconds since the start; and a limit that ends a search."""

    def __init__(self, limit: float = np.inf) -> None:
        self.limit, self.share = limit, 0.0
        self.cpu, self.wall = time.process_time(), time.perf_counter()

    def read(self) -> dict[str, float]:
        """Both, as seconds."""
        return {
            "cpu_s": time.process_time() - self.cpu,
            "wall_s": time.perf_counter() - self.wall,
        }

    def watch(self, share: float) -> None:
        """Follow a search's progress, and stop it at the limit."""
        self.share = share
        if time.perf_counter() - self.wall > self.limit and share > 0:
            raise OverTime


def peak_gigabytes() -> float:
    """The most memory that this process has held."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / GIGABYTE


def compiled_beforehand(p: int) -> None:
    """Load or compile the kernels on a small table, outside of any clock."""
    points = np.random.default_rng(1).normal(size=(3000, p))
    drawing = Drawing(key=KEY, streams=range(p), q=np.ones(p))
    Search(build_index(points), k=3, epsilon=0.5).run(Watch(), drawing)


def engine(case: dict) -> dict:
    """Everything: tree, balls, short records, p draws for each record."""
    n, p, k = int(case["n"]), int(case["p"]), int(case.get("k", 0))
    compiled_beforehand(p)
    idle = peak_gigabytes()
    points = KINDS[case["kind"]](n, p)
    epsilon = radius_of(points, case["size"])
    before = peak_gigabytes()
    clock = Clock(case.get("limit", np.inf))
    watch = Watch(threads=int(case["threads"]), progress=clock.watch)
    index = build_index(points, watch=watch)
    built = clock.read()
    search = Search(index, k=k, epsilon=epsilon)
    drawing = Drawing(key=KEY, streams=range(p), q=np.ones(p)) if case.get("draw", True) else None
    try:
        neighbors = search.run(watch, drawing)
        taken, share, size = clock.read(), 1.0, float(neighbors.sizes.mean())
        short = int((neighbors.within < k).sum())
    except OverTime:
        taken, share, size, short = clock.read(), clock.share, float("nan"), -1
    whole = {name: built[name] + (taken[name] - built[name]) / share for name in taken}
    return {
        **whole,
        "share_run": share,
        "epsilon": epsilon,
        "mean_size": size,
        "short_records": short,
        "distinct_rows": index.rows,
        "build_cpu_s": built["cpu_s"],
        "peak_gb": peak_gigabytes(),
        "idle_gb": idle,
        "peak_before_gb": before,
    }


def _count_with(name: str, points: np.ndarray) -> Callable[[np.ndarray, float], object]:
    if name == "cKDTree":
        from scipy.spatial import cKDTree

        tree = cKDTree(points)
        return lambda some, r: tree.query_ball_point(some, r, return_length=True, workers=1)
    if name == "KDTree":
        from sklearn.neighbors import KDTree

        other = KDTree(points)
        return lambda some, r: other.query_radius(some, r, count_only=True)
    squares = np.einsum("ij,ij->i", points, points)

    def count(some: np.ndarray, r: float) -> object:
        own = np.einsum("ij,ij->i", some, some)
        return (own[:, None] - 2 * (some @ points.T) + squares <= r * r).sum(axis=1)

    return count


def peer(case: dict) -> dict:
    """Counting alone, by another library, on random records; the time of all in proportion."""
    from threadpoolctl import threadpool_limits

    points = np.ascontiguousarray(KINDS[case["kind"]](int(case["n"]), int(case["p"])))
    epsilon = radius_of(points, case["size"])
    n = len(points)
    some = np.random.default_rng(7).choice(n, min(QUERIES[case["peer"]], n), replace=False)
    with threadpool_limits(1):
        clock = Clock()
        count = _count_with(case["peer"], points)
        built = clock.read()
        done, step = 0, max(10, len(some) // 20)
        end = built["cpu_s"] + case.get("limit", PEER_SECONDS)
        while done < len(some) and clock.read()["cpu_s"] < end:
            count(points[some[done : done + step]], epsilon)
            done += step
    taken, done = clock.read(), min(done, len(some))
    whole = {name: built[name] + (taken[name] - built[name]) * n / done for name in taken}
    return {**whole, "queries": done, "peak_gb": peak_gigabytes()}


def move(case: dict) -> dict:
    """A slider move: another epsilon, k or q, and new donors for all cells."""
    n, p = int(case["n"]), int(case["p"])
    points = KINDS[case["kind"]](n, p)
    slider_range = slider_range_of(points, 12_000_000)
    clock = Clock()
    table = neighbor_table(points, k=20, epsilon=slider_range.epsilon)
    prepared = clock.read()
    draws, times = Draws(KEY, np.arange(n), range(p)), []
    draw_donors(table.narrow(k=5, epsilon=slider_range.epsilon), draws, np.ones(p))
    for share in np.linspace(0.3, 1.0, MOVES):
        for k, q in ((5, 1.0), (20, 0.3)):
            start = time.perf_counter()
            neighborhoods = table.narrow(k=k, epsilon=float(share * slider_range.epsilon))
            draw_donors(neighborhoods, draws, np.full(p, q))
            times.append(1000 * (time.perf_counter() - start))
    return {
        "median_ms": float(np.median(times)),
        "largest_ms": max(times),
        "table_mb": (table.records.nbytes + table.squared.nbytes) / 1e6,
        "prepare_cpu_s": prepared["cpu_s"],
        "prepare_wall_s": prepared["wall_s"],
    }


def cancel(case: dict) -> dict:
    """How long the threads of a search go on after it was cancelled, at several moments of it."""
    n, p = int(case["n"]), int(case["p"])
    compiled_beforehand(p)
    points = KINDS[case["kind"]](n, p)
    epsilon = radius_of(points, case["size"])
    times: list[float] = []
    for seconds in np.geomspace(0.1, 6.0, STOPS):
        stop, asked = threading.Event(), []

        def ask(stop: threading.Event = stop, asked: list[float] = asked) -> None:
            asked.append(time.perf_counter())
            stop.set()

        timer = threading.Timer(float(seconds), ask)
        timer.start()
        watch = Watch(threads=int(case["threads"]), cancel=stop)
        try:
            search_neighborhoods(points, k=case["k"], epsilon=epsilon, watch=watch)
        except Cancelled:
            times.append(time.perf_counter() - asked[0])
        timer.cancel()
    return {"longest_s": max(times), "median_s": float(np.median(times)), "stops": len(times)}


MEASURED = {"engine": engine, "peer": peer, "move": move, "cancel": cancel}
