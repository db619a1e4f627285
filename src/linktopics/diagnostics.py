"""Whether chains mixed: R-hat, effective sample size, and what they mean for a topic model.

Both are computed from quantities that a chain records after every sweep and that do not depend on the numbering of
topics, such as its log joint. They are defined by Vehtari, Gelman, Simpson, Carpenter, Bürkner: Rank-normalization,
folding, and localization: an improved R-hat for assessing convergence of MCMC, Bayesian Analysis 16 (2021), and agree
with arviz.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from importlib import import_module
from inspect import signature
from itertools import chain, count
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy.fft import irfft, next_fast_len, rfft
from scipy.special import ndtri
from scipy.stats import rankdata

__all__ = ["effective_sample_size", "mixing_table", "mixing_verdict", "r_hat", "to_inference_data"]

MIN_DRAWS = 4
"""Fewest draws per chain for R-hat and ESS: two in each half."""

R_HAT_LIMIT = 1.1
"""Above this, chains differ by more than chance. Gelman et al., Bayesian Data Analysis, 11.4. The 1.01 of Vehtari et
al. is for chains that can all reach the same place, which those of a topic model hardly ever do in practical time."""

ESS_PER_CHAIN = 10
"""Below this, the standard error of a mean is a third of a standard deviation or more. Gelman et al., 11.5."""

MORE_SWEEPS = 500
"""Further sweeps of burn-in to advise."""

LOG_JOINT = "log joint"


def r_hat(draws: ArrayLike) -> float:
    """Return the rank-normalised split R-hat: how much more draws differ between chains than within them.

    The larger of two numbers: R-hat of the ranks of the draws, which detects chains in different places, and of the
    ranks of their distances from the median, which detects chains of different width. Each chain is split in halves,
    so that a chain that still drifts is detected, too.

    Parameters
    ----------
    draws : array-like of shape (n_chains, n_draws) or (n_draws,)
        A quantity sweep by sweep, without burn-in.

    Returns
    -------
    float
        Near 1 where chains agree. NaN for fewer than four draws per chain, for draws that never change, and where a
        draw is NaN. Large or infinite if each chain is constant at a different value.

    Notes
    -----
    As ``arviz.rhat(draws, method="rank")``, but for a single chain, for which arviz gives NaN: here its halves are
    compared.

    Examples
    --------
    >>> import numpy as np
    >>> draws = np.random.default_rng(0).normal(size=(4, 500))
    >>> round(r_hat(draws), 2), round(r_hat(draws + [[0], [0], [0], [1]]), 2)
    (1.0, 1.09)
    """
    halves = _split_chains(draws)
    if halves is None or _constant(halves):
        return np.nan
    with np.errstate(divide="ignore", invalid="ignore"):
        folded = np.abs(halves - np.median(halves))
        # If draws take two values equally often, all are equally far from the median and the second number is NaN.
        return float(np.fmax(_basic_r_hat(_normal_scores(halves)), _basic_r_hat(_normal_scores(folded))))


def effective_sample_size(draws: ArrayLike) -> float:
    """Return the bulk effective sample size: how many independent draws would estimate the mean equally well.

    Parameters
    ----------
    draws : array-like of shape (n_chains, n_draws) or (n_draws,)
        A quantity sweep by sweep, without burn-in.

    Returns
    -------
    float
        For all chains together; near the number of chains where they do not agree. NaN for fewer than four draws per
        chain and where a draw is NaN. The number of draws if they never change.

    Notes
    -----
    As ``arviz.ess(draws, method="bulk")``: rank-normalised, chains split in halves, autocorrelations summed by Geyer's
    initial monotone sequence.

    Examples
    --------
    >>> import numpy as np
    >>> steps = np.random.default_rng(0).normal(size=(4, 500))
    >>> round(effective_sample_size(steps)), round(effective_sample_size(steps.cumsum(axis=1)))
    (2003, 6)
    """
    halves = _split_chains(draws)
    if halves is None:
        return np.nan
    if _constant(halves):
        return float(halves.size)
    scores = _normal_scores(halves)
    least = 1.0 / np.log10(scores.size)  # draws that alternate may count more than once, up to a limit
    return float(scores.size / max(_autocorrelation_time(scores), least))


def mixing_table(trace: Mapping[str, ArrayLike]) -> pd.DataFrame:
    """Return mean, standard deviation, R-hat and effective sample size of each quantity.

    Parameters
    ----------
    trace : mapping from str to array-like of shape (n_chains, n_draws)
        Quantities sweep by sweep, without burn-in.

    Returns
    -------
    pandas.DataFrame
        Indexed by quantity, with columns mean and sd, over the draws of all chains together, r_hat and ess.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> mixing_table({"log joint": rng.normal(-100, 2, (2, 300)), "weight norm": rng.normal(5, 1, (2, 300))}).round(1)
                  mean   sd  r_hat    ess
    quantity
    log joint   -100.0  2.0    1.0  639.5
    weight norm    5.0  1.0    1.0  471.4
    """
    rows = {}
    for name, values in trace.items():
        draws = _as_draws(values, name)
        mean = draws.mean() if draws.size else np.nan
        sd = draws.std(ddof=1) if draws.size > 1 else np.nan
        rows[name] = (mean, sd, r_hat(draws), effective_sample_size(draws))
    index = pd.Index(list(rows), name="quantity", dtype=object)
    return pd.DataFrame(list(rows.values()), index=index, columns=["mean", "sd", "r_hat", "ess"], dtype=np.float64)


def mixing_verdict(
    table: pd.DataFrame,
    n_chains: int,
    trace: Mapping[str, ArrayLike] | None = None,
    *,
    some_left_out: bool = False,
) -> str | None:
    """Return a warning in plain words about bad mixing, its consequences and what to do; None if mixing is good.

    Parameters
    ----------
    table : pandas.DataFrame
        From `mixing_table`.
    n_chains : int
        Number of chains the table was made from.
    trace : mapping from str to array-like of shape (n_chains, n_draws), optional
        The trace that the table was made from. It distinguishes chains that still move from chains that have settled in
        different places, where more sweeps would not help.
    some_left_out : bool, default=False
        Whether stuck chains were left out of the table, see `linktopics.stuck_chains`.

    Returns
    -------
    str or None
        A warning if R-hat is above `R_HAT_LIMIT`, or the effective sample size below `ESS_PER_CHAIN` times the number
        of chains, for any quantity, or if there are too few draws to tell.

    Examples
    --------
    >>> import numpy as np
    >>> trace = {"log joint": np.random.default_rng(0).normal(size=(2, 300)) + [[0], [5]]}
    >>> print(mixing_verdict(mixing_table(trace), 2, trace))
    The 2 chains do not agree on the log joint (R-hat 1.83). Each is steady, so they have settled in different ...
    """
    if len(table) and table["ess"].isna().all():
        return (
            f"Mixing cannot be judged from fewer than {MIN_DRAWS} sweeps after the burn-in (100 are better); raise "
            "n_samples or thin."
        )
    apart = table.index[table["r_hat"] > R_HAT_LIMIT]
    advice = f"model.resume(n_burn_in={MORE_SWEEPS}), or linktopics resume MODEL --burn-in {MORE_SWEEPS}"
    if len(apart):
        return _disagreement(table["r_hat"], list(apart), n_chains, trace, advice, some_left_out)
    worst = table["ess"].idxmin() if len(table) else None
    if worst is None or table["ess"][worst] >= ESS_PER_CHAIN * n_chains:
        return None
    who = "The chain mixes slowly: its"
    if n_chains > 1:
        who = f"The {'other ' if some_left_out else ''}{n_chains} chains agree, but mix slowly: their"
    return (
        f"{who} draws of the {worst} are worth {table['ess'][worst]:.0f} independent draws (ESS; at least "
        f"{ESS_PER_CHAIN * n_chains} are needed). Topics and predictions can be used; means and standard deviations of "
        "such quantities are inaccurate. More samples help: model.resume(n_samples=20), or linktopics resume MODEL "
        "--samples 20."
    )


def to_inference_data(trace: Mapping[str, ArrayLike], attrs: Mapping[str, Any] | None = None) -> Any:
    """Return the trace in arviz's format of posterior draws, for its tables and plots.

    Parameters
    ----------
    trace : mapping from str to array-like of shape (n_chains, n_draws)
        Quantities sweep by sweep, without burn-in.
    attrs : mapping, optional
        Further attributes to store, besides the name and version of this library.

    Returns
    -------
    arviz.InferenceData or xarray.DataTree
        The result of `arviz.from_dict`, the second since arviz 1.0. The group "posterior" has a variable for each
        quantity, with dimensions chain and draw; its name is made a Python name ("log joint" is
        ``log_joint``), the original is its attribute "long_name". The log joint is also ``lp`` of "sample_stats".

    Examples
    --------
    >>> data = to_inference_data({"log joint": [[-3.0, -2.0, -1.0, -2.0]]})  # doctest: +SKIP
    >>> data.posterior["log_joint"].dims  # doctest: +SKIP
    ('chain', 'draw')
    """
    try:
        arviz = import_module("arviz")
    except ImportError as error:
        raise ImportError(
            "this needs arviz, which is not installed or cannot be imported; run pip install 'linktopics[arviz]'."
        ) from error
    from linktopics import __version__

    draws = {name: _as_draws(values, name) for name, values in trace.items()}
    names = _variable_names(draws)
    groups = {"posterior": {names[name]: values for name, values in draws.items()}}
    if LOG_JOINT in draws:
        groups["sample_stats"] = {"lp": draws[LOG_JOINT]}
    facts = {"inference_library": "linktopics", "inference_library_version": __version__, **(attrs or {})}
    if "posterior" in signature(arviz.from_dict).parameters:  # before 1.0: one argument for each group
        data = arviz.from_dict(**groups, attrs=facts)
    else:
        data = arviz.from_dict(groups, attrs={"/": facts})
    for name, variable in names.items():
        data["posterior"][variable].attrs["long_name"] = name
    return data


def _as_draws(values: ArrayLike, name: str = "draws") -> NDArray[np.float64]:
    draws = np.asarray(values, dtype=np.float64)
    if draws.ndim == 1:
        draws = draws[None]
    if draws.ndim != 2:
        raise ValueError(f"{name} has the shape {draws.shape}; it must be a matrix of chains x draws.")
    return draws


def _split_chains(values: ArrayLike) -> NDArray[np.float64] | None:
    """Return both halves of each chain, without the middle draw of an odd number; None if draws are too few or NaN."""
    draws = _as_draws(values)
    half = draws.shape[1] // 2
    if draws.shape[1] < MIN_DRAWS or len(draws) == 0 or np.isnan(draws).any():
        return None
    return np.concatenate([draws[:, :half], draws[:, -half:]])


def _constant(draws: NDArray[np.float64]) -> bool:
    return bool(draws.min() == draws.max())


def _normal_scores(draws: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the normal quantiles of the draws' ranks among all (Blom's offsets); equation 14 of the paper."""
    ranks = rankdata(draws).reshape(draws.shape)
    return ndtri((ranks - 3 / 8) / (draws.size + 1 / 4))


