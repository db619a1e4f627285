"""The ways in which a `DocumentNetwork` is made from texts, frames, graphs and files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    import os
    from collections.abc import Hashable, Iterable, Mapping, Sequence

__all__ = ["ReadsSources"]

Network = TypeVar("Network", bound="ReadsSources")


class ReadsSources:
    """The constructors of `DocumentNetwork` beside its own, each of which is a reader and one call."""

    def __init__(self, *_: Any, **__: Any) -> None: ...

    @classmethod
    def from_texts(
        cls: type[Network],
        texts: Sequence[str] | Mapping[Any, str],
        links: Any = None,
        *,
        ids: Iterable[Hashable] | None = None,
        titles: Iterable[Any] | None = None,
        labels: Iterable[Any] | None = None,
        columns: Mapping[str, Iterable[Any]] | None = None,
        vectorizer: Any = None,
        directed: bool = True,
        strict: bool = False,
    ) -> Network:
        r"""Make a network from texts and pairs of ids (of indices, where there are no ids).

        Parameters
        ----------
        texts : sequence of str, or mapping from id to text
            The documents.
        vectorizer : object, optional
            Anything with `fit_transform`, `transform` and `get_feature_names_out` that counts words; it is fitted here.
            By default scikit-learn's ``CountVectorizer(stop_words="english", token_pattern=r"(?u)\b[^\W\d_]\w+\b")``:
            lower case, English stop words left out, words of two or more characters that begin with a letter.
        links, ids, titles, labels, columns, directed, strict
            As in `DocumentNetwork`.

        Examples
        --------
        >>> from linktopics import DocumentNetwork
        >>> texts = {"pie": "apple pie with cinnamon", "jam": "plum jam", "tart": "plum tart like apple pie"}
        >>> DocumentNetwork.from_texts(texts, [("tart", "pie"), ("tart", "jam")])
        DocumentNetwork(3 documents, 7 words, 10 tokens, 2 directed links)
        """
        from linktopics.readers.texts import read_texts

        parts = read_texts(texts, ids=ids, vectorizer=vectorizer)
        return cls(
            **parts, links=links, titles=titles, labels=labels, columns=columns, directed=directed, strict=strict
        )

    @classmethod
    def from_networkx(
        cls: type[Network],
        graph: Any,
        *,
        text: str = "text",
        title: str | None = None,
        label: str | None = None,
        columns: Iterable[str] = (),
        vectorizer: Any = None,
        strict: bool = False,
    ) -> Network:
        """Make a network from a networkx graph; a `DiGraph` gives a directed one.

        Parameters
        ----------
        graph : networkx.Graph or networkx.DiGraph
            Its nodes are the ids.
        text, title, label : str
            Names of the node attributes to read; every node must have the text.
        columns : iterable of str
            Names of further attributes to keep, for features of pairs; a node may lack them.
        vectorizer, strict
            As in `from_texts`.

        Examples
        --------
        >>> from linktopics import DocumentNetwork
        >>> import networkx as nx
        >>> graph = nx.DiGraph([("tart", "pie")])
        >>> graph.add_node("tart", text="plum tart")
        >>> graph.add_node("pie", text="apple pie")
        >>> DocumentNetwork.from_networkx(graph)
        DocumentNetwork(2 documents, 4 words, 4 tokens, 1 directed link)
        """
        from linktopics.readers.graphs import read_networkx

        parts = read_networkx(graph, text=text, title=title, label=label, columns=columns)
        return cls.from_texts(**parts, directed=graph.is_directed(), vectorizer=vectorizer, strict=strict)

    @classmethod
    def from_frames(
        cls: type[Network],
        documents: Any,
        links: Any = None,
        *,
        id: str = "id",
        text: str = "text",
        title: str | None = None,
        label: str | None = None,
        columns: Iterable[str] = (),
        source: str = "source",
        target: str = "target",
        directed: bool = True,
        vectorizer: Any = None,
        strict: bool = False,
    ) -> Network:
        """Make a network from pandas or polars frames, one of documents and one of links.

        Parameters
        ----------
        documents, links : pandas.DataFrame or polars.DataFrame
            A row per document and a row per link.
        id, text, title, label, source, target : str
            Names of the columns to read.
        columns : iterable of str
            Names of further columns of documents to keep, for features of pairs.
        directed, vectorizer, strict
            As in `from_texts`.

        Examples
        --------
        >>> from linktopics import DocumentNetwork
        >>> import pandas as pd
        >>> documents = pd.DataFrame({"id": [7, 8], "text": ["plum tart", "apple pie"]})
        >>> DocumentNetwork.from_frames(documents, pd.DataFrame({"source": [7], "target": [8]}))
        DocumentNetwork(2 documents, 4 words, 4 tokens, 1 directed link)
        """
        from linktopics.readers.frames import read_frames

        parts = read_frames(
            documents, links, id=id, text=text, title=title, label=label, columns=columns, source=source, target=target
        )
        return cls.from_texts(**parts, directed=directed, vectorizer=vectorizer, strict=strict)

    @classmethod
    def from_linqs(
        cls: type[Network], path: str | os.PathLike[str], *, directed: bool = True, strict: bool = False
    ) -> Network:
        r"""Read a data set of the LINQS group (Cora, Citeseer, WebKB): `.content` and `.cites` files, also gzipped.

        Parameters
        ----------
        path : path
            A folder with one or several pairs of files, or one `.content` file with its `.cites` beside it. A line
            ``cited citing`` is a link from the citing document to the cited one. Words are named w0, w1, ...
        directed, strict
            As in `DocumentNetwork`.

        Examples
        --------
        >>> from linktopics import DocumentNetwork
        >>> import pathlib, tempfile
        >>> folder = pathlib.Path(tempfile.mkdtemp())
        >>> _ = (folder / "toy.content").write_text("p1\t1\t0\tfruit\np2\t1\t1\tfruit\n")
        >>> _ = (folder / "toy.cites").write_text("p1\tp2\n")
        >>> DocumentNetwork.from_linqs(folder)
        DocumentNetwork(2 documents, 2 words, 3 tokens, 1 directed link)
        """
        from linktopics.readers.linqs import read_linqs

        return cls(**read_linqs(path), directed=directed, strict=strict)

    @classmethod
    def from_ldac(
        cls: type[Network],
        path: str | os.PathLike[str],
        links: str | os.PathLike[str] | None = None,
        *,
        vocabulary: str | os.PathLike[str] | None = None,
        titles: str | os.PathLike[str] | None = None,
        ids: str | os.PathLike[str] | None = None,
        links_reversed: bool = False,
        directed: bool = True,
        strict: bool = False,
    ) -> Network:
        r"""Read LDA-C word counts with a file of links; all files may be gzipped.

        Parameters
        ----------
        path : path
            The documents: a line ``word:count word:count ...`` for each, words numbered from 0, with or without Blei's
            leading number of distinct words; a blank line is a document without words. Or a folder, in which the files
            are found by their names: documents.txt or a single `.dat`, vocab.txt,
            links.txt or cites.txt, titles.txt, ids.txt.
        links : path, optional
            A line ``source target`` for each link, documents numbered from 0; what follows on the line is not read.
        vocabulary, titles : path, optional
            One word, one title per line.
        ids : path, optional
            One id per line; a second column, after a tab, is the document's label.
        links_reversed : bool, default=False
            Read lines of links as ``target source``.
        directed, strict
            As in `DocumentNetwork`.

        Examples
        --------
        >>> from linktopics import DocumentNetwork
        >>> import pathlib, tempfile
        >>> folder = pathlib.Path(tempfile.mkdtemp())
        >>> _ = (folder / "documents.txt").write_text("0:2 1:1\n1:3\n")
        >>> _ = (folder / "vocab.txt").write_text("apple\nplum\n")
        >>> _ = (folder / "links.txt").write_text("0 1\n")
        >>> DocumentNetwork.from_ldac(folder)
        DocumentNetwork(2 documents, 2 words, 6 tokens, 1 directed link)
        """
        from linktopics.readers.ldac import read_ldac

        parts = read_ldac(path, links, vocabulary=vocabulary, titles=titles, ids=ids, links_reversed=links_reversed)
        return cls(**parts, link_ends="indices", directed=directed, strict=strict)

    @classmethod
    def from_jsonl(
        cls: type[Network],
        path: str | os.PathLike[str],
        links: str | os.PathLike[str] | None = None,
        *,
        columns: Iterable[str] = (),
        directed: bool = True,
        vectorizer: Any = None,
        strict: bool = False,
    ) -> Network:
        r"""Read documents from JSON lines and links from CSV; both may be gzipped.

        Parameters
        ----------
        path : path
            A file with an object per line: `id` (string or integer) and `text`, optionally `title` and `label`. Or a
            folder with documents.jsonl and links.csv.
        links : path, optional
            A CSV file whose header names the columns `source` and `target`; others are not read.
        columns : iterable of str
            Names of further fields of documents to keep, for features of pairs; a document may lack them.
        directed, vectorizer, strict
            As in `from_texts`.

        Examples
        --------
        >>> from linktopics import DocumentNetwork
        >>> import pathlib, tempfile
        >>> folder = pathlib.Path(tempfile.mkdtemp())
        >>> lines = '{"id": "a", "text": "red apple"}\n{"id": "b", "text": "green apple"}\n'
        >>> _ = (folder / "documents.jsonl").write_text(lines)
        >>> _ = (folder / "links.csv").write_text("source,target\na,b\n")
        >>> DocumentNetwork.from_jsonl(folder)
        DocumentNetwork(2 documents, 3 words, 4 tokens, 1 directed link)
        """
        from linktopics.readers.jsonl import read_jsonl

        parts = read_jsonl(path, links, columns)
        return cls.from_texts(**parts, directed=directed, vectorizer=vectorizer, strict=strict)

    @classmethod
    def from_folder(
        cls: type[Network],
        path: str | os.PathLike[str],
        *,
        directed: bool = True,
        vectorizer: Any = None,
        strict: bool = False,
    ) -> Network:
        """Read a folder of Markdown and text files, such as a notes vault; links are found in the texts.

        Ids are paths below `path`, without `.md`, `.markdown` or `.txt` where they stay unique; labels are the topmost
        folders; tags of the front matter become the column `tags`. Hidden files and folders are left out.

        A link leads from the file that holds it: ``[text](path.md)``, also by reference, or ``[[name]]``, found as in
        Obsidian by path, file name, alias or title. It counts once per pair of files. A link to a file that does not
        exist has an unknown end; links to the web, images and other files, and what stands in code, are no links.

        Words are those of the title and the text. Link targets, URLs, HTML tags and front matter are left out, and so
        are blocks of code: their keywords are the same whatever they are about. Code within a sentence is kept.

        Parameters
        ----------
        path : path
            The folder; it is read with all folders within it, except those that are symbolic links.
        directed, vectorizer, strict
            As in `from_texts`.

        Examples
        --------
        >>> from linktopics import DocumentNetwork
        >>> import pathlib, tempfile
        >>> vault = pathlib.Path(tempfile.mkdtemp())
        >>> _ = (vault / "Plum tart.md").write_text("Bake like an [[apple pie]], with [jam](jam.txt).")
        >>> _ = (vault / "Apple pie.md").write_text("Apples and cinnamon.")
        >>> _ = (vault / "jam.txt").write_text("Boil plums with sugar.")
        >>> network = DocumentNetwork.from_folder(vault)
        >>> network.ids[network.links].tolist()
        [['Plum tart', 'Apple pie'], ['Plum tart', 'jam']]
        """
        from linktopics.readers.folders import read_folder

        return cls.from_texts(**read_folder(path), directed=directed, vectorizer=vectorizer, strict=strict)
