// The facts that `zerorun info` finds, and how they are printed.
// SPDX-License-Identifier: MIT
#pragma once

#include <nlohmann/json.hpp>

#include <cstdint>
#include <optional>
#include <string>

#include "zerorun/decoder.hpp"
#include "zerorun/source.hpp"

namespace zerorun::app {

/// Sizes of the JPEG streams, if all were read.
struct PacketSizes {
  std::int64_t count = 0, total = 0, smallest = 0, largest = 0;
};

struct InputFacts {
  std::string name;
  io::SourceInfo source;
  std::optional<std::int64_t> file_bytes;  ///< of a regular file
  std::optional<StreamInfo> stream;        ///< of the first JPEG stream
  std::string stream_problem;              ///< why `stream` is empty
  std::optional<io::JpegKind> kind;        ///< of the first JPEG stream, also if zerorun refuses it
  io::PictureContent picture;              ///< of the first picture or JPEG stream
  int scans = 0;                           ///< of the first JPEG stream
  std::size_t first_bytes = 0;             ///< of the first JPEG stream
  std::optional<PacketSizes> sizes;

  std::int64_t frames() const noexcept;  ///< -1 = unknown
  std::optional<double> seconds() const noexcept;
  std::optional<double> bits_per_second() const noexcept;
};

nlohmann::ordered_json to_json(const InputFacts& facts);
std::string to_text(const InputFacts& facts);

}  // namespace zerorun::app
