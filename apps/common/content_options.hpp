// What becomes of metadata, alpha, and the coding of samples on the way from INPUT to OUTPUT.
// SPDX-License-Identifier: MIT
#pragma once

#include <nlohmann/json.hpp>

#include <string>

#include "apps/common/options.hpp"

namespace zerorun::app {

enum class IccMode { keep, convert, none, file };

struct ContentOptions {
  bool copy_metadata = true;
  bool autorotate = true;
  IccMode icc = IccMode::keep;
  std::string icc_file;
};

/// --metadata and --icc; `with_file` also takes the name of a profile.
void add_content_choices(CLI::App& app, ContentOptions& content, bool with_file);

/// --streams and --losses.
void add_stream_options(CLI::App& app, bool& copies_streams, bool& stops_at_losses);

/// What decides the bytes of an output, as JSON.
nlohmann::ordered_json content_parameters(const ContentOptions& content);

}  // namespace zerorun::app
