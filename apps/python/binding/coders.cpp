// SPDX-License-Identifier: MIT
#include "apps/python/binding/coders.hpp"

namespace zerorun::python {
namespace {

nb::bytes encode_once(nb::handle object, nb::handle format, nb::handle size, nb::handle stream,
                      const nb::kwargs& options) {
  const EncodeParams params = encode_params(options);
  const std::uintptr_t on = stream_handle(stream, object);
  const Image image = Image::from(object, image_hints(format, size), on);
  return pools().encoders.take(params)->encode(image, on);
}

class PyEncoder : public PyCoder<Encoders, EncodeParams> {
 public:
  explicit PyEncoder(const nb::kwargs& options) : PyCoder(encode_params(options)) {}

  nb::bytes encode(nb::handle object, nb::handle format, nb::handle size, nb::handle stream) {
    const auto made = this->made();
    const std::uintptr_t on = stream_handle(stream, object);
    const Image image = Image::from(object, image_hints(format, size), on);
    const auto lock = locked(made->mutex);
    return made->coders.encode(image, on);
  }

  nb::object encode_into(nb::handle object, nb::handle out, nb::handle size_out, nb::handle format,
                         nb::handle size, nb::handle stream) {
    const auto made = this->made();
    const std::uintptr_t on = stream_handle(stream, object);
    const Image image = Image::from(object, image_hints(format, size), on);
    const Array memory = array_from(out, "out", on);
    if (!memory.writable || memory.dimensions != 1 || memory.stride[0] != 1)
      fail_argument("out must be a writable array of bytes one after another");
    const auto lock = locked(made->mutex);
    if (image.device() != kHost) {
      if (size_out.is_none())
        fail_argument("for an image on a GPU size_out must be 8 bytes that the device can write");
      made->coders.on_device(image.device())
          .encode_into(image, memory, array_from(size_out, "size_out", on), on);
      return nb::none();
    }
    if (memory.device != kHost) fail_argument("image is in host memory, but out on a GPU");
    const std::span room(reinterpret_cast<std::byte*>(memory.data),
                         static_cast<std::size_t>(memory.shape[0]));
    Result<EncodeReport> report =
        without_gil([&] { return made->coders.host().encode(image.view, room); });
    return nb::int_(value_of(std::move(report)).bytes);
  }

