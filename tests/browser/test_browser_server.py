"""The explorer in a real browser: the same pages from a server, and the page for texts."""

import pytest

TEXT = "The kitten drinks milk, purrs and sleeps by the telescope; a cat, a mouse, a paw. Zorblax!"

pytestmark = pytest.mark.long  # a browser; test_browser_modules.py needs none


def expect(locator):
    from playwright.sync_api import expect

    return expect(locator)


@pytest.mark.parametrize(
    "route", ["/", "/weights", "/graph", "/topics", "/topics/1", "/documents", "/documents/7", "/write"]
)
def test_pages_open(visit, server, route):
    page = visit(server, route, offline=False)
    expect(page.locator("main h1")).to_be_visible()
    assert page.locator(".notice.wrong").count() == 0
    assert "Write" in page.locator("nav").inner_text()


def test_cell_and_search(visit, server):
    page = visit(server, "/weights", offline=False)
    page.locator("rect[data-a='0'][data-b='0']").click()
    expect(page.locator("aside .link-list li").first).to_be_visible()
    page.goto(f"{server}#/documents")
    page.get_by_role("searchbox").fill("stars-5")
    expect(page.locator("tbody a.document").first).to_have_text("Stars number 5")
    page.locator("tbody a.document").first.click()
    expect(page.locator("main h1")).to_have_text("Stars number 5")


class TestWriting:
    @pytest.fixture
    def page(self, visit, server):
        page = visit(server, "/write", offline=False)
        page.get_by_label("The text").fill(TEXT)
        expect(page.locator(".suggestions > li").first).to_be_visible()
        return page

    def test_words_topics_and_suggestions(self, page):
        words = page.locator(".answer-words button.word")
        assert {"kitten", "milk", "telescope", "cat"} <= {text.lower() for text in words.all_inner_texts()}
        assert "zorblax" in page.locator(".answer-words").inner_text().lower()
        assert page.locator(".answer-words .unknown", has_text="Zorblax").count() == 1
        expect(page.locator(".suggestions > li").first).to_contain_text("Pets number")
        assert "%" in page.locator(".suggestions > li").first.inner_text()
        assert page.locator(".suggestions .reasons li").count() >= 3
        words.first.hover()
        expect(page.locator("#tip .bars li").first).to_be_visible()

    def test_leaving_words_out_and_adding_some(self, page):
        assert page.locator(".difference").count() == 0
        before = page.locator(".answer-topics").inner_text()
        page.locator(".answer-words button.word", has_text="kitten").click()
        expect(page.locator(".answer-words button.out")).to_have_text("kitten")
        expect(page.locator(".difference").first).to_be_visible()
        for words in ("galaxy orbit", "star planet moon comet light star planet moon comet galaxy"):
            page.get_by_label("A word to add").fill(words)
            page.keyboard.press("Enter")
            expect(page.locator(".chip.added", has_text=words)).to_be_visible()
        expect(page.locator(".suggestions .badge, .gone li").first).to_be_visible()
        page.get_by_role("button", name="Undo all").click()
        expect(page.locator(".difference")).to_have_count(0)
        assert page.locator(".answer-topics").inner_text() == before

    def test_what_each_word_changes(self, page):
        table = page.locator("table")
        expect(table).to_contain_text("kitten")
        assert table.locator("tbody tr").count() >= 5
        table.get_by_role("button", name="kitten").click()
        expect(page.locator(".chip.removed")).to_have_text("kitten ×")

    def test_the_text_is_there_after_looking_at_a_document(self, page):
        page.locator(".suggestions a.document").first.click()
        expect(page.locator("main h1")).to_contain_text("number")
        page.go_back()
        expect(page.get_by_label("The text")).to_have_value(TEXT)
        expect(page.locator(".suggestions > li").first).to_be_visible()

    def test_small_screens_do_not_scroll_sideways(self, page):
        page.set_viewport_size({"width": 390, "height": 844})
        page.wait_for_timeout(150)
        assert page.evaluate("document.documentElement.scrollWidth") == 390

    def test_an_example_and_clear(self, page):
        page.get_by_role("button", name="Clear").click()
        expect(page.locator(".suggestions")).to_have_count(0)
        page.get_by_role("button", name="Take a document").click()
        expect(page.locator(".suggestions > li").first).to_be_visible()


def test_nothing_known_and_errors_in_words(visit, server):
    page = visit(server, "/write", offline=False)
    page.get_by_label("The text").fill("zorblax qwxyz")
    expect(page.locator(".answer-suggestions .notice")).to_contain_text("in the vocabulary of the model, so no links")
    page.context.set_offline(True)
    page.get_by_label("The text").fill("kitten")
    expect(page.locator(".answer-suggestions .notice")).to_contain_text("The server does not answer")
    visit.watch.complaints.clear()  # the browser itself complains of failed requests


def test_hostile_texts_run_nothing(visit, server):
    page = visit(server, "/write", offline=False)
    page.get_by_label("The text").fill("kitten <img src=x onerror=alert(1)> <script>alert(2)</script> milk")
    expect(page.locator(".suggestions > li").first).to_be_visible()
    assert "<img src=x onerror=alert(1)>" in page.locator(".answer-words").inner_text()
    assert page.locator("main img, main script").count() == 0
