// decode() and the class Decoder.
// SPDX-License-Identifier: MIT
#include <nanobind/stl/string.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>

#include "apps/python/binding/coders.hpp"
#include "apps/python/binding/decode_target.hpp"
#include "apps/python/binding/device.hpp"
#include "apps/python/binding/docs.hpp"
#include "apps/python/binding/failure.hpp"
#include "apps/python/binding/gil.hpp"
#include "apps/python/binding/pictures.hpp"

namespace zerorun::python {
namespace {

/// Decoders of one owner: the pool's caller, or an object of the class Decoder.
struct Decoders {
  std::mutex mutex;
  std::unique_ptr<Decoder> host;
  std::map<int, std::unique_ptr<DeviceDecodeBox>> on_device;
};

using DeviceDecoderPool = CoderPool<DeviceDecodeBox, DecodeParams>;
DeviceDecoderPool& device_decoder_pool() {
  static auto& pool = *new DeviceDecoderPool(
      [](const DecodeParams& p) { return DeviceDecodeBox::make(p, p.device); });
  return pool;
}

nb::object decode_once(nb::handle data, nb::handle format, nb::handle out, nb::handle to,
                       nb::handle stream, const nb::kwargs& options) {
  const DecodeParams params = decode_params(options);
  const std::uintptr_t on = stream_handle(stream, out.is_none() ? data : out);
  const JpegData jpeg(data, on);
  Target target = make_target({jpeg, format, out, to, stream, on}, params);
  Result<DecodeReport> report{Status::ok()};
  if (target.device == kHost) {
    DecoderPool::Lent lent = decoder_pool().take(params);
    {
      const WithoutGil no_gil;
      report = lent.coder->decode(jpeg.bytes(), target.picture.view);
    }
    decoder_pool().give_back(std::move(lent));
  } else {
    DecodeParams here = params;
    here.device = target.device;
    DeviceDecoderPool::Lent lent = device_decoder_pool().take(here);
    {
      const WithoutGil no_gil;
      report = lent.coder->decode(jpeg, target.picture.view, on);
    }
    device_decoder_pool().give_back(std::move(lent));
  }
  value_of(std::move(report));
  return std::move(target.picture.object);
}

nb::object plane_array(const ComponentPlane& plane) {
  const nb::object numpy = nb::module_::import_("numpy");
  const nb::object array = numpy.attr("empty")(nb::make_tuple(plane.height, plane.width), "u1");
  const Array memory = array_from(array, "plane");
  std::copy(plane.samples.begin(), plane.samples.end(), memory.data);
  return array;
}

nb::object coefficient_array(const ComponentCoefficients& blocks) {
  const nb::object numpy = nb::module_::import_("numpy");
  const std::size_t bytes = blocks.values.size() * sizeof(std::int16_t);
  const nb::object array = numpy.attr("empty")(nb::make_tuple(bytes), "u1");
  const Array memory = array_from(array, "coefficients");
  if (bytes > 0) std::memcpy(memory.data, blocks.values.data(), bytes);
  return array.attr("view")("i2").attr("reshape")(
      nb::make_tuple(blocks.blocks_high, blocks.blocks_wide, 64));
}

class PyDecoder {
 public:
  explicit PyDecoder(const nb::kwargs& options) : params_(decode_params(options)) { (void)made(); }

  nb::object decode(nb::handle data, nb::handle format, nb::handle out, nb::handle to,
                    nb::handle stream) {
    const std::shared_ptr<Decoders> coders = made();
    const std::uintptr_t on = stream_handle(stream, out.is_none() ? data : out);
    const JpegData jpeg(data, on);
    Target target = make_target({jpeg, format, out, to, stream, on}, params_);
    Result<DecodeReport> report{Status::ok()};
    {
      const WithoutGil no_gil;
      const std::lock_guard lock(coders->mutex);
      if (target.device == kHost) {
        report = coders->host->decode(jpeg.bytes(), target.picture.view);
      } else {
        auto& box = coders->on_device[target.device];
        if (!box) box = DeviceDecodeBox::make(params_, target.device);
        report = box->decode(jpeg, target.picture.view, on);
      }
    }
    report_ = value_of(std::move(report));
    return std::move(target.picture.object);
  }

