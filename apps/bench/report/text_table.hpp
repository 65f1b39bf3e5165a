// Tables and paragraphs of the terminal, at most 100 columns wide.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace zerorun::app::bench {

inline constexpr std::size_t kTextColumns = 100;

/// Breaks `text` at spaces. `at_break` is written where a line ends (" \" keeps a command one
/// command), `indent` spaces before each line but the first. A word longer than a line stays whole.
std::string wrapped(std::string_view text, std::size_t indent, std::string_view at_break = "");

struct TableColumn {
  std::string heading;
  int rank = 0;  ///< columns of the highest rank are left out first; rank 0 always stays
  bool is_left = false;
};

/// Columns as wide as their longest cell. Those that do not fit into kTextColumns are left out.
class TextTable {
 public:
  explicit TextTable(std::vector<TableColumn> columns);
  /// One cell for each column.
  void add(std::vector<std::string> cells);
  std::string text() const;

 private:
  std::vector<bool> fitting() const;
  std::string line(const std::vector<std::string>& cells, const std::vector<bool>& shown) const;

  std::vector<TableColumn> columns_;
  std::vector<std::size_t> widths_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace zerorun::app::bench
