"""A report in a real browser, from a file, with the network off."""

import csv
import io
import re

import pytest

from support.browsing import HOSTILE

ROUTES = ["/", "/weights", "/graph", "/topics", "/topics/1", "/documents", "/documents/7"]
CELLS = "rect[role=gridcell]"

pytestmark = pytest.mark.long  # a browser; test_browser_modules.py needs none


def expect(locator):
    from playwright.sync_api import expect

    return expect(locator)


def show(page, route):
    """Go to another page of the same file and wait until it is drawn."""
    if not page.url.endswith(f"#{route}"):
        page.evaluate("(route) => { document.querySelector('main').replaceChildren(); location.hash = route; }", route)
    page.wait_for_selector("main h1, main .notice")
    page.wait_for_timeout(100)  # what is drawn for the width of its place comes a moment later


def downloaded(page, table=0):
    """Download a table and return its rows as dicts."""
    with page.expect_download() as waiting:
        page.get_by_role("button", name="Download CSV").nth(table).click()
    content = waiting.value.path().read_bytes().decode("utf-8")
    assert content.endswith("\r\n")
    return waiting.value.suggested_filename, list(csv.DictReader(io.StringIO(content, newline="")))


@pytest.mark.parametrize("route", ROUTES)
def test_pages_open_without_network(visit, report, route):
    page = visit(report, route)
    expect(page.locator("main h1")).to_be_visible()
    assert {url.split("#")[0] for url in visit.watch.requests if not url.startswith("data:")} == {report}


def test_navigation_leads_to_all_pages_but_that_of_the_server(visit, report):
    page = visit(report)
    names = page.locator("nav a").all_inner_texts()
    assert names == ["Overview", "Weights", "Graph", "Topics", "Documents"]
    for name in names:
        page.locator("nav").get_by_text(name).click()
        expect(page.locator("nav a[aria-current=page]")).to_have_text(name)
    assert visit(report, "/write").locator(".notice").inner_text() == "There is no such page."
    assert visit(report, "/topics/99").locator(".notice").inner_text() == "There is no topic 99."
    assert "no document" in visit(report, "/documents/9999").locator(".notice").inner_text()


def test_overview_tells_what_there_is(visit, report, model):
    page = visit(report)
    text = page.locator("main").inner_text()
    assert "Four themes" in text
    assert f"the {model.network_.n_links} directed links" in text
    assert page.locator("svg polyline.trace.chain-1").count() > 2
    assert page.locator(".burn").first.get_attribute("width") != "0"
    assert "chains" in page.locator("table", has_text="log joint").inner_text()


def test_quality_is_shown_beside_baselines_best_first(visit, report):
    panels = visit(report).locator("figure.measure")
    rows = [panels.nth(n).locator("li").all_inner_texts() for n in range(panels.count())]
    assert [[" ".join(row.split()) for row in panel] for panel in rows] == [
        ["tfidf 4.50 ± 0.71", "linktopics 10.5 ± 0.71"],
        ["linktopics 0.800 ± 0", "tfidf 0.700 ± 0"],
    ]
    assert panels.locator("li.own .name").all_inner_texts() == ["linktopics"] * 2


