"""A network to look at, a browser to look with, and what a page may and may not do."""

import os
import shutil
from dataclasses import dataclass, field

import numpy as np

from linktopics import DocumentNetwork, RelationalTopicModel

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
FLAGS = [
    "--headless",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
THEMES = {
    "pets": "cat kitten purr cushion milk mouse paw fur",
    "stars": "star planet orbit moon comet light telescope galaxy",
    "bread": "flour yeast oven dough crust bake salt knead",
    "boats": "sail anchor harbour mast wind rope tide keel",
}
SHORT = {"n_burn_in": 20, "n_samples": 4, "thin": 2, "n_chains": 2, "negatives": 3, "random_state": 0, "verbose": False}

RUNS = "document.documentElement.dataset.hacked='yes'"
HOSTILE = [
    f'<img src=x onerror="{RUNS}">',
    f"</script><script>{RUNS}</script>",
    f"\"'><svg onload={RUNS}>",
    f"javascript:{RUNS}",
    '=HYPERLINK("https://example.com","x")',
    "a\u2028b\u0007<!--<script>",
    "{{constructor}} ${alert(1)} `x`",
    "&lt;b&gt;&amp; \\u003c \\\\",
]
"""Texts that would do something if a page took them for anything but texts."""


def find_browser():
    """Return the path of a browser, or None."""
    return next(filter(None, map(shutil.which, BROWSERS)), None)


def flags():
    """Return how the browser is started; as root it has no sandbox."""
    return [*FLAGS, "--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else FLAGS


def themed_model():
    """Return a model of 80 short texts on four themes, which link within themes and from boats to stars."""
    rng = np.random.default_rng(0)
    themes = {name: words.split() for name, words in THEMES.items()}
    ids, texts, titles, labels, links = [], [], [], [], []
    for number in range(80):
        theme = list(themes)[number % 4]
        other = list(themes)[(number + 1) % 4]
        words = [*rng.choice(themes[theme], 14), *rng.choice(themes[other], 3)]
        ids.append(f"{theme}-{number}")
        titles.append(f"{theme.capitalize()} number {number}")
        labels.append(theme)
        texts.append(" ".join(words))
    for number in range(4, 80):
        links.append((ids[number], ids[number - 4]))
        if number % 4 == 3:
            links.append((ids[number], ids[number - 2]))
    network = DocumentNetwork.from_texts(texts, links, ids=ids, titles=titles, labels=labels)
    return RelationalTopicModel(n_topics=4, **SHORT).fit(network)


def hostile_model():
    """Return a model in which ids, titles, labels, words, texts and names of columns are hostile."""
    rng = np.random.default_rng(1)
    n = 24
    counts = rng.poisson(1.0, size=(n, 2 * len(HOSTILE)))
    counts[:, 0] += 1
    words = [*HOSTILE, *(f"{text} 2" for text in HOSTILE)]
    texts = [HOSTILE[number % len(HOSTILE)] for number in range(n)]
    network = DocumentNetwork(
        counts,
        [(number, (number + 1) % n) for number in range(n)],
        ids=[f"{text} {number}" for number, text in enumerate(texts)],
        titles=[f"{text} title {number}" for number, text in enumerate(texts)],
        labels=texts,
        texts=texts,
        columns={HOSTILE[0]: texts},
        vocabulary=words,
        link_ends="indices",
    )
    return RelationalTopicModel(n_topics=3, **SHORT).fit(network)


@dataclass
class Watch:
    """All that a page asked for and complained of."""

    requests: list[str] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)

    def over(self, page):
        """Watch a page."""
        page.on("request", lambda request: self.requests.append(request.url))
        page.on(
            "console", lambda message: message.type in ("error", "warning") and self.complaints.append(message.text)
        )
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("dialog", lambda dialog: (self.complaints.append(dialog.message), dialog.dismiss()))
