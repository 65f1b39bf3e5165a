// The command line of `zerorun bench`.
// SPDX-License-Identifier: MIT
#include "apps/bench/options.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>

#include "apps/common/failure.hpp"
#include "apps/common/inputs.hpp"
#include "apps/encode/encode_options.hpp"

namespace zerorun::app::bench {
namespace {

/// Adds options under one heading of the help.
class Group {
 public:
  Group(CLI::App& command, const char* name) : command_(command), name_(name) {}

  template <typename T>
  CLI::Option* add(const char* option, T& target, const char* type, const char* help) {
    return command_.add_option(option, target, help)->type_name(type)->group(name_);
  }
  /// Values with commas between them.
  template <typename T>
  CLI::Option* list(const char* option, T& target, const char* type, const char* default_text,
                    const char* help) {
    return add(option, target, type, help)->delimiter(',')->default_str(default_text);
  }
  template <typename T>
  CLI::Option* number(const char* option, T& target, const char* type, double least, double most,
                      const char* help) {
    return add(option, target, type, help)->check(CLI::Range(least, most).description(""));
  }
  CLI::Option* flag(const char* option, bool& target, const char* help) {
    return command_.add_flag(option, target, help)->group(name_);
  }

 private:
  CLI::App& command_;
  const char* name_;
};

void add_case_options(CLI::App& command, Options& options) {
  Group what(command, "What");
  what.add("INPUT", options.inputs, "INPUT...",
           "A file, pattern, glob or directory as for encode, or generated frames: "
           "synthetic:3840x2160:photo, or :grain, :sensor, :noise, :ramp, :flat, :text, :screen, "
           ":lineart, :pattern; several are measured one after another (default: "
           "synthetic:1920x1080:photo)");
  what.list("--operation", options.operations, "encode,decode", "encode,decode",
            "What is measured; decode reads the streams that --streams names");
  what.list("-q,--quality", options.qualities, "N,...", "90", "1 to 100 on libjpeg's scale")
      ->check(CLI::Range(1, 100).description(""));
  add_amount(command, "--target-size", options.target_size, "BYTES",
             "Encode each frame to this size, as encode --target-size does; --quality does not "
             "count. Peers and stages, which cannot do that, are left out, as is decoding")
      ->group("What");
  what.list("--subsampling", options.samplings, "420,422,...", "420",
            "Of the stream: 420, 422, 444, 440, 411, gray");
  what.list("--pixels", options.pixels, "planar,rgb24,...", "planar",
            "Layout of the frames: planar is that of the stream (yuv420p for 420); or bgr24 "
            "(which OpenCV takes), rgb24, nv12, yuyv422 and the others by FFmpeg's names");
  what.list("--huffman", options.tables, "standard,optimal", "standard",
            "Tables of T.81 Annex K, or made for each frame");
  what.list("--tunes", options.tunes, "exact,photo,text,psnr", "exact",
            "What zerorun decides coefficients for, as for encode; peers do as always");
  what.list("--effort", options.efforts, "fast,best", "fast", "How they are decided");
  what.list("--restart", options.restarts, "N,Nrows,auto,none", "auto",
            "Restart markers of zerorun's streams, as for encode; peers write none");
  what.list("--streams", options.streams, "zerorun,libjpeg,input", "zerorun",
            "Who wrote the streams to decode: zerorun; libjpeg-turbo, which writes no restart "
            "markers; or the JPEG files or Motion JPEG of INPUT as they are, with their own "
            "quality, sampling, tables and restart markers");
  what.number("--rotate", options.rotate, "N", 1, 10000,
              "Number of different frames that take turns")
      ->default_str("4; 256 of a mixed batch");
  add_max_pixels(command, options.max_pixels)->group("What");
  what.flag("--mixed", options.mixed,
            "Decode the images of INPUT as one batch, whatever their sizes: only throughput is "
            "measured, and each sample is a whole number of batches");
  what.add("--megapixels", options.megapixels, "A-B",
           "A mixed batch of --rotate images, from A to B megapixels, cut out of the frames of "
           "INPUT");
  auto* files = what.flag("--files", options.files,
                          "What a user gets: run the program itself from file to file, FFmpeg "
                          "beside it, and what moving the bytes alone takes");
  what.add("--folder", options.folder, "FOLDER",
           "Where --files writes; a folder in it is removed at the end (default: $TMPDIR or /tmp)")
      ->needs(files);
  auto* primitives =
      what.flag("--primitives", options.primitives,
                "Instead of frames, measure run-length coding, scan, compaction, Huffman coding "
                "of bytes and their inverses on the GPU, with CUB, one CPU core and a device copy "
                "for comparison");
  what.flag("--quick", options.quick,
            "With --primitives: only large arrays, nothing to compare with")
      ->needs(primitives);
}

void add_coder_options(CLI::App& command, Options& options) {
  Group who(command, "Who");
  Selection& selection = options.selection;
  who.list("--device", options.devices, "cpu,cuda[:N],...", "cpu, and cuda where it works",
           "Where zerorun codes, and which peers are measured; cuda:0,1 and cuda:all have rows of "
           "several GPUs that work on the same frames");
  who.list("--threads", selection.threads, "N,...", "1 and all cores",
           "Threads of the CPU coders: on one frame for latency, a frame each for throughput");
  who.list("--cpu", options.cpus, "NAME,...", "all that the machine has",
           "Instruction sets with a row of their own, such as zerorun-scalar, on one thread; the "
           "other rows use the best one, or the environment's ZERORUN_CPU");
  who.list("--in-flight", selection.in_flight, "N,...", "1,2,4,8",
           "Frames at once on a GPU, each with an encoder or decoder and a stream of its own; "
           "decoders also have a thread each, of the benchmark or, in rows of zerorun-async, of "
           "AsyncDecoder");
  who.list("--batch", selection.batches, "N,...", "16",
           "Device frames that zerorun-batch encodes in one call, by two encoders in turn");
  who.list("--peer-threads", selection.peer_threads, "N,...", "1,2,4,8,16",
           "Threads of nvJPEG, each with a state and a stream of its own");
  who.list("--peer-batch", selection.peer_batches, "N,...", "64",
           "Images in a batch of nvJPEG's batched decoding; its GPU Huffman decoder takes batches "
           "of more than 50");
  who.flag("--no-peers", selection.no_peers, "Measure only zerorun");
  who.add("--only", selection.only, "GLOB",
          "Only rows whose name matches, for example 'zerorun/cuda:0/device>device/*'");
}

void add_time_options(CLI::App& command, Options& options) {
  Group time(command, "How long");
  Limits& limits = options.limits;
  time.number("--time", limits.seconds, "S", 0.001, 3600, "Seconds for one row")
      ->default_str("0.5");
  time.number("--warm-up", limits.warm_up_seconds, "S", 0, 3600,
              "Seconds before it that do not count; every frame is coded at least once")
      ->default_str("0.1");
  time.number("--frames", limits.frames, "N", 1, 1000000,
              "Exactly this many frames for a latency, and for each repetition of a throughput");
  time.number("--repetitions", limits.repetitions, "N", 1, 1000,
              "Of a throughput measurement; of a mixed batch each is at least one pass over it, "
              "after one to check and one to warm up")
      ->default_str("9; 5 of --files");
}

void add_report_options(CLI::App& command, Options& options) {
  Group reports(command, "Reports");
  reports.flag("--energy", options.energy,
               "Also measure the energy of a frame in throughput rows, by the counter of the GPU "
               "(NVML) or of the CPU's packages (RAPL): all of it, and what is above that of the "
               "idle machine. Takes 2 s a row");
  reports.flag("--every-row", options.every_row,
               "Show each number of frames in flight and of threads, not only the fastest");
  reports.add("--json", options.json, "FILE", "Write everything, with the time of each sample");
  reports.add("--csv", options.csv, "FILE", "Write a line for each sample of the frames");
  reports.add("--html", options.html, "FILE",
              "Write a page with plots: coders beside each other, the time of each frame and its "
              "distribution, the stages; one file that needs no network");
  reports
      .add("--compare", options.compare, "OLD.json NEW.json",
           "Measure nothing; show what changed between two --json reports. Exit 1 if a row became "
           "slower by more than --threshold and its noise")
      ->expected(2);
  reports.number("--threshold", options.threshold, "P", 0, 1000, "Per cent of the old median")
      ->default_str("5");
  reports.flag("-y,--overwrite", options.overwrite, "Replace existing files");
  reports.flag("--quiet", options.quiet, "Print only errors to stderr");
}

}  // namespace

void add_options(CLI::App& command, Options& options) {
  add_case_options(command, options);
  add_coder_options(command, options);
  add_time_options(command, options);
  add_report_options(command, options);
}

void refuse_beside(const char* option, const CLI::App& command,
                   std::initializer_list<const char*> options) {
  for (const char* other : options)
    if (command.count(other) > 0)
      fail(Exit::usage, std::string(other) + " does not go with " + option);
}

void choose_target_size(const CLI::App& command, Options& options) {
  refuse_beside("--target-size", command,
                {"--mixed", "--megapixels", "--files", "--primitives", "--compare"});
  if (std::find(options.operations.begin(), options.operations.end(), "encode") ==
      options.operations.end())
    fail(Exit::usage, "--target-size is for --operation encode: decoding makes no streams");
  options.is_decoding_left_out = std::erase(options.operations, "decode") > 0;
}

}  // namespace zerorun::app::bench
