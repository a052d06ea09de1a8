"""The worst-case intruder: holds the original file, knows the method, lacks only the key.

`likelihood` says how likely each original record is to release a row, `posterior` what the
intruder then believes, `assignment` what all rows together add, `worst_case` which of the two links
more, `value_survival` which values come through and `predicate` which questions a single person
answers.
"""
