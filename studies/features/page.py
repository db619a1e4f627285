"""The page on features of pairs: what they add, compared with every baseline, and how the defaults were chosen.

Every number on the page is computed from the tables of the experiments features and defaults.
"""

from __future__ import annotations

from studies.pages import figure_line, markdown, settings, table
from studies.paper.comparison import BASELINE_TOPICS

DATA = {"cora": "Cora", "citeseer": "Citeseer", "webkb": "WebKB", "cora-r": "cora-r"}
CHOICE_DATA = {**DATA, "stdlib": "standard library"}
MEASURES = {"link_rank": ("link rank", -1, 0), "auc": ("AUC", 1, 3), "hits_at_20": ("hits@20", 1, 3)}
"""Name, whether more is better, and decimals."""


def command(name: str) -> str:
    """Return how an experiment was run, when and on what."""
    made = settings(name)
    versions = made["versions"]
    return (
        f"`{made['command']} --output studies/features/{name}`, {made['date']}, {made['cpus']} cores, "
        f"Python {versions['python']}, linktopics {versions['linktopics']}, numpy {versions['numpy']}, "
        f"numba {versions['numba']}"
    )


def value(mean: float, std: float, digits: int) -> str:
    """Return a mean and its standard deviation over folds."""
    return f"{mean:.{digits}f} ± {std:.{digits}f}"


def results(data: str) -> list[str]:
    """Return the table of a network."""
    summary = table("features")
    rows = []
    for group, part in summary[summary["data"] == data].groupby("group", sort=False):
        if group == "baseline":
            part = part.sort_values("link_rank")
        for row in part.itertuples():
            name = f"**{row.model}**" if row.model == "default" else row.model
            rows.append(
                [
                    f"{name} (baseline)" if group == "baseline" else name,
                    value(row.link_rank, row.link_rank_std, 0),
                    f"{row.median_rank:.0f}",
                    value(row.auc, row.auc_std, 3),
                    f"{row.mrr:.3f}",
                    value(row.hits_at_20, row.hits_at_20_std, 3),
                    f"{row.train_seconds:.1f}",
                    f"{row.test_seconds:.1f}",
                ]
            )
    header = ["model", "link rank", "median rank", "AUC", "MRR", "hits@20", "train s", "test s"]
    return [f"### {DATA[data]}", "", *markdown(rows, header), ""]


def against_baselines() -> list[str]:
    """Return the defaults and the best baseline of each measure, over all folds and in the one nobody looked at."""
    folds = table("features", "folds.csv")
    rows, ahead, cells = [], 0, 0
    for data, title in DATA.items():
        part = folds[folds["data"] == data]
        for metric, (name, sign, digits) in MEASURES.items():
            means = part.groupby("model")[metric].mean()
            baselines = part.loc[part["group"] == "baseline", "model"].unique()
            best = (sign * means[baselines]).idxmax()
            wide = part.pivot_table(index="fold", columns="model", values=metric)
            won = int((sign * (wide["default"] - wide[best]) > 0).sum())
            first = wide.iloc[0]
            untouched = (sign * first[baselines]).idxmax()
            ahead += bool(sign * (means["default"] - means[best]) > 0)
            cells += 1
            rows.append(
                [
                    title,
                    name,
                    f"{means['default']:.{digits}f}",
                    f"{means[best]:.{digits}f} ({best})",
                    f"{won} of {len(wide)}",
                    f"{first['default']:.{digits}f}",
                    f"{first[untouched]:.{digits}f} ({untouched})",
                ]
            )
    header = ["network", "measure", "default", "best baseline", "folds won", "default, fold 1", "best baseline, fold 1"]
    return [
        "By link rank, AUC and hits@20 the defaults are better than the best baseline for each measure in "
        f"{ahead} of {cells} cases. The documents of fold 1 had no part in any choice (see below), so the table also gives its "
        "results.",
        "",
        *markdown(rows, header),
        "",
    ]


def weights() -> list[str]:
    """Return what a model that is given all features makes of them."""
    learned = table("features", "weights.csv")
    learned = learned[learned["model"] == "all features"]
    mean = learned.pivot_table(index="feature", columns="data", values="weight", sort=False)
    std = learned.pivot_table(index="feature", columns="data", values="weight", aggfunc="std", sort=False)
    shown = [data for data in DATA if data in mean]
    rows = [
        [str(name), *(f"{mean.loc[name, data]:+.2f} ± {std.loc[name, data]:.2f}" for data in shown)]
        for name in mean.index
    ]
    return markdown(rows, ["weight of", *(DATA[data] for data in shown)])


def not_run() -> list[str]:
    """Return what is missing on some network."""
    summary = table("features")
    everything = summary["model"].unique()
    lines = []
    for data, title in DATA.items():
        missing = [name for name in everything if name not in set(summary.loc[summary["data"] == data, "model"])]
        if missing:
            lines.append(f"Not run on {title}: {'; '.join(missing)}.")
    return [" ".join(lines), ""] if lines else []