class TestWeights:
    def test_hover_tells_value_deviation_and_probability(self, visit, report, model):
        page = visit(report, "/weights")
        page.locator(f"{CELLS}[data-a='1'][data-b='2']").hover()
        tip = page.locator("#tip")
        expect(tip).to_be_visible()
        weight = f"{abs(model.link_weights_[1, 2]):.2f}"
        assert weight in tip.inner_text()
        assert "Standard deviation" in tip.inner_text()
        assert "of samples" in tip.inner_text()
        page.mouse.move(0, 0)
        expect(tip).to_be_hidden()

    def test_click_opens_links_and_words(self, visit, report, model):
        page = visit(report, "/weights")
        page.locator(f"{CELLS}[data-a='0'][data-b='0']").click()
        panel = page.locator("aside")
        expect(panel.locator("h2")).to_have_text("From topic 0 to topic 0")
        expect(panel.locator(".link-list li").first).to_be_visible()
        words = model.topics(n_words=3).sort_index().loc[0, "words"]
        assert words.split(", ")[0] in panel.locator(".bars").inner_text()
        expect(page.locator(f"{CELLS}.chosen")).to_have_attribute("data-a", "0")
        assert page.url.endswith("#/weights?from=0&to=0")
        panel.locator(".link-list a").first.click()
        expect(page.locator("main h1")).to_contain_text("number")

    def test_arrow_keys_enter_and_escape(self, visit, report, model):
        page = visit(report, "/weights")
        page.locator(f"{CELLS}[tabindex='0']").focus()
        page.keyboard.press("ArrowRight")
        page.keyboard.press("ArrowDown")
        at = page.evaluate("[document.activeElement.dataset.a, document.activeElement.dataset.b].map(Number)")
        second = int(page.locator("[data-row='1']").text_content().split(" ")[0])
        assert at == [second, second]
        page.keyboard.press("ArrowLeft")
        page.keyboard.press("ArrowUp")
        first = page.evaluate("[document.activeElement.dataset.a, document.activeElement.dataset.b].map(Number)")
        assert first == [int(page.locator("[data-row='0']").text_content().split(" ")[0])] * 2
        page.keyboard.press("Control+End")
        page.keyboard.press("Control+Home")
        page.keyboard.press("ArrowRight")
        page.keyboard.press("ArrowDown")
        assert page.locator(f"{CELLS}[tabindex='0']").count() == 1
        label = page.evaluate("document.activeElement.getAttribute('aria-label')")
        assert f"{abs(model.link_weights_[at[0], at[1]]):.2f}" in label
        assert re.search("makes a link (more|less) likely|sign uncertain", label)
        expect(page.locator("#tip")).to_be_visible()
        page.keyboard.press("Enter")
        expect(page.locator("aside h2")).to_have_text(f"From topic {at[0]} to topic {at[1]}")
        assert page.evaluate("document.activeElement.tagName") == "ASIDE"
        page.keyboard.press("Escape")
        back = page.evaluate("[document.activeElement.dataset.a, document.activeElement.dataset.b].map(Number)")
        assert back == at

    def test_order_by_number_and_by_share(self, visit, report, model):
        page = visit(report, "/weights")
        first = page.locator("[data-row]")
        page.get_by_label("Order by").select_option("number")
        assert [text.split(" ")[0] for text in first.all_text_contents()] == ["0", "1", "2", "3"]
        page.get_by_label("Order by").select_option("share")
        by_share = model.topics().sort_values("share", ascending=False).index.astype(str).tolist()
        assert [text.split(" ")[0] for text in first.all_text_contents()] == by_share

    def test_colours_follow_the_sign_and_doubt_is_marked(self, visit, report, model):
        page = visit(report, "/weights")
        for a in range(4):
            for b in range(4):
                kind = "attracts" if model.link_weights_[a, b] > 0 else "repels"
                assert kind in page.locator(f"{CELLS}[data-a='{a}'][data-b='{b}']").get_attribute("class")
        marks = page.locator(".matrix .unsure").count()
        labels = [cell.get_attribute("aria-label") for cell in page.locator(CELLS).all()]
        assert marks == sum("uncertain" in label for label in labels)

    def test_other_measures_change_the_numbers(self, visit, report):
        page = visit(report, "/weights")
        before = page.locator(".matrix .number").all_text_contents()
        page.get_by_label("Show").select_option("observed")
        after = page.locator(".matrix .number").all_text_contents()
        assert all(text.startswith("×") for text in after)
        assert before != after

    def test_table_of_cells(self, visit, report, model):
        page = visit(report, "/weights")
        page.get_by_text("All 16 cells as a table").click()
        expect(page.locator("tbody tr")).to_have_count(16)
        name, rows = downloaded(page)
        assert name == "weights.csv"
        assert [float(row["weight"]) for row in rows] == sorted((float(row["weight"]) for row in rows), reverse=True)
        assert float(rows[0]["weight"]) == pytest.approx(model.link_weights_.max(), rel=1e-2)


