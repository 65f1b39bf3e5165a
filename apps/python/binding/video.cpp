// Packets in and out of files; the module zerorun.video makes VideoWriter and VideoReader of them.
// SPDX-License-Identifier: MIT

#include <atomic>

#include "apps/python/binding/coders.hpp"
#include "zerorun/io.hpp"

namespace zerorun::python {
namespace {

/// A file under construction or one that is read, for the threads that share it.
template <typename T>
class PacketFile {
 public:
  explicit PacketFile(std::unique_ptr<T> opened)
      : shared_(std::make_unique<Shared>(std::move(opened))) {}
  void close() { shared_ = {}; }

 protected:
  /// What call(file) returns; it runs without the GIL, and for one thread at a time.
  template <typename Call>
  auto use(const Call& call) {
    const std::shared_ptr<Shared> shared = shared_.get();
    if (!shared) fail(Errc::already_finished, "the file is closed, or was opened before a fork");
    return without_gil([&] {
      const std::lock_guard lock(shared->mutex);
      return call(shared->file);
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

/// Opens its file at the first stream, which tells the size.
class PacketWriter : public PacketFile<io::PacketSink> {
 public:
  /// Fails where no file is needed to tell: a name of another format, or of a container if the
  /// build has no FFmpeg.
  PacketWriter(const std::string& path, std::int64_t fps_num, std::int64_t fps_den, bool overwrite)
      : PacketFile(nullptr), output_{path, "", {}} {
    options_.overwrite = overwrite;
    options_.frame_rate = {fps_num, fps_den};
    options_.time_base = {fps_den, fps_num};
    const bool needs_ffmpeg = !io::container_of(output_).empty();
    if (!io::is_packet_output(output_) || (needs_ffmpeg && !io::features().ffmpeg))
      check(io::open_packet_sink(output_, options_).status());
  }

  void write(nb::handle jpeg) {
    const JpegData data(jpeg);
    check(use([&](auto& file) -> Status {
      if (!file) {
        ZR_LET(info, inspect(data.bytes(), StreamLimits::any_size()));
        options_.width = info.width;
        options_.height = info.height;
        options_.coded_format = planar_format(info.subsampling.value_or(Subsampling::s444));
        ZR_LET(opened, io::open_packet_sink(output_, options_));
        file = std::move(opened);
      }
      ZR_TRY(file->write(data.bytes(), {frames_, 1}));
      ++frames_;
      return Status::ok();
    }));
  }

  void finish() {
    Status status = use([](auto& file) { return file ? file->finish() : Status::ok(); });
    close();
    check(status);
  }

  std::int64_t frames() const { return frames_; }

 private:
  const io::Location output_;
  io::SinkOptions options_;
  std::atomic<std::int64_t> frames_ = 0;
};

class PacketReader : public PacketFile<io::PacketSource> {
 public:
  explicit PacketReader(const std::string& path)
      : PacketFile(value_of(io::open_packets({path, "", {}}, {}))) {}

  nb::object read() {
    std::vector<std::byte> packet;
    io::FrameTime time;
    const bool more = value_of(use([&](auto& file) { return file->read(packet, time); }));
    return more ? nb::object(nb::bytes(packet.data(), packet.size())) : nb::none();
  }

  /// In units of 1/fps; files without a rate count 25 frames a second.
  std::int64_t seek(std::int64_t frame) {
    return value_of(use([&](auto& file) {
      const io::SourceInfo& info = file->info();
      const io::Rational rate = info.frame_rate.known() ? info.frame_rate : io::Rational{25, 1};
      const double seconds = static_cast<double>(frame) / rate.value();
      const double pts = seconds / info.time_base.value() + 0.5;
      constexpr double kMostPts = 1e18;  // and the first one of the file still fits beside it
      if (frame < 0 || !(pts < kMostPts)) fail_argument("there is no frame ", frame);
      return file->seek(info.first_pts + static_cast<std::int64_t>(pts));
    }));
  }

  nb::tuple info() {
    const io::SourceInfo info = use([](auto& file) { return file->info(); });
    return nb::make_tuple(info.width, info.height, info.frame_rate.num, info.frame_rate.den,
                          info.frame_count, info.container);
  }

  nb::list facts() {
    const io::SourceInfo info = use([](auto& file) { return file->info(); });
    const auto facts = io::facts_of(info);
    return list_of(facts, [](const io::SourceFact& each) {
      return nb::make_tuple(io::name(each.fact), each.what);
    });
  }
};

}  // namespace

void bind_video(nb::module_& module) {
  nb::class_<PacketWriter>(module, "PacketWriter")
      .def(nb::init<const std::string&, std::int64_t, std::int64_t, bool>())
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
