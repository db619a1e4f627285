"""Patterns of words: which of them may take very long."""

from linktopics.storage.regex_safety import is_slow_pattern

QUICK = [
    r"(?u)\b\w\w+\b", r"(?u)\b[^\W\d_]\w+\b", r"\S+", r"[a-z]+(?:-[a-z]+)*", r"\b\w+(?:'\w+)?\b", r"(\w+)", "",
    r"[a-z]{2,20}(?:-[a-z]{1,20})?(?:'[a-z]{1,3})?", r"\d{1,4}[-/]\d\d?[-/]\d\d?", r"https?://\S+|\w+s?\b",
    r"#\w+|@\w+|\w+", r"(?<!\w)\w+(?!\w)", r"\d+(?:[.,]\d+)*", r"\b\w{3,20}\b", r"(?:[a-z]|[0-9])+",
]  # fmt: skip
SLOW = [
    r"(a+)+$", r"(a*)*b", r"\w*\w*\w*!", r"(?:a|ab|b)+c", r"(.*)*x", r"(\w)\1+", r"(?:-?[a-z]+)*!", r"\S+\w+!",
    "a{0,30}" * 8 + "b", "a?" * 28 + "a" * 28 + "b", "(?:a|aa)" * 28 + "b", r"(?:xa?a?y?)*c",
    r"(?:x[ab]{0,5}[ab]{0,5})*c", r"(a{1,50}){1,50}b", r"[\u4e00-\u4fff]*[\u4f00-\u9fff]*!", "a" * 1001,
]  # fmt: skip


def test_patterns():
    assert [pattern for pattern in QUICK if is_slow_pattern(pattern)] == []
    assert [pattern for pattern in SLOW if not is_slow_pattern(pattern)] == []
