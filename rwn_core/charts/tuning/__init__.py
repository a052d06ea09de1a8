"""Charts of many settings: maps, curves, surfaces."""
