"""The catalogue of bad and of odd input: each kind, how it is made, and what must come of it.

`tests/cli/test_bad_input.py` tries every kind, and `tools/make_bad_input.py` makes a page of them.
"""

from catalogue import counts, documents, files, links, models, networks, other_forms, settings
from catalogue.kinds import Group, Kind, pattern

__all__ = ["GROUPS", "Group", "Kind", "pattern"]

GROUPS: list[Group] = [
    files.GROUP,
    files.ENCODINGS,
    documents.GROUP,
    documents.IDS,
    links.GROUP,
    other_forms.GROUP,
    networks.GROUP,
    counts.GROUP,
    counts.LINKS,
    counts.FRAMES,
    settings.GROUP,
    models.GROUP,
]
