// Tables whose rows are sorted by clicking a heading. SPDX-License-Identifier: MIT

/* Columns: {name, text: row => string, key: row => what is sorted}; the first one names the row.
   `order` keeps the sorting between calls: {column, down}. */
function sortedTable(caption, columns, rows, order, attributes = () => ({})) {
  const table = element("table", {}), body = element("tbody", {}), head = element("tr", {});
  const fill = () => {
    const key = columns[order.column]?.key;
    const sorted = key === undefined ? rows : [...rows].sort((a, b) => {
      const [x, y] = [key(a), key(b)];
      const way = x < y ? -1 : x > y ? 1 : 0;
      return order.down ? -way : way;
    });
    body.replaceChildren(...sorted.map(row => element("tr", attributes(row),
      ...columns.map((column, i) => {
        const content = column.text(row);
        return i === 0 ? element("th", {scope: "row"}, content) : element("td", {}, content);
      }))));
    [...head.children].forEach((th, i) => th.setAttribute("aria-sort",
      i !== order.column ? "none" : order.down ? "descending" : "ascending"));
  };
  columns.forEach((column, i) => {
    const button = element("button", {type: "button"}, column.name);
    button.addEventListener("click", () => {
      order.down = order.column === i && !order.down;
      order.column = i;
      fill();
      say(`Sorted by ${column.name}, ${order.down ? "descending" : "ascending"}`);
    });
    head.append(element("th", {scope: "col"}, button));
  });
  fill();
  table.append(element("caption", {}, caption), element("thead", {}, head), body);
  return element("div", {class: "wide", tabindex: "0", role: "region", "aria-label": caption},
    table);
}

const number = (name, key, text) => ({name, key, text: row => text(key(row))});
const ROW_COLUMNS = [
  {name: "row", key: r => r.id, text: r => r.id},
  number("min", r => r.min_us, time), number("median", r => r.median_us, time),
  number("p95", r => r.p95_us, time), number("p99", r => r.p99_us, time),
  number("max", r => r.max_us, time), number("jitter", r => r.jitter_us, time),
  number("frames/s", r => r.frames_per_second, whole),
  number("GB/s", r => r.input_gb_per_second, n => n.toFixed(2)),
  number("bytes", r => r.stream_bytes || r.input_bytes, whole),
  number("dB", r => r.psnr_db || 0, n => n ? n.toFixed(2) : ""),
];

function primitives(rows, order) {
  const copy = rows.find(r => r.primitive === "copy");
  const rate = r => r.traffic_bytes / r.median_us;
  return sortedTable("Entropy coding primitives", [
    {name: "primitive", key: r => r.primitive, text: r => r.primitive},
    {name: "form", key: r => r.form, text: r => r.form},
    {name: "data", key: r => r.data, text: r => r.data},
    number("input MB", r => r.input_bytes / 1e6, n => n.toFixed(3)),
    number("median", r => r.median_us, time),
    number("input GB/s", r => r.input_gb_per_second, n => n.toFixed(1)),
    number("of copy", r => 100 * rate(r) / rate(copy), n => n.toFixed(1) + " %"),
  ], rows, order);
}
