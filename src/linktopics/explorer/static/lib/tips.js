// One tooltip for the page, shown by pointer and by focus.
import { make, replace } from "./dom.js";

const tipBox = make("div", { class: "tip", role: "tooltip", id: "tip", hidden: true });
let tipOwner = null;

/** Show content beside an element. */
export function showTip(element, ...content) {
  if (!tipBox.isConnected) document.body.append(tipBox);
  replace(tipBox, ...content);
  tipBox.hidden = false;
  tipOwner = element;
  placeTip();
}

function placeTip() {
  const element = tipOwner;
  const at = element.getBoundingClientRect();
  const own = tipBox.getBoundingClientRect();
  const left = Math.min(Math.max(8, at.left + at.width / 2 - own.width / 2), innerWidth - own.width - 8);
  const below = at.bottom + 8;
  const top = below + own.height > innerHeight - 8 ? Math.max(8, at.top - own.height - 8) : below;
  tipBox.style.setProperty("left", `${Math.max(8, left)}px`);
  tipBox.style.setProperty("top", `${top}px`);
}

/** Hide the tooltip. */
export function hideTip() {
  tipBox.hidden = true;
}

/** Show what `content()` returns while the pointer is on an element or it has the focus. */
export function withTip(element, content) {
  const show = () => {
    element.setAttribute("aria-describedby", "tip");
    showTip(element, content());
  };
  const hide = () => {
    element.removeAttribute("aria-describedby");
    hideTip();
  };
  element.addEventListener("pointerenter", show);
  element.addEventListener("pointerleave", hide);
  element.addEventListener("focus", show);
  element.addEventListener("blur", hide);
  return element;
}

/** Escape hides the tooltip; while the page scrolls it stays beside its element. */
export function watchTips() {
  addEventListener("keydown", (event) => event.key === "Escape" && hideTip());
  addEventListener("scroll", () => tipBox.hidden || placeTip(), { passive: true, capture: true });
}
