"""The paper's experiments: each writes tables, figures and its settings to a folder."""

from linktopics.study.registry import EXPERIMENTS, Experiment, reproduce

__all__ = ["EXPERIMENTS", "Experiment", "reproduce"]
