// Packets in and out of files; the module zerorun.video makes VideoWriter and VideoReader of them.
// SPDX-License-Identifier: MIT
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "apps/python/binding/coders.hpp"
#include "zerorun/io.hpp"

namespace zerorun::python {
namespace {

/// A file under construction or one that is read, and the lock of the threads that share it.
template <typename T>
struct Shared {
  explicit Shared(std::unique_ptr<T> opened) : file(std::move(opened)) {}
  std::mutex mutex;
  std::unique_ptr<T> file;
};

template <typename T>
std::shared_ptr<Shared<T>> opened(const ForkBound<Shared<T>>& bound) {
  std::shared_ptr<Shared<T>> shared = bound.get();
  if (!shared) fail(Errc::already_finished, "the file is closed, or was opened before a fork");
  return shared;
}

class PacketWriter {
 public:
  PacketWriter(const std::string& path, int width, int height, std::int64_t fps_num,
               std::int64_t fps_den, nb::handle format, bool overwrite) {
    io::SinkOptions options;
    options.overwrite = overwrite;
    options.width = width;
    options.height = height;
    options.frame_rate = {fps_num, fps_den};
    options.time_base = {fps_den, fps_num};
    options.coded_format = parse_format(format);
    file_ = ForkBound<Shared<io::PacketSink>>(std::make_shared<Shared<io::PacketSink>>(
        value_of(io::open_packet_sink({path, "", {}}, options))));
  }

  void write(nb::handle jpeg) {
    const JpegData data(jpeg);
    const auto shared = opened(file_);
    const Locked lock(shared->mutex);
    check(without_gil([&] { return shared->file->write(data.bytes(), {frames_, 1}); }));
    ++frames_;
  }

  void finish() {
    const auto shared = opened(file_);
    const Locked lock(shared->mutex);
    Status status = without_gil([&] { return shared->file->finish(); });
    file_ = {};
    check(std::move(status));
  }

  void abandon() { file_ = {}; }
  std::int64_t frames() const { return frames_; }

 private:
  ForkBound<Shared<io::PacketSink>> file_;
  std::int64_t frames_ = 0;
};

class PacketReader {
 public:
  explicit PacketReader(const std::string& path) {
    file_ = ForkBound<Shared<io::PacketSource>>(
        std::make_shared<Shared<io::PacketSource>>(value_of(io::open_packets({path, "", {}}, {}))));
  }

  nb::object read() {
    const auto shared = opened(file_);
    const Locked lock(shared->mutex);
    if (!value_of(without_gil([&] { return shared->file->read(packet_, time_); })))
      return nb::none();
    return nb::bytes(packet_.data(), packet_.size());
  }

  /// In units of 1/fps; files without a rate count 25 frames a second.
  std::int64_t seek(std::int64_t frame) {
    const auto shared = opened(file_);
    const Locked lock(shared->mutex);
    const io::SourceInfo& info = shared->file->info();
    const io::Rational rate = info.frame_rate.known() ? info.frame_rate : io::Rational{25, 1};
    const double seconds = static_cast<double>(frame) / rate.value();
    const double pts = seconds / info.time_base.value() + 0.5;
    constexpr double kMostPts = 1e18;  // and the first one of the file still fits beside it
    if (frame < 0 || !(pts < kMostPts)) fail_argument("there is no frame " + std::to_string(frame));
    return value_of(without_gil(
        [&] { return shared->file->seek(info.first_pts + static_cast<std::int64_t>(pts)); }));
  }

  nb::tuple info() const {
    const auto shared = opened(file_);
    const Locked lock(shared->mutex);
    const io::SourceInfo& info = shared->file->info();
    return nb::make_tuple(info.width, info.height, info.frame_rate.num, info.frame_rate.den,
                          info.frame_count, info.container);
  }

  void close() { file_ = {}; }

 private:
  ForkBound<Shared<io::PacketSource>> file_;
  std::vector<std::byte> packet_;
  io::FrameTime time_;
};

constexpr char kInfoSig[] = "def info(self) -> tuple[int, int, int, int, int, str]";

}  // namespace

void bind_video(nb::module_& module) {
  nb::class_<PacketWriter>(module, "PacketWriter")
      .def(nb::init<const std::string&, int, int, std::int64_t, std::int64_t, nb::handle, bool>(),
           "path"_a, "width"_a, "height"_a, "fps_num"_a, "fps_den"_a, "format"_a, "overwrite"_a)
      .def("write", &PacketWriter::write, nb::sig("def write(self, jpeg: Data) -> None"))
      .def("finish", &PacketWriter::finish)
      .def("abandon", &PacketWriter::abandon)
      .def_prop_ro("frames", &PacketWriter::frames);
  nb::class_<PacketReader>(module, "PacketReader")
      .def(nb::init<const std::string&>())
      .def("read", &PacketReader::read, nb::sig("def read(self) -> Optional[bytes]"))
      .def("seek", &PacketReader::seek)
      .def("info", &PacketReader::info, nb::sig(kInfoSig))
      .def("close", &PacketReader::close);
  module.attr("built_with_ffmpeg") = io::features().ffmpeg;
}

}  // namespace zerorun::python
