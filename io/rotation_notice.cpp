// Says that a container cannot tell players to turn the pictures.
// SPDX-License-Identifier: MIT
#include <string>

#include "io/sinks.hpp"

namespace zerorun::io {

bool is_turned(const SinkOptions& options) noexcept {
  return options.mirrored || options.rotation_degrees % 360 != 0;
}

std::string rotation_notice(const SinkOptions& options, const std::string& container) {
  const std::string degrees = std::to_string(options.rotation_degrees) + " degrees";
  const std::string what = !options.mirrored               ? "the rotation of " + degrees
                           : options.rotation_degrees == 0 ? "mirroring"
                                                           : "mirroring and rotation of " + degrees;
  return container + " has no place for " + what +
         "; players will show the video as it is stored (.mov and .mp4 keep it)";
}

}  // namespace zerorun::io
