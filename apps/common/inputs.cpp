// Opening the INPUT of a command, and what all commands say about it.
// SPDX-License-Identifier: MIT
#include "apps/common/inputs.hpp"

#include <fmt/core.h>

#include "apps/common/console.hpp"
#include "apps/common/failure.hpp"
#include "apps/common/outputs.hpp"
#include "apps/common/stdin_peek.hpp"

namespace zerorun::app {

std::unique_ptr<io::PacketSource> open_jpeg_packets(const InputOptions& input,
                                                    const io::SourceOptions& options) {
  const bool may_be_jpeg = input.name != "-" || input.format == "mjpeg" ||
                           (input.format.empty() && stdin_begins_with_jpeg());
  if (!may_be_jpeg) return nullptr;
  auto packets = io::open_packets(input_location(input), options);
  if (packets) return *std::move(packets);
  if (packets.status().code() == Errc::unknown_format) return nullptr;
  fail(Exit::input, input.name, packets.status());
}

bool is_field(const StreamInfo& stream, const io::SourceInfo& info) noexcept {
  return stream.height < info.height * 3 / 4;  // FFmpeg has the same rule
}

PixelFormat stored_format(const StreamInfo& stream) noexcept {
  if (stream.color == ColorModel::rgb) return PixelFormat::rgb24;
  if (stream.color == ColorModel::gray) return PixelFormat::gray8;
  return planar_format(stream.subsampling.value_or(Subsampling::s444));
}

void fail_without_frames(const InputOptions& input) {
  fail(Exit::input, input.name + ": there are no frames" +
                        (input.range.first > 0 ? " in the range of --frames" : ""));
}

std::string cut_sentence(const std::string& name, const io::SourceInfo& info) {
  return fmt::format("{} is cut short: {} bytes are missing at its end", name,
                     with_commas(info.missing_bytes));
}

void note_cut_input(const std::string& name, const io::SourceInfo& info) {
  if (info.missing_bytes > 0) console::note(cut_sentence(name, info) + "; the rest is used");
}

}  // namespace zerorun::app
