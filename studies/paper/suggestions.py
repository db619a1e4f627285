"""Links suggested for papers the models have not seen: the paper's table 4."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import joblib
import numpy as np
import pandas as pd
from sklearn.base import clone

from linktopics.errors import DataError
from linktopics.network import DocumentNetwork
from linktopics.network.report import numbered
from studies import plots
from studies.run import ExperimentRun
from studies.tables import format_table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

N_SUGGESTED = 8
PLANNING = "Planning by Incremental Dynamic Programming"
GENETIC = "genetic algorithm"
QUICK_DOCUMENTS = 300  # so far the two queries are apart


def suggest(run: ExperimentRun) -> str:
    """Hold documents out, suggest links for each and count the true ones among the first eight."""
    from linktopics.evaluation.evaluation import document_folds, make_model

    (topics,) = run.topics
    network = run.network("cora-r", start=planning_query, quick_documents=QUICK_DOCUMENTS)
    few = {"max_iter": run.sweeps(100)} if run.quick else {}
    models = {
        "Gibbs-gRTM": make_model("Gibbs-gRTM", n_topics=topics, n_burn_in=run.sweeps(400)),
        "Var-RTM": make_model("Var-RTM", n_topics=topics, **few),
        "tfidf": make_model("tfidf"),
    }
    for model in models.values():
        if "random_state" in model.get_params():
            model.set_params(random_state=run.seed)
    run.record(models)
    splits = document_folds(network.n_documents, run.folds, run.seed)
    run.folder.mkdir(parents=True, exist_ok=True)

    def piece(model: Any, fold: int) -> Any:
        train, test = splits[fold]
        what = ("suggestions", N_SUGGESTED, fold, run.folds, run.seed)
        return run.cached(network, model, what, partial(first_suggestions, clone(model), network, train, test))

    tasks = [(name, fold) for name in models for fold in range(run.folds)]
    results = joblib.Parallel(n_jobs=run.n_jobs)(joblib.delayed(piece)(models[name], fold) for name, fold in tasks)
    found = pd.concat(
        [table(network, name, fold, part) for (name, fold), part in zip(tasks, results, strict=True)], ignore_index=True
    )
    run.save_table("suggestions.csv", found)
    hits = (
        found.groupby(["model", "fold", "document"], sort=False)["true_link"].sum().rename("true_links").reset_index()
    )
    per_fold = hits.groupby(["model", "fold"], sort=False)["true_links"].agg(["mean", "sum", "size"]).reset_index()
    per_fold = per_fold.set_axis(["model", "fold", "mean_true_links", "true_links", "documents"], axis=1)
    run.save_table("folds.csv", per_fold)
    summary = summarise_hits(per_fold)
    run.save_table("summary.csv", summary)
    run.path("suggestions.md").write_text(queries_page(network, found, topics), encoding="utf-8")
    rows = [
        [row.model, f"{row.mean_true_links:.3f}", f"{row.true_links:,}", f"{row.documents:,}"]
        for row in summary.itertuples()
    ]
    counted = f"True links among the first {N_SUGGESTED} suggestions (K = {topics})\n"
    return counted + format_table(rows, ["model", "mean", "sum", "held-out papers"])


def draw_suggest(run: ExperimentRun) -> dict[str, Figure]:
    """Draw the mean number of true links among the first suggestions of each model."""
    by_model = run.table("summary.csv").set_index("model")
    figure = plots.bars(
        by_model["mean_true_links"].to_dict(),
        by_model["mean_true_links_std"].to_dict(),
        f"true links in the first {N_SUGGESTED}, mean per paper",
        f"Link suggestions on Cora (cora-r), {run.folds} folds, K = {run.topics[0]}",
    )
    return {"true-links.png": figure}


def first_suggestions(model: Any, network: DocumentNetwork, train: Any, test: Any) -> dict[str, list[Any]]:
    """Fit on the training documents; return the first candidates of each test document, by number in the network."""
    model.fit(network.subset(train))
    scores = model.predict_links(network.counts[test])
    best = np.argsort(-scores, axis=1, kind="stable")[:, :N_SUGGESTED]
    return {"documents": test.tolist(), "suggested": train[best].tolist()}


def table(network: DocumentNetwork, name: str, fold: int, part: dict[str, list[Any]]) -> pd.DataFrame:
    """Return a row for each suggestion."""
    linked = set(map(tuple, network.links.tolist()))
    rows = [
        (name, fold + 1, document, rank, candidate, (document, candidate) in linked or (candidate, document) in linked)
        for document, candidates in zip(part["documents"], part["suggested"], strict=True)
        for rank, candidate in enumerate(candidates, 1)
    ]
    return pd.DataFrame(rows, columns=["model", "fold", "document", "rank", "suggested", "true_link"])


def summarise_hits(per_fold: pd.DataFrame) -> pd.DataFrame:
    """Return for each model the sum of true links, their mean over documents and its spread over folds."""
    groups = per_fold.groupby("model", sort=False)
    totals = groups[["true_links", "documents"]].sum()
    totals["mean_true_links"] = totals["true_links"] / totals["documents"]
    totals["mean_true_links_std"] = groups["mean_true_links"].std()
    return totals.reset_index()


def planning_query(network: DocumentNetwork) -> int:
    """Return the document that the paper's second query is."""
    return documents_about(PLANNING, network)[0]


def genetic_query(network: DocumentNetwork) -> int:
    """Return the document with the most links among those whose title contains "genetic algorithm".

    It stands in for the paper's first query, which is not in the data.
    """
    degree = np.bincount(network.links.ravel(), minlength=network.n_documents)
    return max(documents_about(GENETIC, network), key=lambda document: int(degree[document]))


def documents_about(words: str, network: DocumentNetwork) -> list[int]:
    """Return the documents whose titles contain these words."""
    found = [number for number, title in enumerate(titles_of(network)) if words.lower() in title.lower()]
    if not found:
        raise DataError(f"no title in cora-r contains {words!r}; put the data of the R package lda in that folder.")
    return found


def titles_of(network: DocumentNetwork) -> list[str]:
    """Return the titles without the quotation marks some have."""
    return [str(title).strip(' "') for title in (() if network.titles is None else network.titles)]


def queries_page(network: DocumentNetwork, found: pd.DataFrame, topics: int) -> str:
    """Return a page in markdown: what each model suggests for the two queries, true links in bold."""
    titles = titles_of(network)
    degree = np.bincount(network.to_undirected().links.ravel(), minlength=network.n_documents)
    lines = [
        f"# Links suggested for papers held out of training (Cora, cora-r, K = {topics})",
        "",
        f"The first {N_SUGGESTED} suggestions; titles of papers that truly link with the query are in bold.",
    ]
    for query in (planning_query(network), genetic_query(network)):
        lines += [
            "",
            f"## {titles[query]}",
            "",
            f"Linked with {numbered(int(degree[query]), 'paper')} in the network.",
        ]
        for name, part in found[found["document"] == query].groupby("model", sort=False):
            lines += ["", f"**{name}**: {part['true_link'].sum()} of {len(part)} true", ""]
            for row in part.itertuples():
                title = titles[row.suggested]
                lines.append(f"{row.rank}. " + (f"**{title}**" if row.true_link else title))
    return "\n".join(lines) + "\n"
