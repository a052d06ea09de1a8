"""Parts of charts: style, axes, bands, tables."""