  int quality() const { return params_.quality; }
  void set_quality(nb::handle value) {
    const int quality = parse_int(value, "quality");
    const auto made = this->made();
    const auto lock = locked(made->mutex);
    made->coders.set_quality(quality);
    params_.quality = quality;
  }
};

std::size_t most_bytes(nb::handle format, nb::handle size, const nb::kwargs& options) {
  const ImageHints hints = image_hints(format, size);
  if (!hints.format || !hints.size) fail_type("format and size=(width, height) must be given");
  return value_of(max_encoded_bytes(encode_params(options), *hints.format, hints.size->first,
                                    hints.size->second));
}

void check_target(int device, int data_device, const DecodeParams& params) {
  if (device == kHost && data_device != kHost)
    fail_argument("data is in the memory of a GPU, so the picture goes there too: use to='device'");
  if (device == kHost) return;
  check_device(params, device, "the decoded picture");
  if (data_device != kHost && data_device != device)
    fail_argument("data and out are on two devices");
}

/// What decode() puts its picture into, without memory; reads the header for the size.
FrameView target_frame(const JpegData& data, PixelFormat format, std::uintptr_t on,
                       const DecodeParams& params) {
  const auto frame_of = [&](std::span<const std::byte> jpeg) {
    return decoded_frame(jpeg, format, params.limits, params.scale, params.region);
  };
  return value_of(without_gil([&] {
    if (data.device() == kHost) return frame_of(data.bytes());
    // The headers of most streams are shorter.
    constexpr std::size_t kHead = std::size_t{1} << 16;
    const std::size_t size = data.bytes().size();
    const Result<FrameView> found = frame_of(copy_to_host(data, std::min(size, kHead), on));
    return found || size <= kHead ? found : frame_of(copy_to_host(data, size, on));
  }));
}

/// Where a call puts its picture. `on` is the handle of the caller's `stream`. Errors: those of
/// decoded_frame(), ArgumentError.
Picture make_target(const JpegData& data, PixelFormat format, nb::handle out, nb::handle to,
                    nb::handle stream, std::uintptr_t on, const DecodeParams& params) {
  const int data_device = data.device();
  const FrameView frame = target_frame(data, format, on, params);
  Picture picture;
  if (!out.is_none()) {
    picture = picture_in(out, frame, on);
    order_after(picture.arrays, on);
  } else if (wants_device(to, params) || (to.is_none() && data_device != kHost)) {
    const int device = data_device != kHost ? data_device : params.device;
    picture = new_device_picture(frame, device, on, stream);
  } else {
    picture = new_picture(frame);
  }
  check_target(picture.device, data_device, params);
  return picture;
}

/// Decodes by decode(jpeg, picture, on) and returns the arrays of the picture.
template <typename Decode>
nb::object decode_with(const DecodeParams& params, nb::handle data, nb::handle format,
                       nb::handle out, nb::handle to, nb::handle stream, const Decode& decode) {
  const std::uintptr_t on = stream_handle(stream, out.is_none() ? data : out);
  // A stream that another thread could write is copied to where the kernels read it.
  const bool is_cuda = params.backend == Backend::cuda;
  const JpegData jpeg(data, on, is_cuda ? HostMemory::pinned : HostMemory::pageable);
  Picture picture = make_target(jpeg, parse_format(format), out, to, stream, on, params);
  decode(jpeg, picture, on);
  return std::move(picture.object);
}

nb::object decode_once(nb::handle data, nb::handle format, nb::handle out, nb::handle to,
                       nb::handle stream, const nb::kwargs& options) {
  const DecodeParams params = decode_params(options);
  return decode_with(params, data, format, out, to, stream, [&](const auto&... call) {
    const auto coders = pools().decoders.take(params);
    value_of(without_gil([&] { return coders->decode(params, call...); }));
  });
}

/// A numpy array that has the values for its memory.
template <typename T>
nb::object array_of(std::vector<T>& values, const PlaneShape& shape) {
  const auto kept = std::make_shared<std::vector<T>>(std::move(values));
  return array_over(kept->data(), shape, kept, kHost, nb::dtype<T>());
}
nb::object array_of(ComponentPlane& plane) {
  return array_of(plane.samples, {plane.height, plane.width});
}
nb::object array_of(ComponentCoefficients& blocks) {
  return array_of(blocks.values, {blocks.blocks_high, blocks.blocks_wide, 64});
}

class PyDecoder : public PyCoder<Decoders, DecodeParams> {
 public:
  explicit PyDecoder(const nb::kwargs& options) : PyCoder(decode_params(options)) {}

  nb::object decode(nb::handle data, nb::handle format, nb::handle out, nb::handle to,
                    nb::handle stream) {
    const auto made = this->made();
    return decode_with(params_, data, format, out, to, stream, [&](const auto&... call) {
      report_ = value_of(without_gil([&] {
        const std::lock_guard lock(made->mutex);
        return made->coders.decode(params_, call...);
      }));
    });
  }

  /// `kCall` is a member of the library's Decoder.
  template <typename Part, auto kCall>
  nb::list decode_parts(nb::handle data) {
    const auto made = this->made();
    const JpegData jpeg(data);
    std::vector<Part> parts;
    report_ = value_of(without_gil([&] {
      const std::lock_guard lock(made->mutex);
      return (made->coders.host().*kCall)(jpeg.bytes(), parts);
    }));
    return list_of(parts, [](Part& part) { return array_of(part); });
  }

  nb::object report() const { return report_ ? report_object(*report_) : nb::none(); }

