"""List the engines that schedule the tasks of a dataset; data never pass through one."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from rwn_core.datasets.dask_engine import dask
from rwn_core.datasets.local_engine import local
from rwn_core.datasets.run import Engine
from rwn_core.datasets.spark_engine import spark

ENGINES: Mapping[str, Engine] = MappingProxyType({"local": local, "dask": dask, "spark": spark})
