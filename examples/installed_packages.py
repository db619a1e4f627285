"""The packages installed with this Python: their subjects, what they require, and a model extended by new packages.

A package is a document, its summary and description. A requirement, also an optional one, is a link to the package
required. Authors and classifiers are features of pairs. A fresh environment has some 40 packages.

    python examples/installed_packages.py             # some seconds
    python examples/installed_packages.py --quick     # fewer sweeps

Writes packages.graphml, if networkx is installed.
"""

import re
import sys
from email.utils import getaddresses
from importlib import metadata

import numpy as np
from sklearn.base import clone
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS, CountVectorizer

from linktopics import DocumentNetwork, RelationalTopicModel
from linktopics.features import Column

N_BURN_IN = 50 if "--quick" in sys.argv else 500

SUBJECTS = {
    "numbers": "numpy scipy array arrays scientific computing data statistics",
    "types": "type types typing annotations annotated validation",
    "terminal": "terminal command line shell text markdown syntax",
    "pictures": "matplotlib plot plotting contours fonts font images imaging visualization",
    "tools": "test tests testing pytest build packaging linter",
}
COMMON = """
    alt available badge code community conda contributing development documentation example examples features file
    files following github help http https image import install installation library license make new open package
    packages pip project pypi python readme release run source status support svg target use used using usage version
"""
NOISE = re.compile(r"```.*?```|<[^>]*>|\S*[/@]\S*", re.DOTALL)  # code, markup and addresses


def normal(name):
    """Return a package's name as it is compared: Typing_Extensions is typing-extensions."""
    return re.sub(r"[-_.]+", "-", name).lower()


def documents(names):
    """Return texts and columns of packages; an author or a classifier that is not known is None."""
    about = [packages[name].metadata for name in names]
    readmes = [NOISE.sub(" ", a.get("Description") or a.get_payload() or "")[:4000] for a in about]
    people = [[person for person, _ in getaddresses(a.get_all("Author-email", [])) if person] for a in about]
    classes = [[line for line in a.get_all("Classifier", []) if line.startswith("Topic ::")] for a in about]
    return {
        "texts": {n: f"{n}: {a.get('Summary', '')}\n{text}" for n, a, text in zip(names, about, readmes, strict=True)},
        "columns": {"authors": [some or None for some in people], "classifiers": [some or None for some in classes]},
    }


packages = {normal(one.metadata["Name"]): one for one in metadata.distributions() if one.metadata["Name"]}
required = {(n, normal(re.match(r"[\w.-]+", line)[0])) for n, one in packages.items() for line in one.requires or []}
links = sorted((source, target) for source, target in required if target in packages and source != target)

# Two thirds of the packages are fitted first, the others are added later. Seed words are only a prior.
later = sorted(packages)[1::3]
first = sorted(set(packages) - set(later))
among_first = [link for link in links if set(link) <= set(first)]
words = CountVectorizer(stop_words=[*ENGLISH_STOP_WORDS, *COMMON.split()], token_pattern=r"[^\W\d_]{3,}")
network = DocumentNetwork.from_texts(**documents(first), links=among_first, vectorizer=words)
hints = [[word for word in some.split() if word in network.vocabulary] for some in SUBJECTS.values()]
features = ["tfidf", Column("authors", "overlap"), Column("classifiers", "overlap")]
model = RelationalTopicModel(
    len(SUBJECTS), seed_words=hints, alpha=1, pair_features=features, n_burn_in=N_BURN_IN, n_chains=1, random_state=0
)
before = model.fit(network).doc_topic_.argmax(axis=1)

# Add the other packages, with their words and links. The model continues from its current state.
network = network.extended(**documents(later), links=set(links) - set(among_first), grow_vocabulary=True)
after = model.extend(network).doc_topic_.argmax(axis=1)
model.summary()
refitted = clone(model).fit(network).doc_topic_.argmax(axis=1)
same, same_anew = ((before == topics[: len(first)]).sum() for topics in (after, refitted))
print(f"\n{same} of the first {len(first)} keep their main topic ({same_anew} in a model fitted anew). New ones: +")
names = [*first, *[f"+{name}" for name in later]]
for topic, subject in enumerate(SUBJECTS):
    print(f"  {subject}:", ", ".join(names[place] for place in np.flatnonzero(after == topic)))

# A package that does not exist yet.
idea = "A command line tool for tables of data: validation by types, text with colors in the terminal."
new = network.new_documents({"idea": idea}, columns={"authors": [None], "classifiers": [["Topic :: Utilities"]]})
print(f"\n{idea}\nIt may require")
for row in model.suggest_links(new, top=6, direction="out").itertuples():
    print(f"  {row.id:<18} {row.probability:.2f}  {row.why}")

try:
    import networkx as nx
except ImportError:
    print("\nnetworkx is not installed: no packages.graphml")
else:
    graph = model.to_networkx(suggested=1)
    nx.write_graphml(graph, "packages.graphml")
    print(f"\npackages.graphml for Gephi or Cytoscape, with a suggested link from each package: {graph}")
