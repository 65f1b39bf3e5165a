// SPDX-License-Identifier: MIT
#include "apps/play/session.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <utility>

#include "apps/common/figures.hpp"
#include "apps/common/input_output.hpp"
#include "apps/common/process.hpp"
#include "codec/base/frame_distance.hpp"
#include "codec/base/try.hpp"

namespace zerorun::app {
namespace {

std::uint8_t clip(int value) noexcept {
  return static_cast<std::uint8_t>(std::clamp(value, 0, 255));
}

template <typename Sample>
void each_row(const ConstFrameView& a, const ConstFrameView& b, const FrameView& out, int plane,
              Sample&& sample) {
  const auto p = static_cast<std::size_t>(plane);
  const std::size_t bytes = plane_row_bytes(a.format, plane, a.width);
  for (std::ptrdiff_t y = 0; y < plane_rows(a.format, plane, a.height); ++y) {
    const std::uint8_t* from_a = a.data[p] + y * a.stride_bytes[p];
    const std::uint8_t* from_b = b.data[p] + y * b.stride_bytes[p];
    std::uint8_t* to = out.data[p] + y * out.stride_bytes[p];
    for (std::size_t x = 0; x < bytes; ++x) to[x] = sample(from_a[x], from_b[x]);
  }
}

bool fits(const ConstFrameView& a, const ConstFrameView& b) noexcept {
  return a.format == b.format && a.width == b.width && a.height == b.height && a.width > 0;
}

}  // namespace

std::optional<SquaredError> compare_error(const ConstFrameView& a, const ConstFrameView& b) {
  if (!fits(a, b)) return std::nullopt;
  return squared_error(a, b);
}

Status make_difference(const ConstFrameView& a, const ConstFrameView& b, int gain, Frame& out) {
  if (!fits(a, b)) return Status(Errc::invalid_frame, "the two pictures differ in size");
  ZR_TRY(out.reshape(a.format, a.width, a.height));
  const auto unsigned_difference = [gain](int x, int y) { return clip(gain * std::abs(x - y)); };
  const auto signed_difference = [gain](int x, int y) { return clip(128 + gain * (x - y)); };
  each_row(a, b, out.view(), 0, unsigned_difference);
  for (int plane = 1; plane < plane_count(a.format); ++plane)
    each_row(a, b, out.view(), plane, signed_difference);
  return Status::ok();
}

namespace {

/// ", 3 dropped"; empty if there are none.
std::string also(const char* word, std::int64_t count) {
  return count > 0 ? fmt::format(", {} {}", count, word) : std::string();
}

}  // namespace

void PlayReport::add_error(const SquaredError& of_pair, PixelFormat format) {
  if (!error) error.emplace();
  error->add(of_pair);
  ++compared;
  compared_format = format;
}

std::string PlayReport::text() const {
  const auto decoded = static_cast<double>(counts.decoded);
  std::string text;
  if (times) {
    text = fmt::format("{}: {} frames, {}x{}, {:.2f} s, {:.1f} fps", input, counts.decoded, width,
                       height, seconds, ratio(decoded, seconds));
  } else {
    text = fmt::format("{}: {} frames shown in {:.2f} s, {} decoded", input, shown, seconds,
                       counts.decoded);
  }
  text += also("dropped", counts.dropped) + also("too late", late) +
          also("concealed", counts.concealed) + also("on the CPU", counts.on_cpu) +
          also("broken", counts.broken);
  if (counts.bytes > 0)
    text += fmt::format("\n  JPEG     {} bytes, {:.1f} MB/s", with_commas(counts.bytes),
                        ratio(static_cast<double>(counts.bytes) * 1e-6, seconds));
  if (times && times->count() > 0) {
    text += fmt::format("\n  decode   ms per frame: {}", times_text(*times));
  } else if (counts.total_ms > 0) {
    text += fmt::format("\n  decode   ms per frame: mean {:.2f}, max {:.2f}",
                        ratio(counts.total_ms, decoded), counts.max_ms);
  }
  text += "\n  device   " + device;
  for (const LostDevice& lost : lost_devices)
    text += fmt::format("\n           cuda:{} failed, the others went on: {}", lost.device,
                        lost.why.message());
  if (error)
    text += fmt::format("\n  PSNR     {:.3f} dB over {} frame{} ({})", error->psnr(), compared,
                        compared == 1 ? "" : "s", psnr_components_text(*error));
  if (ssim_pairs > 0)
    text += fmt::format("\n  SSIM     {:.6f} over {} frame{} (Y)",
                        ratio(ssim_sum, static_cast<double>(ssim_pairs)), ssim_pairs,
                        ssim_pairs == 1 ? "" : "s");
  return text;
}

nlohmann::json PlayReport::json() const {
  const auto decoded = static_cast<double>(counts.decoded);
  nlohmann::json out = {
      {"input", input},
      {"device", device},
      {"width", width},
      {"height", height},
      {"scale", scale},
      {"seconds", seconds},
      {"shown", shown},
      {"decoded", counts.decoded},
      {"dropped", counts.dropped},
      {"late", late},
      {"concealed_frames", counts.concealed},
      {"cpu_frames", counts.on_cpu},
      {"broken_frames", counts.broken},
      {"bytes", counts.bytes},
      {"fps", ratio(decoded, seconds)},
      {"decode_ms", {{"mean", ratio(counts.total_ms, decoded)}, {"max", counts.max_ms}}}};
  add_lost_devices(out, lost_devices);
  if (times && times->count() > 0) out["decode_ms"] = times_json(*times);
  if (sound)
    out["sound"] = {
        {"driver", sound->driver}, {"seconds", sound->seconds}, {"drift_ms", sound->drift_ms}};
  if (error) {
    out["compared"] = compared;
    out["psnr_of"] = psnr_components(compared_format);
    add_psnr(out, *error);
    if (ssim_pairs > 0) out["ssim"] = ratio(ssim_sum, static_cast<double>(ssim_pairs));
  }
  return out;
}

const char* psnr_components(PixelFormat format) noexcept {
  if (format == PixelFormat::gray8) return "Y";
  return is_rgb(format) ? "RGB" : "Y Cb Cr";
}

void print_report(const PlayReport& report, bool as_json) {
  if (as_json) {
    fmt::print("{}\n", json_text(report.json(), 2));
  } else {
    console::plain(report.text());
  }
}

PlaySession::PlaySession(const PlayOptions& options) : start_seconds_(options.start_seconds) {
  decoding.backend = choose_backend(options.device);
  decoding.device = options.device;
  decoding.limits = stream_limits(options.input.max_pixels);
  decoding.pixels = options.no_window ? Pixels::stored : Pixels::shown;
  const auto open = [&](const InputOptions& which) {
    return std::make_shared<PlayInput>(which, options.device, decoding.pixels);
  };
  input = open(options.input);
  if (options.start_seconds > 0 && !input->can_seek())
    fail(Exit::usage, options.input.name + ": --start needs a file, because a pipe cannot seek");
  const auto check = [&options](bool is_jpeg) {
    check_max_pixels(options.input.name, options.input.max_pixels, is_jpeg);
  };
  if (options.other.empty()) {
    check(input->info().is_jpeg);
    return;
  }
  InputOptions second = options.input;
  second.name = options.other;
  second.format.clear();
  if (second.name == "-" && options.input.name == "-")
    fail(Exit::usage, "only one of INPUT and --compare can be stdin");
  other = open(second);
  check(input->info().is_jpeg || other->info().is_jpeg);
  if (input->format() == other->format()) return;
  // Only pictures of the same format can be compared sample by sample.
  decoding.pixels = Pixels::rgb;
  for (auto* each : {&input, &other}) {
    if ((*each)->has_packets() || (*each)->format() == PixelFormat::bgrx32) continue;
    if ((*each)->name() == "-")
      fail(Exit::usage, "stdin cannot be compared with an input of another chroma sampling");
    *each = open(each == &input ? options.input : second);
  }
}

void PlaySession::start(const MediaClock* clock) {
  if (start_seconds_ > 0) {
    go_to_start(*input);
    if (other && other->can_seek()) go_to_start(*other);
  }
  frames = std::make_unique<DecodeAhead>(input, decoding, clock);
  if (other) other_frames = std::make_unique<DecodeAhead>(other, decoding, clock);
}

void PlaySession::go_to_start(PlayInput& which) const {
  if (Status status = which.seek(which.pts_at(start_seconds_)); !status)
    fail(Exit::input, which.name(), status);
}

void PlaySession::set_backend(Backend backend, int device) {
  decoding.backend = backend;
  decoding.device.index = device;
  frames->set_decoding(decoding);
  if (other_frames) other_frames->set_decoding(decoding);
}

void PlaySession::set_scale(int scale) {
  if (decoding.scale == scale) return;
  decoding.scale = scale;
  if (frames) frames->set_decoding(decoding);
}

void PlaySession::describe(PlayReport& report) const {
  report.input = input->name();
  report.device = input->has_packets() ? device_text(decoding.backend, decoding.device)
                                       : "not a JPEG stream, decoded while reading";
  report.width = input->width();
  report.height = input->height();
  report.scale = decoding.scale;
  report.counts = frames->counts();
  report.lost_devices = frames->lost_devices();
}

namespace {

constexpr double kSignalSeconds = 0.05;  // interval of looking for signals

/// The next frame in order; null at the end and after a signal.
std::unique_ptr<PlayFrame> next(DecodeAhead& frames) {
  while (frames.peek() == nullptr) {
    if (frames.is_over() || signals::received() != 0) return nullptr;
    frames.wait(kSignalSeconds);
  }
  return frames.take();
}

/// Prints what is wrong with a broken frame; `first` keeps the first problem. A failure of the
/// device or of memory ends the command: it is not the fault of the input.
void note_problem(const PlayFrame& frame, Status& first) {
  if (frame.problem) return;
  const Errc code = frame.problem.code();
  if (group(code) == ErrorGroup::device || code == Errc::out_of_memory)
    fail(Exit::failed, frame.name, frame.problem);
  if (first) first = frame.problem;
  console::detail(
      fmt::format("{}: frame {}: {}", frame.name, frame.index, frame.problem.message()));
}

void compare(const PlayFrame& a, const PlayFrame& b, PlayReport& report) {
  if (!a.problem || !b.problem) return;
  const auto error = compare_error(a.frame.view(), b.frame.view());
  if (!error) fail(Exit::input, fmt::format("frame {}: the two inputs differ in size", a.index));
  report.add_error(*error, a.frame.format());
  report.add_ssim(luma_ssim(a.frame.view(), b.frame.view()));
}

}  // namespace

Exit play_headless(const PlayOptions& options, PlaySession& session) {
  const signals::Graceful graceful("ending");
  session.start(nullptr);
  PlayReport report;
  report.times.emplace();
  const Stopwatch watch;
  Status first_problem, other_problem;
  while (auto frame = next(*session.frames)) {
    note_problem(*frame, first_problem);
    if (frame->problem && session.input->has_packets()) report.times->add(frame->decode_ms * 1e3);
    if (session.other) {
      auto other = next(*session.other_frames);
      if (!other) break;
      note_problem(*other, other_problem);
      compare(*frame, *other, report);
      session.other_frames->recycle(std::move(other));
    }
    session.frames->recycle(std::move(frame));
  }
  report.seconds = watch.seconds();
  if (signals::must_stop_now()) fail(Exit::failed, "stopped");
  session.describe(report);
  if (const Status problem = session.frames->read_problem(); !problem && problem.code() != Errc::ok)
    console::note(session.input->name() + ": " + problem.message());
  if (report.counts.decoded == 0 && !first_problem)
    fail_input(options.input.name, first_problem, session.input->info().is_jpeg);
  if (report.compared == 0 && !other_problem)
    fail_input(options.other, other_problem, session.other->info().is_jpeg);
  print_report(report, options.json);
  return Exit::done;
}

namespace {

/// A path that does not exist yet, from the name of the input (in a sequence: of the file) and the
/// index.
Result<std::string> free_path(const PlayInput& input, const PlayFrame& frame,
                              const std::string& directory, const char* extension) {
  std::string stem =
      std::filesystem::path(input.is_images() ? frame.name : input.name()).stem().string();
  if (stem == "-" || stem.empty()) stem = "stdin";
  const std::string base =
      (std::filesystem::path(directory) / fmt::format("{}-{:06}", stem, frame.index)).string();
  constexpr int kMostCopies = 1000;
  for (int copy = 1; copy <= kMostCopies; ++copy) {
    const std::string path =
        base + (copy > 1 ? fmt::format("-{}", copy) : std::string()) + "." + extension;
    std::error_code error;
    if (!std::filesystem::exists(path, error)) return path;
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
    const bool is_gray = view.format == PixelFormat::gray8;
    ZR_LET(decoded, decode_again(frame, is_gray ? PixelFormat::gray8 : PixelFormat::rgb24));
    rgb = std::move(decoded);
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
