// The report as a page: which case is shown, and which of its rows. SPDX-License-Identifier: MIT
const report = JSON.parse(document.getElementById("data").textContent);
const chooser = document.getElementById("case"), main = document.getElementById("main");
const rowOrder = {column: -1, down: false}, caseOrder = {column: -1, down: false};
const hidden = {coder: new Set(), device: new Set()};  // what the filters leave out
const slugs = report.cases.map(slug);
slugs.forEach((s, i) => {  // two cases that look the same are numbered
  const before = slugs.slice(0, i).filter(other => other === s).length;
  if (before > 0) slugs[i] = `${s}-${before + 1}`;
});

/* Tells screen readers what a click did. */
function say(text) { document.getElementById("status").textContent = text; }

const isShown = row => !hidden.coder.has(coderName(row)) && !hidden.device.has(row.device);

/* The cases with the same settings in the other direction stand beside the chosen one. */
function sideBySide(c) {
  const same = ["input", "pixels", "subsampling", "quality", "huffman", "tune", "effort", "mixed"];
  const fits = o => o.operation !== c.operation && same.every(k => o[k] === c[k]);
  const likeness = o => (o.restart === c.restart) * 2 + (o.streams === c.streams);
  const other = report.cases.filter(fits).sort((a, b) => likeness(b) - likeness(a))[0];
  const pair = other === undefined ? [c] : [c, other];
  return pair.sort((a, b) => (a.operation === "decode") - (b.operation === "decode"));
}

/* A heading with a column for each case; `draw` returns the content of a column or null. */
function section(title, text, cases, draw, ...signs) {
  const columns = cases.map(c => ({c, content: draw(c)})).filter(column => column.content !== null);
  if (columns.length === 0) return;
  const pair = element("div", {class: columns.length > 1 ? "pair two" : "pair"});
  for (const {c, content} of columns)
    pair.append(element("div", {}, element("h3", {}, c.operation), ...[content].flat()));
  main.append(element("h2", {}, title), element("p", {class: "quiet"}, text));
  if (signs.length > 0) {
    const rows = cases.flatMap(c => c.rows.filter(isShown));
    main.append(legend(kindsOf(rows), ...signs));
  }
  main.append(pair);
}

const rowsOf = (c, mode, wanted = () => true) =>
  c.rows.filter(r => r.mode === mode && isShown(r) && wanted(r));
const isCopy = row => row.coder === "copy";

function dotSection(title, text, cases, rows) {
  section(title, text, cases, c => {
    const own = best(rows(c));
    return own.length > 0 ? dots(own, `${title}, ${c.operation}`) : null;
  }, "range");
}

/* All qualities of this input: what else could have been chosen. */
function qualitySection(cases) {
  const same = ["operation", "input", "pixels", "subsampling", "huffman", "restart", "tune",
    "effort", "streams", "mixed"];
  section("Size against quality, and time", "PSNR over the size of a stream, and over the median " +
    "time of one frame. Sizes and times begin at zero; decibels have no zero.", cases, c => {
    const family = report.cases.filter(o => same.every(k => o[k] === c[k]));
    const points = family.flatMap(o => best(rowsOf(o, "latency", r => r.psnr_db > 0)).map(row => (
      {row, quality: o.quality, psnr: row.psnr_db, bytes: row.stream_bytes, us: row.median_us})));
    // Instruction sets of zerorun write the same bytes.
    const own = points.filter(p => coderKind(p.row) === "peer" || p.row.coder === "zerorun");
    if (own.length === 0 || c.target_size) return null;
    return [scatter(own.map(p => ({...p, x: p.bytes})), "bytes of a stream", bytes),
      scatter(own.map(p => ({...p, x: p.us})), "time of one frame", time)];
  }, "quality");
}

function sentencesOf(c) {
  const link = element("a", {href: "#" + slugs[report.cases.indexOf(c)]}, caseTitle(c));
  const box = element("div", {class: "verdict", role: "note", "aria-label":
    `Result, ${c.operation}`}, element("h3", {}, link));
  for (const sentence of c.verdict || []) box.append(element("p", {}, sentence));
  if ((c.verdict || []).length === 0)
    box.append(element("p", {class: "quiet"}, "No other coder was measured beside it."));
  return element("div", {}, box, ...(c.warnings || []).map(warning =>
    element("p", {class: "warning", role: "note"}, "Warning: " + warning)));
}

function filters(cases) {
  const box = element("div", {class: "filters", role: "group", "aria-label": "Shown rows"},
    element("span", {class: "quiet"}, "Shown:"));
  const add = (set, value) => {
    const button = element("button", {type: "button", "aria-pressed": String(!set.has(value))},
      value);
    button.addEventListener("click", () => {
      if (!set.delete(value)) set.add(value);
      show(shownCase, "button", value);
      say(`${value} is ${set.has(value) ? "hidden" : "shown"}`);
    });
    box.append(button);
  };
  const rows = cases.flatMap(c => c.rows), values = of => [...new Set(rows.map(of))];
  for (const name of values(coderName)) add(hidden.coder, name);
  if (values(r => r.device).length > 1)
    for (const name of values(r => r.device)) add(hidden.device, name);
  return box;
}

let shownCase = null, isOnPaper = matchMedia("print").matches;

/* Pixels of a chart's column; A4 has 703 between the margins of its page. */
function columnWidth(columns) {
  const isTwo = columns > 1 && (isOnPaper || matchMedia("(min-width: 55.01rem)").matches);
  const all = isOnPaper ? 703 : main.clientWidth;
  return Math.min(640, Math.floor(isTwo ? (all - (isOnPaper ? 16 : 32)) / 2 : all));
}

