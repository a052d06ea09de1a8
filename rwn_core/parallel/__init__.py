"""Threads, processes and memory."""
