// The frame of the pages: the page that is shown, and the navigation.
import { Model } from "./lib/model.js";
import { make, replace } from "./lib/dom.js";
import { showDocuments } from "./pages/documents.js";
import { showGraph } from "./pages/graph.js";
import { showOverview } from "./pages/overview.js";
import { openSource } from "./lib/source.js";
import { hideTip, watchTips } from "./lib/tips.js";
import { showTopics } from "./pages/topics.js";
import { showWeights } from "./pages/weights.js";
import { notice } from "./lib/widgets.js";
import { showWrite } from "./pages/write.js";

const PAGES = [
  { path: "", name: "Overview", show: showOverview },
  { path: "weights", name: "Weights", show: showWeights },
  { path: "graph", name: "Graph", show: showGraph },
  { path: "topics", name: "Topics", show: showTopics },
  { path: "documents", name: "Documents", show: showDocuments },
  { path: "write", name: "Write", show: showWrite, needsServer: true },
];

/** The page, the rest of the path and the query of a hash such as `#/topics/3?x=1`. */
function routeOf(hash) {
  const [path, query = ""] = hash.replace(/^#\/?/, "").split("?");
  const [name = "", which] = path.split("/");
  const number = which === undefined || which === "" ? null : Number(which);
  return { name, which: Number.isInteger(number) ? number : null, query: new URLSearchParams(query) };
}

class Frame {
  constructor(model) {
    this.model = model;
    this.main = document.getElementById("main");
    this.pages = PAGES.filter((page) => model.source.hasTextQueries || !page.needsServer);
    this.links = this.pages.map((page) => make("a", { href: `#/${page.path}` }, page.name));
    this.turn = 0;
    replace(document.getElementById("header"),
      make("a", { class: "brand", href: "#/" }, model.meta.title),
      make("nav", { "aria-label": "Pages" }, this.links), themeButton());
    replace(document.getElementById("footer"), footerOf(model.meta));
    addEventListener("hashchange", () => this.show(true));
    document.getElementById("skip").addEventListener("click", (event) => {
      event.preventDefault(); // the hash names pages, not places
      this.main.focus();
    });
  }

  async show(moved) {
    const { name, which, query } = routeOf(location.hash);
    const page = this.pages.find((each) => each.path === name);
    this.turn += 1;
    const turn = this.turn;
    hideTip();
    this.pages.forEach((each, at) => {
      if (each !== page) {
        this.links[at].removeAttribute("aria-current");
        return;
      }
      this.links[at].setAttribute("aria-current", "page");
      this.links[at].parentElement.scrollLeft = this.links[at].offsetLeft - 120; // on small screens not all fit
    });
    this.main.setAttribute("aria-busy", "true");
    let content;
    try {
      content = page ? await page.show(this.model, which, query) : notice("There is no such page.", "wrong");
    } catch (error) {
      content = notice(error.message, "wrong");
    }
    if (turn !== this.turn) return; // another page was requested in the meantime
    this.main.removeAttribute("aria-busy");
    replace(this.main, content);
    document.title = page?.path ? `${page.name} · ${this.model.meta.title}` : this.model.meta.title;
    if (moved) {
      scrollTo(0, 0);
      this.main.focus({ preventScroll: true });
    }
  }
}

/** Light or dark: as the system is set, until the user chooses. */
function themeButton() {
  const root = document.documentElement;
  const system = matchMedia("(prefers-color-scheme: dark)");
  const dark = () => (root.dataset.theme ? root.dataset.theme === "dark" : system.matches);
  const name = () => (dark() ? "Light" : "Dark");
  const button = make("button", { type: "button", class: "quiet theme" }, name());
  button.setAttribute("aria-label", `Colours: ${name()}`);
  button.addEventListener("click", () => {
    root.dataset.theme = dark() ? "light" : "dark";
    button.textContent = name();
    button.setAttribute("aria-label", `Colours: ${name()}`);
  });
  system.addEventListener("change", () => (button.textContent = name()));
  return button;
}

function footerOf(meta) {
  const version = meta.provenance?.find(([, value]) => String(value).startsWith("linktopics"))?.[1];
  return make("p", {}, `Made by ${version ?? "linktopics"}.`);
}

async function begin() {
  watchTips();
  try {
    const source = openSource();
    const frame = new Frame(new Model(await source.meta(), source));
    await frame.show(false);
  } catch (error) {
    replace(document.getElementById("main"), notice(`This model cannot be shown: ${error.message}`, "wrong"));
  }
}

begin();
