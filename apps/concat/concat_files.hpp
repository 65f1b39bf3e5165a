// Joins Motion JPEG files without decoding.
// SPDX-License-Identifier: MIT
#pragma once

#include "apps/concat/concat_options.hpp"
#include "apps/shards/join.hpp"

namespace zerorun::app {

/// The streams of all inputs one after another, each from where the one before ends. All have one
/// size. If all have one constant rate, so has the output; else it keeps the time of every frame.
/// Ends the command on errors.
JoinResult concat_files(const ConcatOptions& options);

}  // namespace zerorun::app
