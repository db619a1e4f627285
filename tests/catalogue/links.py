"""Links in CSV."""

# ruff: noqa: E501  sentences stand in one line, as they are said

from __future__ import annotations

from catalogue.kinds import JSONL, TEXTS, Group, Kind, jsonl


def links(content):
    return {"documents.jsonl": JSONL, "links.csv": content}


def n_links(number):
    return lambda network: network.n_links == number


HUB = {f"d{number}": "cats purr" if number % 2 else "stars shine" for number in range(200)}
FROM_THE_HUB = "source,target\n" + "".join(f"d0,{name}\n" for name in HUB if name != "d0")
ALL = "source,target\n" + "".join(f"{one},{other}\n" for one in TEXTS for other in TEXTS if one != other)
NO_LINKS = "there are no links"

GROUP = Group(
    "Links (links.csv)",
    "Links that cannot be used are dropped, never silently: `info` and `fit` say how many there were, `info` with examples, and "
    "`--strict` refuses them.",
    [
        Kind(
            "No header",
            says=".../links.csv:1: the header has no 'source' (it has: 'mouse', 'cat'); begin with: source,target (with commas between columns).",
            files=links("mouse,cat\nmoon,star\n"),
        ),
        Kind(
            "A column is missing",
            says=".../links.csv:1: the header has no 'target' (it has: 'source', 'weight'); begin with: source,target (with commas between columns).",
            files=links("source,weight\nmouse,3\n"),
        ),
        Kind(
            "Other names of columns",
            says=".../links.csv:1: the header has no 'source' (it has: 'from', 'to'); begin with: source,target (with commas between columns).",
            files=links("from,to\nmouse,cat\n"),
        ),
        Kind(
            "A column twice",
            says=".../links.csv:1: the header has 'source' twice; give each column its own name.",
            files=links("source,target,source\nmouse,cat,star\n"),
        ),
        Kind(
            "Semicolons between columns",
            says=".../links.csv:1: the header has no 'source' (it has: 'source;target'); begin with: source,target (with commas between columns).",
            files=links("source;target\nmouse;cat\n"),
        ),
        Kind(
            "Tabs between columns",
            says=".../links.csv:1: the header has no 'source' (it has: 'source\\ttarget'); begin with: source,target (with commas between columns).",
            files=links("source\ttarget\nmouse\tcat\n"),
        ),
        Kind(
            "Too few columns in a row",
            says=".../links.csv:3: there are 1 columns where the header has 2; give every link all columns.",
            files=links("source,target\nmouse,cat\nmoon\n"),
        ),
        Kind(
            "Too many columns in a row",
            says=".../links.csv:2: there are 3 columns where the header has 2; give every link all columns.",
            files=links("source,target\nmouse,cat,star\n"),
        ),
        Kind(
            "Further columns, in another order",
            files=links("weight,target,source\n3,cat,mouse\n"),
            gives="The two columns are found by their names; others are not read.",
            holds=lambda network: network.ids[network.links].tolist() == [["mouse", "cat"]],
        ),
        Kind(
            "Quotes that are not closed",
            says=".../links.csv:3: not CSV: ...; close every quote, and quote fields that hold commas or quotes.",
            files=links('source,target\nmoon,star\n"mouse,cat\nmoon,star\n'),
        ),
        Kind(
            "Text after a closed quote",
            says=".../links.csv:2: not CSV: ...; close every quote, and quote fields that hold commas or quotes.",
            files=links('source,target\n"mouse"s,cat\n'),
        ),
        Kind(
            "Quoted fields with line breaks",
            files={
                "documents.jsonl": jsonl(**{"a\nb": "cats", "c": "cats purr"}),
                "links.csv": '"source","target"\r\n"c","a\nb"\r\n',
            },
            gives="Read as CSV has it.",
            holds=n_links(1),
        ),
        Kind(
            "A field of a million characters",
            says=".../links.csv:2: not CSV: ...; close every quote, and quote fields that hold commas or quotes.",
            files=links("source,target\nmouse," + "x" * 10**6 + "\n"),
        ),
        Kind(
            "Only a header: no links",
            files=links("source,target\n"),
            told=NO_LINKS,
            gives="A network without links: `fit` says so, topics come from words alone, and links cannot be suggested.",
            holds=n_links(0),
        ),
        Kind(
            "Links to nowhere",
            files=links("source,target\nmouse,cat\nmouse,dog\ncow,cat\n"),
            told="dropped 2 links with an unknown end",
            gives="The other links are kept.",
            holds=n_links(1),
        ),
        Kind(
            "No link with a known end",
            files=links("source,target\n0,1\n2,3\n"),
            told="dropped 2 links with an unknown end (no link has both ends among the ids: links name documents like '0', ids are like 'cat')",
            gives="No link is left; the warning has an example of a link and of an id.",
            holds=n_links(0),
        ),
        Kind(
            "An end that is empty",
            files=links("source,target\nmouse,\nmoon,star\n"),
            told="dropped 1 link with an unknown end",
            gives="The other links are kept.",
            holds=n_links(1),
        ),
        Kind(
            "Only links of documents to themselves",
            files=links("source,target\nmouse,mouse\ncat,cat\n"),
            told="dropped 2 self links",
            gives="No link is left, as without links.",
            holds=n_links(0),
        ),
        Kind(
            "Links twice",
            files=links("source,target\nmouse,cat\nmouse,cat\nmoon,star\n"),
            told="dropped 1 duplicate link",
            gives="Each is kept once.",
            holds=n_links(2),
        ),
        Kind(
            "Links both ways",
            files=links("source,target\nmouse,cat\ncat,mouse\n"),
            gives="Two links in a directed network.",
            holds=n_links(2),
        ),
        Kind(
            "Any of these with --strict",
            says="...: the network has 1 link with an unknown end: ('mouse', 'dog'); 1 self link: ('cat', 'cat'). To correct this, add the missing documents or remove these links; remove links of a document to itself; or pass strict=False (leave out --strict) to drop such links and keep such documents.",
            command=("info", "HERE", "--strict"),
            files=links("source,target\nmouse,cat\nmouse,dog\ncat,cat\n"),
        ),
        Kind(
            "A document linked to all others",
            fitted=True,
            files={"documents.jsonl": jsonl(**HUB), "links.csv": FROM_THE_HUB},
            gives="Read and fitted like any other.",
            holds=n_links(len(HUB) - 1),
        ),
        Kind(
            "Every document linked to every other",
            fitted=True,
            files=links(ALL),
            gives="Read and fitted, though there is no pair without a link to learn from.",
            holds=n_links(12),
        ),
    ],
)
