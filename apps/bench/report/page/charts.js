// The plots of the report. Axes of times and sizes begin at zero. SPDX-License-Identifier: MIT

/* The width in pixels of the charts that are drawn next: as much as their column has, so that their
   letters are as large as the text beside them, on a telephone and on paper, too. */
let chartWidth = 640;

function ticks(low, high) {
  const raw = (high - low) / 4, power = 10 ** Math.floor(Math.log10(raw || 1));
  const step = [1, 2, 5, 10].map(m => m * power).find(s => s >= raw * .999) || power;
  const out = [];
  for (let i = Math.ceil(low / step - 1e-9); i * step <= high * (1 + 1e-9); ++i) out.push(i * step);
  return out;
}

/* How the label of a tick of a horizontal axis stands at `at`, so that it stays inside of `width`. */
function anchor(at, left, width) {
  return at === left ? "start" : at > width - 40 ? "end" : "middle";
}

/* A mark for each kind of coder: its shape tells what its colour does. */
function mark(kind, x, y, r) {
  const fill = `var(--${kind})`;
  if (kind === "ours") return shape("circle", {cx: x, cy: y, r, fill});
  if (kind === "peer")
    return shape("rect", {x: x - r * .9, y: y - r * .9, width: r * 1.8, height: r * 1.8, fill});
  return shape("path", {d: `M${x} ${y - r * 1.2}L${x + r * 1.2} ${y}L${x} ${y + r * 1.2}` +
    `L${x - r * 1.2} ${y}Z`, fill});
}

const KINDS = {ours: "zerorun", peer: "other coders", copy: "copies and floors"};

/* What the signs of the plots mean; `kinds` are those that occur. */
function legend(kinds, ...more) {
  const key = element("div", {class: "key", role: "group", "aria-label": "Legend"});
  const entry = (picture, text) => {
    const svg = shape("svg", {viewBox: "0 0 44 20", "aria-hidden": "true"});
    svg.append(...picture);
    key.append(element("span", {}, svg, text));
  };
  for (const [kind, name] of Object.entries(KINDS))
    if (kinds.has(kind)) entry([mark(kind, 22, 10, 7)], name);
  const line = (attributes) => shape("line", {x1: 4, x2: 40, y1: 10, y2: 10, ...attributes});
  const signs = {
    range: [line({stroke: "var(--whisker)", "stroke-width": 5, "stroke-linecap": "round"}),
      "fastest frame to 99th percentile"],
    median: [line({stroke: "var(--text)", "stroke-width": 2, "stroke-dasharray": "4 3"}), "median"],
    quality: [line({stroke: "var(--copy)", "stroke-width": 1.5}), "the same coder at other qualities"],
  };
  for (const name of more) entry([signs[name][0]], signs[name][1]);
  return key;
}
const kindsOf = rows => new Set(rows.map(coderKind));

/* A sign at the median, a line from the least to the 99th percentile. A row that was held up once
   is cut at the edge, so that it does not hide all others. */
function dots(rows, title) {
  const width = chartWidth, left = 8, right = width - 90, height = 38, top = 4;
  const bottom = top + rows.length * height;
  const svg = shape("svg", {viewBox: `0 0 ${width} ${bottom + 24}`, role: "img", "aria-label":
    `${title}: ` + rows.map(r => `${label(r)} ${time(r.median_us)}`).join("; ")});
  const high = 1.05 * Math.max(...rows.map(r => Math.min(r.p99_us, 2 * r.median_us)));
  const x = v => left + (right - left) * Math.min(v, high) / high;
  for (const t of ticks(0, high)) {
    svg.append(shape("line", {class: "grid", x1: x(t), x2: x(t), y1: top, y2: bottom}));
    svg.append(shape("text", {class: "quiet", x: x(t), y: bottom + 16,
      "text-anchor": anchor(x(t), left, width)}, time(t)));
  }
  rows.forEach((row, i) => {
    const y = top + i * height + 27, g = shape("g", {});
    svg.append(shape("text", {class: "over", x: left, y: y - 11}, shortened(label(row), width - left)));
    g.append(shape("line", {x1: x(row.min_us), x2: x(row.p99_us), y1: y, y2: y,
      stroke: "var(--whisker)", "stroke-width": 4, "stroke-linecap": "round"}));
    if (row.p99_us > high)
      g.append(shape("path", {d: `M${right + 3} ${y - 5}l8 5l-8 5z`, fill: "var(--whisker)"}));
    g.append(mark(coderKind(row), x(row.median_us), y, 6));
    hint(g, `${row.id}: min ${time(row.min_us)}, median ${time(row.median_us)}, ` +
      `p99 ${time(row.p99_us)}`);
    svg.append(g);
    svg.append(shape("text", {x: width - 5, y: y + 4, "text-anchor": "end"}, time(row.median_us)));
  });
  return svg;
}

