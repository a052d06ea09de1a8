"""What several measures compute: one statistic a file."""
