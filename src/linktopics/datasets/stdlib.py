"""
The built-in network: the modules of Python's own standard library and the imports between them.

The source is only read, with `ast`: nothing of the library is imported or run for it.
"""

from __future__ import annotations

import ast
import hashlib
import re
import sys
import sysconfig
import textwrap
import warnings
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from linktopics.datasets._cache import read_json, write_json
from linktopics.errors import DataError
from linktopics.network import DocumentNetwork

if TYPE_CHECKING:
    from sklearn.feature_extraction.text import CountVectorizer

# Part of the cache key: raise it whenever the same source would be read differently.
LOADER_VERSION = 1

# Parts of a dotted name that mark a module, and all below it, as left out.
LEFT_OUT = re.compile(
    r"""
    tests? | _?test_.* | _test.* | .*_tests? | idle_test        # tests
    | __main__ | __hello__ | __phello__ | turtledemo | zzdummy  # start scripts and examples
    | _bundled | pip | setuptools                               # vendored
    | _sysconfigdata.*                                          # generated when Python was built
    | distutils | lib2to3                                       # removed in Python 3.12 and 3.13
    """,
    re.VERBOSE,
)

# Codecs of one character set: thin wrappers, all alike, around a table in C.
CHARACTER_SET = re.compile(
    r"encodings\.(cp\d+|iso\d+_\w+|mac_\w+|koi8_\w+|kz1048|hp_roman8|palmos|ptcp154|tis_620"
    r"|big5\w*|euc_\w+|gb\w+|hz|johab|shift_jis\w*)"
)

# What the first lines of generated tables (token, keyword, pydoc_data.topics, ...) contain.
GENERATED = re.compile(rb"auto-?generated|automatically generated|(file is|was) generated", re.IGNORECASE)
GENERATED_WITHIN = 400  # bytes

# Words of code and documentation on any subject, which would form topics of their own and be among the first words of
# others. Words of a subject ("file", "test", "format") are kept.
STOP_WORDS_FILE = "stop_words.txt"

# Words of three or more letters; "_" separates words like a blank; those with a digit, or before "'t", are ignored.
WORD = r"(?<![^\W_])[^\W\d_]{3,}(?![^\W_]|'t\b)"


class Module(NamedTuple):
    """One document: a module's dotted name, a short title, and its words."""

    name: str
    title: str
    text: str


def load_stdlib(*, cache: bool = True) -> DocumentNetwork:
    """
    Return the standard library of the running Python as a network of documents.

    Each module with Python source is a document: its words are those of its docstrings and of the names it defines.
    Each import is a directed link, from the module that imports to the module imported. Tests, examples, start
    scripts (``__main__``), generated tables and vendored parts are left out, and so are modules written in C, which
    have no source to read. The network has some 450 documents and 2,300 links; how many exactly depends on the
    version of Python.

    Parameters
    ----------
    cache : bool, default=True
        Keep what was read in the user's cache folder (``$LINKTOPICS_CACHE`` says where else) and take it from there
        the next time, if the library has not changed.

    Returns
    -------
    DocumentNetwork
        A directed network. Ids are dotted names such as ``"asyncio.streams"``; titles are the first sentences of the
        docstrings; the label of a module is its top-level package, or ``"module"`` if it is in no package.

    Raises
    ------
    DataError
        If this Python was installed without the source of its library.

    Notes
    -----
    ``from x import y`` is a link to the module ``x.y`` if there is one and to ``x`` otherwise. Imports inside
    functions count; those under ``if __name__ == "__main__"`` do not, as they do not run when the module is
    imported. The few modules with no word of the vocabulary are left out.

    Examples
    --------
    >>> from linktopics import datasets
    >>> network = datasets.load_stdlib()
    >>> network.directed
    True
    >>> row = network.index_of("heapq")
    >>> str(network.titles[row]), str(network.labels[row])
    ('Heap queue algorithm (a.k.a. priority queue)', 'module')
    """
    folder = library_folder()
    paths = dict(find_modules(folder, top_level=sys.stdlib_module_names))
    key = _cache_name(folder, paths)
    content = _decode(read_json(key)) if cache else None
    if content is None:
        content = read_modules(paths)
        if cache and content[0]:
            write_json(key, content)
    modules, links = content
    if not modules:
        raise DataError(
            f"no Python source of the standard library in {folder}: this Python seems to be frozen or zipped. "
            "Use a Python installed with its library, or bring your own documents with DocumentNetwork.from_texts."
        )
    return _network(modules, links)


