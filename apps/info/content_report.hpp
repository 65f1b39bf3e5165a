// What `zerorun info` tells beside sizes: depth, range, matrix, fields, profile, EXIF, tags.
// SPDX-License-Identifier: MIT
#pragma once

#include <nlohmann/json.hpp>

#include <string>
#include <string_view>

#include "apps/info/info_report.hpp"

namespace zerorun::app {

/// "  label        text", a line of the report.
std::string report_row(std::string_view label, const std::string& text);

std::string content_text(const InputFacts& facts);
void add_content(const InputFacts& facts, nlohmann::ordered_json& json);

/// "progressive, YCbCr, 640x480, 8 bits".
std::string kind_text(const io::JpegKind& kind);

}  // namespace zerorun::app