class TestGraph:
    def test_threshold_takes_edges_away(self, visit, report):
        page = visit(report, "/graph")
        slider, edges = page.locator("input[type=range]"), page.locator(".edge")
        page.get_by_label("Edges by").select_option("affinity")
        slider.fill("0")
        most = edges.count()
        slider.fill("100")
        assert 1 <= edges.count() <= 2 < most
        page.get_by_label("also negative edges").check()
        slider.fill("0")
        assert edges.count() == 12
        assert "12 edges of 12 pairs" in page.locator("output").inner_text()

    def test_nodes_grow_with_their_share_and_edges_have_heads(self, visit, report, model):
        page = visit(report, "/graph")
        radii = [float(page.locator(f"[data-topic='{k}'] .disc").get_attribute("r")) for k in range(4)]
        shares = model.topics().sort_index()["share"]
        assert max(range(4), key=radii.__getitem__) == int(shares.to_numpy().argmax())
        page.locator("input[type=range]").fill("0")
        assert page.locator(".edge .head").count() == page.locator(".edge").count() > 0
        assert page.locator(".ring").count() == 4

    def test_choosing_a_node_shows_its_partners(self, visit, report):
        page = visit(report, "/graph")
        page.locator("[data-topic='2']").click()
        expect(page.locator("aside h2")).to_have_text("Topic 2")
        assert page.locator("aside .partner-list li").count() == 6
        page.locator("[data-topic='2']").focus()
        page.keyboard.press("Escape")
        expect(page.locator("aside h2")).to_have_text("How to use the graph")
        page.keyboard.press("Enter")
        expect(page.locator("aside h2")).to_have_text("Topic 2")

    def test_nodes_move_by_pointer_and_by_keys(self, visit, report):
        page = visit(report, "/graph")
        node = page.locator("[data-topic='1']")
        before = node.get_attribute("transform")
        box = node.locator(".disc").bounding_box()
        page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        page.mouse.down()
        page.mouse.move(box["x"] + 60, box["y"] + 40, steps=4)
        page.mouse.up()
        dragged = node.get_attribute("transform")
        assert dragged != before
        expect(page.locator("aside h2")).to_have_text("How to use the graph")  # dragging is not choosing
        node.focus()
        page.keyboard.press("ArrowUp")
        assert node.get_attribute("transform") != dragged


def test_relevance_slider_changes_the_order_of_words(visit, report, model):
    page = visit(report, "/topics/0")
    words = page.locator(".double .name")
    slider = page.get_by_label("distinctive")
    slider.fill("1")
    probable = words.all_inner_texts()
    assert probable[0] == model.topics(n_words=1).sort_index().loc[0, "words"]
    slider.fill("0")
    assert words.all_inner_texts() != probable
    assert "λ = 0.00" in page.locator("output").inner_text()


