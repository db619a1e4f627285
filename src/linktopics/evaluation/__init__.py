"""How well models predict: folds over documents, metrics, baselines, and a search over settings."""

from linktopics.evaluation.evaluation import Evaluation, document_folds, evaluate, make_model
from linktopics.evaluation.search import LinkSearchCV

__all__ = ["Evaluation", "LinkSearchCV", "document_folds", "evaluate", "make_model"]
