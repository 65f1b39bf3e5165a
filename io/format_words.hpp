// The words that name formats: extensions, and what the user calls them.
// SPDX-License-Identifier: MIT
#pragma once

#include <string>

namespace zerorun::io {

bool is_raw_mjpeg(const std::string& format);
bool is_jpeg_file(const std::string& format);
/// The muxer of a container that zerorun writes, or "".
std::string container_muxer(const std::string& format);

}  // namespace zerorun::io
