"""Functions of NumPy, SciPy, pandas and scikit-learn that should refer to each other under "See Also" but do not.

A function or class is a document: its name and its docstring. Two are linked if one names the other in its section "See
Also", which is left out of the words. All four are dependencies of linktopics.

    python examples/see_also.py             # a minute or two
    python examples/see_also.py --quick     # NumPy and a little of SciPy, a rougher model; a few seconds

Writes see-also-folds.csv.
"""

import inspect
import re
import sys
from collections import Counter
from pkgutil import resolve_name

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer

from linktopics import DocumentNetwork, RelationalTopicModel, evaluate
from linktopics.evaluation.baselines import TfidfCentroid, TfidfCosine

PLACES = """
    numpy numpy.fft numpy.linalg numpy.random scipy.fft scipy.linalg scipy.signal.windows
    scipy.cluster.hierarchy scipy.integrate scipy.interpolate scipy.ndimage scipy.optimize scipy.signal scipy.sparse
    scipy.sparse.linalg scipy.spatial scipy.spatial.distance scipy.special scipy.stats pandas pandas.DataFrame
    sklearn.cluster sklearn.covariance sklearn.datasets sklearn.decomposition sklearn.ensemble sklearn.feature_selection
    sklearn.linear_model sklearn.manifold sklearn.metrics sklearn.mixture sklearn.model_selection sklearn.neighbors
    sklearn.preprocessing sklearn.svm sklearn.tree
"""
QUICK = "--quick" in sys.argv
N_PLACES, N_TOPICS, N_BURN_IN, FOLDS = (7, 8, 20, 2) if QUICK else (None, 20, 150, 3)

SECTION = re.compile(r"^See Also\n-+\n(.*?)(?=^\S[^\n]*\n---|\Z)", re.MULTILINE | re.DOTALL)


def public(place):
    """Yield names and docstrings of the functions and classes that a module or class calls public."""
    where = resolve_name(place)
    for name in sorted(getattr(where, "__all__", dir(where))):
        thing = inspect.getattr_static(where, name, None)
        is_function = inspect.isroutine(thing) or inspect.isclass(thing) or isinstance(thing, np.ufunc)
        if is_function and not name.startswith("_"):
            yield f"{place}.{name}", inspect.getdoc(thing) or ""


def see_also(name, docstring, known):
    """Yield the known names that a docstring refers to: "norm" said by numpy.linalg.det is numpy.linalg.norm."""
    parents = name.split(".")[:-1]
    for line in re.findall(r"^\S.*", "".join(SECTION.findall(docstring)), re.MULTILINE):
        for entry in re.split(r"\s*:(?:\s|$)", line)[0].split(","):
            entry = re.sub(r":\w+:|[`~\s]", "", entry)
            full = [".".join([*parents[:depth], entry]) for depth in range(len(parents), -1, -1)]
            yield from [one for one in full if one in known and one != name][:1]


# The network. Aliases have the docstring of what they stand for; only the first name is kept.
documents = {}
for place in PLACES.split()[:N_PLACES]:
    for name, docstring in public(place):
        if len(docstring) > 200 and docstring not in documents.values():
            documents[name] = docstring
texts = {name: f"{name}\n{SECTION.sub('', docstring)}" for name, docstring in documents.items()}
links = {tuple(sorted((name, other))) for name in documents for other in see_also(name, documents[name], documents)}
words = CountVectorizer(stop_words="english", token_pattern=r"[^\W\d_]{3,}", min_df=3, max_df=0.2)
network = DocumentNetwork.from_texts(texts, links, directed=False, vectorizer=words)
network.summary()

# Predict the links of unseen functions from their words alone, with the model and with simple methods. Rank: place of
# the true links among all functions of the training part. One chain, to save time.
model = RelationalTopicModel(N_TOPICS, n_burn_in=N_BURN_IN, thin=10, n_chains=1, n_jobs=-1, random_state=0)
models = {"linktopics": model, "TF-IDF": TfidfCosine(), "TF-IDF centroid": TfidfCentroid()}
result = evaluate(network, models, folds=FOLDS, words=False, n_jobs=1 if QUICK else -1)
result.to_csv("see-also-folds.csv")
print(f"\nLinks of unseen functions, mean of {FOLDS} folds")
print(result.summary()[["link_rank", "median_rank", "mrr", "hits_at_20", "auc"]].round(3).to_string())
for measure, sign in {"link_rank": -1, "hits_at_20": 1}.items():
    fold = result.folds.pivot(index="fold", columns="model", values=measure) * sign
    better = (fold["linktopics"] > fold["TF-IDF centroid"]).sum()
    print(f"{measure}: linktopics is better than TF-IDF centroid in {better} of {FOLDS} folds")

# Near-duplicates within a module would come first, so only links from NumPy to other packages are shown. Each function
# is shown once, each place twice. Each reason begins with its share of the contributions for the link.
model.fit(network)
suggestions = model.suggest_links_for([name for name in texts if name.startswith("numpy.")], top=5)
shown = Counter()
print("\nSuggested links")
for row in suggestions.sort_values("probability", ascending=False).itertuples():
    package, place = row.id.partition(".")[0], row.id.rpartition(".")[0]
    if package != "numpy" and not shown[row.document] and not shown[row.id] and shown[place] < 2:
        shown.update([row.document, row.id, place])
        print(f"  {row.probability:.3f}  {row.document:<26} {row.id:<36} {row.why.split('; ')[0]}")
    if shown.total() == 3 * 16:
        break
