"""Features that several pages offer, with their widgets."""
