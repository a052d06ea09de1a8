"""What charts are made of: style, axes, bands, tables."""
