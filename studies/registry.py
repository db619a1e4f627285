"""The experiments by name. Nothing heavy is imported before one runs."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from linktopics.errors import DataError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from studies.run import ExperimentRun

ALL = "all"
QUICK_FOLDS = 2
QUICK_TOPICS = (5,)


@dataclass(frozen=True)
class Experiment:
    """One experiment of the study.

    Attributes
    ----------
    function : str
        Module and name of the function that runs it. Beside it, ``draw_...`` draws the figures from the tables.
    about : str
        What it shows, in a line.
    folds : int
        Folds over documents, unless others are asked for; 0 if it has none.
    topics : tuple of int
        Numbers of topics, unless others are asked for.
    serial : bool
        Whether fits run one at a time, because times are what it is about.
    one_number : bool
        Whether it can only take one number of topics.
    page : str
        The folder of its published tables and of the page that shows them.

    Examples
    --------
    >>> from studies import EXPERIMENTS
    >>> EXPERIMENTS["time-split"].topics, EXPERIMENTS["time-split"].serial
    ((10, 15, 20), True)
    """

    function: str
    about: str
    folds: int = 5
    topics: tuple[int, ...] = (5, 10, 15, 20, 25)
    serial: bool = False
    one_number: bool = False
    page: str = "paper"

    def functions(self) -> tuple[Callable[[ExperimentRun], str], Callable[[ExperimentRun], dict[str, Figure]] | None]:
        """Return the function that runs it, and the one that draws its figures, if it has any."""
        module_name, _, name = self.function.rpartition(".")
        module = import_module(f"studies.{module_name}")
        return getattr(module, name), getattr(module, f"draw_{name}", None)


EXPERIMENTS = {
    "cora": Experiment("paper.comparison.compare", "all models and baselines on Cora, against the number of topics"),
    "webkb": Experiment("paper.comparison.compare", "all models and baselines on WebKB, against the number of topics"),
    "citeseer": Experiment(
        "paper.comparison.compare", "all models and baselines on Citeseer, against the number of topics"
    ),
    "time-split": Experiment(
        "paper.timing.time_split", "where training time goes on Cora (table 3)", topics=(10, 15, 20), serial=True
    ),
    "lambda-time": Experiment("paper.timing.lambda_time", "time of drawing lambda and eta on Citeseer", serial=True),
    "sensitivity-c": Experiment("paper.sensitivity.sensitivity_c", "link cost c on Cora and Citeseer", 3, (15,)),
    "sensitivity-burnin": Experiment("paper.sensitivity.sensitivity_burnin", "burn-in on Cora and Citeseer", 3, (15,)),
    "sensitivity-negatives": Experiment(
        "paper.sensitivity.sensitivity_negatives", "sampled non-links on Cora", 3, (15,)
    ),
    "sensitivity-alpha": Experiment("paper.sensitivity.sensitivity_alpha", "prior alpha on Cora", 3, (10, 15, 20)),
    "weights": Experiment(
        "paper.weights.learned_weights",
        "weights between topics with real words (tables 1 and 2)",
        folds=0,
        topics=(10,),
        one_number=True,
    ),
    "suggestions": Experiment(
        "paper.suggestions.suggest", "links suggested for unseen papers (table 4)", topics=(25,), one_number=True
    ),
    "features": Experiment(
        "features.experiments.compare_features",
        "features of pairs compared with baselines",
        topics=(25,),
        one_number=True,
        page="features",
    ),
    "defaults": Experiment(
        "features.experiments.choose_defaults",
        "how the defaults were chosen, inside the training part",
        folds=2,
        topics=(25,),
        one_number=True,
        page="features",
    ),
    "topics": Experiment(
        "paper.discovery.discover_topics", "topics and the classes of Cora (appendix A.2)", 0, (10,), one_number=True
    ),
}


def reproduce(
    name: str,
    *,
    quick: bool = False,
    output: Path | None = None,
    folds: int | None = None,
    topics: Sequence[int] | None = None,
    n_jobs: int = -1,
    seed: int = 0,
    tell: Callable[[str], None] = print,
) -> None:
    """Run an experiment of the paper, or all of them; one that was interrupted continues where it stopped.

    Parameters
    ----------
    name : str
        One of `EXPERIMENTS`, or "all".
    quick : bool, default=False
        Small data, five topics, two folds and few sweeps: to see that everything works.
    output : path, optional
        Folder for the files; by default results/NAME, of a quick run results/NAME-quick. With "all" each experiment
        has a folder in it.
    folds : int, optional
        Folds over documents; by default 5, and 3 where a parameter is varied.
    topics : sequence of int, optional
        Numbers of topics; by default those of the paper.
    n_jobs : int, default=-1
        Fits at the same time; -1 is one per core. Experiments about time run one at a time.
    seed : int, default=0
        Seed of folds and models.
    tell : callable
        Called with each text for the user.

    Examples
    --------
    >>> from studies import reproduce
    >>> reproduce("corra")
    Traceback (most recent call last):
    ...
    linktopics.errors.DataError: no experiment is called 'corra'; the names are cora, webkb, ... topics, or all.
    """
    if name != ALL and name not in EXPERIMENTS:
        raise DataError(f"no experiment is called {name!r}; the names are {', '.join(EXPERIMENTS)}, or all.")
    chosen = list(EXPERIMENTS) if name == ALL else [name]
    for each in chosen:
        if topics is not None and len(topics) > 1 and EXPERIMENTS[each].one_number:
            raise DataError(f"{each} takes one number of topics, not {len(topics)}; give --topics one number.")
    if topics is not None and (len(set(topics)) < len(topics) or min(topics) < 2):
        raise DataError(f"topics are {', '.join(map(str, topics))}; give different whole numbers from 2 on.")
    for each in chosen:
        default = Path("results") / f"{each}-quick" if quick else Path("results") / each
        folder = default if output is None else output / each if name == ALL else output
        run_one(each, folder, quick=quick, folds=folds, topics=topics, n_jobs=n_jobs, seed=seed, tell=tell)


def run_one(
    name: str,
    folder: Path,
    *,
    quick: bool,
    folds: int | None,
    topics: Sequence[int] | None,
    n_jobs: int,
    seed: int,
    tell: Callable[[str], None],
) -> None:
    """Run one experiment and tell what it found and wrote."""
    from joblib import effective_n_jobs

    from studies.run import ExperimentRun

    experiment = EXPERIMENTS[name]
    started = time.perf_counter()
    run = ExperimentRun(
        name,
        folder,
        folds=experiment.folds and (folds or (QUICK_FOLDS if quick else experiment.folds)),
        topics=tuple(sorted(topics)) if topics else QUICK_TOPICS if quick else experiment.topics,
        n_jobs=1 if experiment.serial else effective_n_jobs(n_jobs),
        seed=seed,
        quick=quick,
    )
    existed = folder.exists()
    run.check_folder()
    in_folds = f"{run.folds} folds, " if run.folds else ""
    tell(f"{name}: {experiment.about}; {in_folds}K = {', '.join(map(str, run.topics))}")
    compute, _ = experiment.functions()
    finished = False
    try:
        tell(compute(run))
        for file, figure in draw(run).items():
            run.save_figure(file, figure)
        finished = True
    finally:
        if run.data:  # something was begun
            run.save_settings(started, finished=finished)
        elif not existed and not any(folder.iterdir()):
            folder.rmdir()
    if run.busy:
        tell(f"\nOther work kept the machine busy (load {max(run.load)}): do not rely on times measured in this run.")
    tell("\nWritten:\n" + "\n".join(f"  {file}" for file in run.files) + "\n")


def draw(run: ExperimentRun) -> dict[str, Figure]:
    """Return the figures of an experiment by file name, drawn from the tables in its folder."""
    _, draw_figures = EXPERIMENTS[run.name].functions()
    return draw_figures(run) if draw_figures else {}
