"""What several pages offer, with what it needs on screen."""
