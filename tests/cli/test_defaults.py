"""Defaults that help texts show and commands use are those of the Python interface, which they are read from."""

import inspect
import re

import pytest
import typer

from linktopics import Checkpoint, RelationalTopicModel
from linktopics.cli.app import app
from linktopics.cli.defaults import FILES, default
from linktopics.cli.fit import settings_of
from linktopics.cli.runs import PARAMETERS, training_options
from linktopics.evaluation.evaluation import DEFAULT_MODEL_NAME, evaluate, make_model
from linktopics.explorer.report import write_report
from linktopics.features import DEFAULT_FEATURES, resolve_features
from linktopics.model.estimator import PAPER_SETTING
from linktopics.model.training import DEFAULT_LINK_COST
from linktopics.readers.texts import default_vectorizer

COMMANDS = typer.main.get_command(app).commands
SIGNATURE = inspect.signature(RelationalTopicModel).parameters
LINK_COST = f"{DEFAULT_LINK_COST['full']:g}, diagonal: {DEFAULT_LINK_COST['diagonal']:g}"

IN_WORDS = {
    "link_cost": LINK_COST,
    "seed_weight": "1 % of a topic, at least 10",
    "directed": "directed",
    "learn_alpha": None,
    "learn_beta": None,
    "seed": "0",
    "jobs": "all cores",
}
"""Where the signature has None or False, or the command a value of its own, by option."""


def told(command):
    """Return the defaults in the help of a command's options, None where there is none."""
    found = {}
    for parameter in COMMANDS[command].params:
        match = re.search(r"\(default (.*)\)\.$", getattr(parameter, "help", None) or "")
        found[parameter.name] = match and match[1]
    return found


def written(value):
    return f"{value:g}" if isinstance(value, int | float) else value


@pytest.mark.parametrize("name", SIGNATURE)
def test_parameters_are_read_from_the_source(name):
    assert default(name) == SIGNATURE[name].default


FUNCTIONS = {
    **{name: getattr(RelationalTopicModel, name) for name in ("fit", "resume", "suggest_links", "topics", "coherence")},
    "explain_link": RelationalTopicModel.explain_link,
    "WordPredictionMixin.predict_words": RelationalTopicModel.predict_words,
    "Checkpoint": Checkpoint,
    "evaluate": evaluate,
    "write_report": write_report,
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_arguments_are_read_from_the_source(name):
    parameters = inspect.signature(FUNCTIONS[name]).parameters.values()
    given = {one.name: one.default for one in parameters if one.default is not one.empty}
    assert given
    assert {argument: default(f"{name}.{argument}") for argument in given} == given


def test_tables_are_read_from_the_source():
    assert {name: default(f"PAPER_SETTING.{name}") for name in PAPER_SETTING} == PAPER_SETTING
    assert {name: default(f"DEFAULT_LINK_COST.{name}") for name in DEFAULT_LINK_COST} == DEFAULT_LINK_COST
    assert default("DEFAULT_FEATURES") == DEFAULT_FEATURES
    assert set(FILES) - {name.partition(".")[0] for name in FUNCTIONS} == {
        "RelationalTopicModel", "PAPER_SETTING", "DEFAULT_LINK_COST", "DEFAULT_FEATURES",
    }  # fmt: skip


@pytest.mark.parametrize("option", PARAMETERS)
def test_of_the_model(option):
    expected = IN_WORDS[option] if option in IN_WORDS else written(SIGNATURE[PARAMETERS[option]].default)
    assert told("fit")[option] == expected


def test_that_are_put_in_words():
    assert SIGNATURE["link_cost"].default is None
    assert SIGNATURE["directed"].default is None
    assert SIGNATURE["seed_weight"].default is None
    assert SIGNATURE["learn_alpha"].default is None
    assert SIGNATURE["learn_beta"].default is False
    assert settings_of({}) == {"random_state": 0, "n_jobs": -1}


def test_of_calibration_and_features():
    assert told("fit")["calibration"] == SIGNATURE["calibration"].default
    assert told("fit")["feature"] == ", ".join(DEFAULT_FEATURES)
    found = resolve_features(SIGNATURE["pair_features"].default)
    assert [feature.name for feature in found] == list(DEFAULT_FEATURES)


@pytest.mark.parametrize("command", ["fit", "resume"])
def test_of_checkpoints_and_engines(command):
    found, checkpoint = told(command), Checkpoint("model")
    assert found["checkpoint_every"] == written(checkpoint.every)
    assert found["checkpoint_minutes"] == written(checkpoint.minutes)
    assert training_options({}, "model") == {"checkpoint": checkpoint, "engine": found["engine"]}
    assert inspect.signature(getattr(RelationalTopicModel, command)).parameters["engine"].default == found["engine"]


def test_of_reading():
    vectorizer = default_vectorizer()
    found = told("fit")
    assert found["min_documents"] == written(vectorizer.min_df)
    assert found["max_share"] == written(vectorizer.max_df)
    assert found["stop_words"] == vectorizer.stop_words


def test_of_evaluate():
    shown = {parameter.name: parameter.show_default for parameter in COMMANDS["evaluate"].params}
    paper, ours = (make_model(name).get_params() for name in ("Gibbs-gRTM", DEFAULT_MODEL_NAME))
    for option in ("burn_in", "samples", "chains", "negatives"):
        name = PARAMETERS[option]
        assert shown[option] == f"{written(paper[name])}, linktopics {written(ours[name])}"
    assert shown["alpha"] == written(paper["alpha"]) == written(ours["alpha"])
    assert (shown["link_cost"], paper["link_cost"], ours["link_cost"]) == (LINK_COST, None, None)
    assert COMMANDS["evaluate"].params[3].default == ours["n_topics"]


@pytest.mark.parametrize(
    ("command", "function", "names"),
    [
        ("suggest", "suggest_links", {name: name for name in ("top", "direction", "interval", "search")}),
        ("words", "predict_words", {"top": "top"}),
        ("explain", "explain_link", {"new_end": "new_end"}),
        ("topics", "topics", {"words": "n_words", "documents": "n_documents"}),
        ("report", write_report, {"suggestions": "suggestions", "texts": "texts"}),
        ("evaluate", evaluate, {"folds": "folds", "words": "words"}),
    ],
)
def test_of_answers(command, function, names):
    function = getattr(RelationalTopicModel, function) if isinstance(function, str) else function
    expected = inspect.signature(function).parameters
    given = {parameter.name: parameter.default for parameter in COMMANDS[command].params}
    assert {option: given[option] for option in names} == {one: expected[name].default for one, name in names.items()}
