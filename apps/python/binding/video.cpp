// Packets in and out of files; the module zerorun.video makes VideoWriter and VideoReader of them.
// SPDX-License-Identifier: MIT
#include <nanobind/stl/string.h>

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "apps/python/binding/coders.hpp"
#include "zerorun/io.hpp"

namespace zerorun::python {
namespace {

/// A file under construction or one that is read, for the threads that share it.
template <typename T>
class PacketFile {
 public:
  explicit PacketFile(Result<std::unique_ptr<T>> opened)
      : shared_(std::make_shared<Shared>(value_of(std::move(opened)))) {}
  void close() { shared_ = {}; }

 protected:
  /// What call(file) returns; it runs without the GIL, and for one thread at a time.
  template <typename Call>
  auto use(const Call& call) {
    const std::shared_ptr<Shared> shared = shared_.get();
    if (!shared) fail(Errc::already_finished, "the file is closed, or was opened before a fork");
    return without_gil([&] {
      const std::lock_guard lock(shared->mutex);
      return call(*shared->file);
    });
  }

 private:
  struct Shared {
    explicit Shared(std::unique_ptr<T> opened) : file(std::move(opened)) {}
    std::mutex mutex;
    std::unique_ptr<T> file;
  };

  ForkBound<Shared> shared_;
};

class PacketWriter : public PacketFile<io::PacketSink> {
 public:
  PacketWriter(const std::string& path, int width, int height, std::int64_t fps_num,
               std::int64_t fps_den, nb::handle format, bool overwrite)
      : PacketFile(open(path, width, height, {fps_num, fps_den}, parse_format(format), overwrite)) {
  }

  void write(nb::handle jpeg) {
    const JpegData data(jpeg);
    check(use([&](io::PacketSink& file) {
      Status status = file.write(data.bytes(), {frames_, 1});
      if (status) ++frames_;
      return status;
    }));
  }

  void finish() {
    Status status = use([](io::PacketSink& file) { return file.finish(); });
    close();
    check(std::move(status));
  }

  std::int64_t frames() const { return frames_; }

  /// Raises the error of open() that no file is needed for: a name of another format, or of a
  /// container if the build has no FFmpeg.
  static void check_name(const std::string& path) {
    const io::Location output{path, "", {}};
    const bool needs_ffmpeg = !io::container_of(output).empty();
    if (!io::is_packet_output(output) || (needs_ffmpeg && !io::features().ffmpeg))
      check(open(path, 16, 16, {25, 1}, PixelFormat::yuv420p, false).status());
  }

 private:
  static Result<std::unique_ptr<io::PacketSink>> open(const std::string& path, int width,
                                                      int height, io::Rational rate,
                                                      PixelFormat format, bool overwrite) {
    io::SinkOptions options;
    options.overwrite = overwrite;
    options.width = width;
    options.height = height;
    options.frame_rate = rate;
    options.time_base = {rate.den, rate.num};
    options.coded_format = format;
    return io::open_packet_sink({path, "", {}}, options);
  }

  std::atomic<std::int64_t> frames_ = 0;
};

class PacketReader : public PacketFile<io::PacketSource> {
 public:
  explicit PacketReader(const std::string& path)
      : PacketFile(io::open_packets({path, "", {}}, {})) {}

  nb::object read() {
    std::vector<std::byte> packet;
    io::FrameTime time;
    const bool more =
        value_of(use([&](io::PacketSource& file) { return file.read(packet, time); }));
    return more ? nb::object(nb::bytes(packet.data(), packet.size())) : nb::none();
  }

  /// In units of 1/fps; files without a rate count 25 frames a second.
  std::int64_t seek(std::int64_t frame) {
    return value_of(use([&](io::PacketSource& file) {
      const io::SourceInfo& info = file.info();
      const io::Rational rate = info.frame_rate.known() ? info.frame_rate : io::Rational{25, 1};
      const double seconds = static_cast<double>(frame) / rate.value();
      const double pts = seconds / info.time_base.value() + 0.5;
      constexpr double kMostPts = 1e18;  // and the first one of the file still fits beside it
      if (frame < 0 || !(pts < kMostPts)) fail_argument("there is no frame ", frame);
      return file.seek(info.first_pts + static_cast<std::int64_t>(pts));
    }));
  }

  nb::tuple info() {
    const io::SourceInfo info = use([](io::PacketSource& file) { return file.info(); });
    return nb::make_tuple(info.width, info.height, info.frame_rate.num, info.frame_rate.den,
                          info.frame_count, info.container);
  }

  nb::list facts() {
    const io::SourceInfo info = use([](io::PacketSource& file) { return file.info(); });
    nb::list out;
    for (const io::SourceFact& fact : io::facts_of(info))
      out.append(nb::make_tuple(io::name(fact.fact), fact.what));
    return out;
  }
};

}  // namespace

void bind_video(nb::module_& module) {
  nb::class_<PacketWriter>(module, "PacketWriter")
      .def(nb::init<const std::string&, int, int, std::int64_t, std::int64_t, nb::handle, bool>(),
           "path"_a, "width"_a, "height"_a, "fps_num"_a, "fps_den"_a, "format"_a, "overwrite"_a)
      .def_static("check_name", &PacketWriter::check_name, "path"_a)
      .def("write", &PacketWriter::write, nb::sig("def write(self, jpeg: Data) -> None"))
      .def("finish", &PacketWriter::finish)
      .def("abandon", [](PacketWriter& self) { self.close(); })
      .def_prop_ro("frames", &PacketWriter::frames);
  nb::class_<PacketReader>(module, "PacketReader")
      .def(nb::init<const std::string&>())
      .def("read", &PacketReader::read, nb::sig("def read(self) -> Optional[bytes]"))
      .def("seek", &PacketReader::seek)
      .def("info", &PacketReader::info,
           nb::sig("def info(self) -> tuple[int, int, int, int, int, str]"))
      .def("facts", &PacketReader::facts, nb::sig("def facts(self) -> list[tuple[str, str]]"))
      .def("close", [](PacketReader& self) { self.close(); });
  module.attr("built_with_ffmpeg") = io::features().ffmpeg;
}

}  // namespace zerorun::python