  nb::list decode_planes(nb::handle data) {
    return decode_parts<ComponentPlane>(data, &Decoder::decode_planes, plane_array);
  }
  nb::list decode_coefficients(nb::handle data) {
    return decode_parts<ComponentCoefficients>(data, &Decoder::decode_coefficients,
                                               coefficient_array);
  }

  nb::object report() const { return report_ ? report_object(*report_) : nb::none(); }
  std::string backend() { return std::string(name(made()->host->backend())); }
  void close() {
    made_ = ForkBound<Decoders>();
    closed_ = true;
  }

 private:
  template <typename Part, typename Call, typename ToArray>
  nb::list decode_parts(nb::handle data, Call call, const ToArray& to_array) {
    const std::shared_ptr<Decoders> coders = made();
    const JpegData jpeg(data);
    if (jpeg.device() != kHost)
      fail(Errc::invalid_argument, "data must be in host memory for this call");
    std::vector<Part> parts;
    Result<DecodeReport> report{Status::ok()};
    {
      const WithoutGil no_gil;
      const std::lock_guard lock(coders->mutex);
      report = (*coders->host.*call)(jpeg.bytes(), parts);
    }
    report_ = value_of(std::move(report));
    nb::list arrays;
    for (const Part& part : parts) arrays.append(to_array(part));
    return arrays;
  }

  std::shared_ptr<Decoders> made() {
    if (closed_) fail(Errc::already_finished, "the decoder is closed");
    if (!made_.get()) {
      auto coders = std::make_shared<Decoders>();
      coders->host = make_coder<Decoder>(params_);
      made_ = ForkBound<Decoders>(std::move(coders));
    }
    return made_.get();
  }

  DecodeParams params_;
  ForkBound<Decoders> made_;
  std::optional<DecodeReport> report_;
  bool closed_ = false;
};

}  // namespace

DecoderPool& decoder_pool() {
  static auto& pool = *new DecoderPool(&make_coder<Decoder, DecodeParams>);
  return pool;
}

void bind_decode(nb::module_& module) {
  using namespace nb::literals;
  module.def("decode", &decode_once, "data"_a.none(), "format"_a = "rgb24", nb::kw_only(),
             "out"_a = nb::none(), "to"_a = nb::none(), "stream"_a = nb::none(), "options"_a,
             nb::sig(docs::kDecodeSig), docs::kDecode);
  nb::class_<PyDecoder>(module, "Decoder", docs::kDecoder)
      .def(nb::init<const nb::kwargs&>(), "options"_a,
           nb::sig("def __init__(self, **options: Unpack[DecodeOptions]) -> None"))
      .def("decode", &PyDecoder::decode, "data"_a.none(), "format"_a = "rgb24", nb::kw_only(),
           "out"_a = nb::none(), "to"_a = nb::none(), "stream"_a = nb::none(),
           nb::sig(docs::kDecoderDecodeSig), docs::kDecoderDecode)
      .def("decode_planes", &PyDecoder::decode_planes, "data"_a.none(),
           nb::sig(docs::kDecodePlanesSig), docs::kDecodePlanes)
      .def("decode_coefficients", &PyDecoder::decode_coefficients, "data"_a,
           nb::sig(docs::kDecodeCoefficientsSig), docs::kDecodeCoefficients)
      .def_prop_ro("report", &PyDecoder::report, nb::sig("def report(self) -> Optional[Report]"),
                   docs::kDecoderReport)
      .def_prop_ro("backend", &PyDecoder::backend, "'cpu' or 'cuda'.")
      .def("close", &PyDecoder::close, "Gives up the decoder; later calls raise an error.")
      .def(
          "__enter__", [](nb::handle self) { return nb::borrow(self); },
          nb::sig("def __enter__(self) -> Decoder"))
      .def(
          "__exit__", [](PyDecoder& self, const nb::args&) { self.close(); }, "error"_a,
          nb::sig("def __exit__(self, *error: Any) -> None"));
}

}  // namespace zerorun::python
