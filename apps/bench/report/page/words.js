// Elements, numbers and names of the report. SPDX-License-Identifier: MIT
const NS = "http://www.w3.org/2000/svg";

function element(tag, attributes, ...children) {
  const e = document.createElement(tag);
  for (const [k, v] of Object.entries(attributes || {})) e.setAttribute(k, v);
  e.append(...children);
  return e;
}
function shape(tag, attributes, text) {
  const e = document.createElementNS(NS, tag);
  for (const [k, v] of Object.entries(attributes)) e.setAttribute(k, v);
  if (text !== undefined) e.textContent = text;
  return e;
}
/* A command whose lines break between words only, never behind a hyphen. */
function commandWords(text) {
  return text.split(" ").flatMap(word => [element("span", {}, word), " "]).slice(0, -1);
}
/* Cut to about `width` pixels of a chart's letters. */
function shortened(text, width) {
  const most = Math.floor(width / 7.5);
  return text.length > most ? text.slice(0, most - 1) + "\u2026" : text;
}
function hint(e, text) { e.append(shape("title", {}, text)); return e; }

/* Numbers: three significant digits are more than a measurement holds. */
function time(us) {
  if (us === 0) return "0";
  if (us >= 1e6) return (us / 1e6).toPrecision(3) + " s";
  if (us >= 1e4) return (us / 1e3).toFixed(1) + " ms";
  if (us >= 1e3) return (us / 1e3).toFixed(2) + " ms";
  return us.toPrecision(3) + " µs";
}
function bytes(n) {
  if (n >= 1e6) return +(n / 1e6).toPrecision(3) + " MB";
  return n >= 1e3 ? +(n / 1e3).toPrecision(3) + " kB" : String(Math.round(n));
}
const whole = n => Math.round(n).toLocaleString("en");

const size = c => c.mixed ? `${c.frames} images of ${c.least_megapixels.toFixed(2)} to ` +
  `${c.most_megapixels.toFixed(2)} megapixels` : `${c.width}x${c.height} ${c.pixels}`;
const goal = c => c.target_size ? `${whole(c.target_size)} bytes a frame` : `quality ${c.quality}`;
const kind = c => c.streams === "input" ? "the input's own streams" : `${goal(c)}, ` +
  `${c.subsampling}, ${c.progressive ? "progressive, " : ""}${c.huffman} tables, restart ${c.restart}` +
  (c.tune && c.tune !== "exact" ? `, tune ${c.tune} ${c.effort}` : "") +
  (c.streams === "libjpeg" ? ", streams of libjpeg-turbo" : "");
const caseTitle = c => `${c.operation} ${c.input}, ${size(c)}, ${kind(c)}`;

/* Names the case in a link. It tells what the case is, not where it stands, so that a link still
   finds it after more cases were measured. */
function slug(c) {
  const words = [c.operation, c.input, c.pixels, c.subsampling, c.target_size ? c.target_size + "-bytes" : "q" + c.quality, c.huffman,
    "restart", c.restart];
  if (c.progressive) words.push("progressive");
  if (c.tune && c.tune !== "exact") words.push(c.tune, c.effort);
  if (c.streams !== "zerorun") words.push("streams", c.streams);
  if (c.mixed) words.push("mixed");
  return words.join("-").replace(/[^\w.:-]+/g, "-");
}

const coderName = row => row.coder.split(" ")[0];
const coderKind = row => row.coder === "copy" || row.coder === "floor" ? "copy" :
  row.coder.startsWith("zerorun") ? "ours" : "peer";
const colour = row => `var(--${coderKind(row)})`;
const label = row => `${coderName(row)} ${row.device} ${row.path}` +
  (row.at_once > 1 ? `, ${row.at_once} ${row.at_once_unit}` : "");
const isBusy = row => row.p95_us > 2 * row.median_us;

/* The fastest row of those that differ in the number of frames at once alone. */
function best(rows) {
  const groups = new Map();
  for (const row of rows) {
    const key = [row.coder, row.device, row.path].join("|");
    if (!groups.has(key) || row.median_us < groups.get(key).median_us) groups.set(key, row);
  }
  return [...groups.values()].sort((a, b) => a.median_us - b.median_us);
}
