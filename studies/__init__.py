"""The studies: each experiment writes tables, figures and its settings to a folder. ``python -m studies --help``."""

from studies.registry import EXPERIMENTS, Experiment, reproduce

__all__ = ["EXPERIMENTS", "Experiment", "reproduce"]
