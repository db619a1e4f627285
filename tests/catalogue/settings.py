"""Parameters, options and files of settings."""

# ruff: noqa: E501  sentences stand in one line, as they are said

from __future__ import annotations

import math

from catalogue.counts import fit
from catalogue.kinds import Group, Kind
from linktopics import Checkpoint, RelationalTopicModel

COUNTS = [[1, 2], [2, 1], [3, 0]]


def given(**parameters):
    return lambda _: RelationalTopicModel(**parameters).fit(COUNTS, links=[(0, 1)])


def option(*options):
    return ("fit", "DATA", "-o", "NEW", *options)


def settings(content):
    """Return how to give a file of settings."""
    return {"files": {"settings.toml": content}, "command": option("--config", "HERE/settings.toml")}


GROUP = Group(
    "Parameters, options and settings",
    "An invalid parameter is a `ValueError` in scikit-learn's words; on the command line the sentence names the option.",
    [
        Kind(
            "No topics",
            says="The 'n_topics' parameter of RelationalTopicModel must be an int in the range [1, 32767]. Got 0 instead.",
            call=given(n_topics=0),
        ),
        Kind(
            "A negative number of topics",
            says="The 'n_topics' parameter of RelationalTopicModel must be an int in the range [1, 32767]. Got -1 instead.",
            call=given(n_topics=-1),
        ),
        Kind(
            "Topics that are a fraction",
            says="The 'n_topics' parameter of RelationalTopicModel must be an int in the range [1, 32767]. Got 2.5 instead.",
            call=given(n_topics=2.5),
        ),
        Kind(
            "A string for a number",
            says="The 'n_topics' parameter of RelationalTopicModel must be an int in the range [1, 32767]. Got '5' instead.",
            call=given(n_topics="5"),
        ),
        Kind(
            "True for a number",
            says="The 'n_topics' parameter of RelationalTopicModel must be a number. Got True instead.",
            call=given(n_topics=True),
        ),
        Kind(
            "A billion topics",
            says="The 'n_topics' parameter of RelationalTopicModel must be an int in the range [1, 32767]. Got 1000000000 instead.",
            call=given(n_topics=10**9),
        ),
        Kind(
            "A prior of zero",
            says="The 'alpha' parameter of RelationalTopicModel must be a float in the range [1e-09, 1000000000.0]. Got 0 instead.",
            call=given(alpha=0),
        ),
        Kind(
            "NaN for a parameter",
            says="The 'alpha' parameter of RelationalTopicModel must be a float in the range [1e-09, 1000000000.0]. Got nan instead.",
            call=given(alpha=math.nan),
        ),
        Kind(
            "Infinity for a parameter",
            says="The 'weight_variance' parameter of RelationalTopicModel must be a float in the range [1e-09, 1000000000.0]. Got inf instead.",
            call=given(weight_variance=math.inf),
        ),
        Kind(
            "A negative cost",
            says="The 'link_cost' parameter of RelationalTopicModel must be a float in the range [1e-09, 1000000000.0] or None. Got -1 instead.",
            call=given(link_cost=-1),
        ),
        Kind(
            "A negative margin",
            says="The 'margin' parameter of RelationalTopicModel must be a float in the range [0.0, 1000000000.0]. Got -1.0 instead.",
            call=given(margin=-1.0),
        ),
        Kind(
            "A negative number of sampled non-links",
            says="The 'negatives' parameter of RelationalTopicModel must be a float in the range [0.0, 1000000000000000.0] or a str among {'auto'}. Got -1 instead.",
            call=given(negatives=-1),
        ),
        Kind(
            "Far too many sweeps",
            says="The 'n_burn_in' parameter of RelationalTopicModel must be an int in the range [0, 1000000000]. Got 1000000000000000000000000000000 instead.",
            call=given(n_burn_in=10**30),
        ),
        Kind(
            "No samples",
            says="The 'n_samples' parameter of RelationalTopicModel must be an int in the range [1, 1000000000]. Got 0 instead.",
            call=given(n_samples=0),
        ),
        Kind(
            "A trillion chains",
            says="The 'n_chains' parameter of RelationalTopicModel must be an int in the range [1, 32768]. Got 1000000000000 instead.",
            call=given(n_chains=10**12),
        ),
        Kind(
            "No threads",
            says="The 'n_jobs' parameter of RelationalTopicModel must be an int in the range [-1024, -1], an int in the range [1, 1024] or None. Got 0 instead.",
            call=given(n_jobs=0),
        ),
        Kind(
            "An unknown loss",
            says="The 'loss' parameter of RelationalTopicModel must be a str among .... Got 'squared' instead.",
            call=given(loss="squared"),
        ),
        Kind(
            "An unknown feature",
            says="'tfidff' is not a pair feature; the names are 'tfidf', 'tfidf-neighbours', 'tfidf-centroid', 'topics', 'topics-neighbours', 'topics-centroid', 'degree', 'intercept', and linktopics.features has Column, PairMatrix and PairFunction for your own data.",
            call=given(pair_features=["tfidff"]),
        ),
        Kind(
            "A negative random state",
            says="The 'random_state' parameter of RelationalTopicModel must be an int in the range [0, 4294967295]... Got -1 instead.",
            call=given(random_state=-1),
        ),
        Kind(
            "A word as random state",
            says="The 'random_state' parameter of RelationalTopicModel must be an int in the range [0, 4294967295]... Got 'seed' instead.",
            call=given(random_state="seed"),
        ),
        Kind(
            "A fraction as random state",
            says="The 'random_state' parameter of RelationalTopicModel must be an int in the range [0, 4294967295]... Got 0.5 instead.",
            call=given(random_state=0.5),
        ),
        Kind(
            "Seed words that the vocabulary lacks",
            says="the seed word 'zebra' is not in the vocabulary; choose words that documents have.",
            command=option("--seed-words=0:zebra"),
        ),
        Kind(
            "A checkpoint every 0 sweeps",
            says="every is 0; it must be a whole number of at least 1.",
            call=lambda folder: fit(COUNTS, checkpoint=Checkpoint(folder / "model", every=0))(folder),
        ),
        Kind("--topics many", says="...Invalid value for '--topics' / '-k': ...", command=option("--topics=many")),
        Kind(
            "--alpha nan",
            says="alpha must be a float in the range [1e-09, 1000000000.0]. Got nan instead.",
            command=option("--alpha=nan"),
        ),
        Kind(
            "--negatives -1",
            says="negatives must be a float in the range [0.0, 1000000000000000.0] or a str among {'auto'}. Got -1.0 instead.",
            command=option("--negatives=-1"),
        ),
        Kind(
            "--seed beyond 32 bits",
            says="seed must be an int in the range [0, 4294967295]... Got 99999999999999999999 instead.",
            command=option("--seed=99999999999999999999"),
        ),
        Kind(
            "Ten to the 308 non-links for each link",
            says="negatives must be a float in the range [0.0, 1000000000000000.0] or a str among {'auto'}. Got 1e+308 instead.",
            command=option("--negatives=1e308"),
        ),
        Kind(
            "A cost whose square is infinite",
            says="link-cost must be a float in the range [1e-09, 1000000000.0] or None. Got 1e+308 instead.",
            command=option("--link-cost=1e308"),
        ),
        Kind(
            "More threads than any machine has",
            says="jobs must be an int in the range [-1024, -1], an int in the range [1, 1024] or None. Got 2000 instead.",
            command=option("--jobs=2000"),
        ),
        Kind(
            "Seed words of a topic that is not a number",
            says="seed words are '²': ['cats']; write the topic's number and its words: 0:red,green.",
            command=option("--seed-words=²:cats"),
        ),
        Kind("An unknown option", says="...No such option: --topicz...", command=option("--topicz=3")),
        Kind(
            "Settings that are not TOML",
            says=".../settings.toml: not TOML: ...; a line is: topics = 20.",
            **settings("topics = [1,\n"),
        ),
        Kind(
            "Settings a hundred thousand levels deep",
            says=".../settings.toml: not TOML: it is nested too deeply; a line is: topics = 20.",
            **settings("topics = " + "[" * 100_000 + "]" * 100_000 + "\n"),
        ),
        Kind(
            "A setting of five thousand digits",
            says=".../settings.toml: not TOML: ...; a line is: topics = 20.",
            **settings("topics = " + "9" * 5000 + "\n"),
        ),
        *(
            Kind(
                f"Four hundred digits for {name}, in settings",
                says=f"{name} ...",
                **settings(f"{name} = {'9' * 400}\n"),
            )
            for name in ("negatives", "link-cost", "weight-variance")
        ),
        Kind(
            "Four hundred digits for checkpoint-minutes, in settings",
            says=".../settings.toml: checkpoint-minutes is ...; it must be a number above 0, up to 1e9.",
            **settings(f"checkpoint-minutes = {'9' * 400}\n"),
        ),
        Kind(
            "A settings file that does not exist",
            says=".../settings.toml: there is no such file; check the path.",
            command=option("--config", "HERE/settings.toml"),
            files={"other.toml": ""},
        ),
        Kind(
            "true for a number of non-links, in settings",
            says="negatives is True; it must be auto or a number.",
            **settings("negatives = true\n"),
        ),
        Kind(
            "A number for an address, in settings",
            says=".../settings.toml: address is 5; it must be the address of a Ray cluster between quotes, or auto.",
            **settings('engine = "ray"\naddress = 5\n'),
        ),
        Kind(
            "A setting twice, with - and with _",
            says=".../settings.toml: link-cost is given twice, with - and with _; give it once.",
            **settings("link-cost = 1.0\nlink_cost = 2.0\n"),
        ),
        Kind(
            "An unknown setting",
            says=".../settings.toml: there is no option 'topicz'; did you mean 'topics'?",
            **settings("topicz = 3\n"),
        ),
        Kind(
            "true for a number, in settings",
            says="topics must be a number. Got True instead.",
            **settings("topics = true\n"),
        ),
        Kind(
            "A date for a number, in settings",
            says="topics must be an int in the range [1, 32767]. Got datetime.date(2020, 1, 1) instead.",
            **settings("topics = 2020-01-01\n"),
        ),
        Kind(
            "Settings in Latin-1",
            says=".../settings.toml: the file is not UTF-8; save it as UTF-8.",
            **settings(b"topics = 3 # \xe9\n"),
        ),
        Kind(
            "Stop words in Latin-1",
            says=".../stop.txt:1: byte 0xe9 is not UTF-8; save the file as UTF-8.",
            command=("info", "DATA", "--stop-words", "HERE/stop.txt"),
            files={"stop.txt": "café\n".encode("latin-1")},
        ),
        Kind(
            "A text without a known word",
            says="the text 'zebra zoo' has no word of the model's vocabulary; write more, or words of its documents.",
            command=("suggest", "MODEL", "--text=zebra zoo"),
        ),
        Kind(
            "An empty text on standard input",
            says="the text is empty; write what the document is about.",
            command=("suggest", "MODEL", "--file=-"),
        ),
        Kind(
            "Control characters in a text",
            command=("suggest", "MODEL", "--text", "cats \x01\x1b[31m purr", "--format=json"),
            gives="Read as they are; they end words.",
            holds=lambda printed: '"suggestions"' in printed,
        ),
    ],
)
