// JSON as text, whatever bytes its strings have.
// SPDX-License-Identifier: MIT
#pragma once

#include <nlohmann/json.hpp>

#include <string>

namespace zerorun::app {

/// File names, tags and EXIF come from outside and need not be UTF-8, as JSON is: other bytes
/// become U+FFFD. dump() alone would throw.
template <typename Json>
std::string json_text(const Json& json, int indent = -1) {
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

}  // namespace zerorun::app
