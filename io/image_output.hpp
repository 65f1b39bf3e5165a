// An output for images: one file or stream, or numbered files.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "io/location.hpp"
#include "io/output_file.hpp"
#include "zerorun/sink.hpp"

namespace zerorun::io {

class ImageOutput {
 public:
  /// A file or stream that holds images one after another; without an image it is an error unless
  /// `may_be_empty`.
  static ImageOutput stream(std::unique_ptr<OutputFile> file, bool may_be_empty);
  /// A file that holds one image. `for_more` completes the sentence about a second one: "name ...".
  static ImageOutput single(std::unique_ptr<OutputFile> file, std::string for_more);
  /// Numbered files, each renamed from NAME.part when it is whole. Errors: open_failed (no such
  /// directory), output_exists (without `overwrite`: a file of the pattern with a number from
  /// `start` on exists; better to fail now than at frame 5000).
  static Result<ImageOutput> numbered(const NumberPattern& pattern, std::int64_t start,
                                      bool overwrite);

  /// Writes the parts of an image to a file of its own if the files are numbered. Any thread.
  Status prepare(Outgoing& out) const;
  Status commit(Outgoing& out);
  Status finish();
  std::int64_t bytes_written() const noexcept { return bytes_; }

 private:
  std::unique_ptr<OutputFile> file_;  // null for numbered files
  std::string for_more_;              // empty if a file holds many images
  bool may_be_empty_ = false;
  NumberPattern pattern_;
  std::int64_t start_ = 0;
  bool overwrite_ = false;
  std::int64_t bytes_ = 0;
};

}  // namespace zerorun::io
