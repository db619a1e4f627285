"""Documents in JSON lines, and ids."""

# ruff: noqa: E501  sentences stand in one line, as they are said

from __future__ import annotations

from catalogue.kinds import CSV, JSONL, Group, Kind, jsonl


def added(*lines):
    """Return sound files with further lines of documents."""
    return {"documents.jsonl": jsonl(JSONL[:-1], *lines), "links.csv": CSV}


def two(one, other, row):
    """Return two documents and a link."""
    texts = jsonl({"id": one, "text": "cats purr"}, {"id": other, "text": "cats"})
    return {"documents.jsonl": texts, "links.csv": f"source,target\n{row}\n"}


def links(one, other):
    """Tell whether there is this link, and no id is other than it was."""
    return lambda network: (
        network.ids[network.links].tolist() == [[one, other]] and type(network.ids.tolist()[0]) is type(one)
    )


DEEP = "[" * 100_000 + "]" * 100_000
DIGITS = "9" * 5000
AS_STRINGS = "Ids stay as they are written, and links find them."

GROUP = Group(
    "Documents (documents.jsonl)",
    "One JSON object per line; line numbers count from 1.",
    [
        Kind(
            "JSON that is cut short",
            says=".../documents.jsonl:5: not JSON: ...; give one JSON object per line.",
            files=added('{"id": "x", "te'),
        ),
        Kind(
            "JSON that is not an object",
            says='.../documents.jsonl:5: \'["x", "cats"]\' is not a JSON object; give one per line, like {"id": 1, "text": "cats"}.',
            files=added('["x", "cats"]'),
        ),
        Kind(
            "A line that is not JSON",
            says=".../documents.jsonl:5: not JSON: ...; give one JSON object per line.",
            files=added("id: x, text: cats"),
        ),
        Kind(
            "One JSON list of all documents",
            says=".../documents.jsonl:1: not JSON: ...; give one JSON object per line.",
            files={
                "documents.jsonl": '[\n{"id": 1, "text": "cats"},\n{"id": 2, "text": "mice"}\n]\n',
                "links.csv": CSV,
            },
        ),
        Kind(
            "One JSON object over many lines",
            says=".../documents.jsonl:1: not JSON: ...; give one JSON object per line.",
            files={"documents.jsonl": '{\n"id": 1,\n"text": "cats"\n}\n', "links.csv": CSV},
        ),
        Kind(
            "JSON a hundred thousand levels deep",
            says=".../documents.jsonl:5: the JSON is nested too deeply; leave out nested fields that are not needed.",
            files=added('{"id": "x", "text": "cats", "more": ' + DEEP + "}"),
        ),
        Kind(
            "A number of five thousand digits",
            says=".../documents.jsonl:5: not JSON: ...; give one JSON object per line.",
            files=added('{"id": ' + DIGITS + ', "text": "cats"}'),
        ),
        Kind(
            "A field twice in an object",
            says=".../documents.jsonl:5: not JSON: the field 'text' occurs twice; give one JSON object per line.",
            files=added('{"id": "x", "text": "cats", "text": "mice"}'),
        ),
        Kind(
            "No text",
            says=".../documents.jsonl:5: there is no 'text' (there is: id, txt); give it as a string.",
            files=added('{"id": "x", "txt": "cats"}'),
        ),
        Kind(
            "No id",
            says=".../documents.jsonl:5: there is no 'id' (there is: text); give it as a string or an integer.",
            files=added('{"text": "cats"}'),
        ),
        Kind(
            "A text that is not a string",
            says=".../documents.jsonl:5: the text is ['cats']; give it as a string.",
            files=added('{"id": "x", "text": ["cats"]}'),
        ),
        Kind(
            "A text that is null",
            says=".../documents.jsonl:5: the text is None; give it as a string.",
            files=added('{"id": "x", "text": null}'),
        ),
        Kind(
            "A list as label or title",
            says=".../documents.jsonl:5: the label is ['pet']; give it as a string or a number.",
            files=added('{"id": "x", "text": "cats", "label": ["pet"]}'),
        ),
        Kind(
            "Labels of several kinds",
            files=added('{"id": "x", "text": "cats", "label": 1}', '{"id": "y", "text": "cats", "label": "1"}'),
            gives='Kept as they are; 1 and "1" are two labels, and documents without one have None.',
            holds=lambda network: network.labels.tolist() == [None] * 4 + [1, "1"],
        ),
        Kind(
            "An empty text",
            files=added('{"id": "x", "text": ""}'),
            told="kept 1 document without words",
            gives="The document is kept, without words: its topics are those of the prior.",
        ),
        Kind(
            "Nothing but blanks",
            says=".../documents.jsonl: there are no documents in it; give one JSON object per line.",
            files={"documents.jsonl": " \n", "links.csv": CSV},
        ),
        Kind(
            "No word but stop words (an empty vocabulary)",
            says="...: no words are left in 2 texts: they are empty or contain only stop words, numbers and single letters; give texts with other words, or a vectorizer that keeps these (--stop-words none).",
            files={"documents.jsonl": jsonl(cat="the and of", star="it is"), "links.csv": "source,target\n"},
        ),
        Kind(
            "No text in any document",
            says="...: no words are left in 2 texts: they are empty or contain only stop words, numbers and single letters; give texts with other words, or a vectorizer that keeps these (--stop-words none).",
            files={"documents.jsonl": jsonl(cat="", star=""), "links.csv": "source,target\ncat,star\n"},
        ),
        Kind(
            "All words too rare for --min-documents",
            says="...: the vectorizer cannot count the words of these texts: ...; keep words of fewer documents (--min-documents), or of more (--max-share).",
            command=("info", "DATA", "--min-documents=99"),
        ),
        Kind(
            "A field that no document has",
            says=".../documents.jsonl: no document has the field 'yaer'; there are: id, text, title, year, tags.",
            command=("fit", "DATA", "-o", "NEW", "--column=yaer:equal"),
        ),
    ],
)

