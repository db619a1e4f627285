"""Requests and responses of the API, each defined once.

Requests are decoded by these types, within bounds that depend on the server, see `requests`. The OpenAPI description is
derived from all of them, see `api`. Responses may gain keys in later versions; unknown keys in bodies of requests are
rejected.
"""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import UNSET, Meta, Struct, UnsetType, field


class CellQuery(Struct, frozen=True):
    """Query of a cell of the weight matrix."""

    top: int = 8


class DocumentsQuery(Struct, frozen=True):
    """Query of a list of documents."""

    query: str = ""
    topic: int | UnsetType = UNSET
    sort: str = "number"
    descending: bool = False
    page: int = 0
    size: int = 50

    def __post_init__(self) -> None:
        if self.sort == "topic" and self.topic is UNSET:
            raise ValueError("Documents are sorted by the share of a topic, so sort=topic needs topic=.")


class DocumentQuery(Struct, frozen=True):
    """Query of a document."""

    by: Literal["id", "number"] = "id"


class SuggestRequest(Struct, frozen=True, forbid_unknown_fields=True):
    """Request for the topics of a text and suggested links."""

    text: str
    top: int = 8
    direction: Annotated[Literal["both", "out", "in"], Meta(description="direction of the links")] = "both"


class ChangesRequest(SuggestRequest, frozen=True):
    """Request for the effects of single words of a text."""

    add: tuple[str, ...] = ()


