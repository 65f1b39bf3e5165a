// Saving the frame that is shown.
// SPDX-License-Identifier: MIT
#include "apps/play/save_frame.hpp"

#include <fmt/core.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>

#include "codec/base/try.hpp"

namespace zerorun::app {
namespace {

namespace fs = std::filesystem;

/// A path that does not exist yet, from the name of the input (in a sequence: of the file) and the
/// index.
Result<std::string> free_path(const PlayInput& input, const PlayFrame& frame,
                              const std::string& directory, const char* extension) {
  std::string stem = fs::path(input.is_images() ? frame.name : input.name()).stem().string();
  if (stem == "-" || stem.empty()) stem = "stdin";
  const std::string base =
      (fs::path(directory) / fmt::format("{}-{:06}", stem, frame.index)).string();
  constexpr int kMostCopies = 1000;
  for (int copy = 1; copy <= kMostCopies; ++copy) {
    const std::string path =
        base + (copy > 1 ? fmt::format("-{}", copy) : std::string()) + "." + extension;
    std::error_code error;
    if (!fs::exists(path, error)) return path;
  }
  return Status(Errc::output_exists, "'" + base + "." + extension + "' and its copies");
}

Status write_file(const std::string& path, const std::vector<std::byte>& bytes) {
  const auto failed = [&path] {
    return Status(Errc::write_failed, "'" + path + "': " + std::strerror(errno));
  };
  std::FILE* file = std::fopen(path.c_str(), "wbx");  // x: fails if the file exists
  if (file == nullptr) return failed();
  const bool is_whole = std::fwrite(bytes.data(), 1, bytes.size(), file) == bytes.size();
  if (std::fclose(file) == 0 && is_whole) return Status::ok();
  const Status status = failed();
  std::remove(path.c_str());
  return status;
}

/// Decodes the stream again to RGB, with the chroma filter of the decoder instead of the screen's.
Result<Frame> as_rgb(const PlayFrame& shown) {
  DecodeParams params;
  params.backend = Backend::cpu;
  params.limits = StreamLimits::any_size();  // it was decoded already
  auto decoder = Decoder::create(params);
  if (!decoder) return decoder.status();
  const bool is_gray = shown.frame.format() == PixelFormat::gray8;
  Frame frame;
  auto report =
      decoder->decode(shown.jpeg, is_gray ? PixelFormat::gray8 : PixelFormat::rgb24, frame);
  if (!report) return report.status();
  return frame;
}

}  // namespace

Result<std::string> save_jpeg(const PlayInput& input, const PlayFrame& frame,
                              const std::string& directory) {
  if (frame.jpeg.empty())
    return Status(Errc::invalid_argument,
                  "this input is not a JPEG stream; Shift+s saves a picture");
  auto path = free_path(input, frame, directory, "jpg");
  if (!path) return path;
  ZR_TRY(write_file(*path, frame.jpeg));
  return path;
}

Result<std::string> save_picture(const PlayInput& input, const PlayFrame& frame,
                                 const std::string& directory) {
  auto path = free_path(input, frame, directory, io::features().opencv ? "png" : "ppm");
  if (!path) return path;
  ConstFrameView view = frame.frame.view();
  Frame rgb;
  if (!frame.jpeg.empty()) {
    auto decoded = as_rgb(frame);
    if (!decoded) return decoded.status();
    rgb = *std::move(decoded);
    view = std::as_const(rgb).view();
  }
  io::SinkOptions options;
  options.width = view.width;
  options.height = view.height;
  auto sink = io::open_frame_sink({*path, "", {}}, options);
  if (!sink) return sink.status();
  ZR_TRY((*sink)->write(view, {}));
  ZR_TRY((*sink)->finish());
  return path;
}

}  // namespace zerorun::app
