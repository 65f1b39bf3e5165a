// Coders that can be measured, the checks before they are timed, and the measurements.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "apps/bench/frames.hpp"
#include "apps/bench/measure/energy.hpp"
#include "apps/common/figures.hpp"
#include "codec/base/step_times.hpp"
#include "codec/base/try.hpp"
#include "zerorun/frame.hpp"

namespace zerorun::app::bench {

/// Works on one frame after another. One thread at a time.
class Runner {
 public:
  virtual ~Runner() = default;

  /// Called once, before all others: makes coders and memory.
  virtual Status open() { return Status::ok(); }
  /// Called by a thread before it uses the runner; other threads may have used it before.
  virtual Status attach() { return Status::ok(); }
  /// Starts frame `index` of the set. It and earlier ones may still be in flight on return.
  virtual Status start(std::size_t index) = 0;
  /// Returns when everything that was started is done.
  virtual Status finish() { return Status::ok(); }

  /// Encoders, after finish(): copies the last stream to the host.
  virtual Status stream(std::vector<std::byte>& /*out*/) { return Status(Errc::invalid_argument); }
  /// Decoders, after finish(): copies a frame to the host. `place` counts the frames started since
  /// the finish() before; a runner that is not joint keeps only the last one.
  virtual Status picture(std::size_t /*place*/, const FrameView& /*out*/) {
    return Status(Errc::invalid_argument);
  }
};

// libjpeg-turbo, memory to memory with objects kept between frames: a peer, and the decoder that
// checks streams. Planes go in and out raw (jpeg_write_raw_data), RGB by scanlines; JDCT_ISLOW.

class LibjpegDecoder {
 public:
  virtual ~LibjpegDecoder() = default;
  /// `out` is padded to whole MCUs. A warning of libjpeg is an error here.
  virtual Status decode(std::span<const std::byte> jpeg, const FrameView& out) = 0;
};

// Null in a build without libjpeg, where libjpeg.cpp is not linked.
[[gnu::weak]] std::string libjpeg_version();  ///< "libjpeg-turbo 2.1.5"
[[gnu::weak]] std::unique_ptr<LibjpegDecoder> make_libjpeg_decoder();
[[gnu::weak]] std::unique_ptr<Runner> make_libjpeg_encoder(const Case& what, const FrameSet& set);

inline bool have_libjpeg() noexcept { return libjpeg_version != nullptr; }

/// What libjpeg-turbo and nvJPEG code: planar YCbCr, rgb24 and bgr24.
inline bool is_planar_or_rgb(PixelFormat format) noexcept {
  return is_planar_yuv(format) || format == PixelFormat::rgb24 || format == PixelFormat::bgr24;
}

EncodeParams encode_params(const Case& what, Backend backend, int device = 0);
/// For streams of any size: they were made here, or loaded with what --max-pixels allows.
DecodeParams decode_params(Backend backend, int device = 0);

/// Nothing is timed before its output was checked: what the CPU makes of the frames of a case.
struct Reference {
  std::vector<std::vector<std::byte>> streams;
  /// The decoded streams, for decode cases alone. Empty for the input's own streams, whose decoded
  /// pictures are the frames of the set.
  std::vector<PaddedFrame> pictures;
  double stream_bytes = 0;  ///< mean
  std::size_t largest = 0;
  double psnr = 0;           ///< of the streams, decoded by StreamCheck
  double pictures_psnr = 0;  ///< of `pictures`, or of the frames that stand for them
  double least_psnr = 0;     ///< what a peer must reach
};

/// Works on one frame a core. Ends the command when a stream does not decode.
Reference make_reference(const Case& what, const FrameSet& frames);

/// What zerorun's decoders must make of stream `index`.
ConstFrameView reference_picture(const FrameSet& frames, const Reference& reference,
                                 std::size_t index);
bool same_samples(const ConstFrameView& a, const ConstFrameView& b);

/// An error that says that zerorun's output for frame `index` is wrong.
Status differs_from_cpu(std::size_t index);

/// In dB, at most 99.99, so that files need no infinity.
double psnr_of(const SquaredError& error);

struct CheckResult {
  double psnr = 0;
  double stream_bytes = 0;
  std::string text;  ///< how it was checked
};

/// Encodes every frame once. Streams are decoded and compared with the source; those of `ours` must
/// have the bytes of the reference. An error says why the times would be worth nothing.
Result<CheckResult> check_encoder(Runner& runner, bool ours, const FrameSet& frames,
                                  const Reference& reference);

/// Decodes every stream once; the runners share the streams, each in a thread of its own, and
/// start `together` of them before they finish. Samples of `ours` must be those of the reference;
/// others are compared with the source.
Result<CheckResult> check_decoder(const std::vector<std::unique_ptr<Runner>>& runners,
                                  std::size_t together, bool ours, const FrameSet& frames,
                                  const Reference& reference);

/// What the command line allows.
struct Selection {
  bool cpu = true;
  std::vector<int> cuda;                ///< device numbers
  std::vector<std::vector<int>> teams;  ///< lists of devices that work on the same frames
  bool no_peers = false;
  std::vector<int> in_flight;        ///< frames at once on a GPU
  std::vector<int> batches;          ///< frames of one call
  std::vector<int> threads;          ///< of the CPU
  std::vector<InstructionSet> cpus;  ///< of the CPU, beside the one that coders choose
  std::vector<int> peer_threads;     ///< of peers on a GPU, a stream each
  std::vector<int> peer_batches;     ///< images of nvJPEG's batches
  std::vector<std::string> only;     ///< globs over Row::id(); empty: all
};

/// One case with all that its coders need; outlives the coders.
struct Setting {
  const Case& what;
  const FrameSet& frames;
  const Reference& reference;
  const Selection& selection;
  std::vector<std::string>& notes;  ///< coders that were left out, and why
};

/// How several runners are kept busy.
enum class Drive {
  one_thread,  ///< the runners take frames in turn, and nothing waits in between
  threads,     ///< a thread for each runner, which does one frame after another
};

using OpenRunner = std::function<Result<std::unique_ptr<Runner>>(int at_once)>;
/// Codes frame `index` of the set and appends the time of each step.
using RunSteps = std::function<Status(std::size_t index, std::vector<StepTime>& steps)>;

/// A coder on a path that can be measured.
struct Coder {
  std::string name = "zerorun", device = "cpu", path = "host>host";
  std::string codec = {};  ///< as Row::codec
  Drive drive = Drive::threads;
  bool measure_latency = true;
  int latency_threads = 1;       ///< shown with the latency: threads that work on one frame
  std::vector<int> at_once;      ///< one throughput row for each; empty: none
  bool ours = false;             ///< its output must equal the reference
  std::size_t copied_bytes = 0;  ///< of a plain copy, which has no output to check
  bool joint = false;            ///< one runner keeps `at_once` frames in flight by itself
  bool in_batches = false;       ///< joint, and `at_once` frames begin and end together
  OpenRunner open = nullptr;     ///< called with 1 unless joint
  std::function<Result<RunSteps>()> open_steps = nullptr;  ///< set: one stages row and no other
};
using Coders = std::vector<Coder>;

/// A coder of zerorun, without runners.
inline Coder our_coder(std::string device, const char* path) {
  Coder coder;
  coder.device = std::move(device);
  coder.path = path;
  coder.ours = true;
  return coder;
}

/// An OpenRunner that makes a `Type` from copies of the arguments.
template <typename Type, typename... Args>
OpenRunner runner_of(Args... args) {
  return [=](int) -> Result<std::unique_ptr<Runner>> {
    auto runner = std::make_unique<Type>(args...);
    ZR_TRY(runner->open());
    return std::unique_ptr<Runner>(std::move(runner));
  };
}

/// The same with the number of frames in flight as last argument.
template <typename Type, typename... Args>
OpenRunner joint_runner_of(Args... args) {
  return [=](int at_once) { return runner_of<Type>(args..., at_once)(1); };
}

/// Adds a note that says why a coder is left out.
inline Status leave_out(const Setting& setting, std::string note) {
  setting.notes.push_back(std::move(note));
  return Status::ok();
}

/// Moves a result's value to `to`, or returns its error.
template <typename T, typename Target>
Status store(Result<T> from, Target& to) {
  if (!from) return from.status();
  to = *std::move(from);
  return Status::ok();
}

struct Limits {
  double seconds = 0.5;          ///< of one measurement
  double warm_up_seconds = 0.1;  ///< before it, not counted
  int frames = 0;                ///< of each measurement (and repetition), exactly; 0: by time
  int repetitions = 9;           ///< of a throughput measurement
};

/// Shows what is being done, on a terminal only and not with --quiet.
void tell(const std::string& what);

/// Measures all coders that can code a case. `command` measures the case again; the command of a
/// row adds --only to it. `energy` may be null.
CaseResult run_case(const Case& what, const FrameSet& frames, const Selection& selection,
                    const Limits& limits, const std::string& command,
                    EnergyBench* energy = nullptr);

/// Calls `work` with 0 .. count - 1, each in a thread of its own, but 0 in the calling thread,
/// which may use that runner later. Returns the error of the smallest number.
Status in_threads(std::size_t count, const std::function<Status(std::size_t)>& work);

/// Every result is checked before it is timed. `quick`: only the large sizes, nothing to compare
/// with. Ends the command where a result is wrong (exit 6) or the device fails (exit 1).
/// Null in a build without CUDA.
[[gnu::weak]] std::vector<PrimitiveRow> measure_primitives(int device, bool quick);

/// Frames and streams of a case in host memory, shared by runners.
class HostData {
 public:
  /// The frames of the set and the streams of the reference. With pinned memory, what the operation
  /// of the case reads is a pinned copy.
  static Result<std::shared_ptr<HostData>> make(const Setting& setting, HostMemory memory);

