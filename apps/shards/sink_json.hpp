// The options of an output as JSON, so that shards can be joined to the bytes of one run.
// SPDX-License-Identifier: MIT
#pragma once

#include <nlohmann/json.hpp>

#include <optional>
#include <string_view>

#include "zerorun/sink.hpp"

namespace zerorun::app {

/// Without `overwrite` and the path of the sound, which belong to the one who joins.
nlohmann::ordered_json sink_json(const io::SinkOptions& options);
/// Throws JsonError; call it inside checked_json().
io::SinkOptions sink_from_json(const nlohmann::ordered_json& json);

/// By FFmpeg's name; nullopt if there is no such format.
std::optional<PixelFormat> parse_pixel_format(std::string_view name);

}  // namespace zerorun::app
