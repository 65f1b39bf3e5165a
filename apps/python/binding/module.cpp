// The extension module zerorun._zerorun: inspect(), transcode(), devices(), what a decoder reports,
// and the rest.
// SPDX-License-Identifier: MIT
#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

#include "apps/python/binding/coders.hpp"
#include "codec/base/cuda_device.hpp"

namespace zerorun::python {
namespace {

nb::object inspect_stream(nb::handle data, const nb::kwargs& options) {
  const StreamLimits limits =
      options.size() == 0 ? StreamLimits::any_size() : decode_params(options).limits;
  const JpegData jpeg(data);
  const StreamInfo info = value_of(without_gil([&] { return inspect(jpeg.bytes(), limits); }));
  const nb::tuple components(
      list_of(info.components, [make = type_named("Component")](const ComponentInfo& c) {
        return call_python(make, c.id, c.h, c.v, c.quant_table, c.width, c.height);
      }));
  const nb::tuple segments(list_of(info.segments, [](const MarkerSegment& segment) {
    return nb::make_tuple(static_cast<int>(segment.marker),
                          nb::bytes(segment.payload.data(), segment.payload.size()));
  }));
  constexpr const char* kColors[] = {"gray", "ycbcr", "rgb", "cmyk", "inverted cmyk", "ycck"};
  const char* const color = kColors[static_cast<std::size_t>(info.color)];
  const nb::object subsampling =
      info.subsampling ? nb::cast(std::string(name(*info.subsampling))) : nb::none();
  return call_python(type_named("StreamInfo"), info.width, info.height, color, subsampling,
                     components, info.quality, info.restart_interval_mcus, info.extended,
                     info.has_jfif, info.standard_huffman_tables,
                     nb::make_tuple(info.pixel_aspect_x, info.pixel_aspect_y),
                     info.exif_orientation, segments, info.header_bytes, info.progressive);
}

nb::bytes transcode_stream(nb::handle data, const nb::kwargs& options) {
  TranscodeParams params = transcode_params(options);
  params.backend = Backend::cpu;  // for one stream a GPU's coder takes longer to make
  const JpegData jpeg(data);
  std::vector<std::byte> out;
  value_of(without_gil([&]() -> Result<TranscodeReport> {
    ZR_LET(transcoder, Transcoder::create(params));
    return transcoder.transcode(jpeg.bytes(), out);
  }));
  return nb::bytes(out.data(), out.size());
}

nb::list list_devices() {
  if (cuda_was_used_before_fork()) return {};
  use_cuda();
  const auto devices = cuda_devices();
  return list_of(devices, [make = type_named("Device")](const DeviceInfo& d) {
    return call_python(make, "cuda:" + std::to_string(d.index), d.name,
                       nb::make_tuple(d.compute_major, d.compute_minor), d.memory_bytes,
                       d.multiprocessors, d.usable.is_ok(),
                       d.usable ? std::string() : d.usable.message());
  });
}

std::vector<std::string> instruction_set_names() {
  std::vector<std::string> names;
  for (const InstructionSet found : instruction_sets()) names.emplace_back(name(found));
  return names;
}

void release_all() {
  pools() = {};
  stream_rooms() = {};
  given_streams() = {};
  release_device_memory();
}

}  // namespace

nb::object report_object(const DecodeReport& report) {
  return call_python(type_named("Report"), report.bytes_consumed, report.intervals,
                     report.concealed_intervals, report.cpu_scans,
                     report.first_problem ? nb::none() : exception_of(report.first_problem));
}

static void bind_info(nb::module_& module) {
  module.def("inspect", &inspect_stream, "data"_a.none(), "limits"_a,
             nb::sig("def inspect(data: Data, **limits: Unpack[DecodeOptions]) -> StreamInfo"),
             R"(Reads the headers up to the first scan: a zerorun.StreamInfo. Decodes nothing.

Raises zerorun.Error for streams that decode() would refuse. Limits are those of decode(); by
default every size is allowed.)");
  module.def(
      "transcode", &transcode_stream, "data"_a.none(), "options"_a,
      nb::sig("def transcode(data: Data, **options: Unpack[TranscodeOptions]) -> bytes"),
      R"(Codes a JPEG stream again without loss: its coefficients stay what they are, or are those of
the turned, mirrored or cut picture, as jpegtran's. All APPn and COM segments are kept.

Options:
  optimize      True: Huffman tables of its own; a stream that would not get smaller stays
  scans         'keep', 'baseline' or 'progressive'
  restart       'keep', None for no markers, or MCUs between markers (64)
  rotate        90, 180 or 270 clockwise; 'auto': as EXIF tells, whose orientation becomes 1
  flip          'h' or 'v', after the rotation
  crop          (x, y, width, height) of the turned picture; begins with a whole MCU
  gray          True: luma alone
  edges         'keep', 'trim' or 'refuse': blocks at an edge that cannot move
  verify        True: decodes the new stream, too, and compares the coefficients
  strict, max_pixels, max_scans, max_header_bytes, threads, instruction_set
                as of decode()

Raises zerorun.Error, for damaged streams too.)");
  module.def("devices", &list_devices, nb::sig("def devices() -> list[Device]"),
             "The CUDA devices; empty without a driver, a device, or a build with CUDA.");
  module.def("instruction_sets", &instruction_set_names,
             "The CPU's instruction sets that this build has code for, the best one last.");
  module.def("release_memory", &release_all,
             "Frees the coders, and the device and pinned memory, that are kept for the next calls "
             "of the functions.");
  // For the tests of the package, which cannot call the library itself.
  module.def(
      "_pretend_devices",
      [](int count, int failing, int frames) {
        set_test_devices({.count = count, .failing = failing, .frames = frames});
      },
      "count"_a, "failing"_a = -1, "frames"_a = 0);
  module.attr("version") = version();
#ifdef ZERORUN_HAVE_CUDA
  module.attr("built_with_cuda") = true;
#else
  module.attr("built_with_cuda") = false;
#endif
}

}  // namespace zerorun::python

NB_MODULE(_zerorun, module) {
  using namespace zerorun::python;
  // Objects that are alive at the end of the interpreter are no leak that users can mend.
  nb::set_leak_warnings(false);
  watch_forks();
  bind_info(module);
  bind_coders(module);
  bind_batch(module);
  bind_async(module);
  bind_video(module);
  bind_device_array(module);
}