def library_folder() -> Path:
    """Return the folder of the standard library of the running Python, also in a virtual environment."""
    return Path(sysconfig.get_paths()["stdlib"])


def find_modules(
    folder: Path, *, top_level: Collection[str] | None = None, prefix: str = ""
) -> Iterator[tuple[str, Path]]:
    """
    Yield the modules of a library, packages before their submodules.

    Parameters
    ----------
    folder : pathlib.Path
        The folder that holds the library.
    top_level : collection of str, optional
        The top-level names that belong to it; by default all do.
    prefix : str, default=""
        The name of the package and a dot, when the folder is that of a package.

    Yields
    ------
    tuple of (str, pathlib.Path)
        The dotted name and the file of each module.
    """
    for path in sorted(folder.iterdir() if folder.is_dir() else ()):
        name = path.stem if path.suffix == ".py" else path.name
        # Names with a hyphen (site-packages, lib-dynload) are not modules.
        if not name.isidentifier() or name == "__init__" or (top_level is not None and name not in top_level):
            continue
        if path.suffix == ".py" and path.is_file():
            yield prefix + name, path
        elif (path / "__init__.py").is_file():
            yield prefix + name, path / "__init__.py"
            yield from find_modules(path, prefix=f"{prefix}{name}.")


def is_left_out(name: str) -> bool:
    """Return whether a module is a test, an example, vendored or a table, by its dotted name."""
    return any(LEFT_OUT.fullmatch(part) for part in name.split(".")) or CHARACTER_SET.fullmatch(name) is not None


def read_modules(paths: dict[str, Path]) -> tuple[list[Module], list[tuple[str, str]]]:
    """
    Return the documents and links of a library.

    Parameters
    ----------
    paths : dict of str to pathlib.Path
        The file of every module of the library, including those that will be left out: otherwise an import of one of
        these would count as an import of its package.

    Returns
    -------
    modules : list of Module
        The modules that are kept, sorted by name.
    links : list of tuple of (str, str)
        Importing and imported module, sorted, each pair once, never a module and itself.
    """
    modules, imports = [], set()
    for name, path in sorted(paths.items()):
        tree = None if is_left_out(name) else _parse(path)
        if tree is not None:
            modules.append(_describe(name, tree))
            imports |= {(name, target) for target in imported(tree, name, path.name == "__init__.py", paths)}
    kept = {module.name for module in modules}
    return modules, sorted((a, b) for a, b in imports if a != b and b in kept)


def _parse(path: Path) -> ast.Module | None:
    """Return the tree of a file without its code for use as a script; None if it is generated or cannot be parsed."""
    try:
        source = path.read_bytes()
        if GENERATED.search(source[:GENERATED_WITHIN]):
            return None
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about invalid escapes in the library
            tree = ast.parse(source)
    except (OSError, SyntaxError, ValueError, RecursionError):
        return None
    tree.body = [node for node in tree.body if not _is_script(node)]
    return tree


def _is_script(node: ast.stmt) -> bool:
    """Return whether this is ``if __name__ == "__main__":``, where many modules keep a self-test and its imports."""
    return isinstance(node, ast.If) and ast.unparse(node.test) == "__name__ == '__main__'"


