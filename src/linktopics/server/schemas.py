"""Requests and responses of the API, each defined once.

Requests are decoded by these types, within bounds that depend on the server, see `requests`. The OpenAPI description is
derived from all of them, see `api`. Responses may get further keys; bodies of requests have no others.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

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
    """Request for the topics of a text and the links that it should have."""

    text: str
    top: int = 8
    direction: Annotated[Literal["both", "out", "in"], Meta(description="which links count")] = "both"


class ChangesRequest(SuggestRequest, frozen=True):
    """Request for what single words of a text change."""

    add: tuple[str, ...] = ()


class ExplainRequest(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Request for why a document, or a text, links to a document or does not."""

    source: str | UnsetType = UNSET
    text: str | UnsetType = UNSET
    target: str
    top: int = 20

    def __post_init__(self) -> None:
        if (self.source is UNSET) == (self.text is UNSET):
            raise ValueError("Say what links: source, the id of a document, or text; one of the two.")


AnalysisRequest = ChangesRequest | ExplainRequest

EXPLAIN_RULE = {"oneOf": [{"required": ["source"]}, {"required": ["text"]}]}
"""The rule of `ExplainRequest.__post_init__` as JSON Schema."""

_RANGE = "quantile over posterior samples of the probability; their range does not cover all uncertainty"
_MARKS = "where words begin and end, in UTF-16 code units, and their places in words"
_DIRECTION = "from this document or text (out), to it (in), or without a direction (both)"

Count = Annotated[int, Meta(ge=0)]
Share = Annotated[float, Meta(ge=0, le=1)]
SignedShare = Annotated[float, Meta(ge=-1, le=1)]
Probability = Annotated[Share | None, Meta(description="of a link, as rare as links are in the network")]
Number = float | None
Matrix = list[list[Number]]
DocumentNumber = Annotated[int, Meta(ge=0, description="the number of a document: its place in the network")]
TopicNumber = Annotated[int, Meta(ge=0, description="the number of a topic")]
TopicPair = Annotated[tuple[TopicNumber, TopicNumber], Meta(description="topics of the source and of the target")]
TopicWeights = list[tuple[TopicNumber, float]]
TopicShares = list[tuple[TopicNumber, Share]]
FirstTopicShares = Annotated[TopicShares, Meta(max_length=3)]
Direction = Annotated[Literal["out", "in", "both"], Meta(description=_DIRECTION)]


class Error(Struct):
    """What is wrong with a request, or went wrong in the server."""

    error: Annotated[str, Meta(description="what is wrong, in a sentence")]
    number: Annotated[str, Meta(description="in the log")] | UnsetType = UNSET


class Name(Struct):
    """Id and title of a document."""

    id: str
    title: Annotated[str, Meta(description="the id where there is no title")]


Names = Annotated[dict[str, Name], Meta(description="ids and titles of mentioned documents, by their numbers")]


class NumberedName(Name):
    """Number, id and title of a document."""

    j: DocumentNumber


class Health(Struct):
    """State of the server."""

    status: Literal["ok"]
    version: str
    documents: Count
    prepared: Annotated[bool, Meta(description="whether what can be computed in advance is")]


class _Contribution(Struct, kw_only=True):
    contribution: Annotated[float, Meta(description="what it adds to the score of the link")]
    part: Annotated[float, Meta(description="the same by its old name")]
    share: Annotated[SignedShare, Meta(description="of all contributions of its sign")]


class Part(_Contribution, kw_only=True):
    """A part of the score of a link, of a pair of topics or of a feature."""

    topics: TopicPair | UnsetType = UNSET
    feature: str | UnsetType = UNSET
    detail: str | UnsetType = UNSET


class ReasonPart(Part, kw_only=True):
    """A part of what speaks for a link."""

    share: Annotated[Share, Meta(description="of all that speaks for the link")]


_TOPICS_OR_FEATURE = Meta(extra_json_schema={"oneOf": [{"required": ["topics"]}, {"required": ["feature", "detail"]}]})
Parts = Annotated[list[Annotated[Part, _TOPICS_OR_FEATURE]], Meta(description="largest first")]
Reasons = Annotated[list[Annotated[ReasonPart, _TOPICS_OR_FEATURE]], Meta(max_length=3)]