/* Every sample in the order of the measurement; beside it how often each time came. */
function strip(row) {
  const s = row.samples_us, width = chartWidth, left = 64, right = width - 10, top = 6, bottom = 96;
  const mid = left + .66 * (right - left), from = mid + 20, isNarrow = width < 450;
  const svg = shape("svg", {viewBox: `0 0 ${width} 122`, role: "img", "aria-label":
    `${label(row)}: ${whole(s.length)} times from ${time(row.min_us)} to ${time(row.max_us)}, ` +
    `median ${time(row.median_us)}`});
  // Outliers are drawn at the edge, so that they do not flatten the rest.
  const high = 1.08 * Math.min(row.max_us, Math.max(1.6 * row.median_us, Math.min(row.p99_us,
    2 * row.median_us)));
  const y = v => bottom - (bottom - top) * Math.min(v, high) / high;
  for (const t of ticks(0, high)) {
    svg.append(shape("line", {class: "grid", x1: left, x2: right, y1: y(t), y2: y(t)}));
    svg.append(shape("text", {class: "quiet", x: left - 6, y: Math.max(y(t) + 4, 13),
      "text-anchor": "end"}, time(t)));
  }
  const x = i => left + (mid - left) * (s.length > 1 ? i / (s.length - 1) : .5);
  svg.append(shape("polyline", {fill: "none", stroke: colour(row), "stroke-width": 1.2,
    points: s.map((v, i) => `${x(i).toFixed(1)},${y(v).toFixed(1)}`).join(" ")}));
  if (s.length < 60) s.forEach((v, i) => svg.append(hint(shape("circle",
    {cx: x(i), cy: y(v), r: 2.5, fill: colour(row)}), `${i}: ${time(v)}`)));
  svg.append(shape("text", {class: "quiet", x: left, y: 116}, "0"));
  svg.append(shape("text", {class: "quiet", x: mid, y: 116, "text-anchor": "end"},
    `${whole(s.length - 1)}, ${row.mode === "latency" ? "frame" : "repetition"}`));
  const count = 24, bins = new Array(count).fill(0);
  for (const v of s) bins[Math.min(count - 1, Math.floor(Math.min(v, high) / high * count))]++;
  const most = Math.max(...bins), each = (bottom - top) / count;
  bins.forEach((n, i) => { if (n > 0) svg.append(hint(shape("rect", {x: from,
    y: bottom - (i + 1) * each + .5, width: Math.max(1, (right - from) * n / most),
    height: each - 1, fill: colour(row)}), `${n} of ${s.length}`)); });
  svg.append(shape("line", {stroke: "var(--text)", "stroke-dasharray": "4 3", x1: left, x2: right,
    y1: y(row.median_us), y2: y(row.median_us)}));
  svg.append(shape("text", {class: "quiet", x: right, y: 116, "text-anchor": "end"},
    `${isNarrow ? "" : "how often, "}of ${whole(s.length)}`));
  return element("div", {class: "strip"}, element("div", {}, label(row)),
    element("div", {class: "quiet"}, `min ${time(row.min_us)}, median ${time(row.median_us)}, ` +
      `p95 ${time(row.p95_us)}, p99 ${time(row.p99_us)}, max ${time(row.max_us)}, ` +
      `jitter ${time(row.jitter_us)}`), svg);
}

