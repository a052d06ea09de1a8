"""What is written beside a release: the internal record of how it came to be."""

from rwn_core.release.record import ReleasedFile, internal_record, read_record

__all__ = ["ReleasedFile", "internal_record", "read_record"]
