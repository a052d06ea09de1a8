"""What a file may hold at most; beyond it, a table is for the commands for large tables."""

LARGEST_FILE = 1_000_000_000  # bytes; a table is held several times over while it is read
MOST_COLUMNS = 2_000
MOST_CELLS = 100_000_000  # records times columns of a Parquet file: 0.8 GB of numbers
LONGEST_FIELD = 100_000  # characters of a CSV field; Python's csv module stops at 131,072
MOST_LETTERS = 1_000_000_000  # bytes of all texts of one Parquet column, written out
LARGEST_WHOLE = 2**53  # from here on a float64 does not tell neighboring whole numbers apart