def choices() -> list[str]:
    """Return the tables by which the defaults were chosen."""
    summary = table("defaults")
    lines = []
    for choice, part in summary.groupby("choice", sort=False):
        rows = []
        for name, cells in part.groupby("value", sort=False):
            cells = cells.set_index("data").loc[list(CHOICE_DATA)]
            rows.append(
                [
                    str(name),
                    *(
                        f"{rank:.0f} / {auc:.3f} / {hits:.3f}"
                        for rank, auc, hits in zip(cells["link_rank"], cells["auc"], cells["hits_at_20"], strict=True)
                    ),
                    f"{cells['train_seconds'].mean():.0f}",
                ]
            )
        lines += [*markdown(rows, [str(choice), *CHOICE_DATA.values(), "train s, mean"]), ""]
    return lines


def page() -> str:
    """Return the page."""
    made = settings("features")
    lines = [
        "# Features of pairs, and the defaults",
        "",
        "How well the links of unseen documents are predicted with and without features of pairs, compared with every baseline. "
        f"{made['folds']} folds over documents, K = {made['topics'][0]} ({BASELINE_TOPICS} for lda-cosine and lda-logistic), mean ± standard deviation over folds. Link rank and median rank: of the "
        "true links among all training documents, lower is better; hits@20: share of the true links among the first 20.",
        "",
        f"From {command('features')}. Folds ran two at a time, and the rows *paper: one sample*, *paper, 10 samples*, *paper, 4 chains x 10 samples*, *lda-cosine* and *lda-logistic* of Citeseer and WebKB are those of the same folds in [the paper's study](../paper/README.md), so seconds are rough; [performance](../../benchmarks/results/README.md#features-of-pairs) has the cost of features.",
        "",
        "- *paper*: Gibbs-gRTM with the paper's setting (400 sweeps, one sample, prior variance 1, no features); then ten "
        "samples, and four chains of ten, averaged.",
        "- *no features*, *X alone*, *all features*: the default settings with one chain and other features; all are those in "
        "[the table of weights](#what-the-model-makes-of-features).",
        "- *default*: `RelationalTopicModel(25)`, default settings.",
        "",
        figure_line("the models and baselines on four networks", "features/features.png"),
        "",
        "## The defaults and the best baselines",
        "",
        *against_baselines(),
        "## All results",
        "",
        *not_run(),
        *(line for data in DATA for line in results(data)),
        "## What the model makes of features",
        "",
        "Weights of the model with all features, one chain (mean ± standard deviation over the training parts of the folds; in units of a "
        "standard deviation of the feature among the training pairs).",
        "",
        *weights(),
        "",
        *WEIGHTS_TEXT,
        "",
        "## How the defaults were chosen",
        "",
        f"From {command('defaults')}: links held out *inside* the training part of fold 1, {settings('defaults')['folds']} folds "
        "of it; the test documents of fold 1 were never looked at. (Those of the other four folds are training documents of "
        "the first, so they had a part in these few choices; compare the columns of fold 1 above.) Starting from K = 25, the "
        "features tfidf, tfidf-centroid and degree, weight variance 4, link cost 4, 1 % non-links, logistic loss and one chain "
        "of ten samples, one setting at a time was changed. Link rank / AUC / hits@20:",
        "",
        *choices(),
        *CHOSEN_TEXT,
        "",
        'The paper\'s setting is one call, `RelationalTopicModel.from_paper("Gibbs-gRTM")`; `pair_features=None` removes only the features.',
        "",
    ]
    return "\n".join(lines)


WEIGHTS_TEXT = [
    "TF-IDF cosines with a candidate, with its neighbours and with all of them together are close to one another, so their "
    "weights are shared: the centroid gets a large weight, and the plain mean over neighbours, which is the weakest of the "
    "three alone, a negative one, more so on Citeseer and WebKB than on Cora. Without the feature intercept, the intercept is "
    "part of full weights. Degrees get negative weights: given words and topics, candidates with fewer links are more probable, "
    "perhaps because links also raise the similarity of a candidate's neighbours to the text.",
]
"""What the weights show, in words."""

CHOSEN_TEXT = [
    "- **Features**: `tfidf`, `tfidf-centroid` and `degree`. Better than each alone on every network, and as good as all together "
    "but for cora-r and the standard library, where all are a little better at the cost of a plain LDA run beforehand.",
    "- **Prior variance** of weights: 10. Link rank and AUC are best, or as good, on all five. The paper has 1.",
    "- **Link cost**: 4, as in the paper's setting. 2 and 8 make little difference.",
    '- **Non-links**: 1 %, but from 5 to 20 per link (`negatives="auto"`). 20 per link are as good as 1 %, which in large networks '
    "would be many more. The standard library, whose 1 % are fewer than five per link, is better with more of them.",
    "- **Loss**: logistic. Hinge with margin 1/4 is better on Citeseer and WebKB, worse on Cora and the standard library, and its "
    "probabilities are less meaningful, because the hinge loss is not a likelihood.",
    "- **Samples and chains**: ten samples of four chains. One sample is worse on all five, twenty are no better than ten; four chains "
    "are a little better by link rank and AUC, at four times the cost, which can be spread over cores (`n_jobs`).",
]
"""What was chosen, and why."""
