// Options of `zerorun decode`.
// SPDX-License-Identifier: MIT
#include "apps/decode/decode_options.hpp"

#include "apps/common/option_kinds.hpp"

namespace zerorun::app {

void add_decode_options(CLI::App& command, DecodeOptions& options) {
  add_input_options(command, options.input);
  add_output_options(
      command, options.output,
      "video.y4m, raw video .yuv, picture .png, .tiff, .bmp, .webp, .ppm or .pgm, a pattern "
      "'dir/%05d.png', - for stdout (YUV4MPEG2, or PNM by --format pnm), null: for "
      "nothing, or md5:FILE for the MD5 of each frame's samples, as FFmpeg's framemd5");
  add_shard_options(command, options.shard, options.samples.range);
  command.option_defaults()->group("Output");
  command
      .add_option("--format", options.format,
                  "What - is: y4m, pnm or raw for OUTPUT (default y4m), mjpeg for INPUT")
      ->type_name("y4m|pnm|raw|mjpeg")
      ->check(CLI::IsMember({"y4m", "pnm", "raw", "mjpeg"}).description(""));
  command
      .add_option(
          "--pix-fmt", options.raw_format,
          "Samples of a raw OUTPUT (.yuv, .raw, .rgb, or --format raw) by FFmpeg's words: "
          "yuv420p, nv12, uyvy422, rgb24, yuv422p10le ...; they have full range, as JPEG has "
          "(default: those of INPUT)")
      ->type_name("NAME");
  add_sample_options(command, options.samples);
  command.option_defaults()->group("Decoding");
  add_choice<ChromaUpsampling>(
      command, "--upsampling", options.upsampling,
      {{"fancy", ChromaUpsampling::fancy}, {"nearest", ChromaUpsampling::nearest}},
      "How chroma is enlarged to the size of luma if OUTPUT is RGB: with libjpeg's triangle "
      "filter, or by repetition");
  command.add_flag("--strict", options.strict,
                   "Stop at the first damage (exit 3). Without it damaged parts are concealed and "
                   "counted, a note at the end gives their number, and the exit code is 0");
  command.add_flag("!--no-autorotate", options.content.autorotate,
                   "Write pictures as they are stored. Without it they are turned upright, as EXIF "
                   "or the container say; YUV4MPEG2 stays as stored");
  add_content_choices(command, options.content, false);
  add_device_options(command, options.device);
  add_report_options(command, options.report,
                     "index, pts, bytes, decode_us, concealed_intervals, and cpu_scans: "
                     "damaged or unusual scans, which the CPU decoded beside a GPU");
}

}  // namespace zerorun::app