function stages(row) {
  const sum = row.stages.reduce((a, s) => a + s.median_us, 0);
  const percent = stage => `${(100 * stage.median_us / sum).toFixed(1)} %`;
  const svg = shape("svg", {viewBox: `0 0 ${chartWidth} 30`, role: "img", "aria-label": `${label(row)}: ` +
    row.stages.map(s => `${s.stage} ${percent(s)}`).join(", ")});
  const key = element("div", {class: "key"});
  let at = 0;
  row.stages.forEach((stage, i) => {
    const width = chartWidth * stage.median_us / sum, fill = `var(--s${i % 10})`;
    const text = `${stage.stage} ${time(stage.median_us)}, ${percent(stage)}`;
    svg.append(hint(shape("rect", {x: at, y: 0, width: Math.max(0, width - 1), height: 30, fill}),
      text));
    if (width > 7.5 * stage.stage.length) svg.append(shape("text", {x: at + 6, y: 20,
      style: "fill: var(--on)"}, stage.stage));
    key.append(element("span", {}, element("i", {style: `background: ${fill}`}), text));
    at += width;
  });
  return element("div", {class: "strip"}, element("div", {}, `${label(row)}: ${time(sum)}`), svg,
    key);
}

/* PSNR over size or time. `points` have x, psnr, row and quality; a coder's points are joined. */
function scatter(points, xName, xText) {
  const width = chartWidth, height = 300, left = 64, right = width - 28, top = 12, bottom = 250;
  const svg = shape("svg", {viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label":
    `PSNR over ${xName}: ` + points.map(p => `${coderName(p.row)} quality ${p.quality}: ` +
      `${p.psnr.toFixed(2)} dB, ${xText(p.x)}`).join("; ")});
  const high = 1.08 * Math.max(...points.map(p => p.x));
  const all = points.map(p => p.psnr);
  const low = Math.floor(Math.min(...all) - .5), up = Math.ceil(Math.max(...all) + .5);
  const x = v => left + (right - left) * v / high;
  const y = v => bottom - (bottom - top) * (v - low) / (up - low);
  for (const t of ticks(0, high)) {
    svg.append(shape("line", {class: "grid", x1: x(t), x2: x(t), y1: top, y2: bottom}));
    svg.append(shape("text", {class: "quiet", x: x(t), y: bottom + 16,
      "text-anchor": anchor(x(t), left, width)}, xText(t)));
  }
  for (const t of ticks(low, up)) {
    svg.append(shape("line", {class: "grid", x1: left, x2: right, y1: y(t), y2: y(t)}));
    svg.append(shape("text", {class: "quiet", x: left - 6, y: y(t) + 4, "text-anchor": "end"},
      `${+t.toFixed(1)} dB`));
  }
  const coders = new Map();
  for (const p of points) coders.set(coderName(p.row), [...coders.get(coderName(p.row)) || [], p]);
  // zerorun's marks come last: where coders write the same bytes, theirs would hide it.
  const oursLast = [...coders.values()].sort((a, b) =>
    (coderKind(a[0].row) === "ours") - (coderKind(b[0].row) === "ours"));
  for (const own of oursLast) {
    own.sort((a, b) => a.quality - b.quality);
    svg.append(shape("polyline", {class: "joined", fill: "none", stroke: colour(own[0].row),
      "stroke-width": 1.5, points: own.map(p => `${x(p.x)},${y(p.psnr)}`).join(" ")}));
    own.forEach(p => svg.append(hint(mark(coderKind(p.row), x(p.x), y(p.psnr), 5),
      `${coderName(p.row)}, quality ${p.quality}: ${p.psnr.toFixed(2)} dB, ${xText(p.x)}`)));
  }
  // Names stand at the best quality of their coder, one below the other where they would touch.
  const ends = [...coders].map(([name, own]) => ({name, p: own.at(-1)}))
    .sort((a, b) => b.p.psnr - a.p.psnr);
  let lowest = -Infinity;
  for (const [i, {name, p}] of ends.entries()) {
    const at = Math.max(y(p.psnr) - 8, lowest + 13, top + 9), end = x(p.x) > (left + right) / 2;
    const isFull = at + 13 > bottom && i + 1 < ends.length;
    svg.append(shape("text", {class: "over", x: x(p.x) + (end ? -9 : 9), y: at,
      "text-anchor": end ? "end" : "start"},
      isFull ? `and ${ends.length - i} more` : name));
    if (isFull) break;
    lowest = at;
  }
  svg.append(shape("text", {class: "quiet", x: right, y: bottom + 36, "text-anchor": "end"}, xName));
  return svg;
}
