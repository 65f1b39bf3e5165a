// The files of a report: --json, --csv, --html.
// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <string>

#include "apps/bench/options.hpp"
#include "apps/common/safe_file.hpp"

namespace zerorun::app::bench {

/// Make it before anything is measured, so that a name that cannot be written is an error at once.
class ReportFiles {
 public:
  explicit ReportFiles(const Options& options)
      : json_(open(options.json, options.overwrite)),
        csv_(open(options.csv, options.overwrite)),
        html_(open(options.html, options.overwrite)) {}

  /// Writes what text() makes, where the file was asked for.
  template <typename Text>
  void write_json(const Text& text) {
    write(json_, text);
  }
  template <typename Text>
  void write_csv(const Text& text) {
    write(csv_, text);
  }
  template <typename Text>
  void write_html(const Text& text) {
    write(html_, text);
  }

 private:
  static std::unique_ptr<SafeFile> open(const std::string& name, bool overwrite) {
    return name.empty() ? nullptr : std::make_unique<SafeFile>(name, overwrite);
  }

  template <typename Text>
  static void write(const std::unique_ptr<SafeFile>& file, const Text& text) {
    if (!file) return;
    file->write(text());
    file->finish();
  }

  std::unique_ptr<SafeFile> json_, csv_, html_;
};

}  // namespace zerorun::app::bench
