"""The Python on the pages of the documentation runs, and their links lead somewhere.

The blocks of a page run one after the other, in one namespace and an empty folder, and nothing else does: a page shows
all that its reader has to type. Fits are made small, whatever the page says.
"""

import re
from pathlib import Path

import pytest

from linktopics import RelationalTopicModel

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
if not DOCS.is_dir():
    pytest.skip("docs/ is not here: an installed package or a source archive has none", allow_module_level=True)

RUN = sorted([DOCS / "index.md", *DOCS.glob("how-to/*.md")])
LONG = ("choosing-settings", "large-networks", "evaluating-honestly")
FOLDERS = ("docs", "examples", "studies", "benchmarks")
LINKED = sorted([*ROOT.glob("*.md"), *(page for folder in FOLDERS for page in ROOT.glob(f"{folder}/**/*.md"))])
CODE = re.compile(r"^```python\n(.*?)^```$", re.DOTALL | re.MULTILINE)
NO_TEXT = re.compile(r"^```.*?^```$|<!--.*?-->|`[^`\n]*`", re.DOTALL | re.MULTILINE)
LINK = re.compile(r"]\((?!\w+:|#)([^)#\s]+)")
SMALL = {"n_topics": 8, "n_burn_in": 5, "n_samples": 2, "thin": 1, "n_chains": 1}


def name(page):
    return page.relative_to(ROOT).as_posix()


@pytest.fixture
def small_fits(monkeypatch):
    fit = RelationalTopicModel.fit

    def small_fit(self, *args, **kwargs):
        self.set_params(**{parameter: min(getattr(self, parameter), most) for parameter, most in SMALL.items()})
        return fit(self, *args, **kwargs)

    monkeypatch.setattr(RelationalTopicModel, "fit", small_fit)
    monkeypatch.setattr("joblib.effective_n_jobs", lambda n_jobs: 1)  # other processes would not know of small fits


@pytest.mark.parametrize(
    "page",
    [pytest.param(page, marks=pytest.mark.long if page.stem in LONG else (), id=name(page)) for page in RUN],
)
@pytest.mark.filterwarnings("ignore::linktopics.errors.NetworkWarning")
@pytest.mark.usefixtures("small_fits")
def test_python_on_the_page_runs(page, tmp_path, shared_cache, monkeypatch):
    monkeypatch.setenv("LINKTOPICS_CACHE", str(shared_cache))
    monkeypatch.chdir(tmp_path)
    text = page.read_text(encoding="utf-8")
    namespace = {}
    for block in CODE.finditer(text):
        lines_above = text.count("\n", 0, block.start()) + 1  # so that a traceback has the page's line numbers
        exec(compile("\n" * lines_above + block[1], str(page), "exec"), namespace)
    assert namespace, "there is no Python on this page; leave it out of RUN"


@pytest.mark.parametrize("page", LINKED, ids=name)
def test_links_lead_somewhere(page):
    targets = LINK.findall(NO_TEXT.sub("", page.read_text(encoding="utf-8")))
    assert [target for target in targets if not (page.parent / target).exists()] == []