class Topic(Struct):
    """A topic."""

    share: Annotated[Share, Meta(description="of all words of the documents")]
    coherence: Annotated[Number, Meta(description="NPMI of its first words")]
    attraction: Annotated[Number, Meta(description="weight of links from the topic to itself")]
    words: Annotated[list[str], Meta(description="those with most probability and relevance")]
    p: Annotated[list[Share], Meta(description="of the word in the topic")]
    q: Annotated[list[Share], Meta(description="of the word in all documents")]
    documents: Annotated[list[DocumentNumber], Meta(description="those that are mostly about it")]
    partners: Annotated[TopicWeights, Meta(description="topics it links to, and the weight")]


class OneTopic(Topic):
    """A topic and the names of its documents."""

    k: TopicNumber
    names: Names


class Topics(Struct):
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
    reads_texts: bool
    labels: list[str] | None
    fingerprint: Annotated[str, Meta(description="SHA-256 of counts and links")]
    summary: str
    report: Annotated[list[str], Meta(description="what was dropped when the data were read")]


class _Estimate(Struct):
    mean: Number
    sd: Number


class Measure(_Estimate):
    """A measure of how well the model predicts."""

    name: str
    better: Literal["higher", "lower"]
    description: str


class Quality(Struct):
    """How well the model predicts, with baselines."""

    measures: list[Measure]
    baselines: list[dict[str, Any]]
    folds: Count
    from_: str = field(name="from")


class MixingRow(_Estimate):
    """How a quantity mixes."""

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
    order: list[TopicNumber]
    layout: list[tuple[float, float]]


class Overview(Struct):
    """The model: all but single documents and links."""

    version: Annotated[Count, Meta(description="goes up when something here changes its meaning")]
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


class CellLink(_Contribution):
    """A link that the weight of two topics explains, and what that contributes."""

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
    """A link that is not there, but probable."""

    lower: Annotated[Share | None, Meta(description=f"5 % {_RANGE}")]
    upper: Annotated[Share | None, Meta(description=f"95 % {_RANGE}")]


class Document(_About):
    """A document."""

    text: Annotated[str | None, Meta(description="its beginning")]
    columns: dict[str, str | None]
    topics: TopicShares
    words: Annotated[list[tuple[str, Count, TopicNumber]], Meta(description="word, count, the topic it is about")]
    links: list[DocumentLink]
    suggested: Annotated[list[SuggestedLink], Meta(description="links that are not there")]
    names: Names


class TextWord(Struct):
    """A word of a text."""

    word: str
    count: Annotated[int, Meta(ge=1)]
    known: bool
    topics: Annotated[FirstTopicShares, Meta(description="where its tokens go")]


class Suggestion(SuggestedLink):
    """A link that a text should have."""

    id: str
    title: str


class Suggestions(Struct):
    """Topics of a text, of each of its words, and links that it should have."""

    tokens: Annotated[Count, Meta(description="words of the text, but for stop words")]
    known: Annotated[Count, Meta(description="of them known to the model; without one nothing is suggested")]
    unknown: Annotated[list[str], Meta(description="words that the model does not know")]
    topics: Annotated[TopicShares, Meta(description="what the text is about, largest share first")]
    words: Annotated[list[TextWord], Meta(description="distinct words, by first occurrence")]
    marks: Annotated[list[tuple[Count, Count, Count]], Meta(description=_MARKS)]
    suggestions: list[Suggestion]


class ProbabilityChange(Struct):
    """The change of the probability of a link."""

    j: DocumentNumber
    change: float


class WordEffect(Struct):
    """What a word of a text changes."""

    word: str
    count: Count
    topics: Annotated[TopicWeights, Meta(description="largest changes of the shares of topics")]
    suggestions: Annotated[list[ProbabilityChange], Meta(description="changes of probabilities")]
    gone: Annotated[list[DocumentNumber], Meta(description="suggestions that are none any more")]
    new: Annotated[list[DocumentNumber], Meta(description="suggestions that were none before")]


class BaseProbability(Struct):
    """The probability of a link before a change."""

    j: DocumentNumber
    probability: Probability


class Changes(Struct):
    """What single words of a text change."""

    words: Annotated[list[WordEffect], Meta(max_length=100, description="what leaving a word out changes")]
    added: Annotated[list[WordEffect], Meta(description="what adding a word once changes")]
    unknown: Annotated[list[str], Meta(description="words to add that the model does not know")]
    suggestions: Annotated[list[BaseProbability], Meta(description="what changes start from")]
    names: Names


class Explanation(Struct):
    """What speaks for and against a link."""

    source: NumberedName | None
    target: NumberedName
    linked: Annotated[bool | None, Meta(description="whether the data have this link")]
    probability: Probability
    score: Annotated[float, Meta(description="the sum of all parts")]
    parts: Parts
    parts_in_all: Count
