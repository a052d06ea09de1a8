"""The worst-case intruder: holds the original file, knows the method, lacks only the key.

`likelihood` says how likely each original record is to release a row, `posterior` what the
intruder then believes, `whole_file` what all rows together add, `repeated` what several releases
add, `knowledge` what an intruder who knows less can do, `survival` which values come through and
`predicates` which questions a single person answers.
"""
