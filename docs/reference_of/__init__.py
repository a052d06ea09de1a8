"""One page of the reference a file, each from a catalogue."""
