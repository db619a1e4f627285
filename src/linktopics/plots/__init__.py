"""Plots of models and of how well they predict links; each draws on given axes, or on a figure of its own.

Colours are distinguishable with any kind of colour vision: orange attracts, blue repels. Matplotlib is imported on
first use, and its settings are left alone.
"""

from linktopics.plots.curves import link_ranks, trace
from linktopics.plots.graph import topic_graph
from linktopics.plots.matrices import topics, weight_matrix
from linktopics.plots.reliability import calibration, roc

__all__ = ["calibration", "link_ranks", "roc", "topic_graph", "topics", "trace", "weight_matrix"]
