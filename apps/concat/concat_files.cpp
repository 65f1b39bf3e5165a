// Joins Motion JPEG files without decoding.
// SPDX-License-Identifier: MIT
#include "apps/concat/concat_files.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "apps/common/console.hpp"
#include "apps/common/failure.hpp"
#include "apps/common/frame_pipeline.hpp"
#include "apps/common/outputs.hpp"
#include "codec/base/try.hpp"
#include "zerorun/decoder.hpp"

namespace zerorun::app {
namespace {

/// Reading the packets on two threads keeps ahead of writing.
constexpr int kFileLanes = 2;

struct FileJob {
  io::PacketWork packet;
  io::Outgoing out;
  const std::string& name() const { return packet.name; }
};

std::unique_ptr<io::PacketSource> open_packets(const std::string& name,
                                               const ConcatOptions& options) {
  io::SourceOptions source;
  source.frame_rate = options.fps;
  return value_or_fail(io::open_packets({name, "", {}}, source), Exit::input, name);
}

/// Shared with the reader thread, which may outlive the command in a blocked read.
class Concat : public std::enable_shared_from_this<Concat> {
 public:
  explicit Concat(const ConcatOptions& options)
      : options_(options), output_{options.output.name, options.output.format, {}} {
    for (const std::string& name : options.inputs) sources_.push_back(open_packets(name, options));
  }

  JoinResult run() {
    describe();
    register_part(output_);
    auto sink = value_or_fail(io::open_packet_sink(output_, sink_), Exit::output, output_.name);
    const PipelineSteps<FileJob> steps = {
        .read = [self = shared_from_this()](FileJob& job) { return self->read(job); },
        .load = [this](FileJob& job, int) { return load(job); },
        .pack = [&](FileJob& job) { return sink->prepare(job.packet.item, job.out); },
        .write =
            [&](FileJob& job) {
              job.out.time = job.packet.time;
              return sink->commit(job.out);
            }};
    const PipelineEnd end = run_pipeline<FileJob>(kFileLanes, steps);
    const bool is_output = end.step == PipelineEnd::Step::write;
    if (!end.status)
      fail(is_output ? Exit::output : Exit::input, is_output ? output_.name : end.name, end.status);
    if (end.interrupted) fail_interrupted();
    end_output(output_, sink->finish());
    note_output(output_, *sink);
    return {end.frames, sink->bytes_written(), 0};
  }

 private:
  void describe() {
    const io::SourceInfo& first = sources_.front()->info();
    bool has_audio = false;
    for (std::size_t i = 0; i < sources_.size(); ++i) {
      const io::SourceInfo& info = sources_[i]->info();
      if (info.width != first.width || info.height != first.height)
        fail(Exit::input,
             fmt::format("{}: it has {}x{} pixels, but {} has {}x{}", options_.inputs[i],
                         info.width, info.height, options_.inputs[0], first.width, first.height));
      is_constant_ &= !info.variable_frame_rate && rate(info) == rate(first);
      has_audio |= info.has_audio;
    }
    sink_ = sink_options(first, options_.output, first.width, first.height);
    sink_.coded_format = planar_format(native_subsampling(first.format));
    sink_.variable_frame_rate = !is_constant_;
    if (is_constant_) sink_.time_base = {sink_.frame_rate.den, sink_.frame_rate.num};
    if (has_audio && is_container(output_) && options_.audio != "none") {
      if (options_.audio.empty()) {
        console::note(output_.name +
                      ": the sound of the files is left out (--audio FILE copies that "
                      "of one file)");
      } else {
        sink_.audio_from = options_.audio;
      }
    }
  }

  static io::Rational rate(const io::SourceInfo& info) {
    return info.frame_rate.known() ? info.frame_rate : io::Rational{25, 1};
  }

  /// One file after another. On the reader's thread.
  Result<bool> read(FileJob& job) {
    while (at_ < sources_.size()) {
      ZR_LET(more, sources_[at_]->next(job.packet));
      if (more) {
        place(sources_[at_]->info(), job.packet.time);
        return true;
      }
      begins_ = ends_;
      ++at_;
    }
    return false;
  }

  /// Times in the output's time base, which is that of the first file or one frame.
  void place(const io::SourceInfo& info, io::FrameTime& time) {
    if (is_constant_) {
      time = {ends_++, 1};
      return;
    }
    const double ticks = info.time_base.value() / sink_.time_base.value();
    const bool is_same = info.time_base == sink_.time_base;
    const auto convert = [&](std::int64_t value) {
      return is_same ? value : std::llround(static_cast<double>(value) * ticks);
    };
    const std::int64_t duration =
        time.duration > 0 ? convert(time.duration)
                          : std::llround(1.0 / (rate(info).value() * sink_.time_base.value()));
    time = {begins_ + convert(time.pts - info.first_pts), std::max<std::int64_t>(duration, 1)};
    ends_ = time.pts + time.duration;
  }

  Status load(FileJob& job) const {
    ZR_TRY(job.packet.load());
    const auto info = inspect(job.packet.item, StreamLimits::any_size());
    if (!info) return info.status();
    const bool is_field =
        2 * info->height >= sink_.height - 1 && 2 * info->height <= sink_.height + 1;
    if (info->width == sink_.width && (info->height == sink_.height || is_field))
      return Status::ok();
    return Status(Errc::unsupported_output,
                  fmt::format("it has {}x{} pixels, but the video began with {}x{}", info->width,
                              info->height, sink_.width, sink_.height));
  }

  const ConcatOptions& options_;
  io::Location output_;
  std::vector<std::unique_ptr<io::PacketSource>> sources_;
  io::SinkOptions sink_;
  bool is_constant_ = true;
  std::size_t at_ = 0;
  std::int64_t begins_ = 0, ends_ = 0;
};

}  // namespace

JoinResult concat_files(const ConcatOptions& options) {
  return std::make_shared<Concat>(options)->run();
}

}  // namespace zerorun::app
