// Tables and paragraphs of the terminal.
// SPDX-License-Identifier: MIT
#include "apps/bench/report/text_table.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <numeric>
#include <utility>

namespace zerorun::app::bench {

std::string wrapped(std::string_view text, std::size_t indent, std::string_view at_break) {
  std::string out;
  std::size_t column = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const bool begins = out.empty();
    const std::size_t tail = text.empty() ? 0 : at_break.size();
    if (!begins && column + 1 + word.size() + tail > kTextColumns) {
      out += std::string(at_break) + "\n" + std::string(indent, ' ');
      column = indent;
    } else if (!begins) {
      out += ' ';
      ++column;
    }
    out += word;
    column += word.size();
  }
  return out;
}

TextTable::TextTable(std::vector<TableColumn> columns) : columns_(std::move(columns)) {
  for (const TableColumn& column : columns_) widths_.push_back(column.heading.size());
}

void TextTable::add(std::vector<std::string> cells) {
  for (std::size_t i = 0; i < cells.size(); ++i) widths_[i] = std::max(widths_[i], cells[i].size());
  rows_.push_back(std::move(cells));
}

std::vector<bool> TextTable::fitting() const {
  std::vector<bool> shown(columns_.size(), true);
  std::size_t width = std::accumulate(widths_.begin(), widths_.end(), std::size_t{0}) +
                      2 * (std::max<std::size_t>(columns_.size(), 1) - 1);
  while (width > kTextColumns) {
    std::size_t least = 0;  // the shown column of the highest rank
    for (std::size_t i = 1; i < columns_.size(); ++i)
      if (shown[i] && (!shown[least] || columns_[i].rank > columns_[least].rank)) least = i;
    if (columns_[least].rank == 0) break;
    shown[least] = false;
    width -= widths_[least] + 2;
  }
  return shown;
}

std::string TextTable::line(const std::vector<std::string>& cells,
                            const std::vector<bool>& shown) const {
  std::string text;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (!shown[i]) continue;
    if (!text.empty()) text += "  ";
    text += columns_[i].is_left ? fmt::format("{:<{}}", cells[i], widths_[i])
                                : fmt::format("{:>{}}", cells[i], widths_[i]);
  }
  text.erase(text.find_last_not_of(' ') + 1);
  return text + "\n";
}

std::string TextTable::text() const {
  const std::vector<bool> shown = fitting();
  std::vector<std::string> headings;
  for (const TableColumn& column : columns_) headings.push_back(column.heading);
  std::string text = line(headings, shown);
  for (const auto& row : rows_) text += line(row, shown);
  return text;
}

}  // namespace zerorun::app::bench
