"""Runs chains; their result is posterior samples, which are all that predictions need."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from contextlib import suppress
from dataclasses import dataclass, field, replace

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray

from linktopics.sampler import Corpus, Priors, Sampler, Settings, State, initial_state, learn_alpha, learn_beta
from linktopics.sampler.losses import make_loss
from linktopics.sampler.shard_pool import Engine, Threads
from linktopics.utils.blas import one_thread
from linktopics.utils.progress import ProgressBar

Array = NDArray[np.float64]

MAX_CHAIN_SWEEPS = 10**7
"""Most sweeps of a chain: memory for the trace of all of them is allocated when it starts."""

MAX_JOBS = 1024
"""Most threads that `n_jobs` may ask for."""


@dataclass(frozen=True)
class PosteriorSample:
    """One kept state of one chain.

    Attributes
    ----------
    chain : int
        The chain it comes from. Topics of different chains are unrelated.
    log_joint : float
        Log joint density of the state.
    word_topic : ndarray of float32, shape (n_words, padded K)
        Probability of words in topics; columns sum to 1, and the padding is zero.
    doc_topic : ndarray of float32, shape (n_documents, K)
        Shares of topics among the tokens of documents (zbar); a document without words has those of the prior.
    weights : ndarray of float64, shape (K, K)
        The weight matrix U.
    feature_weights : ndarray of float64, shape (n_features,)
        Weights of the features of pairs.
    alpha : ndarray of float64, shape (K,)
        Prior tokens of topics in a document.
    """

    chain: int
    log_joint: float
    word_topic: NDArray[np.float32]
    doc_topic: NDArray[np.float32]
    weights: Array
    feature_weights: Array
    alpha: Array


def take_sample(chain: int, corpus: Corpus, state: State) -> PosteriorSample:
    """Return a copy of what predictions need of a state; topics are smoothed by their prior."""
    priors, seeds = state.priors, corpus.seeds
    K = len(priors.alpha)
    word_topic = np.zeros_like(state.word_topic)
    word_topic[:, :K] = state.word_topic[:, :K] + priors.beta
    np.add.at(word_topic, (seeds.word, seeds.topic), seeds.amount)
    word_topic[:, :K] /= state.topic_total[:K] + priors.beta * corpus.n_words + seeds.mass(K)
    lengths = np.diff(corpus.start)
    doc_topic = np.empty((corpus.n_documents, K), np.float32)
    # In float64 and rounded once, but without an array of that size.
    lengths_or_1 = np.maximum(lengths, 1)[:, None]
    np.divide(state.doc_topic[:, :K], lengths_or_1, out=doc_topic, dtype=np.float64, casting="same_kind")
    doc_topic[lengths == 0] = priors.shares
    U, tau, alpha = state.weights.copy(), state.feature_weights.copy(), priors.alpha.copy()
    return PosteriorSample(chain, state.log_joint, word_topic, doc_topic, U, tau, alpha)


@dataclass(frozen=True)
class Schedule:
    """The schedule of a chain: `n_burn_in` sweeps of burn-in, then `n_samples` times `thin` sweeps and a sample.

    Attributes
    ----------
    n_burn_in, n_samples, thin : int
        See `RelationalTopicModel`.
    learn_alpha : {"symmetric", "per-topic"} or None
        Whether alpha is learned during burn-in, and whether topics may differ.
    learn_beta : bool
        Whether beta is learned during burn-in.
    """

    n_burn_in: int
    n_samples: int
    thin: int
    learn_alpha: str | None = None
    learn_beta: bool = False

    @property
    def length(self) -> int:
        """Number of sweeps."""
        return self.n_burn_in + self.n_samples * self.thin

    def samples_at(self, iteration: int) -> bool:
        """Return whether to keep a sample after this many sweeps."""
        after = iteration - self.n_burn_in
        return after > 0 and after % self.thin == 0

    def learns_at(self, iteration: int) -> bool:
        """Return whether to learn priors after this many sweeps: every tenth of the burn-in, from the 20th.

        They are learned at the end of burn-in in any case.
        """
        learns = self.learn_alpha is not None or self.learn_beta
        due = LEARNING_STARTS <= iteration < self.n_burn_in and iteration % LEARNING_EVERY == 0
        return learns and (due or iteration == self.n_burn_in)

    def more_samples(self, n: int) -> Schedule:
        """Return the schedule with n more samples."""
        return replace(self, n_samples=self.n_samples + n)

    def more_burn_in(self, n: int, n_samples: int) -> Schedule:
        """Return a schedule in which all sweeps of this one and n more are burn-in, followed by new samples."""
        return replace(self, n_burn_in=self.length + n, n_samples=n_samples)


LEARNING_STARTS, LEARNING_EVERY = 20, 10
"""The first sweep after which priors are learned, and the interval in sweeps."""


@dataclass
class Chain:
    """A chain, finished or not.

    Attributes
    ----------
    number : int
        Index of the chain.
    state : State
        Its current state.
    trace : ndarray of shape (n_sweeps, n_quantities)
        `quantities` of the state after every sweep; sweeps not done yet are NaN.
    samples : list of PosteriorSample
        Samples kept so far.
    seconds : dict of str to float
        Time spent on each step of a sweep.
    sent : dict of str to float
        Bytes that shards exchanged per sweep of the last run, by content (see `ShardPool`).
    """

    number: int
    state: State
    trace: Array
    samples: list[PosteriorSample] = field(default_factory=list)
    seconds: dict[str, float] = field(default_factory=dict)
    sent: dict[str, float] = field(default_factory=dict)

    @classmethod
    def at(cls, number: int, state: State) -> Chain:
        """Return a chain that starts at a state."""
        return cls(number, state, np.empty((0, len(_trace_row(state)))))

    def allocate(self, schedule: Schedule) -> None:
        """Allocate the trace of a schedule; samples that it treats as burn-in are dropped."""
        done = self.trace[: self.state.iteration]
        self.trace = np.pad(done, ((0, schedule.length - len(done)), (0, 0)), constant_values=np.nan)
        if self.state.iteration <= schedule.n_burn_in:
            self.samples = []


def quantities(corpus: Corpus, feature_names: list[str]) -> list[str]:
    """Return names for the columns of a trace: quantities that do not depend on the numbering of topics."""
    names = ["log joint", "topic entropy"]
    if corpus.n_pairs:
        names += ["log likelihood of links", "weight norm", "weight trace", "largest eigenvalue", "smallest eigenvalue"]
        names += [f"weight of {name}" for name in feature_names]
    return names


def _trace_row(state: State) -> list[float]:
    total = state.topic_total / state.topic_total.sum()
    entropy = -float(total[total > 0] @ np.log(total[total > 0]))
    values = [state.log_joint, entropy]
    if len(state.augmented):
        U = state.weights
        eigenvalues = np.linalg.eigvalsh(0.5 * (U + U.T))
        values += [state.log_links, float(np.linalg.norm(U)), float(np.trace(U)), eigenvalues[-1], eigenvalues[0]]
        values += state.feature_weights.tolist()
    return values


def start_chains(corpus: Corpus, settings: Settings, seeds: list[np.random.SeedSequence]) -> list[Chain]:
    """Return one chain per seed, started as in the paper; for large costs, see `Loss.start`."""
    loss = make_loss(settings, corpus.label)
    states = [initial_state(corpus, settings, seed) for seed in seeds]
    return [Chain.at(number, replace(state, augmented=loss.start())) for number, state in enumerate(states)]


def run_chains(
    corpus: Corpus,
    settings: Settings,
    chains: list[Chain],
    schedule: Schedule,
    n_jobs: int | None = None,
    verbose: bool | str = "auto",
    keep: Callable[[Chain, bool], None] | None = None,
    keep_every: int = 50,
    keep_minutes: float | None = None,
    engine: Engine | None = None,
    description: str = "sampling",
) -> None:
    """Run chains from where they are to the end of the schedule.

    BLAS is limited to one thread, since its sums depend on the number of threads.

    Parameters
    ----------
    corpus : Corpus
        Documents and pairs.
    settings : Settings
        The model.
    chains : list of Chain
        Changed in place.
    schedule : Schedule
        The schedule to complete.
    n_jobs : int, optional
        Threads; chains are spread over them, and the shards of each chain over its share of the threads.
    verbose : bool or "auto"
        Whether to show a progress bar.
    keep : callable, optional
        Called with a chain and False after every `keep_every` sweeps or `keep_minutes`, whichever comes first; and with
        True when the chain ends, because it is done or because an error or an interrupt stops all chains. Calls come
        between two sweeps, and several threads may call at once.
    keep_every : int, default=50
        Sweeps between two calls of `keep`.
    keep_minutes : float, optional
        After this many minutes, `keep` is called at the end of the current sweep. None only counts sweeps.
    engine : Engine, optional
        The engine that runs the shards of chains; by default threads of this process.
    description : str, default="sampling"
        Description of the work in the progress bar.
    """
    jobs = effective_n_jobs(n_jobs)
    workers = min(jobs, len(chains))
    runs_shards = engine or Threads(jobs // workers)
    stop = threading.Event()
    patience = math.inf if keep_minutes is None else 60 * keep_minutes

    def run(number: int) -> None:
        chain = chains[number]
        chain.allocate(schedule)
        sampler = Sampler(corpus, settings, chain.state, runs_shards)
        sampler.seconds.update(chain.seconds)
        chain.seconds = sampler.seconds
        state, began = chain.state, chain.state.iteration
        kept_at = time.monotonic()
        try:
            while state.iteration < schedule.length and not stop.is_set():
                sampler.step()
                chain.trace[state.iteration - 1] = _trace_row(state)
                if schedule.learns_at(state.iteration):
                    sampler.gather()
                    state.priors = _learn_priors(corpus, state, schedule)
                if schedule.samples_at(state.iteration):
                    sampler.gather()
                    chain.samples.append(take_sample(number, corpus, state))
                progress.advance(state.log_joint)
                due = state.iteration % keep_every == 0 or time.monotonic() - kept_at >= patience
                if keep is not None and due and state.iteration < schedule.length:
                    sampler.gather()
                    keep(chain, False)
                    kept_at = time.monotonic()
            sampler.gather()
            if keep is not None:
                keep(chain, True)
        finally:
            sampler.close()
            swept = max(state.iteration - began, 1)
            chain.sent = {name: amount / swept for name, amount in sampler.pool.sent.items()}

    left = sum(schedule.length - chain.state.iteration for chain in chains)
    with one_thread(), runs_shards, ProgressBar(left, verbose, description) as progress:
        _spread(run, len(chains), workers, stop, inline=keep is None)


def _learn_priors(corpus: Corpus, state: State, schedule: Schedule) -> Priors:
    priors = state.priors
    if schedule.learn_alpha is not None:
        lengths, per_topic = np.diff(corpus.start), schedule.learn_alpha == "per-topic"
        priors = replace(priors, alpha=learn_alpha(state.doc_topic, lengths, priors.alpha, per_topic=per_topic))
    if schedule.learn_beta:
        totals = state.topic_total[: len(priors.alpha)]
        priors = replace(priors, beta=learn_beta(corpus, state.word_topic, totals, priors))
    return priors


def _spread(run: Callable[[int], None], n_chains: int, workers: int, stop: threading.Event, inline: bool) -> None:
    """Run the chains, in threads if there are several workers; an interrupt or an error stops all of them.

    Where states are kept (not `inline`), chains always run in threads: an interrupt reaches only the main thread, and
    so never stops a chain in the middle of a sweep. No chain starts before all are submitted: an interrupt during
    `submit` would leave threads that cannot be waited for.
    """
    if workers == 1 and inline:
        for number in range(n_chains):
            run(number)
        return
    futures: list[Future[None]] = []
    submitted = threading.Event()

    def run_submitted(number: int) -> None:
        submitted.wait()
        if futures:
            run(number)

    with ThreadPoolExecutor(workers) as pool:
        try:
            pending = futures = [pool.submit(run_submitted, number) for number in range(n_chains)]
            submitted.set()
            # Short waits, because an interrupt that comes just before a wait is seen only after it.
            while pending and not any(future.done() and future.exception() for future in futures):
                pending = list(wait(pending, timeout=0.2, return_when=FIRST_EXCEPTION).not_done)
        finally:
            stop.set()  # by now all chains are done, or one has failed, or the user wants to stop
            submitted.set()
            _wait_for(futures)
        for future in futures:
            future.result()


def _wait_for(futures: list[Future[None]]) -> None:
    """Wait for chains that are stopping, and may still be saving; two further interrupts are ignored."""
    for _ in range(2):
        with suppress(KeyboardInterrupt):
            wait(futures)
    wait(futures)
