"""Feather: a table of Arrow as it lies in memory."""

from __future__ import annotations

from rwn_core.io.format import Feature, Format, when_called

FORMAT = Format(
    key="feather",
    title="Feather",
    noun="a Feather (Arrow) file",
    suffixes=(".feather", ".arrow"),
    media_type="application/vnd.apache.arrow.file",
    read=when_called("rwn_core.io.arrow_files.read_feather"),
    write=when_called("rwn_core.io.arrow_files.feather_bytes"),
    keeps=frozenset({Feature.TRUTHS, Feature.DATES, Feature.TIME_ZONES, Feature.LEVEL_ORDER}),
    detects=lambda content: content.startswith(b"ARROW1"),
    again=when_called("rwn_core.io.other_readers.arrow_again"),
    again_by="Arrow's Rust library",
)
