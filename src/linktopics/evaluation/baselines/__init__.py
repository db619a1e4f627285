"""Simple link predictors, as baselines for topic models.

`BASELINES` maps names to classes. All have the interface of the models: fit a network, then `predict_links` and
`suggest_links` for new documents, known by their words.
"""

from linktopics.evaluation.baselines.base import LinkBaseline
from linktopics.evaluation.baselines.latent import LdaCosine, LdaLogistic, LsaLogistic
from linktopics.evaluation.baselines.similarity import BM25, TfidfCentroid, TfidfCosine, TfidfNeighbours
from linktopics.evaluation.baselines.trivial import DegreeOnly, RandomScores

__all__ = [
    "BASELINES",
    "BM25",
    "DegreeOnly",
    "LdaCosine",
    "LdaLogistic",
    "LinkBaseline",
    "LsaLogistic",
    "RandomScores",
    "TfidfCentroid",
    "TfidfCosine",
    "TfidfNeighbours",
]

BASELINES: dict[str, type[LinkBaseline]] = {
    "tfidf": TfidfCosine,
    "bm25": BM25,
    "tfidf-neighbours": TfidfNeighbours,
    "tfidf-centroid": TfidfCentroid,
    "lsa": LsaLogistic,
    "lda-cosine": LdaCosine,
    "lda-logistic": LdaLogistic,
    "degree": DegreeOnly,
    "random": RandomScores,
}