def _basic_r_hat(draws: NDArray[np.float64]) -> float:
    """Return the square root of the variance of all draws over that within chains; equations 1 to 4."""
    n_draws = draws.shape[1]
    between = n_draws * draws.mean(axis=1).var(ddof=1)
    within = draws.var(axis=1, ddof=1).mean()
    return float(np.sqrt((between / within + n_draws - 1) / n_draws))


def _autocorrelation_time(draws: NDArray[np.float64]) -> float:
    """Return 1 + 2 x the sum of autocorrelations, truncated where they are noise; equations 10 to 13."""
    n_draws = draws.shape[1]
    padded = next_fast_len(2 * n_draws, real=True)
    spectrum = np.abs(rfft(draws - draws.mean(axis=1, keepdims=True), n=padded)) ** 2
    covariance = irfft(spectrum, n=padded)[:, :n_draws].mean(axis=0) / n_draws
    within = covariance[0] * n_draws / (n_draws - 1)
    overall = covariance[0] + draws.mean(axis=1).var(ddof=1)
    correlation = 1 - (within - covariance) / overall
    correlation[0] = 1.0
    # Geyer: sums of neighbours (even, odd) of a reversible chain are positive and fall. They are added until one is not
    # positive, or nearly to the end. Of the last pair only the even one counts, unless it made the sum negative.
    pairs = correlation[: 2 * (n_draws // 2)].reshape(-1, 2).sum(axis=1)
    most = max(0, (n_draws - 3) // 2)
    ended = np.flatnonzero(pairs[:most] <= 0)
    last = int(ended[0]) if len(ended) else most
    rest = correlation[2 * last]
    if rest <= 0 and pairs[last] < 0:
        rest = 0.0
    return float(-1 + 2 * np.minimum.accumulate(pairs[:last]).sum() + rest)


def _disagreement(
    values: pd.Series,
    apart: list[str],
    n_chains: int,
    trace: Mapping[str, ArrayLike] | None,
    advice: str,
    some_left_out: bool,
) -> str:
    """Return a warning that R-hat is too large, and what that means; the log joint is named first."""
    first = LOG_JOINT if LOG_JOINT in apart else max(apart, key=values.__getitem__)
    further = [name for name in apart if name != first]
    what = f"the {first} (R-hat {_r_hat_text(values[first])})"
    if further:
        worst = max(further, key=values.__getitem__)
        more = f"the {worst} (" if len(further) == 1 else f"{len(further)} other quantities (worst: {worst}, "
        what += f" and {more}{_r_hat_text(values[worst])})"
    if n_chains == 1:
        return (
            f"The chain has not settled: the first and the second half of its sweeps after the burn-in differ in "
            f"{what}. Topics and predictions can be used, but would still change with more sweeps: {advice}. Run "
            "several chains (n_chains=4) to see whether they end in the same place."
        )
    if trace is None:
        moving = f"More sweeps may bring them closer: {advice}."
    elif _steady(trace, apart):
        moving = (
            "Each is steady, so they have settled in different places: more sweeps will hardly help, but more chains "
            "(n_chains) make predictions steadier."
        )
    else:
        moving = f"They are still moving, so more sweeps may bring them closer: {advice}."
    which, over = (f"other {n_chains}", "these") if some_left_out else (f"{n_chains}", "all")
    use = f"Predictions average over {over} chains and can be used."
    if n_chains == 2 and not some_left_out and first == LOG_JOINT:
        use = (
            "Predictions average over both chains; if one of them is stuck, two chains cannot show which: use "
            "n_chains=4."
        )
    return (
        f"The {which} chains do not agree on {what}. {moving} Some disagreement is normal, since topic models have "
        f"many modes. {use} Topics and weights describe the best chain only; another chain would give somewhat "
        "different ones."
    )


def _steady(trace: Mapping[str, ArrayLike], names: list[str]) -> bool:
    """Return whether the halves of most chains agree with each other, for each of the quantities."""

    def typical(draws: NDArray[np.float64]) -> float:
        return float(np.median(np.nan_to_num([r_hat(chain) for chain in draws], nan=1.0)))  # NaN: it is constant

    return all(typical(_as_draws(trace[name])) <= R_HAT_LIMIT for name in names)


def _r_hat_text(value: float) -> str:
    return "over 100" if value > 100 else f"{value:.2f}"


def _variable_names(names: Mapping[str, Any]) -> dict[str, str]:
    """Return a Python identifier for each name, with a number appended where two would be equal."""
    made: dict[str, str] = {}
    for name in names:
        stem = re.sub(r"\W+", "_", name).strip("_") or "quantity"
        stem = f"_{stem}" if stem[0].isdigit() else stem
        candidates = chain([stem], (f"{stem}_{number}" for number in count(2)))
        made[name] = next(one for one in candidates if one not in made.values())
    return made
