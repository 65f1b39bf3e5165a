// Cases and what was measured of them: one row for each coder, path and number of frames at once.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "apps/common/figures.hpp"
#include "zerorun/zerorun.hpp"

namespace zerorun::app::bench {

enum class Operation { encode, decode };
enum class Mode {
  latency,     ///< one frame at a time: a sample is a frame
  throughput,  ///< several at once: a sample is a repetition, divided by its frames
  stages,      ///< one frame at a time with a clock between the stages; a sample is their sum
  whole,       ///< a process from file to file; a sample is its time, divided by its frames
};

/// Who wrote the streams of a decode case.
enum class Streams {
  zerorun,
  libjpeg,  ///< libjpeg-turbo: no restart markers
  input,    ///< the input's own JPEG streams, untouched
};

const char* name(Operation operation) noexcept;
const char* name(Streams streams) noexcept;
const char* name(Mode mode) noexcept;
const char* name(HuffmanTables tables) noexcept;

/// What is coded and how.
struct Case {
  Operation operation = Operation::encode;
  std::string input;  ///< as on the command line
  int width = 0, height = 0;
  std::size_t frames = 0;  ///< different frames that take turns
  Subsampling sampling = Subsampling::s420;
  PixelFormat pixels = PixelFormat::yuv420p;  ///< of the uncompressed side
  int quality = 90;
  std::int64_t target_size = 0;  ///< bytes of each stream, instead of `quality`; 0: none
  HuffmanTables huffman = HuffmanTables::standard;
  bool progressive = false;
  Tune tune = Tune::exact;  ///< of zerorun's streams, as `effort`
  Effort effort = Effort::fast;
  std::string restart = "auto";
  Streams streams = Streams::zerorun;
  bool planar = true;  ///< `pixels` follows the stream's own sampling
  /// Images of different sizes that are one batch; width and height are 0.
  bool mixed = false;
  double least_megapixels = 0, most_megapixels = 0;  ///< of a mixed batch

  bool operator==(const Case&) const = default;
  bool encodes() const noexcept { return operation == Operation::encode; }
};

/// Median time of one stage of a frame.
struct StageTime {
  std::string stage;
  double microseconds = 0;
};

/// What is known of a process from file to file, besides its times.
struct WholeWay {
  double cpu_seconds = 0;    ///< of the run with the median time
  double start_seconds = 0;  ///< of it, before the first frame was coded
  double floor_us = 0;       ///< a frame: the slowest thing that it has to do anyway; 0: not known
  std::string floor;         ///< which one that is
  std::string wall_step;     ///< the step that all others waited for; empty: not known
  std::string wall;          ///< the same as a sentence
  std::vector<std::pair<std::string, double>> steps;  ///< per cent of each step's threads
};

/// What a frame takes at the counter of a device.
struct FrameEnergy {
  std::string source;            ///< "cuda:0", "cuda:0,1", "cpu"
  double joules = 0;             ///< a frame, all that the device takes
  double above_idle_joules = 0;  ///< a frame, without what the idle device would have taken
  double watts = 0, idle_watts = 0;
  double seconds = 0;  ///< that were measured
};

struct Row {
  std::string coder;   ///< "zerorun", "nvJPEG 13.0.1", "libjpeg-turbo 2.1.5", "copy"
  std::string codec;   ///< whose rows are judged together: "nvJPEG"; empty: the coder alone
  std::string device;  ///< "cpu", "cuda:0"
  std::string path;    ///< "device>host", "pinned>host": from where to where
  Mode mode = Mode::latency;
  int at_once = 1;                   ///< frames in flight, or threads
  std::string unit;                  ///< of at_once: "frames", "threads"
  std::vector<double> microseconds;  ///< a frame's time; one for each sample
  std::size_t frames_per_sample = 1;
  double input_bytes = 0;   ///< of one frame: samples to encode, a stream to decode, a copy
  double stream_bytes = 0;  ///< of one stream, mean of the frames
  double psnr = 0;          ///< dB against the source, over all samples of all frames; 0: unknown
  std::string check;        ///< how the output was checked before it was timed
  std::vector<StageTime> stages;
  std::optional<WholeWay> whole;
  std::optional<FrameEnergy> energy;
  std::string command;  ///< measures this row again

  /// "zerorun/cuda:0/device>host/throughput/4": what --only is matched with.
  std::string id() const {
    return coder.substr(0, coder.find(' ')) + "/" + device + "/" + path + "/" + name(mode) + "/" +
           std::to_string(at_once);
  }
};

/// All rows of one case.
struct CaseResult {
  Case what;
  std::vector<Row> rows;
  std::vector<std::string> notes;  ///< coders that were left out, and why
  std::string command;             ///< measures the case again
  bool has_wanted_rows = false;    ///< rows that --only asks for, measured or left out
};

/// An entropy coding primitive on a GPU, or what it is compared with.
struct PrimitiveRow {
  std::string primitive, form, data;
  double input_bytes = 0;
  double traffic_bytes = 0;  ///< what must be read and written at least
  std::vector<double> microseconds;

  std::string id() const { return primitive + "/" + form + "/" + data; }
};

struct Summary : Distribution {
  double jitter = 0;  ///< mean of |t[i] - t[i-1]|: the change from one sample to the next
  /// Order statistics between which the true median lies with 95 % confidence (all samples if there
  /// are fewer than six); what `bench --compare` takes for noise.
  double median_low = 0, median_high = 0;
};

Summary summarise(const std::vector<double>& values);

}  // namespace zerorun::app::bench