class ExplainRequest(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Request for the contributions to the score of a link from a document, or a text, to a document."""

    source: str | UnsetType = UNSET
    text: str | UnsetType = UNSET
    target: str
    top: int = 20

    def __post_init__(self) -> None:
        if (self.source is UNSET) == (self.text is UNSET):
            raise ValueError("Give the source of the link, either source (the id of a document) or text.")


AnalysisRequest = ChangesRequest | ExplainRequest

EXPLAIN_RULE = {"oneOf": [{"required": ["source"]}, {"required": ["text"]}]}
"""The rule of `ExplainRequest.__post_init__` as JSON Schema."""

_RANGE = "quantile over posterior samples of the probability; their range does not cover all uncertainty"
_PROBABILITY = "probability of a link in the network, calibrated if the model has a calibration"
_MARKS = "begin and end of a word, in UTF-16 code units, and its index in words"
_DIRECTION = "from this document or text (out), to it (in), or without a direction (both)"

Count = Annotated[int, Meta(ge=0)]
Share = Annotated[float, Meta(ge=0, le=1)]
SignedShare = Annotated[float, Meta(ge=-1, le=1)]
Probability = Annotated[Share | None, Meta(description=_PROBABILITY)]
Number = float | None
Matrix = list[list[Number]]
DocumentNumber = Annotated[int, Meta(ge=0, description="the number of a document: its index in the network")]
TopicNumber = Annotated[int, Meta(ge=0, description="the number of a topic")]
TopicPair = Annotated[tuple[TopicNumber, TopicNumber], Meta(description="topics of the source and of the target")]
TopicWeights = list[tuple[TopicNumber, float]]
TopicShares = list[tuple[TopicNumber, Share]]
FirstTopicShares = Annotated[TopicShares, Meta(max_length=3)]
Direction = Annotated[Literal["out", "in", "both"], Meta(description=_DIRECTION)]


class Error(Struct):
    """An error in a request, or in the server."""

    error: Annotated[str, Meta(description="the error, in a sentence")]
    number: Annotated[str, Meta(description="in the log")] | UnsetType = UNSET


class Name(Struct):
    """Id and title of a document."""

    id: str
    title: Annotated[str, Meta(description="the id if there is no title")]


Names = Annotated[dict[str, Name], Meta(description="ids and titles of mentioned documents, by their numbers")]


class NumberedName(Name):
    """Number, id and title of a document."""

    j: DocumentNumber


class Health(Struct):
    """State of the server."""

    status: Literal["ok"]
    version: str
    documents: Count
    prepared: Annotated[bool, Meta(description="whether precomputation has finished")]


class _ContributionSize(Struct, kw_only=True):
    contribution: Annotated[float, Meta(description="contribution to the score of the link")]
    part: Annotated[float, Meta(description="former name of contribution")]
    share: Annotated[SignedShare, Meta(description="of all contributions of its sign")]


class Contribution(_ContributionSize, kw_only=True):
    """The contribution of a pair of topics, or of a feature, to the score of a link."""

    topics: TopicPair | UnsetType = UNSET
    feature: str | UnsetType = UNSET
    detail: str | UnsetType = UNSET


class PositiveContribution(Contribution, kw_only=True):
    """A positive contribution to the score of a link."""

    share: Annotated[Share, Meta(description="of all positive contributions")]


_TOPICS_OR_FEATURE = Meta(extra_json_schema={"oneOf": [{"required": ["topics"]}, {"required": ["feature", "detail"]}]})
Contributions = Annotated[list[Annotated[Contribution, _TOPICS_OR_FEATURE]], Meta(description="largest first")]
Reasons = Annotated[list[Annotated[PositiveContribution, _TOPICS_OR_FEATURE]], Meta(max_length=3)]


class Topic(Struct):
    """A topic."""

    share: Annotated[Share, Meta(description="of all words of the documents")]
    coherence: Annotated[Number, Meta(description="NPMI of its first words")]
    attraction: Annotated[Number, Meta(description="weight of links from the topic to itself")]
    words: Annotated[list[str], Meta(description="the most probable and the most relevant ones")]
    p: Annotated[list[Share], Meta(description="of the word in the topic")]
    q: Annotated[list[Share], Meta(description="of the word in all documents")]
    documents: Annotated[list[DocumentNumber], Meta(description="typical documents")]
    partners: Annotated[TopicWeights, Meta(description="topics that it links to, and their weights")]
    partners_in: Annotated[TopicWeights, Meta(description="topics that link to it, and their weights")]


class OneTopic(Topic):
    """A topic and the names of its documents."""

    k: TopicNumber
    names: Names


class TopicList(Struct):
    """All topics."""

    topics: list[Topic]
    names: Names


class Data(Struct):
    """The network that the model was fitted to."""

    documents: Count
    words: Count
    tokens: Count
    links: Count
    directed: bool
    has_texts: bool
    has_titles: bool
    has_labels: bool
    reads_texts: bool
    labels: list[str] | None
    fingerprint: Annotated[str, Meta(description="SHA-256 of counts and links")]
    summary: str
    report: Annotated[list[str], Meta(description="values dropped when the data were read")]


class _Estimate(Struct):
    mean: Number
    sd: Number


class Measure(_Estimate):
    """A measure of the quality of predictions."""

    name: str
    better: Literal["higher", "lower"]
    description: str


class ModelQuality(Struct):
    """The quality of predictions of a model."""

    model: Annotated[str, Meta(description="name of the model")]
    measures: list[Measure]


class Quality(ModelQuality):
    """The quality of predictions, with baselines."""

    baselines: list[ModelQuality]
    folds: Count
    from_: str = field(name="from")


class MixingRow(_Estimate):
    """The mixing of a quantity."""

    quantity: str
    r_hat: Number
    ess: Number


class Mixing(Struct):
    """Sampling: traces and their diagnostics."""

    table: list[MixingRow]
    traces: dict[str, Matrix]
    step: Count
    burn_in: Count
    sweeps: Count
    chains: Count
    samples: Count
    best_chain: Annotated[Count, Meta(description="the chain of topics and weights")]
    verdict: str | None


class FeatureWeight(_Estimate):
    """The weight of a feature of pairs."""

    name: str
    positive: Number


class Weights(Struct):
    """The weights of pairs of topics."""

    mean: Matrix
    sd: Matrix
    positive: Matrix
    observed: Matrix
    chance: Matrix
    symmetric: bool
    diagonal: Annotated[bool, Meta(description="whether different topics have no weights")]
    order: list[TopicNumber]
    layout: list[tuple[float, float]]
    note: Annotated[str | None, Meta(description="a reason not to interpret the weights")]


class Overview(Struct):
    """The model: everything but single documents and links."""

    version: Annotated[Count, Meta(description="increases when the meaning of a key changes")]
    title: str
    data: Data
    settings: list[tuple[str, str]]
    quality: Quality | None
    mixing: Mixing
    provenance: list[tuple[str, str]]
    topics: list[Topic]
    features: list[FeatureWeight]
    weights: Weights
    names: Names
    notes: Annotated[list[str], Meta(description="what was left out, in a report")]


class CellLink(_ContributionSize):
    """A link that the weight of two topics explains, and the contribution of the weight."""

    source: DocumentNumber
    target: DocumentNumber
    probability: Probability


class Cell(Struct):
    """The links that the weight of two topics explains best."""

    a: TopicNumber
    b: TopicNumber
    links: list[CellLink]
    names: Names


class _About(Struct):
    i: DocumentNumber
    id: str
    title: str
    label: str | None
    tokens: Count


class DocumentRow(_About):
    """A document in a list."""

    links_out: Count
    links_in: Count
    topics: FirstTopicShares


class Documents(Struct):
    """A page of documents."""

    total: Annotated[Count, Meta(description="documents that were found")]
    page: Count
    size: Count
    rows: list[DocumentRow]


class _PairOfDocuments(Struct):
    j: DocumentNumber
    direction: Direction
    probability: Probability
    why: Reasons


class DocumentLink(_PairOfDocuments):
    """A link of a document."""

    surprising: Annotated[bool, Meta(description="less probable than nine of ten links")]


class SuggestedLink(_PairOfDocuments):
    """An absent link that is probable."""

    lower: Annotated[Share | None, Meta(description=f"5 % {_RANGE}")]
    upper: Annotated[Share | None, Meta(description=f"95 % {_RANGE}")]


class Document(_About):
    """A document."""

    text: Annotated[str | None, Meta(description="its beginning")]
    columns: dict[str, str | None]
    topics: TopicShares
    words: Annotated[list[tuple[str, Count, TopicNumber]], Meta(description="word, count, main topic")]
    n_links: Annotated[Count, Meta(description="links of the document; links has the most and least probable ones")]
    links: list[DocumentLink]
    suggested: Annotated[list[SuggestedLink], Meta(description="absent links")]
    surprising_below: Annotated[Number, Meta(description="probability below which links are surprising")]
    names: Names


class TextWord(Struct):
    """A word of a text."""

    word: str
    count: Annotated[int, Meta(ge=1)]
    known: bool
    topics: Annotated[FirstTopicShares, Meta(description="topics of its tokens")]


class Suggestion(SuggestedLink):
    """A suggested link of a text."""

    id: str
    title: str


class Suggestions(Struct):
    """Topics of a text and of each of its words, and suggested links."""

    tokens: Annotated[Count, Meta(description="words of the text, without stop words")]
    known: Annotated[Count, Meta(description="those in the vocabulary; if there is none, nothing is suggested")]
    unknown: Annotated[list[str], Meta(description="words that are not in the vocabulary")]
    topics: Annotated[TopicShares, Meta(description="topics of the text, largest share first")]
    words: Annotated[list[TextWord], Meta(description="distinct words, by first occurrence")]
    marks: Annotated[list[tuple[Count, Count, Count]], Meta(description=_MARKS)]
    suggestions: list[Suggestion]


class ProbabilityChange(Struct):
    """The change of the probability of a link."""

    j: DocumentNumber
    change: float


class WordEffect(Struct):
    """The effects of a word of a text."""

    word: str
    count: Count
    topics: Annotated[TopicWeights, Meta(description="largest changes of the shares of topics")]
    suggestions: Annotated[list[ProbabilityChange], Meta(description="changes of probabilities")]
    gone: Annotated[list[DocumentNumber], Meta(description="former suggestions that are no longer suggested")]
    new: Annotated[list[DocumentNumber], Meta(description="new suggestions")]


class BaseProbability(Struct):
    """The probability of a link before a change."""

    j: DocumentNumber
    probability: Probability


class Changes(Struct):
    """The effects of single words of a text."""

    words: Annotated[list[WordEffect], Meta(max_length=100, description="effects of leaving a word out")]
    added: Annotated[list[WordEffect], Meta(description="effects of adding a word once")]
    unknown: Annotated[list[str], Meta(description="words to add that are not in the vocabulary")]
    suggestions: Annotated[list[BaseProbability], Meta(description="probabilities before the changes")]
    names: Names


class Explanation(Struct):
    """The contributions to the score of a link."""

    source: NumberedName | None
    target: NumberedName
    linked: Annotated[bool | None, Meta(description="whether the data have this link")]
    probability: Probability
    score: Annotated[float, Meta(description="the sum of all contributions")]
    parts: Contributions
    parts_in_all: Count
