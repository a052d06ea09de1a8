"""Documents that accompany a release; first of all its internal record."""

from rwn_core.reporting.release_record import ReleasedFile, internal_record, read_record

__all__ = ["ReleasedFile", "internal_record", "read_record"]
