// The command line of `zerorun bench`.
// SPDX-License-Identifier: MIT
#include "apps/bench/options.hpp"

#include "apps/common/pixel_limit.hpp"

namespace zerorun::app::bench {
namespace {

template <typename T>
CLI::Option* add_list(CLI::App& command, const char* option, T& target, const char* type,
                      const char* default_text, const char* help) {
  return command.add_option(option, target, help)
      ->delimiter(',')
      ->type_name(type)
      ->default_str(default_text);
}

void add_case_options(CLI::App& command, Options& options) {
  command
      .add_option("INPUT", options.inputs,
                  "A file, pattern, glob or directory as for encode, or frames made on the spot: "
                  "synthetic:3840x2160:photo, or :noise, :ramp, :text; several are measured one "
                  "after another (default: synthetic:1920x1080:photo)")
      ->type_name("INPUT...")
      ->group("What");
  add_list(command, "--operation", options.operations, "encode,decode", "encode,decode",
           "What is measured; decode takes the streams that --streams says")
      ->group("What");
  add_list(command, "-q,--quality", options.qualities, "N,...", "90", "1 to 100 on libjpeg's scale")
      ->check(CLI::Range(1, 100).description(""))
      ->group("What");
  add_list(command, "--subsampling", options.samplings, "420,422,...", "420",
           "Of the stream: 420, 422, 444, 440, 411, gray")
      ->group("What");
  add_list(command, "--pixels", options.pixels, "planar,rgb24,...", "planar",
           "Layout of the frames: planar is that of the stream (yuv420p for 420); or bgr24 "
           "(which OpenCV takes), rgb24, nv12, yuyv422 and the others by FFmpeg's names")
      ->group("What");
  add_list(command, "--huffman", options.tables, "standard,optimal", "standard",
           "Tables of T.81 Annex K, or made for each frame")
      ->group("What");
  add_list(command, "--restart", options.restarts, "N,Nrows,auto,none", "auto",
           "Restart markers of zerorun's streams, as for encode; peers write none")
      ->group("What");
  add_list(command, "--index", options.indexes, "no,yes", "no",
           "Whether zerorun's streams have a scan index, as of encode --index")
      ->group("What");
  add_list(
      command, "--streams", options.streams, "zerorun,libjpeg,input", "zerorun",
      "Who wrote the streams to decode: zerorun; libjpeg-turbo, which writes no restart "
      "markers; or the JPEG files or Motion JPEG of INPUT as they are, whose quality, sampling, "
      "tables and restart markers are their own")
      ->group("What");
  command.add_option("--rotate", options.rotate, "So many different frames take turns")
      ->type_name("N")
      ->check(CLI::Range(1, 10000).description(""))
      ->default_str("4; 256 of a mixed batch")
      ->group("What");
  add_max_pixels(command, options.max_pixels)->group("What");
}

void add_batch_options(CLI::App& command, Options& options) {
  command
      .add_flag("--mixed", options.mixed,
                "Decode the images of INPUT as one batch, whatever their sizes: throughput alone, "
                "and each sample is a whole number of batches")
      ->group("What");
  command
      .add_option("--megapixels", options.megapixels,
                  "A mixed batch of --rotate images, from A to B megapixels, cut out of the frames "
                  "of INPUT")
      ->type_name("A-B")
      ->group("What");
}

void add_primitive_options(CLI::App& command, Options& options) {
  auto* primitives = command.add_flag(
      "--primitives", options.primitives,
      "Instead of frames: run-length coding, scan, compaction, Huffman coding of bytes and their "
      "way back on the GPU, with CUB, one CPU core and a device copy beside them");
  primitives->group("What");
  command
      .add_flag("--quick", options.quick, "With --primitives: large arrays alone, no base lines")
      ->needs(primitives)
      ->group("What");
}

void add_coder_options(CLI::App& command, Options& options) {
  add_list(command, "--device", options.devices, "cpu,cuda[:N],...", "cpu, and cuda where it works",
           "Where zerorun codes, and which peers are measured")
      ->group("Who");
  add_list(command, "--threads", options.threads, "N,...", "1 and all cores",
           "Threads of the CPU coders: on one frame for latency, a frame each for throughput")
      ->group("Who");
  add_list(command, "--in-flight", options.in_flight, "N,...", "1,2,4,8",
           "Frames at once on a GPU, each with an encoder or decoder and a stream of its own; "
           "decoders also have a thread each, of the benchmark's or, as zerorun-async, of "
           "AsyncDecoder's")
      ->group("Who");
  add_list(command, "--batch", options.batches, "N,...", "16",
           "Device frames that zerorun-batch hands over in one call, by two encoders in turn")
      ->group("Who");
  add_list(command, "--peer-threads", options.peer_threads, "N,...", "1,2,4,8,16",
           "Threads of nvJPEG, each with a state and a stream of its own")
      ->group("Who");
  add_list(command, "--peer-batch", options.peer_batches, "N,...", "64",
           "Images of nvJPEG's batched decoding; its own GPU Huffman decoder takes batches of more "
           "than 50")
      ->group("Who");
  command.add_flag("--no-peers", options.no_peers, "zerorun alone")->group("Who");
  command
      .add_option("--only", options.only,
                  "Only rows whose name fits, for example 'zerorun/cuda:0/device>device/*'")
      ->type_name("GLOB")
      ->group("Who");
}

void add_time_options(CLI::App& command, Options& options) {
  const auto positive = CLI::Range(0.001, 3600.0).description("");
  command.add_option("--time", options.limits.seconds, "Seconds for one row")
      ->type_name("S")
      ->check(positive)
      ->default_str("0.5")
      ->group("How long");
  command
      .add_option("--warm-up", options.limits.warm_up_seconds,
                  "Seconds before it that do not count; every frame is coded once at least")
      ->type_name("S")
      ->check(CLI::Range(0.0, 3600.0).description(""))
      ->default_str("0.1")
      ->group("How long");
  command
      .add_option("--frames", options.limits.frames,
                  "Exactly so many frames for a latency, and for each repetition of a throughput")
      ->type_name("N")
      ->check(CLI::Range(1, 1000000).description(""))
      ->group("How long");
  command
      .add_option(
          "--repetitions", options.limits.repetitions,
          "Of a throughput measurement; of a mixed batch each is one pass over it at least, "
          "after one to check and one to warm up")
      ->type_name("N")
      ->check(CLI::Range(1, 1000).description(""))
      ->default_str("9")
      ->group("How long");
}

void add_report_options(CLI::App& command, Options& options) {
  command
      .add_flag("--every-row", options.every_row,
                "Show each number of frames in flight and of threads, not only the fastest")
      ->group("Reports");
  command.add_option("--json", options.json, "Write everything, with the time of each sample")
      ->type_name("FILE")
      ->group("Reports");
  command.add_option("--csv", options.csv, "Write a line for each sample of the frames")
      ->type_name("FILE")
      ->group("Reports");
  command
      .add_option("--html", options.html,
                  "Write a page with plots: coders beside each other, the time of each frame and "
                  "its distribution, the stages; one file that needs no network")
      ->type_name("FILE")
      ->group("Reports");
  command
      .add_option("--compare", options.compare,
                  "Measure nothing; tell what changed between two --json reports. Exit 1 if a row "
                  "became slower by more than --threshold and its noise")
      ->type_name("OLD.json NEW.json")
      ->expected(2)
      ->group("Reports");
  command.add_option("--threshold", options.threshold, "Per cent of the old median")
      ->type_name("P")
      ->check(CLI::Range(0.0, 1000.0).description(""))
      ->default_str("5")
      ->group("Reports");
  command.add_flag("-y,--overwrite", options.overwrite, "Replace files that exist")
      ->group("Reports");
  command.add_flag("--quiet", options.quiet, "Nothing on stderr but errors")->group("Reports");
}

}  // namespace

void add_options(CLI::App& command, Options& options) {
  add_case_options(command, options);
  add_batch_options(command, options);
  add_primitive_options(command, options);
  add_coder_options(command, options);
  add_time_options(command, options);
  add_report_options(command, options);
}

}  // namespace zerorun::app::bench
