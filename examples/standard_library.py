"""Python's own standard library: what its modules are about, and which topic imports which.

A module is a document, made of its docstrings and the names it defines. An import is a link, from the module that
imports to the one imported. The library is read from where this Python is installed.

    python examples/standard_library.py             # half a minute
    python examples/standard_library.py --quick     # a rougher model in a few seconds

Writes weights.png, topics.png and the folder stdlib-model.
"""

import sys
import textwrap
import warnings

import numpy as np

from linktopics import MixingWarning, RelationalTopicModel, datasets, plots

QUICK = "--quick" in sys.argv
N_TOPICS, N_BURN_IN, N_CHAINS = (8, 40, 1) if QUICK else (12, 250, 2)

IDEA = """
Reads mail from a server over an encrypted connection: parses the headers of each message, converts its body, and writes
compressed archives to files in a temporary directory.
"""


def show(suggestions):
    """Print suggested links with their probabilities and the two best reasons."""
    for row in suggestions.itertuples():
        print(f"  {row.id:<20} {row.probability:.2f}  {'; '.join(row.why.split('; ')[:2])}")


network = datasets.load_stdlib()
network.summary()

# Of the features of pairs only TF-IDF: words in common explain the obvious imports. The model has no degree feature, so
# the weights between topics must express how popular modules are. More non-links than usual, 5 % of all pairs, help.
model = RelationalTopicModel(
    N_TOPICS,
    pair_features=["tfidf"],
    alpha=3,
    negatives=0.05,
    n_burn_in=N_BURN_IN,
    thin=5,
    n_chains=N_CHAINS,
    n_jobs=-1,
    random_state=0,
)
warnings.simplefilter("ignore", MixingWarning)  # the summary says the same
model.fit(network)
print()
model.summary()

# Which topic imports which. Entry (k, l) of the weights says how much topic k in a module that imports attracts topic l
# in the module imported. So the mean of a column says whether others import a topic, that of a row whether it imports.
weights = np.where(np.eye(N_TOPICS, dtype=bool), np.nan, model.link_weights_)
is_imported, imports = np.nanmean(weights, axis=0), np.nanmean(weights, axis=1)
topics = model.topics(n_words=5, n_documents=4)
print("\nFrom what others import to what imports others: mean weight of links from other topics, and to them")
for k in np.argsort(imports - is_imported):
    print(f"  {is_imported[k]:+5.1f} {imports[k]:+5.1f}  {topics.words[k]}: {', '.join(topics.documents[k])}")

# All weights as a heat map, and the strongest as a graph.
plots.weight_matrix(model).figure.savefig("weights.png", dpi=150)
plots.topic_graph(model).figure.savefig("topics.png", dpi=150)
print("\nsee weights.png and topics.png")

# A module that does not exist: what should it import, and what may import it? Each reason begins with its share of
# the contributions for the link.
print(f"\nA new module\n{textwrap.indent(IDEA.strip(), '  | ')}\nshould import")
suggestions = model.suggest_links(IDEA, top=10, direction="out")
show(suggestions)
print("and may be imported by")
show(model.suggest_links(IDEA, top=3, direction="in"))

# A saved model is a folder of JSON and arrays. It gives the same results after loading.
model.save("stdlib-model", overwrite=True)
again = RelationalTopicModel.load("stdlib-model").suggest_links(IDEA, top=10, direction="out")
verdict = "the same" if again.equals(suggestions) else "not the same"
print(f"\nsaved to stdlib-model and loaded again: the suggestions are {verdict}")