class TestDocuments:
    def test_search_by_title_id_and_word(self, visit, report):
        page = visit(report, "/documents")
        field = page.get_by_role("searchbox")
        expect(page.locator(".count")).to_have_text("1 to 50 of 80")
        field.fill("Boats 7")
        expect(page.locator("tbody tr").first).to_contain_text("Boats number 7")
        for query, found in (
            ("stars-5", "Stars number 5"),
            ("pets NUMBER 4", "Pets number 4"),
            ("knea bread-22", "Bread number 22"),
        ):
            field.fill(query)
            expect(page.locator("tbody a.document").first).to_have_text(found)
        field.fill("nothing-of-this-name")
        expect(page.locator("tbody")).to_have_text("Nothing found.")

    def test_pages_turn(self, visit, report):
        page = visit(report, "/documents")
        expect(page.locator("tbody tr")).to_have_count(50)
        page.get_by_role("button", name="Next").click()
        expect(page.locator("tbody tr")).to_have_count(30)
        expect(page.get_by_role("button", name="Next")).to_be_disabled()

    def test_sorting_by_click_and_by_key(self, visit, report):
        page = visit(report, "/documents")
        head = page.locator("th", has_text="Title")
        head.get_by_role("button").click()
        expect(head).to_have_attribute("aria-sort", "ascending")
        titles = page.locator("tbody a.document").all_inner_texts()
        assert titles == sorted(titles)
        assert titles[0] == "Boats number 11"
        head.get_by_role("button").focus()
        page.keyboard.press("Enter")
        expect(head).to_have_attribute("aria-sort", "descending")
        expect(page.locator("tbody a.document").first).to_have_text("Stars number 9")

    def test_documents_of_a_topic(self, visit, report):
        page = visit(report, "/documents?topic=1")
        expect(page.locator("tbody tr").first).to_be_visible()
        shares = [float(row["topic"]) for row in downloaded(page)[1]]
        assert shares == sorted(shares, reverse=True)
        assert 0 < len(shares) < 80

    def test_download_has_all_rows_that_are_found(self, visit, report):
        page = visit(report, "/documents")
        page.get_by_role("searchbox").fill("pets")
        expect(page.locator(".count")).to_have_text("20 rows")
        name, rows = downloaded(page)
        assert name == "documents.csv"
        assert sorted(row["id"] for row in rows) == sorted(f"pets-{number}" for number in range(0, 80, 4))
        assert all(row["label"] == "pets" for row in rows)

    def test_a_document_has_topics_words_links_and_reasons(self, visit, report, model):
        page = visit(report, "/documents/7")
        expect(page.locator("main h1")).to_have_text("Boats number 7")
        assert page.locator(".proportions li").count() >= 1
        assert page.locator(".coloured.text .word").count() > 5
        linked = {row.inner_text() for row in page.locator("table").first.locator("a.document").all()}
        assert linked == {"Boats number 3", "Boats number 11", "Stars number 5"}
        assert page.locator("table").first.locator(".reasons li").count() >= 3
        suggested = page.locator("section", has_text="Suggested, but absent").locator("a.document").all_inner_texts()
        assert suggested
        assert not linked & set(suggested)


def test_filter_of_a_table(visit, report):
    page = visit(report, "/topics")
    page.get_by_role("searchbox").fill("flour")
    expect(page.locator("tbody tr")).to_have_count(1)
    expect(page.locator(".count")).to_have_text("1 row")


class TestLooks:
    @pytest.mark.parametrize("width", [320, 390, 800])
    def test_small_screens_do_not_scroll_sideways(self, visit, report, width):
        page = visit(report, width=width)
        for route in ROUTES:
            show(page, route)
            assert page.evaluate("document.documentElement.scrollWidth") == width, route

    def test_dark_and_light(self, visit, report):
        page = visit(report, scheme="dark")
        ground = "getComputedStyle(document.body).backgroundColor"
        assert page.evaluate(ground) == "rgb(20, 23, 27)"
        page.get_by_role("button", name="Colours").click()
        assert page.evaluate(ground) == "rgb(251, 251, 249)"
        assert page.evaluate("localStorage.length") == 0
        page.reload()
        assert page.evaluate(ground) == "rgb(20, 23, 27)"

    @pytest.mark.parametrize("scheme", ["light", "dark"])
    def test_texts_have_contrast(self, visit, report, scheme):
        page = visit(report, scheme=scheme)
        for route in ROUTES:
            show(page, route)
            assert page.evaluate(FAINT_TEXTS) == [], route

    def test_skip_link_and_landmarks(self, visit, report):
        page = visit(report, "/topics")
        page.keyboard.press("Tab")
        expect(page.locator("#skip")).to_be_focused()
        page.keyboard.press("Enter")
        assert page.evaluate("document.activeElement.id") == "main"
        assert page.url.endswith("#/topics")
        for landmark in ("header", "nav[aria-label]", "main", "footer"):
            assert page.locator(landmark).count() == 1

    @pytest.mark.parametrize("route", ROUTES)
    def test_tab_reaches_the_end_of_each_page(self, visit, report, route):
        page = visit(report, route)
        page.wait_for_timeout(150)
        stops = page.locator("a[href], button:not(:disabled), input, select, summary, [tabindex='0']").count()
        turns = 0
        for _ in range(stops + 2):
            page.keyboard.press("Tab")
            if page.evaluate("document.activeElement === document.body"):
                break
            turns += 1
        assert page.evaluate("document.activeElement === document.body"), "the focus is kept in the page"
        assert turns > 5, "the focus does not come into the page"

    def test_controls_have_names(self, visit, report):
        page = visit(report)
        for route in ROUTES:
            show(page, route)
            assert page.evaluate(NAMELESS) == [], route


