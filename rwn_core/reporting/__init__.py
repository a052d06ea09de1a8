"""What is written beside a release: the internal record of how it came to be."""

from rwn_core.reporting.release_record import ReleasedFile, internal_record, read_record

__all__ = ["ReleasedFile", "internal_record", "read_record"]
