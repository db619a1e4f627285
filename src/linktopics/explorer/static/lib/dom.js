// Making elements. Texts of the data get into the page only through here, as text nodes and attribute values.

const SVG_NAMES = "http://www.w3.org/2000/svg";

/**
 * Make an HTML element.
 *
 * @param {string} tag
 * @param {object} attributes Besides attributes: `on`, a mapping from events to functions; `style`, from CSS properties
 *   to values; a value of false, null or undefined leaves the attribute out, true gives an empty one.
 * @param {...(Node|string|number|null|Array)} children Strings and numbers become text.
 */
export function make(tag, attributes = {}, ...children) {
  return filled(document.createElement(tag), attributes, children);
}

/** Make an SVG element; as `make`. */
export function draw(tag, attributes = {}, ...children) {
  return filled(document.createElementNS(SVG_NAMES, tag), attributes, children);
}

function filled(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === false || value === null || value === undefined) continue;
    if (name === "on") {
      for (const [event, listener] of Object.entries(value)) element.addEventListener(event, listener);
    } else if (name === "style") {
      for (const [property, setting] of Object.entries(value)) element.style.setProperty(property, setting);
    } else {
      element.setAttribute(name, value === true ? "" : String(value));
    }
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

/** Replace the content of an element. */
export function replace(element, ...children) {
  element.replaceChildren(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

/** Call a function when no other call has followed for some milliseconds; `.cancel()` drops the last call. */
export function debounced(callback, milliseconds) {
  let timer = 0;
  const later = (...given) => {
    clearTimeout(timer);
    timer = setTimeout(() => callback(...given), milliseconds);
  };
  later.cancel = () => clearTimeout(timer);
  return later;
}

/** Call a function with the width of an element now and whenever it changes, as long as the element is in the page. */
export function watchWidth(element, callback) {
  let last = 0;
  const observer = new ResizeObserver(() => {
    const width = Math.floor(element.clientWidth);
    if (!element.isConnected) observer.disconnect();
    else if (width && width !== last) callback((last = width));
  });
  observer.observe(element);
}

let lastNumber = 0;

/** Return a unique id for an element. */
export function freshId(stem) {
  lastNumber += 1;
  return `${stem}-${lastNumber}`;
}

/** A select with a label; `options` are pairs of value and text. */
export function choice(label, options, value, onChange) {
  const select = make("select", { on: { change: () => onChange(select.value) } });
  for (const [key, text] of options) select.append(make("option", { value: key, selected: key === value }, text));
  return make("label", { class: "field" }, make("span", {}, label), select);
}
