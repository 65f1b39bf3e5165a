// What has to be known of an input before it is split.
// SPDX-License-Identifier: MIT
#pragma once

#include <nlohmann/json.hpp>

#include <cstdint>

#include "apps/common/options.hpp"
#include "apps/shards/split.hpp"

namespace zerorun::app {

struct FrameCount {
  std::int64_t frames = 0;
  bool is_exact = false;  ///< they were counted: there are none that the headers do not know of
};

/// The frames of INPUT within --frames. The headers or the names of the files tell; Matroska with
/// Motion JPEG is walked through from header to header; a raw Motion JPEG file and other containers
/// without an index are read for it once. Ends the command on errors.
FrameCount count_frames(const InputOptions& input);

/// True if there is a frame within --frames.
bool has_frames(const InputOptions& input);

/// Path, size and time of the file, or of the files of `span` in a sequence. What its bytes were
/// stands in the manifest (input_hash()).
nlohmann::ordered_json input_identity(const InputOptions& input, const FrameSpan& span);

}  // namespace zerorun::app
