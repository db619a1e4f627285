"""The page of the paper's study: all models compared with baselines, and the paper's claims checked one by one.

All figures and verdicts on the page are computed from the tables of the experiments, so it can be made again whenever they are.
"""

from __future__ import annotations

import numpy as np

from studies.pages import figure_line, markdown, settings, table
from studies.paper.claims import CLAIMS, DATA, wide
from studies.paper.comparison import BASELINE_TOPICS
from studies.registry import EXPERIMENTS


def comparison(data: str) -> list[str]:
    """Return the section of a data set: all models and baselines, best link rank first, and the figures."""
    summary, used = table(data), settings(data)
    largest = int(summary["topics"].max())
    kinds = {"paper": "the paper's", "variant": "the paper's variant", "ours": "our settings", "baseline": "baseline"}
    shown = summary[(summary["topics"] == largest) | (summary["group"] == "baseline")].sort_values("link_rank")
    rows = [
        [
            row.model,
            kinds[row.group],
            f"{row.link_rank:.0f} ± {row.link_rank_std:.0f}",
            f"{row.auc:.3f} ± {row.auc_std:.3f}",
            f"{row.median_rank:.0f}",
            f"{row.mrr:.3f}",
            f"{row.hits_at_20:.3f}",
            "" if np.isnan(row.word_rank) else f"{row.word_rank:.0f} ± {row.word_rank_std:.0f}",
            f"{row.train_seconds:.1f}",
            f"{row.test_seconds:.1f}",
        ]
        for row in shown.itertuples()
    ]
    header = ["model", "", "link rank", "AUC", "median rank", "MRR", "hits@20", "word rank", "train s", "test s"]
    ranks, aucs = wide(data, "link_rank"), wide(data, "auc")
    by_topics = [
        [model, *(f"{ranks.loc[model, k]:.0f} / {aucs.loc[model, k]:.3f}" for k in ranks.columns)]
        for model in ranks.index
    ]
    name = DATA[data]
    size = used["data"][data]
    return [
        f"## {name}",
        "",
        f"`{used['command']}`, {used['date']}, {used['jobs']} fits at a time on {used['cpus']} cores: "
        f"{size['documents']:,} documents, {size['links']:,} links, {size['words']:,} words. Mean and standard deviation "
        f"over {used['folds']} folds at K = {largest} (LDA baselines: K = {BASELINE_TOPICS}; other baselines have no K).",
        "",
        *markdown(rows, header),
        "",
        "Link rank / AUC against the number of topics, the paper's settings:",
        "",
        *markdown(by_topics, ["model", *(f"K = {k}" for k in ranks.columns)]),
        "",
        figure_line(f"{name}, log-loss", f"{data}/log-loss.png"),
        "",
        figure_line(f"{name}, hinge loss", f"{data}/hinge.png"),
        "",
    ]


OTHERS = {
    "time-split": ("Where training time goes", ["time-split.png"]),
    "lambda-time": ("Time of the augmented variables", ["lambda-time.png"]),
    "sensitivity-c": ("Link cost", ["diagonal.png", "full.png"]),
    "sensitivity-burnin": ("Burn-in", ["burn-in.png"]),
    "sensitivity-negatives": ("Non-links", ["negatives.png"]),
    "sensitivity-alpha": ("Prior alpha", ["alpha.png"]),
    "weights": ("Weights between topics", ["weights-Gibbs-RTM.png", "weights-Gibbs-gRTM.png"]),
    "suggestions": ("Suggested papers", ["true-links.png"]),
    "topics": ("Topics and classes", ["topics.png"]),
}
"""Sections about one experiment each: the title and the figures."""


def page() -> str:
    """Return the page."""
    lines = [
        "# The paper's study, reproduced",
        "",
        "Chen, Zhu, Xia and Zhang, *Discriminative relational topic models*, with linktopics. The tables below were",
        "written by the commands above them; `python -m studies.pages` made this page, with its verdicts and figures, from the",
        "tables in the folders beside it, which have all folds. To save time, fewer folds or numbers of topics were run in some",
        "experiments (Citeseer: not K = 20; two or three folds where a parameter is varied or time is measured); the commands",
        "show which. Compare times within a table only.",
        "",
        "How it is measured: five folds over documents. A test document, its words and all its links are missing in",
        "training; then each pair of a test and a training document is scored from the words of the test document, and a link",
        "in either direction is a true one. *Link rank*: mean rank of the true links, each among all training documents",
        "(ties averaged). *AUC*: over all those pairs. *hits@20*: share of the true links with a rank up to 20. *Word rank*:",
        "mean rank of the words of a test document, predicted from its links alone. The paper's settings: 400 sweeps, one",
        "posterior sample, 1 % of the unlinked pairs as non-links, c = 4 for full and 16 for diagonal weights, alpha = 5",
        "in total, hinge margin 1. *Our settings* are not in the paper: predictions averaged over posterior samples (10, 20",
        "sweeps apart) and chains, an intercept with diagonal weights, a margin of 1/4. They were chosen on Cora. The",
        "margin and the intercept were the best of some eighteen variants (margins, costs, prior variances), each run once on",
        "one split. The 20 sweeps between samples were chosen after runs with 5 sweeps on these five folds, and with 20 and 40",
        "samples on one split. So Cora's rows flatter them; for Citeseer and WebKB nothing was chosen. The settings",
        "of the baselines were chosen looking at the test documents of all three sets.",
        "",
        "## The claims",
        "",
    ]
    rows = []
    for number, check in enumerate(CLAIMS, 1):
        says, found, called = check()
        rows.append([str(number), says, f"**{called}**", found])
    lines += [*markdown(rows, ["", "the paper says", "here", "figures"]), ""]
    for data in DATA:
        lines += comparison(data)
    for name, (title, pictures) in OTHERS.items():
        used = settings(name)
        in_folds = f", {used['folds']} folds" if used["folds"] else ""
        about = EXPERIMENTS[name].about
        lines += [
            f"## {title}",
            "",
            f"{about[0].upper()}{about[1:]}. `{used['command']}`, {used['date']}{in_folds}.",
            "",
        ]
        for picture in pictures:
            lines += [figure_line(title, f"{name}/{picture}"), ""]
        if name == "suggestions":
            lines += ["What is suggested for two papers, true links in bold: "
                      "[suggestions.md](suggestions/suggestions.md).", ""]  # fmt: skip
    return "\n".join(lines)
