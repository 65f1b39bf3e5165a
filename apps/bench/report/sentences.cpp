// The words of reports, statistics of times, tables and paragraphs of the terminal, and sentences
// about the rows of a case.
// SPDX-License-Identifier: MIT
#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string_view>
#include <tuple>
#include <utility>

#include "apps/bench/report/report.hpp"
#include "apps/bench/result.hpp"
#include "codec/base/choices.hpp"

namespace zerorun::app::bench {

const char* name(Operation operation) noexcept {
  return operation == Operation::encode ? "encode" : "decode";
}
const char* name(Streams streams) noexcept {
  return streams == Streams::libjpeg ? "libjpeg" : streams == Streams::input ? "input" : "zerorun";
}
const char* name(Mode mode) noexcept {
  constexpr const char* kNames[] = {"latency", "throughput", "stages", "whole"};
  return kNames[static_cast<std::size_t>(mode)];
}
const char* name(HuffmanTables tables) noexcept { return word_of(tables).data(); }

Summary summarise(const std::vector<double>& values) {
  Summary s;
  if (values.empty()) return s;
  std::vector<double> sorted = values;
  std::sort(sorted.begin(), sorted.end());
  static_cast<Distribution&>(s) = distribution_of(sorted);
  for (std::size_t i = 1; i < values.size(); ++i)
    s.jitter += std::abs(values[i] - values[i - 1]) / static_cast<double>(values.size() - 1);
  // The number of samples below the median is binomial (n, 1/2); normal approximation.
  const auto count = static_cast<double>(values.size());
  const double low = std::floor(count / 2 - 0.98 * std::sqrt(count));
  const auto skip = static_cast<std::size_t>(std::max(low, 0.0));
  s.median_low = sorted[skip];
  s.median_high = sorted[sorted.size() - 1 - skip];
  return s;
}

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

namespace {

bool is_ours(const Row& row) { return row.coder.starts_with("zerorun"); }
bool is_peer(const Row& row) {
  return !is_ours(row) && row.coder != "copy" && row.coder != "floor" && row.mode != Mode::stages;
}

/// Rows of single instruction sets and of stages are not what a user gets.
bool is_usual(const Row& row) {
  return row.coder == "zerorun" || row.coder == "zerorun-async" || row.coder == "zerorun-batch";
}

std::string short_name(const Row& row) { return row.coder.substr(0, row.coder.find(' ')); }

/// The subject of a sentence: a library, for which the best of its backends stands.
std::string codec_name(const Row& row) { return row.codec.empty() ? short_name(row) : row.codec; }

struct Pair {
  const Row* ours = nullptr;
  const Row* peer = nullptr;
};

double median(const Row& row) { return summarise(row.microseconds).median; }

/// zerorun's row to compare `peer` with; null if none has its device, path and mode.
const Row* match(const CaseResult& result, const Row& peer) {
  const Row* best = nullptr;
  for (const Row& row : result.rows) {
    if (!is_ours(row) || row.mode != peer.mode || row.device != peer.device ||
        row.path != peer.path)
      continue;
    // One frame at a time, more threads would make zerorun look better than its code is.
    const auto rank = [&peer](const Row& r) {
      return std::tuple(!is_usual(r), peer.mode == Mode::latency && r.at_once != peer.at_once,
                        median(r));
    };
    if (best == nullptr || rank(row) < rank(*best)) best = &row;
  }
  return best;
}

/// The fastest comparable row of each codec in each mode, latency first.
std::vector<Pair> pairs_of(const CaseResult& result) {
  std::vector<Pair> pairs;
  for (const Row& row : result.rows) {
    if (!is_peer(row)) continue;
    const Row* ours = match(result, row);
    if (ours == nullptr) continue;
    const auto same = std::find_if(pairs.begin(), pairs.end(), [&row](const Pair& pair) {
      return codec_name(*pair.peer) == codec_name(row) && pair.peer->mode == row.mode;
    });
    if (same == pairs.end()) {
      pairs.push_back({ours, &row});
    } else if (median(row) < median(*same->peer)) {
      *same = {ours, &row};
    }
  }
  std::stable_sort(pairs.begin(), pairs.end(),
                   [](const Pair& a, const Pair& b) { return a.peer->mode < b.peer->mode; });
  return pairs;
}

/// "1 thread", "nvJPEG-hybrid, 1 thread", "zerorun 2 threads, nvJPEG-hardware 8 threads".
std::string at_once_text(const Pair& pair) {
  const auto count = [](const Row& row) {
    const bool one = row.at_once == 1 && row.unit.ends_with('s');
    return fmt::format("{} {}", row.at_once,
                       one ? row.unit.substr(0, row.unit.size() - 1) : row.unit);
  };
  const std::string ours = count(*pair.ours), peer = count(*pair.peer);
  const bool is_backend = short_name(*pair.peer) != codec_name(*pair.peer);
  if (ours == peer) return is_backend ? short_name(*pair.peer) + ", " + ours : ours;
  return fmt::format("{} {}, {} {}", short_name(*pair.ours), ours, short_name(*pair.peer), peer);
}

std::string conditions(const Pair& pair) {
  return fmt::format("({}, {}; {})", pair.peer->device, pair.peer->path, at_once_text(pair));
}

bool is_noise(const Pair& pair) {
  const Summary ours = summarise(pair.ours->microseconds);
  const Summary peer = summarise(pair.peer->microseconds);
  return ours.median_low <= peer.median_high && peer.median_low <= ours.median_high;
}

/// Two significant digits: "0.80", "6.2", "62".
std::string times_text(double ratio) {
  return fmt::format("{:.{}f}", ratio, ratio < 0.995 ? 2 : ratio < 9.95 ? 1 : 0);
}

const char* how(Mode mode) {
  if (mode == Mode::latency) return "One frame at a time";
  return mode == Mode::throughput ? "Several frames at once" : "From file to file";
}

std::string sentence(const Pair& pair) {
  const std::string start = fmt::format("{}, {}", how(pair.peer->mode), short_name(*pair.ours));
  const std::string peer = codec_name(*pair.peer);
  const double ours_us = median(*pair.ours), peer_us = median(*pair.peer);
  if (is_noise(pair))
    return fmt::format("{} and {} are equally fast within the noise {}.", start, peer,
                       conditions(pair));
  if (pair.peer->mode == Mode::throughput)
    return fmt::format("{} has {}{} {}'s throughput {}.", start, times_text(peer_us / ours_us),
                       peer_us > ours_us ? " times" : " of", peer, conditions(pair));
  return fmt::format("{} takes {}{} {}'s time {}.", start, times_text(ours_us / peer_us),
                     ours_us > peer_us ? " times" : " of", peer, conditions(pair));
}

}  // namespace

std::vector<std::string> sentences(const CaseResult& result) {
  std::vector<std::string> sentences;
  for (const Pair& pair : pairs_of(result)) sentences.push_back(sentence(pair));
  return sentences;
}

std::vector<std::string> warnings(const CaseResult& result) {
  std::vector<std::string> ids;
  for (const Row& row : result.rows) {
    const Summary s = summarise(row.microseconds);
    if (s.p95 > 2 * s.median) ids.push_back(row.id());
  }
  if (ids.empty()) return {};
  constexpr std::size_t kNamed = 3;
  const std::size_t count = ids.size();
  const std::string more = count > kNamed ? fmt::format(" and {} more", count - kNamed) : "";
  ids.resize(std::min(count, kNamed));
  return {
      fmt::format("The machine was busy, or its clock changed: the 95th percentile is more than "
                  "twice the median in {} of {} rows ({}{}).",
                  count, result.rows.size(), fmt::join(ids, ", "), more)};
}

std::optional<std::string> load_warning(double load, unsigned processors) {
  if (load < 0 || load <= 0.25 * processors) return std::nullopt;
  return fmt::format(
      "The machine was busy before the measurement: its load was {:.1f}, with {} "
      "processor{}.",
      load, processors, processors == 1 ? "" : "s");
}

}  // namespace zerorun::app::bench