/* Draws again what is shown if the charts have another width now. */
function fit() {
  if (shownCase === null || columnWidth(sideBySide(shownCase).length) === chartWidth) return;
  const focused = document.activeElement, at = scrollY;
  show(shownCase, "button", focused?.closest(".filters") ? focused.textContent : undefined);
  scrollTo(0, at);
}
function setPaper(now) {
  isOnPaper = now;
  fit();
}

/* Draws the case; then the keyboard's focus goes to the `focused` filter, which was redrawn. */
function show(c, tag, focused) {
  shownCase = c;
  main.replaceChildren();
  const cases = sideBySide(c);
  chartWidth = columnWidth(cases.length);
  main.append(element("div", {class: cases.length > 1 ? "pair two" : "pair"},
    ...cases.map(sentencesOf)));
  main.append(filters(cases));
  dotSection("One frame at a time", "Time from the call to the finished frame.", cases,
    c => rowsOf(c, "latency", r => !isCopy(r)));
  dotSection("Several frames at once", "Time a frame when the coder is kept busy, with the number " +
    "of frames in flight or threads that was best.", cases,
    c => rowsOf(c, "throughput", r => !isCopy(r)));
  dotSection("From file to file", "The time of a whole process, divided by its frames. Floors move " +
    "the same bytes and do nothing else.", cases, c => rowsOf(c, "whole"));
  dotSection("Plain copies", "What moving the bytes alone takes.", cases,
    c => rowsOf(c, "throughput", isCopy));
  qualitySection(cases);
  section("Frame by frame", "The time of each frame in the order of the measurement, and how often " +
    "each time came. Times far above the median are drawn at the upper edge.", cases, c => {
    const rows = best(rowsOf(c, "latency", r => !isCopy(r)));
    return rows.length > 0 ? rows.map(strip) : null;
  }, "median");
  section("Stages", "Median time of each stage of one frame, the stages run one after another. The " +
    "events between the kernels of zerorun-fused keep them from overlapping: its sum is more than a " +
    "frame takes.", cases, c => {
    const rows = rowsOf(c, "stages");
    return rows.length > 0 ? rows.map(stages) : null;
  });
  main.append(element("h2", {}, "All rows"), element("p", {class: "quiet how"},
    "A click on a heading sorts, a second one turns the order round."));
  for (const c of cases) {
    main.append(sortedTable(caseTitle(c), ROW_COLUMNS, c.rows.filter(isShown), rowOrder,
      r => isBusy(r) ? {title: r.command, class: "busy"} : {title: r.command}));
    for (const note of c.notes) main.append(element("p", {class: "quiet"}, "Left out: " + note));
    if (c.rows.length > 0)
      main.append(element("p", {}, "Again: ", element("code", {}, ...commandWords(c.command))));
  }
  if (focused !== undefined)
    [...main.querySelectorAll(".filters " + tag)].find(b => b.textContent === focused)?.focus();
}

function overview() {
  const median = (c, wanted) => Math.min(...c.rows.filter(r => r.mode === "latency" && wanted(r))
    .map(r => r.median_us));
  const ours = c => median(c, r => coderKind(r) === "ours");
  const peer = c => median(c, r => coderKind(r) === "peer");
  const shown = us => us === Infinity ? "" : time(us);
  const at = c => report.cases.indexOf(c);
  return sortedTable("All cases, with the median time of one frame", [
    {name: "case", key: caseTitle,
      text: c => element("a", {href: "#" + slugs[at(c)]}, caseTitle(c))},
    number("zerorun", ours, shown), number("fastest other", peer, shown),
    number("ratio", c => ours(c) / peer(c), r => Number.isFinite(r) && r > 0 ? r.toFixed(2) : ""),
  ], report.cases, caseOrder);
}

function follow() {
  const name = location.hash.slice(1);
  if (name === "main") return;  // the link that skips the heading
  const old = /^case(\d+)$/.exec(name);  // links of older pages count the cases
  const at = old ? Math.min(Number(old[1]), report.cases.length - 1) : slugs.indexOf(name);
  const chosen = Math.max(at, 0);
  chooser.value = chosen;
  if (report.cases.length === 0) return;
  show(report.cases[chosen]);
  if (name !== "" && at < 0) say("This report has no such case; the first one is shown");
}

document.getElementById("command").append(...commandWords(report.command));
for (const [key, value] of Object.entries(report.machine))
  document.getElementById("machine").append(element("dt", {}, key), element("dd", {}, value));
for (const warning of report.warnings || [])
  document.getElementById("warnings").append(
    element("p", {class: "warning", role: "note"}, "Warning: " + warning));
report.cases.forEach((c, i) => chooser.append(element("option", {value: i}, caseTitle(c))));
chooser.addEventListener("change", () => {
  location.hash = slugs[chooser.value];
  say(`Shown: ${caseTitle(report.cases[chooser.value])}`);
});
document.getElementById("choice").hidden = report.cases.length === 0;
document.getElementById("overview").hidden = report.cases.length < 2;
if (report.cases.length > 1) document.getElementById("overview").append(overview());
addEventListener("hashchange", follow);
addEventListener("resize", fit);
addEventListener("beforeprint", () => setPaper(true));
addEventListener("afterprint", () => setPaper(false));
matchMedia("print").addEventListener("change", event => setPaper(event.matches));
follow();
if (report.primitives.length > 0) main.append(primitives(report.primitives, rowOrder));
document.body.dataset.ready = report.cases.length;
