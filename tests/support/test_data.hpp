// The corpora outside the project: in ZERORUN_TEST_DATA, or in ../shared/data if that exists.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace zerorun::test {

/// The folder with MANIFEST.tsv, if there is one.
std::optional<std::filesystem::path> test_data();

/// Why a test skips itself when test_data() is empty.
inline constexpr const char* kNoTestData =
    "no test data: set ZERORUN_TEST_DATA to the folder with MANIFEST.tsv";

/// The project's own files: tests/<name>.
std::filesystem::path project_tests();

std::vector<std::byte> read_file(const std::filesystem::path& path);

/// A table of tab-separated values with a header line; a row maps column to text.
using Row = std::map<std::string, std::string>;
std::vector<Row> read_tsv(const std::filesystem::path& path);

}  // namespace zerorun::test
