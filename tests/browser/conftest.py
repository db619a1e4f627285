"""Fixtures of the tests in a browser; without one they are skipped, and say so."""

import threading
import time

import pandas as pd
import pytest

from support.browsing import Watch, find_browser, flags, hostile_model, themed_model


@pytest.fixture(scope="module")
def browser():
    """Start the browser of the system, for a module: as long as it runs no other test can have an event loop."""
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    path = find_browser()
    if path is None:
        pytest.skip("no browser is here: install chromium to run the tests of pages")
    with playwright.sync_playwright() as running:
        browser = running.chromium.launch(executable_path=path, args=flags())
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def model():
    return themed_model()


@pytest.fixture(scope="session")
def report(model, tmp_path_factory):
    """Write a report and return its address."""
    from linktopics.explorer.report import write_report

    path = tmp_path_factory.mktemp("report") / "report.html"
    folds = [{"model": name, "fold": k, "link_rank": rank + k, "auc": auc}
             for name, rank, auc in (("linktopics", 10.0, 0.8), ("tfidf", 4.0, 0.7)) for k in (0, 1)]  # fmt: skip
    write_report(model, path, title="Four themes", evaluation=pd.DataFrame(folds), verbose=False)
    return path.as_uri()


@pytest.fixture(scope="session")
def hostile_report(tmp_path_factory):
    from linktopics.explorer.report import write_report

    path = tmp_path_factory.mktemp("hostile") / "report.html"
    write_report(hostile_model(), path, title="</title><script>x</script>", verbose=False)
    return path.as_uri()


@pytest.fixture
def visit(browser):
    """Open pages by address and hash; at the end, none may have complained, and files may have asked for nothing."""
    watch, contexts = Watch(), []

    def visit(address, route="/", width=1280, scheme="light", offline=True, **options):
        context = browser.new_context(
            viewport={"width": width, "height": 900},
            color_scheme=scheme,
            offline=offline,
            accept_downloads=True,
            **options,
        )
        contexts.append(context)
        page = context.new_page()
        watch.over(page)
        page.goto(f"{address}#{route}")
        page.wait_for_selector("main h1, main .notice")
        return page

    visit.watch = watch
    yield visit
    for context in contexts:
        context.close()
    assert watch.complaints == []
    asked = [url for url in watch.requests if not url.startswith(("file:", "http://127.0.0.1", "blob:", "data:"))]
    assert asked == []


@pytest.fixture(scope="module")
def server(model):
    """Start a server in a thread and return its address."""
    pytest.importorskip("starlette", reason="starlette is not installed: the extra linktopics[web]")
    uvicorn = pytest.importorskip("uvicorn", reason="uvicorn is not installed: the extra linktopics[web]")
    from linktopics.explorer import Explorer
    from linktopics.server.app import create_app

    running = uvicorn.Server(uvicorn.Config(create_app(Explorer(model)), port=0, log_level="error"))
    thread = threading.Thread(target=running.run, daemon=True)
    thread.start()
    while not running.started:
        assert thread.is_alive(), "the server did not start"
        time.sleep(0.05)
    port = running.servers[0].sockets[0].getsockname()[1]
    yield f"http://127.0.0.1:{port}/"
    running.should_exit = True
    thread.join(timeout=10)
