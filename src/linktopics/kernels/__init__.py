"""Every compiled function: arrays in, arrays out.

Kernels that call one another share a file, because Numba's disk cache does not notice an edit in another file's callee.
A kernel's docstring states the NumPy expression it equals, and a test compares the two.
"""