 private:
  std::optional<DecodeReport> report_;
};

}  // namespace

bool wants_device(nb::handle to, const DecodeParams& params) {
  if (to.is_none()) return params.backend == Backend::cuda;
  const std::string text = utf8_of(nb::str(to));
  if (text == "host") return false;
  if (text == "device") return true;
  fail_argument("to is '", text, "', but must be None, 'host' or 'device'");
}

void bind_coders(nb::module_& module) {
  module.def(
      "encode", &encode_once, "image"_a.none(), nb::kw_only(), "format"_a = nb::none(),
      "size"_a = nb::none(), "stream"_a = nb::none(), "options"_a,
      nb::sig("def encode(image: Image, *, format: Optional[str] = None, size: Optional[tuple[int, "
              "int]] = None, stream: Stream = None, **options: Unpack[EncodeOptions]) -> bytes"),
      R"(Encodes a picture as JPEG and returns the stream, SOI to EOI.

image is an array of uint8, or a tuple of planes, in host memory (numpy, anything
with the buffer protocol, DLPack) or on a GPU (__cuda_array_interface__, DLPack):

  (height, width)       grey
  (height, width, 3)    RGB; BGR with format='bgr24'
  (height, width, 4)    RGB and a byte that is ignored; also 'bgr0', '0rgb', '0bgr'
  (height, width, 2)    with format='yuyv422' or 'uyvy422'
  (y, cb, cr)           planes of 4:2:0, 4:2:2, 4:4:4, 4:4:0 or 4:1:1
  (y, cbcr)             NV12; NV21 with format='nv21'. cbcr: (height/2, width/2, 2)
  (height*3/2, width)   4:2:0 in one array, with format='nv12', 'nv21' or 'yuv420p'
  (bytes,)              planes one after another, with format= and size=(width, height)

YCbCr is full range BT.601. Any strides do; samples that do not lie side by side are
copied. A picture on a GPU is coded there, on `stream` or on the stream that its
library uses at the moment; the call waits for the bytes.

Options:
  quality       1 to 100 on libjpeg's scale (90)
  subsampling   '420', '422', '444', '440', '411', 'gray'; None: the picture's own,
                and '420' for RGB
  tune          'exact' (libjpeg's bytes), or smaller at equal quality: 'photo', 'text', 'psnr'
  effort        with tune: 'fast', or 'best' for smaller streams
  target_size   bytes that the stream fills, never more; quality does not count then
  max_size      bytes that a stream of this quality must not exceed
  target_psnr   dB that the decoded samples have at least, by the lowest quality that does it
  target_ssim   the same for the SSIM of luma (0.98)
  tables        'auto', 'annex-k', 'flat', 'ffmpeg' or 'tuned' quantisation tables
  huffman       'standard', or smaller: 'trained' (as fast), 'optimal' (two passes)
  restart       'auto', None, MCUs between markers (64) or rows of MCUs ('1rows')
  progressive   True: a progressive stream, smaller and slower; huffman does not count then
  luma_table, chroma_table   64 entries from 1 to 255 in row order
  jfif_header   False leaves the JFIF segment out
  pixel_aspect  (x, y) for the JFIF segment
  segments      [(0xE1, b'Exif...'), (0xFE, b'comment')], written after JFIF
  device        None: a GPU if there is one, else the CPU; 'cpu', 'cuda', 'cuda:1'
  threads       CPU threads for one picture; 0: one a core
  instruction_set   'best', or one of instruction_sets(): the code of the CPU backend

The bytes are those of the program `zerorun encode` with these options.
Raises zerorun.Error; TypeError for what is no array.)");
  module.def("max_encoded_bytes", &most_bytes, "format"_a, "size"_a, "options"_a,
             nb::sig("def max_encoded_bytes(format: str, size: tuple[int, int], **options: "
                     "Unpack[EncodeOptions]) -> int"),
             "The size that no stream of such a picture exceeds; size is (width, height).");
  nb::class_<PyEncoder> encoder(
      module, "Encoder",
      R"(Encodes picture after picture with the same options and keeps its memory.

    encoder = zerorun.Encoder(quality=85, subsampling='444')
    jpeg = encoder.encode(image)

Threads may share an encoder; their calls then come one after another. A child of
fork() makes its own on the CPU. Options are those of encode().)");
  encoder
      .def(nb::init<const nb::kwargs&>(), "options"_a,
           nb::sig("def __init__(self, **options: Unpack[EncodeOptions]) -> None"))
      .def("encode", &PyEncoder::encode, "image"_a.none(), nb::kw_only(), "format"_a = nb::none(),
           "size"_a = nb::none(), "stream"_a = nb::none(),
           nb::sig("def encode(self, image: Image, *, format: Optional[str] = None, size: "
                   "Optional[tuple[int, int]] = None, stream: Stream = None) -> bytes"),
           "Encodes a picture; see zerorun.encode().")
      .def("encode_into", &PyEncoder::encode_into, "image"_a.none(), "out"_a.none(),
           "size_out"_a = nb::none(), nb::kw_only(), "format"_a = nb::none(), "size"_a = nb::none(),
           "stream"_a = nb::none(),
           nb::sig("def encode_into(self, image: Image, out: Any, size_out: Any = None, *, format: "
                   "Optional[str] = None, size: Optional[tuple[int, int]] = None, stream: Stream = "
                   "None) -> Optional[int]"),
           R"(Encodes a picture into memory of the caller.

For a picture in host memory, out is a writable buffer (bytearray, numpy), and the call
returns the size of the stream. Raises CapacityError if out is too small.

For a picture on a GPU, out is an array of uint8 there and size_out 8 bytes for the size
(an int64 array viewed as uint8). The call puts the work on the stream and returns None at
once; keep the arrays until the stream has got there. A size larger than out means that the
stream did not fit; max_encoded_bytes() is always enough. With target_size or max_size, a
size of 0 means that the picture cannot be so small.)")
      .def_prop_rw("quality", &PyEncoder::quality, &PyEncoder::set_quality,
                   nb::for_setter(nb::sig("def quality(self, value: int) -> None")),
                   "Quality of all later pictures, 1 to 100.");
  bind_coder(encoder, "Gives up the encoder; later calls raise an error.");

  module.def(
      "decode", &decode_once, "data"_a.none(), "format"_a = "rgb24", nb::kw_only(),
      "out"_a = nb::none(), "to"_a = nb::none(), "stream"_a = nb::none(), "options"_a,
      nb::sig(
          "def decode(data: Data, format: str = \"rgb24\", *, out: Any = None, to: Optional[str] = "
          "None, stream: Stream = None, **options: Unpack[DecodeOptions]) -> Any"),
      R"(Decodes a JPEG stream (bytes or a buffer) to uint8 arrays.

format: what comes back
  'rgb24', 'bgr24'                    (height, width, 3)
  'rgb0', 'bgr0', '0rgb', '0bgr'      (height, width, 4), the fourth byte is 255
  'gray8'                             (height, width)
  'yuv420p', 'yuv422p', 'yuv444p', 'yuv440p', 'yuv411p'
                                      a tuple (y, cb, cr) of arrays
  'nv12', 'nv21'                      a tuple (y, cbcr); cbcr has (rows, columns, 2)
  'yuyv422', 'uyvy422'                (height, width rounded up to even, 2)
  'cmyk32'                            (height, width, 4): C, M, Y and K as CMYK and YCCK store
                                      them; inspect().color tells whether 255 is no ink
out: arrays of these shapes to decode into, which are returned; rows may have gaps
to: 'host' for numpy arrays, 'device' for a zerorun.DeviceArray, which PyTorch, CuPy and
    JAX take without a copy. None: 'device' if device= names a GPU, else 'host'
stream: the CUDA stream of a picture on a GPU
scale: 2, 4 or 8 for a picture of 1/2, 1/4 or 1/8, whose sides are rounded up; as libjpeg
    scales. It takes less time than the whole picture
region: (x, y, width, height) in pixels of the scaled picture; what lies outside is not
    transformed, and where the stream has restart markers not even decoded

Options:
  upsampling    'fancy' (libjpeg's filter) or 'nearest', for RGB
  strict        True: damage is an error. Otherwise damaged parts are concealed
  max_pixels, max_scans, max_header_bytes    limits, checked before memory is allocated
  device, threads, instruction_set    as of encode()

EXIF orientation is not applied; inspect() tells it. Raises zerorun.Error.)");
  nb::class_<PyDecoder> decoder(
      module, "Decoder", R"(Decodes stream after stream with the same options and keeps its memory.

    decoder = zerorun.Decoder()
    rgb = decoder.decode(jpeg)
    if decoder.report.concealed_intervals: ...

Threads may share a decoder; their calls then come one after another. A child of
fork() makes its own on the CPU. Options are those of decode().)");
  decoder
      .def(nb::init<const nb::kwargs&>(), "options"_a,
           nb::sig("def __init__(self, **options: Unpack[DecodeOptions]) -> None"))
      .def("decode", &PyDecoder::decode, "data"_a.none(), "format"_a = "rgb24", nb::kw_only(),
           "out"_a = nb::none(), "to"_a = nb::none(), "stream"_a = nb::none(),
           nb::sig("def decode(self, data: Data, format: str = \"rgb24\", *, out: Any = None, to: "
                   "Optional[str] = None, stream: Stream = None) -> Any"),
           "Decodes a stream; see zerorun.decode().")
      .def(
          "decode_planes", &PyDecoder::decode_parts<ComponentPlane, &Decoder::decode_planes>,
          "data"_a.none(), nb::sig("def decode_planes(self, data: Data) -> list[Any]"),
          "Every component as stored, in the order of the header: arrays (height, width) of uint8.")
      .def("decode_coefficients",
           &PyDecoder::decode_parts<ComponentCoefficients, &Decoder::decode_coefficients>, "data"_a,
           nb::sig("def decode_coefficients(self, data: Data) -> list[Any]"),
           "The quantised coefficients: arrays (block rows, block columns, 64) of int16, each "
           "block in row order.")
      .def_prop_ro("report", &PyDecoder::report, nb::sig("def report(self) -> Optional[Report]"),
                   "What the last call found: a zerorun.Report, or None before the first call.");
  bind_coder(decoder, "Gives up the decoder; later calls raise an error.");
}

}  // namespace zerorun::python
