// The corpora outside the project, and plain files.
// SPDX-License-Identifier: MIT
#include "tests/support/test_data.hpp"

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace zerorun::test {
namespace {

std::vector<std::string> split(const std::string& line) {
  std::vector<std::string> out;
  std::istringstream in(line);
  for (std::string field; std::getline(in, field, '\t');) out.push_back(field);
  return out;
}

}  // namespace

std::filesystem::path project_tests() { return ZERORUN_TESTS_DIR; }

std::optional<std::filesystem::path> test_data() {
  const char* named = std::getenv("ZERORUN_TEST_DATA");
  const std::filesystem::path folder = named != nullptr && *named != '\0'
                                           ? std::filesystem::path(named)
                                           : project_tests() / "../../shared/data";
  if (!std::filesystem::exists(folder / "MANIFEST.tsv")) return std::nullopt;
  return folder;
}

std::vector<std::byte> read_file(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw std::runtime_error("cannot read " + path.string());
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  const auto* first = reinterpret_cast<const std::byte*>(text.data());
  return {first, first + text.size()};
}

std::vector<Row> read_tsv(const std::filesystem::path& path) {
  std::ifstream in(path);
  if (!in) throw std::runtime_error("cannot read " + path.string());
  std::string line;
  std::getline(in, line);
  const std::vector<std::string> columns = split(line);
  std::vector<Row> rows;
  while (std::getline(in, line)) {
    const std::vector<std::string> fields = split(line);
    Row row;
    for (std::size_t i = 0; i < columns.size(); ++i)
      row[columns[i]] = i < fields.size() ? fields[i] : std::string();
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace zerorun::test
