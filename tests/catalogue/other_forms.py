"""LINQS, LDA-C and notes."""

# ruff: noqa: E501  sentences stand in one line, as they are said

from __future__ import annotations

from catalogue.kinds import Group, Kind


def linqs(content="p1\t1\t0\tx\np2\t1\t1\ty\n", cites="p1\tp2\n"):
    return {"toy.content": content, "toy.cites": cites}


def ldac(documents="2 0:2 1:1\n1 1:3\n", links="0 1\n", **more):
    return {"documents.txt": documents, "links.txt": links, **{f"{name}.txt": text for name, text in more.items()}}


def notes(*texts):
    return {f"{number}.md": text for number, text in enumerate(texts)}


UNKNOWN = "(documents are numbered from 0 to 1)"

GROUP = Group(
    "LINQS, LDA-C and notes",
    "The sections above on files, encodings, ids and links hold for all forms.",
    [
        Kind(
            "LINQS: rows of different lengths",
            says=".../toy.content:2: there are 1 word columns where the first document has 2; give every document the same words.",
            files=linqs("p1\t1\t0\tx\np2\t1\ty\n"),
        ),
        Kind(
            "LINQS: a count that is negative, a fraction or too large",
            says=".../toy.content:2: '-1' is not a word count; counts are whole numbers of up to nine digits.",
            files=linqs("p1\t1\t0\tx\np2\t-1\t1\ty\n"),
        ),
        Kind(
            "LINQS: a label is missing",
            says=".../toy.content:2: the id, the words or the label are missing; a line is: id, a flag per word, label.",
            files=linqs("p1\t1\t0\tx\np2\n"),
        ),
        Kind(
            "LINQS: an id twice",
            says=".../toy.content:3: the id 'p1' is already used in .../toy.content:1; give every document its own id.",
            files=linqs("p1\t1\t0\tx\n\np1\t1\t1\ty\n"),
        ),
        Kind(
            "LINQS: empty content",
            says="...: there are no documents in it; a line is: id, a flag per word, label.",
            files=linqs(""),
        ),
        Kind(
            "LINQS: three columns of links",
            says=".../toy.cites:1: there are 3 columns; a line is: cited citing.",
            files=linqs(cites="p1 p2 p3\n"),
        ),
        Kind(
            "LINQS: no .cites file",
            says=".../toy.content: its links are missing; put toy.cites or toy.cites.gz beside it.",
            files={"toy.content": "p1\t1\t0\tx\n"},
        ),
        Kind(
            "LDA-C: something that is not a number",
            says=".../documents.txt:1: 'one:1' is not word:count; both are whole numbers of up to nine digits, like 17:2.",
            files=ldac("0:2 one:1\n1:3\n"),
        ),
        Kind(
            "LDA-C: a negative count",
            says=".../documents.txt:1: '1:-1' is not word:count; both are whole numbers of up to nine digits, like 17:2.",
            files=ldac("0:2 1:-1\n1:3\n"),
        ),
        Kind(
            "LDA-C: a count beyond 32 bits",
            says=".../documents.txt:1: '0:4294967296' is not word:count; both are whole numbers of up to nine digits, like 17:2.",
            files=ldac("0:4294967296\n1:3\n"),
        ),
        Kind(
            "LDA-C: a count beyond 2^24",
            says="word 0 has 100,000,000 tokens; at most 16,777,215 can be counted. Leave out very frequent words or split documents.",
            command=("fit", "HERE", "-o", "NEW"),
            files=ldac("0:100000000\n1:3\n"),
        ),
        Kind(
            "LDA-C: another number of words than the line says",
            says=".../documents.txt:1: the line begins with '3' and has 2 word:count pairs; begin with the number of pairs, or with the first pair.",
            files=ldac("3 0:2 1:1\n1 1:3\n"),
        ),
        Kind(
            "LDA-C: a word that the vocabulary lacks",
            says=".../documents.txt:1: there is no word 1 in a vocabulary of 1; words are numbered from 0, in the order of the vocabulary.",
            files=ldac(vocab="apple\n"),
        ),
        Kind(
            "LDA-C: a word number that is far too large",
            says=".../documents.txt:1: without a vocabulary, 999999999 is too large for the number of a word; number words from 0 to 16777215, or give the vocabulary.",
            files=ldac("0:1 999999999:1\n1:3\n"),
        ),
        Kind(
            "LDA-C: a word twice in a line",
            files=ldac("0:1 0:2\n1:3\n"),
            gives="Its counts are added up.",
            holds=lambda network: network.counts.toarray().tolist() == [[3, 0], [0, 3]],
        ),
        Kind(
            "LDA-C: a word twice in the vocabulary",
            says=".../vocab.txt:2: the word 'apple' is already used in line 1; give each word once.",
            files=ldac(vocab="apple\napple\n"),
        ),
        Kind(
            "LDA-C: a blank line in the vocabulary",
            says=".../vocab.txt:2: the line is blank; give one word per line.",
            files=ldac(vocab="apple\n\n"),
        ),
        Kind(
            "LDA-C: mixed line ends",
            says=".../documents.txt:1: there is a CR within the line; end all lines in LF or CR LF.",
            files=ldac("0:2\r1:1\n1:3\n1:1\n"),
        ),
        Kind(
            "LDA-C: documents numbered from 1",
            files=ldac(links="1 2\n"),
            told=f"dropped 1 link with an unknown end {UNKNOWN}",
            gives="The link is dropped; number documents from 0.",
            holds=lambda network: network.n_links == 0,
        ),
        Kind(
            "LDA-C: links that are not numbers",
            says=".../links.txt:2: '0 one' is not a link; a line is: source target, both document numbers from 0.",
            files=ldac(links="0 1\n0 one\n"),
        ),
        Kind(
            "LDA-C: a document number beyond 64 bits",
            says=".../links.txt:1: '0 99999999999999999999' is not a link; a line is: source target, both document numbers from 0.",
            files=ldac(links="0 99999999999999999999\n"),
        ),
        Kind(
            "LDA-C: fewer ids than documents",
            says=".../ids.txt: there are 1 lines for the 2 documents of .../documents.txt; give one for each, in the same order.",
            files=ldac(ids="a\n"),
        ),
        Kind(
            "LDA-C: an id twice",
            says=".../ids.txt:2: the id 'a' is already used in line 1; give each id once.",
            files=ldac(ids="a\na\n"),
        ),
        Kind(
            "LDA-C: no words",
            says=".../documents.txt: there are no words in it; a line is: word:count word:count ...",
            files=ldac("\n\n"),
        ),
        Kind(
            "Notes without links",
            says="...: no links were found between the 2 text files in the folder; link them as [[name]] or [text](name.md)...",
            files=notes("cats purr", "stars shine"),
        ),
        Kind(
            "Notes without text",
            says="...: none of the 2 text files in the folder contains any text; add some.",
            files=notes("", " "),
        ),
        Kind(
            "A note in Latin-1",
            says=".../b.md:1: byte 0xe9 is not UTF-8; save the file as UTF-8.",
            files={"a.md": "cats [[b]]", "b.md": "café".encode("latin-1")},
        ),
        Kind(
            "Notes that link out of their folder",
            files=notes("cats [[../../../etc/passwd]] [x](../../x.md) [[1]]", "stars"),
            told="dropped 2 links with an unknown end",
            gives="Nothing outside the folder is read.",
            holds=lambda network: network.n_links == 1,
        ),
        Kind(
            "Notes with brackets and marks that are never closed",
            files=notes("[" * 50 + "*a _b `" * 50 + "<" * 50 + "cats [[1]]", "stars"),
            gives="Read as text.",
            holds=lambda network: len(network) == 2,
        ),
    ],
)
