"""Sizes that several rooms share: beyond them a reading is of a sample, or gives its reason."""

# decides: records that are done at once: all of a small table, so many of a larger one; the red
# team's models learn from so many
QUICK_RECORDS = 1_000
# decides: records that are assigned jointly, n cubed steps; beyond, linkage is "at least" or not
# read
LARGEST_ASSIGNMENT = 1_500
# decides: records up to which Tune shows all, limits that are quick are read with every move, the
# nearest of each are found and keys have neighborhoods; of more, so many random ones are shown,
# and found
LIVE_RECORDS = 6_000
# decides: candidate pairs up to which attacks read every row, all rows jointly, several releases
# and every person outside (beyond, random ones), and the exchange within blocks has an exact law
ATTACKED_PAIRS = 10_000_000
# decides: records by values, classes by values, distances and trials that are listed, and neighbors
# of the records on screen at a slider's end; beyond, there are fewer, or no reading
LISTED_PAIRS = 20_000_000
# decides: donors that are stored, pairs of a class of rows and an original, and numbers of a model;
# beyond, donors are searched again, and there is no reading
STORED_NUMBERS = 50_000_000
# decides: masked cells that judge slopes
ESTIMATED_CELLS = 1_000_000