  const ConstFrameView& frame(std::size_t i) const { return frames_[i]; }
  std::span<const std::byte> stream(std::size_t i) const { return streams_[i]; }
  std::size_t largest_stream() const noexcept { return largest_; }
  HostMemory memory() const noexcept { return memory_; }

 private:
  Status pin_frames();
  Status pin_streams();

  HostMemory memory_ = HostMemory::pageable;
  std::vector<Frame> pinned_frames_;
  std::vector<HostBuffer> pinned_streams_;
  std::vector<ConstFrameView> frames_;
  std::vector<std::span<const std::byte>> streams_;
  std::size_t largest_ = 0;
};
using SharedHostData = std::shared_ptr<HostData>;

OpenRunner host_encoder(const EncodeParams& params, const SharedHostData& data);
OpenRunner host_decoder(const DecodeParams& params, const SharedHostData& data);
/// One AsyncEncoder or AsyncDecoder that keeps all frames in flight: for joint coders.
/// `devices` as AsyncEncodeParams::devices.
OpenRunner async_encoder(const EncodeParams& params, const SharedHostData& data,
                         const std::vector<int>& devices = {});
OpenRunner async_decoder(const DecodeParams& params, const SharedHostData& data,
                         const std::vector<int>& devices = {});

/// The name of rows of AsyncDecoder, beside those of one Decoder a thread.
constexpr const char* kAsyncCoder = "zerorun-async";

}  // namespace zerorun::app::bench
