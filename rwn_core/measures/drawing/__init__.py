"""Parts of charts: plain Plotly dictionaries that know no measure."""
