"""Helpers for every package: progress bars, terminals, files, threads of BLAS."""
