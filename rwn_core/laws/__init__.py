"""What masking may do to a cell, exactly: donors and laws."""
