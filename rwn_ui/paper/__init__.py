"""Figures 1 to 9 of the 2022 paper, for the table and the method on screen."""
