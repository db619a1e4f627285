"""How a model goes on: to the end of its run, beyond it, with a network that has changed, and from disk."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, replace
from numbers import Integral, Real
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from linktopics._checks import user_stacklevel
from linktopics._inputs import resolve_network
from linktopics.calibration import LinkCalibration, n_documents_to_hold_out
from linktopics.engines import Engine, resolve_engine
from linktopics.errors import DataError, MixingWarning, ModelError, NetworkWarning
from linktopics.network import DocumentNetwork
from linktopics.posterior import MAX_SWEEPS, Chain, Plan, run_chains
from linktopics.prediction import Predictor, measure
from linktopics.run import Run, carry_over, check_extends
from linktopics.sampler import Sampler
from linktopics.storage import Checkpoints, Keeper, ModelFolder, load_run
from linktopics.storage.folder import said

__all__ = ["GoesOn", "check_pace", "checkpoints"]

Model = TypeVar("Model", bound="GoesOn")

FORGETTING = (20, 4, 5)
"""Sweeps of burn-in, samples, and sweeps per sample of chains that go on without the documents that are held out; where
the model has fewer samples than that, so have they."""


MOST_MINUTES = 1e9
"""Between two checkpoints."""


class GoesOn:
    """The life of a `RelationalTopicModel` after its run was prepared."""

    n_topics: int
    n_chains: int
    n_jobs: int | None
    verbose: bool | str
    n_features_in_: int
    feature_names_in_: NDArray
    directed: bool | None
    calibration: str | None
    _predictor_of: Callable[..., Predictor]
    get_params: Callable[..., dict[str, Any]]
    _validate_params: Callable[[], None]
    _verdict: Callable[[], str | None]
    _prepare: Callable[..., Run]
    _smooth: Callable[[NDArray[np.floating], NDArray[np.integer]], NDArray[np.float64]]

    def _carry_out(self: Model, run: Run, plan: Plan, pace: _Pace, engine: str | Engine = "threads") -> Model:
        """Run the chains to the end of the plan, and describe what they found."""
        if plan.length > MAX_SWEEPS:
            raise ValueError(f"a chain would do {plan.length:,} sweeps; {MAX_SWEEPS:,} are the most there may be.")
        corpus, kept = run.awake(), None
        # An engine may not be to be had, which is best known before anything is changed.
        engine = engine if engine == "threads" else resolve_engine(engine)
        with nullcontext() if isinstance(engine, str) else engine:
            before, run.plan = (run.plan, run.calibration), plan
            if not run.sampled:
                run.calibration = None  # of other samples
            if pace.folder is not None:
                try:
                    kept = Checkpoints(self._keeper(pace.folder, run))
                except BaseException:
                    run.plan, run.calibration = before
                    raise
            keep = None if kept is None else kept.keep
            try:
                run_chains(
                    *(corpus, run.settings, run.chains, plan, self.n_jobs, self.verbose),
                    *(keep, pace.every, pace.minutes, engine),
                )
                if run.calibration is None:
                    run.calibration = self._calibrated(run)
            except KeyboardInterrupt:
                if kept is not None:
                    with suppress(ModelError):  # of which there was a warning
                        kept.finish()
                raise
        self._describe(run)
        if kept is not None:
            kept.finish()  # if this fails, the model is fitted all the same, and can be saved elsewhere
        verdict = self._verdict() if len(run.chains) > 1 else None
        if verdict is not None:
            warnings.warn(verdict, MixingWarning, stacklevel=user_stacklevel())
        return self

    def _keeper(self, folder: ModelFolder, run: Run) -> Keeper:
        parameters, framed = self.get_params(deep=False), hasattr(self, "feature_names_in_")
        return Keeper(folder, type(self).__name__, parameters, run, framed=framed)

    def resume(
        self: Model,
        n_iter: int = 0,
        n_samples: int | None = None,
        *,
        checkpoint: str | os.PathLike[str] | None = None,
        checkpoint_every: int = 50,
        checkpoint_minutes: float | None = 10.0,
        engine: str | Engine = "threads",
    ) -> Model:
        """Go on sampling from where the chains are.

        Parameters
        ----------
        n_iter : int, default=0
            Sweeps of burn-in to add. Samples kept so far are then dropped, as burn-in, and new ones are drawn.
        n_samples : int, default=None
            Samples to draw per chain: in place of those dropped, or without `n_iter` beside those kept so far. None
            draws as many as the model has, or without `n_iter` none: a run that was interrupted goes on to its end.
        checkpoint : path, default=None
            As in `fit`; a model that is there is replaced.
        checkpoint_every, checkpoint_minutes
            As in `fit`.
        engine : {"threads", "ray"} or Engine, default="threads"
            As in `fit`; it need not be the one that the run began with.

        Returns
        -------
        self : RelationalTopicModel
            The model.

        Examples
        --------
        >>> import numpy as np
        >>> from linktopics import RelationalTopicModel
        >>> X = np.array([[3, 1, 0, 0], [2, 2, 0, 0], [0, 0, 3, 1], [0, 0, 1, 3]])
        >>> model = RelationalTopicModel(2, negatives=2, n_iter=50, random_state=0).fit(X, links=[(0, 1), (2, 3)])
        >>> len(model.samples_), len(model.resume(n_samples=5).samples_)
        (40, 60)
        """
        run = self._fitted_run()
        self._validate_params()
        _check_number("n_iter", n_iter, 0)
        if n_samples is not None:
            _check_number("n_samples", n_samples, 1)
        plan = run.plan
        if n_iter:
            plan = plan.more_burn_in(int(n_iter), int(n_samples or plan.n_samples))
        elif n_samples:
            plan = plan.more_samples(int(n_samples))
        with checkpoints(checkpoint, checkpoint_every, checkpoint_minutes, overwrite=True) as pace:
            return self._carry_out(run, plan, pace, engine)

    def extend(
        self: Model,
        network: DocumentNetwork,
        *,
        n_iter: int = 50,
        checkpoint: str | os.PathLike[str] | None = None,
        checkpoint_every: int = 50,
        checkpoint_minutes: float | None = 10.0,
        engine: str | Engine = "threads",
    ) -> Model:
        """Go on with a network that has changed: documents and links added, changed or removed.

        Tokens that were there before keep their topics to begin with, documents being the same if their ids are and
        words if their names are. Topics therefore stay what they were, and learn from what is new; the same chain as
        before is described. Weights stay, too, and so do alpha and beta if they were learned; non-links are sampled
        anew.

        Parameters
        ----------
        network : DocumentNetwork
            The network as it is now, see `DocumentNetwork.extended`. Its vocabulary may have grown.
        n_iter : int, default=50
            Sweeps of burn-in; then `n_samples` samples are drawn, as in `fit`.
        checkpoint, checkpoint_every, checkpoint_minutes, engine
            As in `fit`.

        Returns
        -------
        self : RelationalTopicModel
            The model, fitted to the changed network.

        Examples
        --------
        >>> from linktopics import DocumentNetwork, RelationalTopicModel
        >>> texts = {"a": "cats purr", "b": "cats and kittens", "c": "stars shine", "d": "stars and planets"}
        >>> network = DocumentNetwork.from_texts(texts, [("b", "a"), ("d", "c")])
        >>> model = RelationalTopicModel(n_topics=2, negatives=2, n_iter=50, random_state=0).fit(network)
        >>> larger = network.extended({"e": "kittens purr"}, [("e", "a")])
        >>> model.extend(larger).doc_topic_.shape
        (5, 2)
        """
        old = self._fitted_run()
        if not old.finished:
            raise ModelError("the run is not finished, so there is nothing to extend yet; go on with resume() first.")
        self._validate_params()
        if not isinstance(network, DocumentNetwork):
            raise DataError(
                f"network is a {type(network).__name__}; pass a DocumentNetwork, as network.extended gives."
            )
        _check_number("n_iter", n_iter, 0)
        before = {name: value for name, value in vars(self).items() if name in ("n_features_in_", "feature_names_in_")}
        try:
            network = resolve_network(self, network, None, self.directed)
        finally:
            vars(self).update(before)  # until the model knows what it says about the new network
        check_extends(old, network, int(self.n_topics))
        with checkpoints(checkpoint, checkpoint_every, checkpoint_minutes) as pace:
            run = self._extended(old, network, int(n_iter))
            vars(self).pop("feature_names_in_", None)
            return self._carry_out(run, run.plan, pace, engine)

    def _extended(self, old: Run, network: DocumentNetwork, n_iter: int) -> Run:
        """Return a run over a changed network that begins where the old one is."""
        seed = np.random.SeedSequence([*old.entropy, len(old.entropy)])
        best = self.best_chain_
        described = best if best < self.n_chains else 0
        chains = [old.chains[number % len(old.chains)] for number in range(int(self.n_chains))]
        if described != best:
            chains[0] = old.chains[best]
        run = self._changed(old, chains, network, seed)
        run.described = described
        run.plan = replace(run.plan, n_iter=n_iter)
        return run

    def _changed(self, old: Run, chains: list[Chain], network: DocumentNetwork, seed: np.random.SeedSequence) -> Run:
        """Return a run over a changed network that begins where some chains of another are."""
        run = self._prepare(network, seed, start=False)
        for number, (chain, its_seed) in enumerate(zip(chains, seed.spawn(len(chains)), strict=True)):
            state = carry_over(old, run.awake(), run.network, chain.state, its_seed, run.settings.n_shards)
            if old.plan.learn_alpha is None and not old.plan.learn_beta:
                state.priors = None  # those of the parameters, which may have changed
            Sampler(run.awake(), run.settings, state).refresh()
            run.chains.append(Chain.at(number, state))
        return run

    def _calibrated(self, run: Run) -> LinkCalibration:
        """Return what makes probabilities of links in the network of the model's own."""
        offset = run.sampling_offset
        n_held_out = n_documents_to_hold_out(run.network)
        if self.calibration is None or run.n_pairs == run.network.n_links:
            return LinkCalibration()
        if self.calibration == "sampling" or not n_held_out:
            return LinkCalibration(offset)
        for_documents, for_chains = np.random.SeedSequence([*run.entropy, len(run.entropy), 1]).spawn(2)
        held_out = np.random.default_rng(for_documents).permutation(run.network.n_documents)[:n_held_out]
        held_out.sort()
        others = np.setdiff1d(np.arange(run.network.n_documents), held_out)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", NetworkWarning)  # of documents of which the network has told
            without = self._changed(run, run.counted, run.network.subset(others), for_chains)
            burn_in, n_samples, thin = FORGETTING
            without.plan = Plan(burn_in, min(n_samples, run.plan.n_samples), thin)
            without.calibration = LinkCalibration(without.sampling_offset)
            run_chains(
                *(without.awake(), without.settings, without.chains, without.plan, self.n_jobs, self.verbose),
                doing="calibrating",
            )
            predictor = self._predictor_of(without)
            del without  # tokens, pairs and states, whose room is needed now
            return measure(run.network, held_out, others, offset, predictor)

    def _fitted_run(self) -> Run:
        if not hasattr(self, "_run"):
            check_is_fitted(self, "_run")
        return self._run

    def save(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
        """Save the model in a folder: model.json and arrays, no pickle.

        The folder appears whole or not at all. Functions (a vectorizer's, or those of `PairFunction`) are not saved
        and have to be given to `load` again.

        Parameters
        ----------
        path : path
            The folder; it is made if it is not there.
        overwrite : bool, default=False
            Whether to replace a model that is there.

        Examples
        --------
        >>> import tempfile
        >>> from linktopics import DocumentNetwork, RelationalTopicModel
        >>> texts = {"a": "cats purr", "b": "cats and kittens", "c": "stars shine", "d": "stars and planets"}
        >>> network = DocumentNetwork.from_texts(texts, [("b", "a"), ("d", "c")])
        >>> model = RelationalTopicModel(n_topics=2, negatives=2, n_iter=50, random_state=0).fit(network)
        >>> folder = tempfile.mkdtemp()
        >>> model.save(folder)
        >>> same = RelationalTopicModel.load(folder)
        >>> bool((same.predict_links("kittens purr") == model.predict_links("kittens purr")).all())
        True
        """
        run, folder = self._fitted_run(), ModelFolder(path)
        with folder.held(overwrite=overwrite):
            self._keeper(folder, run)

    @classmethod
    def load(
        cls: type[Model],
        path: str | os.PathLike[str],
        *,
        vectorizer: Any = None,
        functions: Mapping[str, Callable[..., Any]] | None = None,
        unfinished: bool = False,
        verify: bool = False,
    ) -> Model:
        """Load a model from its folder. Nothing in it is executed, and large arrays stay on disk until they are needed.

        Parameters
        ----------
        path : path
            The folder.
        vectorizer : object, default=None
            What reads new texts, where that could not be saved.
        functions : mapping from str to callable, default=None
            The functions of pairs, by the name of their `PairFunction`.
        unfinished : bool, default=False
            Whether to load a run that was interrupted, too, to go on with it by `resume`. If its last checkpoint is
            damaged, the one before is loaded, with a `CheckpointWarning`; without, what is damaged is refused.
        verify : bool, default=False
            Compare large files with their checksums, too; small ones always are, and all of `unfinished` runs.

        Examples
        --------
        See `save`.
        """
        parameters, run, framed = load_run(
            path, cls.__name__, vectorizer=vectorizer, functions=functions, verify=verify, unfinished=unfinished
        )
        if not run.finished and not unfinished:
            done = ", ".join(f"{chain.state.iteration:,}" for chain in run.chains)
            raise ModelError(
                f"{path}: the model is not finished (its chains did {done} of {run.plan.length:,} sweeps); go on by "
                "linktopics resume, or RelationalTopicModel.load(path, unfinished=True).resume()."
            )
        unknown = set(parameters) - set(cls().get_params())
        if unknown:
            raise ModelError(f"{path}: the model is damaged (it has the unknown parameter {min(unknown)!r}).")
        model = cls(**parameters)
        try:
            model._validate_params()
        except ValueError as error:
            raise ModelError(f"{path}: the model is damaged ({said(error)})") from None
        if run.finished:
            if framed:
                model.feature_names_in_ = np.asarray(run.network.vocabulary)
            model._describe(run)
            if not (np.isfinite(model.topic_word_).all() and np.isfinite(model.doc_topic_).all()):
                raise ModelError(f"{path}: the model is damaged (its topics are not finite); take it from a copy.")
        else:
            model._run = run
        return model

    def _describe(self, run: Run) -> None:
        """Set the fitted attributes."""
        self._run = run
        n_topics = run.settings.n_topics
        self.n_features_in_ = run.network.n_words
        self.network_ = run.network
        self.network_report_ = run.network.report
        self.n_pairs_ = run.n_pairs
        assert run.calibration is not None
        self.calibration_ = run.calibration
        self.n_burn_in_ = run.plan.n_iter
        traces = np.stack([chain.trace for chain in run.chains])
        self.trace_ = {name: traces[:, :, column] for column, name in enumerate(run.quantities)}
        self.log_joints_ = self.trace_["log joint"]
        self.left_out_chains_ = {one.chain: one.below for one in run.left_out}
        counted = [number for number in range(len(run.chains)) if number not in self.left_out_chains_]
        self.samples_ = [sample for number in counted for sample in run.chains[number].samples]
        self.timings_ = {step: sum(c.seconds[step] for c in run.chains) for step in run.chains[0].seconds}
        self.exchanged_ = run.chains[0].sent
        means = [np.mean([sample.log_joint for sample in run.chains[number].samples]) for number in counted]
        self.best_chain_ = counted[int(np.argmax(means))] if run.described is None else run.described
        self.log_joint_ = self.log_joints_[self.best_chain_]
        best = run.chains[self.best_chain_].samples
        self.alpha_ = best[-1].alpha
        priors = run.chains[self.best_chain_].state.priors
        assert priors is not None
        self.beta_ = priors.beta
        self.topic_word_ = _mean(s.word_topic[:, :n_topics] for s in best).T.copy()
        self.topic_word_ /= self.topic_word_.sum(1, keepdims=True)
        self.doc_topic_ = self._smooth(_mean(s.doc_topic for s in best), self.network_.lengths)
        weights = np.stack([s.weights for s in best])
        self.link_weights_ = weights.mean(0)
        self.link_weights_std_ = weights.std(0)
        self.feature_names_ = list(run.features.columns)
        feature_weights = np.stack([s.feature_weights for s in self.samples_])
        self.feature_weights_, self.feature_weights_std_ = feature_weights.mean(0), feature_weights.std(0)
        self.intercept_ = float(run.features.constant @ self.feature_weights_)


@dataclass(frozen=True)
class _Pace:
    """Where checkpoints go (None is nowhere) and how often."""

    folder: ModelFolder | None
    every: int
    minutes: float | None


@contextmanager
def checkpoints(
    path: str | os.PathLike[str] | None, every: int, minutes: float | None, *, overwrite: bool = False
) -> Iterator[_Pace]:
    """Hold the folder of checkpoints, so that what speaks against it is known before work is done."""
    if path is None:
        yield _Pace(None, every, minutes)
        return
    check_pace(every, minutes)
    folder = path if isinstance(path, ModelFolder) else ModelFolder(path)
    with folder.held(overwrite=overwrite):
        yield _Pace(folder, every, minutes)


def check_pace(every: Any, minutes: Any) -> None:
    """Raise ValueError if checkpoints cannot come at this pace."""
    _check_number("checkpoint_every", every, 1)
    number = isinstance(minutes, Real) and not isinstance(minutes, bool)
    if minutes is not None and not (number and 0 < minutes <= MOST_MINUTES):
        raise ValueError(f"checkpoint_minutes is {minutes!r}; it must be a number above 0, up to 1e9, or None.")


def _mean(arrays: Iterable[NDArray[np.floating]]) -> NDArray[np.float64]:
    """Return the mean of arrays of which no two need be in memory at once."""
    given = iter(arrays)
    total, n = next(given).astype(np.float64), 1
    for array in given:
        total += array
        n += 1
    total /= n
    return total


def _check_number(name: str, value: Any, least: int) -> None:
    if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
        raise ValueError(f"{name} is {value!r}; it must be a whole number from {least} on.")
