"""One run of an experiment: its settings, its data, its folder, and the results that it finds there."""

from __future__ import annotations

import hashlib
import json
import os
import platform
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timezone
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from scipy.sparse import csr_array
from scipy.sparse.csgraph import breadth_first_order

from linktopics import __version__
from linktopics.errors import DataError
from linktopics.model.estimator import RelationalTopicModel
from linktopics.model.training import DEFAULT_LINK_COST
from linktopics.network import DocumentNetwork
from linktopics.utils.atomic_write import atomic_write

if TYPE_CHECKING:
    from matplotlib.figure import Figure

QUICK_DOCUMENTS = 150
QUICK_SWEEPS = 20
DPI = 150

DATA_VARIABLE = "LINKTOPICS_DATA"


def load_network(name: str) -> DocumentNetwork:
    """Return a network of the study by its name.

    Parameters
    ----------
    name : {"cora", "citeseer", "webkb", "cora-r"}
        "cora-r" is the part of Cora with titles and real words that ships with the R package lda.
    """
    from linktopics.datasets import open_network

    if name != "cora-r":
        return open_network(name)
    folder = Path(os.environ.get(DATA_VARIABLE, "")).expanduser() / name
    if DATA_VARIABLE not in os.environ or not folder.is_dir():
        raise DataError(
            f"the network cora-r was not found: set {DATA_VARIABLE} to a folder that holds a folder cora-r with "
            "documents.txt, vocab.txt, titles.txt and cites.txt, written from cora.documents, cora.vocab, cora.titles "
            "and cora.cites, the data sets of the R package lda."
        )
    # A line of cites.txt is "i j", where j looks to be the citing paper.
    return DocumentNetwork.from_ldac(folder, links_reversed=True)


def best_connected(network: DocumentNetwork, n_documents: int, start: int | None = None) -> DocumentNetwork:
    """Return the documents nearest to a start, by default the one with the most links, with the links among them.

    Examples
    --------
    >>> network = DocumentNetwork([[1]] * 5, [(0, 1), (1, 2), (1, 3)])
    >>> best_connected(network, 3).ids
    array([0, 1, 2])
    """
    size = network.n_documents
    graph = csr_array((np.ones(network.n_links), tuple(network.links.T)), shape=(size, size))
    if start is None:
        start = int(np.bincount(network.links.ravel(), minlength=size).argmax())
    order = breadth_first_order(csr_array(graph + graph.T), start, return_predecessors=False)
    return network.subset(np.sort(order[:n_documents]))


def load_average() -> float:
    """Return the load average of the last minute; NaN where the system has none."""
    return round(os.getloadavg()[0], 1) if hasattr(os, "getloadavg") else float("nan")


def write_atomically(path: Path, text: str) -> None:
    """Write a file so that it is whole or not there."""
    with atomic_write(path) as new:
        new.write_text(text, encoding="utf-8")