def statements(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the statements below a node, at every depth."""
    # Not ast.walk, which visits the expressions too and takes several times as long.
    for field in ("body", "orelse", "handlers", "finalbody", "cases"):
        for child in getattr(node, field, ()):
            yield child
            yield from statements(child)


def imported(tree: ast.Module, name: str, is_package: bool, modules: Collection[str]) -> Iterator[str]:
    """
    Yield the modules that a module imports, anywhere in its source.

    Parameters
    ----------
    tree : ast.Module
        The source of the module.
    name : str
        Its dotted name, from which relative imports start.
    is_package : bool
        Whether the source is that of a package, an ``__init__.py``.
    modules : collection of str
        The modules that exist; imports of others are ignored.

    Yields
    ------
    str
        Names of modules, possibly several times.
    """
    parts = name.split(".")
    for node in statements(tree):
        if isinstance(node, ast.Import):
            candidates = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            depth = len(parts) + is_package - node.level  # of the package that "." * level stands for
            if node.level and depth < 1:
                continue  # beyond the top-level package: would fail when run
            base = parts[:depth] if node.level else []
            base += [node.module] if node.module else []
            candidates = [".".join([*base, alias.name]) for alias in node.names]
        else:
            continue
        for candidate in candidates:
            target = _containing_module(candidate, modules)
            if target:
                yield target


def _containing_module(candidate: str, modules: Collection[str]) -> str:
    """Return the module that a dotted name belongs to (``os`` for ``os.path.join``), or an empty string."""
    while candidate and candidate not in modules:
        candidate = candidate.rpartition(".")[0]
    return candidate


def _describe(name: str, tree: ast.Module) -> Module:
    """Return a module's name, title and words."""
    docstrings, names = [ast.get_docstring(tree) or ""], [name]
    for node in statements(tree):
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            docstrings.append(ast.get_docstring(node) or "")
            names.append(node.name)
    for statement in tree.body:
        targets = statement.targets if isinstance(statement, ast.Assign) else [getattr(statement, "target", None)]
        names += [target.id for target in targets if isinstance(target, ast.Name) and target.id.isupper()]
    words = " ".join(split_name(each) for each in names if not re.fullmatch(r"__\w+__", each))
    return Module(name, _title(name, docstrings[0]), "\n\n".join([*filter(None, docstrings), words]))


def split_name(name: str) -> str:
    """Return the words of a name: ``"HTTPServer_class"`` becomes ``"HTTP Server class"``."""
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", " ", name)
    return " ".join(re.split(r"[\W_]+", spaced)).strip()


def _title(name: str, docstring: str) -> str:
    """Return the first sentence of a docstring that is more than the module's name, cut to the length of a line."""
    own_name = rf"(Module )?({re.escape(name)}|{re.escape(name.rpartition('.')[2])})(\.py)?(\s*(--?|:)\s+|$)"
    for paragraph in re.split(r"\n\s*\n", docstring):
        text = re.sub(r"\s*[=~*-]{3,}.*", "", " ".join(paragraph.split()))  # without underlining
        text = re.sub(own_name, "", text)
        if text and not text.startswith("Copyright"):
            return textwrap.shorten(re.split(r"(?<=[\w)]{2})\.(?=\s|$)", text)[0], 80, placeholder=" ...")
    return name


def _cache_name(folder: Path, paths: dict[str, Path]) -> str:
    """Return the name of the cache file, which depends on the version, the folder and the state of the files."""
    digest = hashlib.sha256(f"{LOADER_VERSION}\n{folder}\n".encode(errors="surrogateescape"))
    for name, path in paths.items():
        status = path.stat()
        digest.update(f"{name} {status.st_size} {status.st_mtime_ns}\n".encode())
    version = ".".join(map(str, sys.version_info[:3]))
    return f"stdlib-{sys.implementation.name}-{version}-{digest.hexdigest()[:16]}.json"


def _decode(content: Any) -> tuple[list[Module], list[tuple[str, str]]] | None:
    """Return modules and links from cached JSON; None if it is not what was written."""
    try:
        modules = [Module(*map(str, fields)) for fields in content[0]]
        links = [(str(source), str(target)) for source, target in content[1]]
    except (TypeError, ValueError, LookupError):
        return None
    names = {module.name for module in modules}
    return (modules, links) if names and names.issuperset(name for link in links for name in link) else None


def make_vectorizer() -> CountVectorizer:
    """Return the vectorizer of the network, not fitted yet."""
    from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS, CountVectorizer

    stop_words = ENGLISH_STOP_WORDS.union(
        files(__package__).joinpath(STOP_WORDS_FILE).read_text(encoding="utf-8").split()
    )
    return CountVectorizer(stop_words=sorted(stop_words), token_pattern=WORD, min_df=3, max_df=0.4)


def _network(modules: list[Module], links: list[tuple[str, str]]) -> DocumentNetwork:
    """Return the network of modules without those that have no word of the vocabulary (an empty ``__init__.py``)."""
    vectorizer = make_vectorizer()
    counts = vectorizer.fit_transform(module.text for module in modules)
    rows = [row for row, total in enumerate(counts.sum(axis=1).flat) if total]
    modules = [modules[row] for row in rows]
    names = [module.name for module in modules]
    kept = set(names)
    return DocumentNetwork(
        counts[rows],
        [link for link in links if kept.issuperset(link)],
        directed=True,
        ids=names,
        vocabulary=vectorizer.get_feature_names_out(),
        titles=[module.title for module in modules],
        labels=_labels(names),
        texts=[module.text for module in modules],
        vectorizer=vectorizer,
    )


def _labels(names: Iterable[str]) -> list[str]:
    """Return the top-level package of each module, or "module" if it is not in one with others."""
    tops = [name.partition(".")[0] for name in names]
    sizes = Counter(tops)
    return [top if sizes[top] > 1 else "module" for top in tops]