class TestHostileTexts:
    """Texts of the data are shown as they are, and run nothing."""

    def test_nothing_runs(self, visit, hostile_report):
        page = visit(hostile_report)
        for route in [*ROUTES, *(f"/documents/{number}" for number in range(len(HOSTILE)))]:
            show(page, route)
            assert page.evaluate("document.documentElement.dataset.hacked") is None
            assert page.locator("main img, main script, main iframe, main [onerror], main [onload]").count() == 0
            assert page.evaluate("[...document.links].every((link) => link.getAttribute('href').startsWith('#'))")

    def test_texts_are_seen_as_they_are(self, visit, hostile_report):
        page = visit(hostile_report)
        for number, text in enumerate(HOSTILE):
            show(page, f"/documents/{number}")
            shown = page.locator("main").text_content()
            for unseen in "\u0007\u2028":
                text, shown = text.replace(unseen, ""), shown.replace(unseen, "")
            assert text in shown
            assert page.locator("main h1").text_content().endswith(f"title {number}")

    def test_cells_tips_and_title(self, visit, hostile_report):
        page = visit(hostile_report, "/weights")
        page.locator(CELLS).first.hover()
        page.locator(CELLS).first.click()
        expect(page.locator("aside .link-list li, aside .notice").first).to_be_visible()
        assert page.evaluate("document.documentElement.dataset.hacked") is None
        assert "<script>x</script>" in page.title()

    def test_files_hold_no_formulas(self, visit, hostile_report):
        page = visit(hostile_report, "/documents")
        _, rows = downloaded(page)
        titles = {row["title"] for row in rows}
        assert f"'{HOSTILE[4]} title 4" in titles
        assert f"{HOSTILE[2]} title 2" in titles  # quotes come back
        assert len(rows) == 24


FAINT_TEXTS = """() => {
  // Texts whose contrast with what is behind them is below 4.5, colours resolved by drawing them.
  const canvas = document.createElement("canvas");
  canvas.width = canvas.height = 1;
  const pen = canvas.getContext("2d", { willReadFrequently: true });
  const flat = (colours) => {
    pen.clearRect(0, 0, 1, 1);
    for (const colour of colours) { pen.fillStyle = colour; pen.fillRect(0, 0, 1, 1); }
    return [...pen.getImageData(0, 0, 1, 1).data];
  };
  const light = ([r, g, b]) => {
    const [x, y, z] = [r, g, b].map((v) => (v / 255 <= 0.04045 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4));
    return 0.2126 * x + 0.7152 * y + 0.0722 * z;
  };
  const behind = (element) => {
    const colours = [];
    for (let at = element; at; at = at.parentElement) colours.unshift(getComputedStyle(at).backgroundColor);
    return colours;
  };
  const wrong = new Set();
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    if (!walker.currentNode.data.trim() || !element.checkVisibility()) continue;
    if (element.closest("script, noscript, .visually-hidden, .skip, caption, :disabled, [hidden]")) continue;
    const style = getComputedStyle(element);
    let ground = behind(element);
    let colour = style.color;
    if (element.closest("svg")) {
      colour = style.fill;
      const cell = element.parentElement.querySelector(".cell, .disc");
      if (element.classList.contains("number") && cell) ground = [...ground, getComputedStyle(cell).fill];
    }
    const back = flat(ground);
    const front = flat([...ground, colour]);
    const [low, high] = [light(back), light(front)].sort((x, y) => x - y);
    const contrast = (high + 0.05) / (low + 0.05);
    if (contrast < 4.5) wrong.add(`${element.tagName}.${element.getAttribute("class")} ${contrast.toFixed(2)}`);
  }
  return [...wrong];
}"""

NAMELESS = """() => {
  const asked = "button, input, select, textarea, a[href], [role=button], [role=gridcell], [role=img]";
  const named = (each) => each.getAttribute("aria-label") || each.textContent.trim() || each.labels?.length;
  const nameless = [...document.querySelectorAll(asked)].filter((each) => each.checkVisibility() && !named(each));
  return nameless.map((each) => each.outerHTML.slice(0, 120));
}"""
