"""Networks that are odd but sound."""

from __future__ import annotations

from catalogue.kinds import Group, Kind, jsonl

A_B = "source,target\na,b\n"


def files(links=A_B, **texts):
    return {"documents.jsonl": jsonl(**texts), "links.csv": links}


def sizes(documents, words, tokens):
    return lambda network: (network.n_documents, network.n_words, network.n_tokens) == (documents, words, tokens)


GROUP = Group(
    "Small and large networks",
    "",
    [
        Kind(
            "One document",
            files=files("source,target\n", a="cats purr"),
            told="there are no links",
            gives="Read and fitted; there is nothing to link it with.",
            holds=sizes(1, 2, 2),
            fitted=True,
        ),
        Kind(
            "One word",
            files=files(a="cats", b="cats", c="cats"),
            gives="Read and fitted; all topics are that word.",
            holds=sizes(3, 1, 3),
            fitted=True,
        ),
        Kind(
            "One token in all",
            files=files(a="cats", b="", c=""),
            told="kept 2 documents without words",
            gives="Read and fitted.",
            holds=sizes(3, 1, 1),
            fitted=True,
        ),
        Kind(
            "Identical documents",
            files=files(**dict.fromkeys("abcdefgh", "cats purr")),
            gives="Read and fitted.",
            holds=sizes(8, 2, 16),
            fitted=True,
        ),
        Kind(
            "Links between documents without words",
            files=files("source,target\na,b\nb,c\n", a="cats", b="", c="", d="stars"),
            told="kept 2 documents without words",
            gives="Read and fitted.",
            holds=sizes(4, 2, 2),
            fitted=True,
        ),
        Kind(
            "More topics than tokens",
            files=files(a="cats", b="stars"),
            gives="Read and fitted; most topics stay empty, and the summary says that there are too many.",
            holds=sizes(2, 2, 2),
            fitted=True,
        ),
        Kind(
            "A document of a million words",
            files=files(a="cats purr stars shine " * 250_000, b="cats", c="stars"),
            gives="Read and fitted. A document, or a word in all of them, can have 16,777,215 tokens.",
            holds=sizes(3, 4, 1_000_002),
            fitted=True,
        ),
        Kind(
            "A word of a million letters",
            files=files(a="c" * 10**6, b="cats", c="stars"),
            gives="Read and fitted; it is one word.",
            holds=sizes(3, 3, 3),
            fitted=True,
        ),
    ],
)
