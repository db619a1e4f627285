// Numbers as text.

const MINUS = "\u2212";
const WHOLE = new Intl.NumberFormat("en");

/** 12345 as 12,345. */
export function count(value) {
  return value === null || value === undefined ? "–" : WHOLE.format(value);
}

/** A number with some significant digits; whole thousands are not cut. */
export function number(value, digits = 3) {
  if (value === null || value === undefined) return "–";
  const size = Math.abs(value);
  if (size === 0) return "0";
  if (size < 1e-4 || size >= 1e7) return value.toExponential(digits - 1).replace(/-/g, MINUS);
  const whole = Math.floor(Math.log10(size)) + 1;
  return withDecimals(value, Math.max(0, digits - whole)).replace("-", MINUS);
}

function withDecimals(value, decimals) {
  return value.toLocaleString("en", { minimumFractionDigits: decimals, maximumFractionDigits: decimals });
}

/** A number with its sign: +1.20, −0.35. */
export function signed(value, decimals = 2) {
  if (value === null || value === undefined) return "–";
  const text = withDecimals(Math.abs(value), decimals);
  if (Number(Math.abs(value).toFixed(decimals)) === 0) return text;
  return (value < 0 ? MINUS : "+") + text;
}

/** A share or a probability: 12 %, 3.4 %, 0.08 %. */
export function percent(share) {
  if (share === null || share === undefined) return "–";
  const value = 100 * share;
  if (value === 0) return "0 %";
  if (value < 0.01) return "< 0.01 %";
  if (share < 1 && value > 99.9) return "> 99.9 %";
  const decimals = value < 1 ? 2 : value < 10 || (value > 99 && value < 100) ? 1 : 0;
  return `${value.toFixed(decimals)} %`;
}

/** One thing or several: plural(1, "link") is "1 link". */
export function plural(value, one, many = `${one}s`) {
  return `${count(value)} ${value === 1 ? one : many}`;
}

/** A text cut to a number of characters. */
export function cut(text, length) {
  return text.length <= length ? text : `${text.slice(0, length - 1).trimEnd()}…`;
}

/** The effect of a weight, given the share of samples in which it is positive. */
function verdict(positive) {
  if (positive >= 0.95) return "makes a link more likely";
  if (positive <= 0.05) return "makes a link less likely";
  return "sign uncertain";
}

/** Whether samples disagree on the sign of a weight. */
export function uncertain(positive) {
  return positive !== null && positive !== undefined && positive > 0.05 && positive < 0.95;
}

/** The uncertainty of a weight, in words. */
export function describeUncertainty(sd, positive) {
  if (sd === null || sd === undefined || positive === null || positive === undefined) {
    return "One sample does not show how certain this is.";
  }
  return `Standard deviation ${number(sd, 2)}; positive in ${percent(positive)} of samples: ${verdict(positive)}.`;
}