@dataclass
class ExperimentRun:
    """The settings of an experiment, and the files it has written.

    Parameters
    ----------
    name : str
        Name of the experiment.
    folder : Path
        Where its files go.
    folds : int
        Folds over documents; 0 if there are none.
    topics : tuple of int
        Numbers of topics.
    n_jobs : int
        Fits at the same time.
    seed : int
        Seed of folds and models.
    quick : bool
        Small data and few sweeps, to see that everything works.
    """

    name: str
    folder: Path
    folds: int
    topics: tuple[int, ...]
    n_jobs: int = 1
    seed: int = 0
    quick: bool = False
    files: list[Path] = field(default_factory=list)
    parameters: dict[str, Any] = field(default_factory=dict)
    data: dict[str, Any] = field(default_factory=dict)
    load: list[float] = field(default_factory=lambda: [load_average()])

    @classmethod
    def read(cls, folder: Path) -> ExperimentRun:
        """Return the run whose settings are in a folder, to draw its tables."""
        settings = json.loads((folder / "settings.json").read_text(encoding="utf-8"))
        names = ("name", "folds", "seed", "quick")
        return cls(folder=folder, topics=tuple(settings["topics"]), **{name: settings[name] for name in names})

    def sweeps(self, n_burn_in: int) -> int:
        """Return the number of sweeps, which is at most 20 in a quick run."""
        return min(n_burn_in, QUICK_SWEEPS) if self.quick else n_burn_in

    def network(
        self, name: str, start: Callable[[DocumentNetwork], int] | None = None, quick_documents: int = QUICK_DOCUMENTS
    ) -> DocumentNetwork:
        """Return a network by name; in a quick run, its documents nearest to `start` or to the one with most links."""
        network = load_network(name)
        if self.quick:
            network = best_connected(network, quick_documents, None if start is None else start(network))
        self.data[name] = {
            "documents": network.n_documents,
            "words": network.n_words,
            "tokens": network.n_tokens,
            "links": network.n_links,
            "fingerprint": network.fingerprint(),
        }
        return network

    def evaluate(self, network: DocumentNetwork, models: Mapping[str, Any], **options: Any) -> pd.DataFrame:
        """Evaluate models; return the folds. Those that an earlier run in this folder finished are read from it."""
        from linktopics.evaluation.evaluation import evaluate

        self.record(models)
        self.folder.mkdir(parents=True, exist_ok=True)
        return evaluate(
            network,
            models,
            folds=self.folds,
            n_jobs=self.n_jobs,
            random_state=self.seed,
            resume=self.folder / "runs.jsonl",
            **options,
        ).folds

    def record(self, models: Mapping[str, Any]) -> None:
        """Add the parameters of models to the settings."""
        for label, model in models.items():
            parameters = model.get_params()
            if isinstance(model, RelationalTopicModel) and model.link_cost is None:
                parameters["link_cost"] = DEFAULT_LINK_COST[model.weights]
            self.parameters[label] = {"class": type(model).__name__, **parameters}

    def cached(self, network: DocumentNetwork, model: Any, what: Any, compute: Callable[[], Any]) -> Any:
        """Return the result of `compute`, from the folder if it was computed with this network and model before.

        Parameters
        ----------
        network, model
            What the result depends on.
        what : object
            Anything else it depends on, with a telling repr.
        compute : callable
            Gives the result, which JSON can hold.
        """
        depends = (__version__, network.fingerprint(), type(model).__name__, sorted(model.get_params().items()), what)
        key = hashlib.sha256(repr(depends).encode()).hexdigest()
        path = self.folder / "pieces" / f"{key[:24]}.json"
        if path.exists():
            return json.loads(path.read_text(encoding="utf-8"))
        result = json.loads(json.dumps(compute()))
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, json.dumps(result))
        return result

    def path(self, name: str) -> Path:
        """Return the path of a file of this experiment, which will be among the files written."""
        self.folder.mkdir(parents=True, exist_ok=True)
        self.files.append(self.folder / name)
        return self.files[-1]

    def save_table(self, name: str, table: pd.DataFrame) -> None:
        """Write a table as CSV, six digits of each number."""
        table.to_csv(self.path(name), index=False, float_format="%.6g", lineterminator="\n")

    def table(self, name: str) -> pd.DataFrame:
        """Read a table that was written."""
        return pd.read_csv(self.folder / name)

    def save_figure(self, name: str, figure: Figure) -> None:
        """Write a figure as PNG."""
        if self.quick:
            figure.suptitle(f"{figure.get_suptitle()}\nquick run on a part of the data")
        about = {"Description": self.command, "Source": f"linktopics {__version__}", "Software": None}
        figure.savefig(self.path(name), dpi=DPI, metadata=about)

    def check_folder(self) -> None:
        """Raise if the folder cannot be written to, or holds the settings of something else."""
        self.folder.mkdir(parents=True, exist_ok=True)
        write_atomically(self.folder / "probe", "")
        (self.folder / "probe").unlink()
        self.earlier_settings()

    def earlier_settings(self) -> dict[str, Any]:
        """Return the settings of an earlier run in the folder, if there was one."""
        path = self.folder / "settings.json"
        if not path.exists():
            return {}
        try:
            earlier = json.loads(path.read_text(encoding="utf-8"))
        except ValueError:
            earlier = None
        if not isinstance(earlier, dict) or earlier.get("name") != self.name or earlier.get("quick") != self.quick:
            raise DataError(f"{path} is not of this experiment; give another folder by --output.")
        return earlier

    def save_settings(self, started: float, *, finished: bool) -> None:
        """Write all that is needed to run again; seconds of earlier runs with these settings are added."""
        path = self.folder / "settings.json"
        settings = {
            "name": self.name,
            "command": self.command,
            "quick": self.quick,
            "folds": self.folds,
            "topics": list(self.topics),
            "seed": self.seed,
            "jobs": self.n_jobs,
            "data": self.data,
            "parameters": self.parameters,
            "versions": {
                "linktopics": __version__,
                **{name: version(name) for name in ("numpy", "numba", "scipy", "scikit-learn", "polyagamma")},
                "python": platform.python_version(),
            },
            "cpus": os.cpu_count(),
        }
        settings = json.loads(json.dumps(settings, default=str))
        seconds = time.perf_counter() - started
        earlier = self.earlier_settings()
        if all(earlier.get(name) == settings[name] for name in ("command", "jobs", "versions", "cpus")):
            seconds += earlier.get("seconds", 0.0)
        self.load.append(load_average())
        settings |= {
            "finished": finished,
            "load": self.load,
            "date": datetime.now(timezone.utc).date().isoformat(),
            "seconds": round(seconds, 1),
        }
        self.folder.mkdir(parents=True, exist_ok=True)
        write_atomically(path, json.dumps(settings, indent=1) + "\n")
        if finished:
            self.files.append(path)

    @property
    def busy(self) -> bool:
        """Whether the load was above the number of cores, so that measured times are too long."""
        return max(self.load) > (os.cpu_count() or 1) + 0.5

    @property
    def command(self) -> str:
        """The command that repeats this run."""
        numbers = ",".join(map(str, self.topics))
        options = (" --quick" if self.quick else "") + (f" --folds {self.folds}" if self.folds else "")
        return f"python -m studies {self.name}{options} --topics {numbers} --seed {self.seed}"