IDS = Group(
    "Ids",
    "Strings or whole numbers. links.csv names them as they are written in documents.jsonl.",
    [
        Kind(
            "An id twice",
            says=".../documents.jsonl:6: the id 'cat' is already used in line 1; give every document its own id.",
            files=added("", '{"id": "cat", "text": "lions"}'),
        ),
        Kind(
            "An empty id",
            says=".../documents.jsonl:5: the id is ''; give every document an id that is not blank.",
            files=added('{"id": "", "text": "lions"}'),
        ),
        Kind(
            "An id of blanks",
            says=".../documents.jsonl:5: the id is ' '; give every document an id that is not blank.",
            files=added('{"id": "  ", "text": "lions"}'),
        ),
        Kind(
            "Blanks around an id",
            files=two(" a", "b", "a,b"),
            told="dropped 1 link with an unknown end",
            gives="' a' is another id than 'a', so the link has an unknown end; take the blanks away.",
            holds=lambda network: network.ids[0] == " a",
        ),
        Kind(
            "LINQS: an id of blanks",
            says=".../toy.content:2: the id, the words or the label are missing; a line is: id, a flag per word, label.",
            files={"toy.content": "p1\t1\t0\tx\n \t1\t1\ty\n", "toy.cites": "p1\tp2\n"},
        ),
        Kind(
            "LDA-C: an id of blanks",
            says=".../ids.txt:2: the id is missing; give one id per line, in the order of the documents.",
            files={"documents.txt": "0:1\n1:1\n", "links.txt": "0 1\n", "ids.txt": "p1\tx\n \ty\n"},
        ),
        Kind(
            "LINQS: blanks around an id",
            files={"toy.content": " p1\t1\t0\tx\np2\t1\t1\ty\n", "toy.cites": "p1 \t p2\n"},
            gives="Blanks around ids are removed, in `.content` and in `.cites`.",
            holds=links("p2", "p1"),
        ),
        Kind(
            "Blanks around the end of a link",
            files=two("a", "b", "a, b"),
            told="dropped 1 link with an unknown end",
            gives="' b' is another id than 'b', so the link has an unknown end; take the blanks away.",
            holds=lambda network: network.report.unknown_ends == (("a", " b"),),
        ),
        Kind(
            "Ids that look like numbers: 007 and 1e5",
            files=two("007", "1e5", "007,1e5"),
            gives=AS_STRINGS,
            holds=links("007", "1e5"),
        ),
        Kind(
            "Ids that are numbers",
            files=two(7, -1, "7,-1"),
            gives="They stay whole numbers, and links find them.",
            holds=links(7, -1),
        ),
        Kind(
            "7 and 007",
            files=two(7, "007", "007,7"),
            gives="Two ids.",
            holds=lambda network: network.ids[network.links].tolist() == [["007", 7]],
        ),
        Kind(
            '7 and "7"',
            says=".../links.csv: the ids 7 and '7' look the same here; make ids differ as strings.",
            files=two(7, "7", "7,7"),
        ),
        Kind(
            "Ids like null, NaN and true",
            files=two("null", "NaN", "null,NaN"),
            gives=AS_STRINGS,
            holds=links("null", "NaN"),
        ),
        Kind(
            "NaN as an id",
            says=".../documents.jsonl:5: the id is nan; give it as a string or an integer.",
            files=added('{"id": NaN, "text": "lions"}'),
        ),
        Kind(
            "true as an id",
            says=".../documents.jsonl:5: the id is True; give it as a string or an integer.",
            files=added('{"id": true, "text": "lions"}'),
        ),
        Kind(
            "A fraction as an id",
            says=".../documents.jsonl:5: the id is 1.5; give it as a string or an integer.",
            files=added('{"id": 1.5, "text": "lions"}'),
        ),
        Kind(
            "Ids beyond 64 bits",
            fitted=True,
            files=two(2**64 + 1, -1, f"{2**64 + 1},-1"),
            gives="Kept to the last digit.",
            holds=links(2**64 + 1, -1),
        ),
        Kind(
            "Ids around 2^63, which arrays of numbers would round",
            files=two(2**63 + 1, -1, f"{2**63 + 1},-1"),
            gives="Kept to the last digit.",
            holds=links(2**63 + 1, -1),
        ),
        Kind(
            "Commas, quotes and line breaks in an id",
            fitted=True,
            files=two('a, "b"\nc', "d", '"a, ""b""\nc",d'),
            gives="Read as they are, quoted as CSV has it.",
            holds=links('a, "b"\nc', "d"),
        ),
        Kind(
            "An id of ten thousand characters",
            files=two("x" * 10_000, "d", "x" * 10_000 + ",d"),
            gives="Read as it is.",
            holds=links("x" * 10_000, "d"),
        ),
        Kind(
            "Ids that differ in upper and lower case",
            files=two("Cat", "cat", "Cat,cat"),
            gives="Two ids.",
            holds=links("Cat", "cat"),
        ),
        Kind(
            "A query about an id that does not exist",
            says="no document has the id 'kiten'; did you mean 'kitten'?",
            command=("suggest", "MODEL", "--id=kiten"),
        ),
    ],
)
