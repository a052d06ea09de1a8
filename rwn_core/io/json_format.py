"""JSON: a list of flat records, or one record a line."""

from __future__ import annotations

from rwn_core.io.format import Feature, Format, when_called


def detects(content: bytes) -> bool:
    """True if a content begins as a list or a record of JSON does."""
    return content[:200].removeprefix(b"\xef\xbb\xbf").lstrip()[:1] in (b"[", b"{")


FORMAT = Format(
    key="json",
    title="JSON",
    noun="a JSON file",
    suffixes=(".json", ".jsonl", ".ndjson"),
    media_type="application/json",
    demand="flat records",
    read=when_called("rwn_core.io.json_reader.read_json"),
    write=None,
    layout=frozenset({"decimal", "dates", "missing", "grouped"}),
    keeps=frozenset({Feature.DATES, Feature.TRUTHS}),
    detects=detects,
    again=when_called("rwn_core.io.other_readers.json_again"),
    again_by="pandas",
)
