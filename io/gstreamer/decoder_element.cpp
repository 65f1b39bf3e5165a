// zerorundec: image/jpeg to raw video, on one device or with images in flight on several.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <gst/base/gstadapter.h>
#include <gst/video/gstvideodecoder.h>

#include "codec/base/marker.hpp"
#include "codec/base/try.hpp"
#include "io/gstreamer/element.hpp"
#include "io/gstreamer/video_formats.hpp"
#include "zerorun/async.hpp"
#include "zerorun/decoder.hpp"

GST_DEBUG_CATEGORY_STATIC(zerorundec_debug);
#define GST_CAT_DEFAULT zerorundec_debug

namespace zerorun::gst {
namespace {

/// Skips entropy-coded data, up to a block in which a marker may begin, or to the last blocks.
gsize behind_coded(GstAdapter* adapter, gsize from, gsize available) {
  std::array<std::byte, 32 * kCodedBlock> copy;
  gsize coded = copy.size();
  for (; coded + kCodedBlock >= copy.size() && available - from >= copy.size(); from += coded) {
    gst_adapter_copy(adapter, copy.data(), from, copy.size());
    coded = coded_bytes(copy);
  }
  return from;
}

/// Offset of the next `FF xx` at or after `from`; -1 if there is none.
gssize find_marker(GstAdapter* adapter, gsize from, gsize available, std::uint8_t& code) {
  // The scan matches windows of four bytes; with FF as the third one it finds a marker at the end.
  constexpr gsize kBefore = 2;
  if (from < kBefore || available < from + 2) return -1;
  guint32 window = 0;
  const gssize at = gst_adapter_masked_scan_uint32_peek(
      adapter, 0x0000FF00, 0x0000FF00, from - kBefore, available - (from - kBefore), &window);
  code = window & 0xFF;
  return at < 0 ? -1 : at + static_cast<gssize>(kBefore);
}

/// Looks at every byte once or twice, however small the pieces. Skips marker segments by their
/// length, so that a thumbnail in an APPn does not end the image.
class JpegBoundary {
 public:
  enum class Found { need_data, garbage, image };
  struct Answer {
    Found found = Found::need_data;
    gsize bytes = 0;  ///< of the garbage before an image, or of the image, from the adapter's start
  };

  /// An image without EOI ends before the next SOI. The caller removes the bytes of the answer from
  /// the adapter before the next call.
  Answer next(GstAdapter* adapter);

  void reset() noexcept { position_ = 0; }

 private:
  Answer done(Found found, gsize bytes) noexcept {
    position_ = 0;
    return {found, bytes};
  }

  gsize position_ = 0;  ///< from the adapter's start; 0: no SOI yet
};

JpegBoundary::Answer JpegBoundary::next(GstAdapter* adapter) {
  const gsize available = gst_adapter_available(adapter);
  if (position_ == 0) {
    constexpr gsize kStartBytes = 4;  // SOI and the marker after it
    if (available < kStartBytes) return {};
    const gssize start =
        gst_adapter_masked_scan_uint32(adapter, 0xFFFFFF00, 0xFFD8FF00, 0, available);
    if (start < 0) return done(Found::garbage, available - (kStartBytes - 1));
    if (start > 0) return done(Found::garbage, static_cast<gsize>(start));
    position_ = 2;
  }
  // Each copy walks over the adapter's buffers, so not every marker is followed by one.
  bool may_be_coded = true;
  while (position_ < available) {
    if (std::exchange(may_be_coded, false)) position_ = behind_coded(adapter, position_, available);
    std::uint8_t code = 0;
    const gssize at = find_marker(adapter, position_, available, code);
    if (at < 0) {
      position_ = std::max(position_, available - 1);  // the last byte may be the FF of a marker
      return {};
    }
    const auto offset = static_cast<gsize>(at);
    if (code == 0xFF) {  // a fill byte
      position_ = offset + 1;
    } else if (code == marker::kEoi) {
      return done(Found::image, offset + 2);
    } else if (code == marker::kSoi) {
      return done(Found::image, offset);
    } else if (code == 0 || code == marker::kTem || marker::is_rst(code)) {
      position_ = offset + 2;
    } else {
      position_ = offset;
      if (available < offset + 4) return {};
      guint8 length[2];
      gst_adapter_copy(adapter, length, offset + 2, 2);
      position_ = offset + 2 + std::max<gsize>(2, gsize{length[0]} << 8 | length[1]);
      may_be_coded = code == marker::kSos;
    }
  }
  return {};
}

/// GstVideoDecoder::parse(): hands on the next image, whose end `boundary` finds.
GstFlowReturn next_image(JpegBoundary& boundary, GstVideoDecoder* decoder, GstAdapter* adapter,
                         bool at_eos) {
  for (;;) {
    JpegBoundary::Answer answer = boundary.next(adapter);
    if (answer.found == JpegBoundary::Found::garbage) {
      GST_DEBUG_OBJECT(decoder, "skipping %" G_GSIZE_FORMAT " bytes between images", answer.bytes);
      gst_adapter_flush(adapter, answer.bytes);
      continue;
    }
    if (answer.found == JpegBoundary::Found::need_data) {
      answer.bytes = gst_adapter_available(adapter);
      if (!at_eos || answer.bytes < 4) {
        if (at_eos) gst_adapter_clear(adapter);
        return GST_VIDEO_DECODER_FLOW_NEED_DATA;
      }
      boundary.reset();  // the image is cut short: decode what is there
    }
    gst_video_decoder_add_to_frame(decoder, static_cast<int>(answer.bytes));
    return gst_video_decoder_have_frame(decoder);
  }
}

/// A codec frame with its stream and its picture, both mapped. Owns references and mappings.
class ImageInFlight {
 public:
  /// Takes the reference to the frame. Null where the stream or the picture cannot be mapped.
  static std::unique_ptr<ImageInFlight> map(GstVideoCodecFrame* frame, const GstVideoInfo& info) {
    std::unique_ptr<ImageInFlight> image(new ImageInFlight);
    image->input_ = gst_buffer_ref(frame->input_buffer);
    image->has_input_ = gst_buffer_map(image->input_, &image->map_, GST_MAP_READ);
    // The mapping holds a reference, so that nobody else takes the buffer.
    image->has_samples_ =
        gst_video_frame_map(&image->samples_, &info, frame->output_buffer, GST_MAP_WRITE);
    if (!image->has_input_ || !image->has_samples_) return nullptr;  // it is still the caller's
    image->frame_ = frame;
    return image;
  }
  ImageInFlight(const ImageInFlight&) = delete;
  ImageInFlight& operator=(const ImageInFlight&) = delete;
  ~ImageInFlight() {
    if (GstVideoCodecFrame* const frame = release()) gst_video_codec_frame_unref(frame);
  }

  std::span<const std::byte> jpeg() const noexcept {
    return {reinterpret_cast<const std::byte*>(map_.data), map_.size};
  }
  FrameView view() const noexcept {
    return view_of(samples_, *pixel_format(GST_VIDEO_FRAME_FORMAT(&samples_)));
  }
  /// Ends the mappings and hands the reference to the frame over.
  GstVideoCodecFrame* release() {
    if (std::exchange(has_samples_, false)) gst_video_frame_unmap(&samples_);
    if (std::exchange(has_input_, false)) gst_buffer_unmap(input_, &map_);
    if (input_ != nullptr) gst_buffer_unref(std::exchange(input_, nullptr));
    return std::exchange(frame_, nullptr);
  }

 private:
  ImageInFlight() = default;

  GstVideoCodecFrame* frame_ = nullptr;
  GstBuffer* input_ = nullptr;
  GstMapInfo map_{};
  GstVideoFrame samples_{};
  bool has_input_ = false, has_samples_ = false;
};

/// AsyncDecoder with the images that it works on. One thread.
class DecodeFlight {
 public:
  explicit DecodeFlight(AsyncDecoder decoder) : decoder_(std::move(decoder)) {}
  /// Drops what is in flight.
  ~DecodeFlight() { discard(); }

  bool is_full() const { return decoder_.in_flight() == decoder_.depth(); }
  bool is_empty() const { return decoder_.in_flight() == 0; }

  Status submit(std::unique_ptr<ImageInFlight> image) {
    DecodeOptions options;
    options.into = image->view();
    const std::span<const std::byte> jpeg = image->jpeg();
    images_.push_back(std::move(image));
    Status status = decoder_.submit(jpeg, options);
    if (!status) images_.pop_back();
    return status;
  }

  /// Waits for the oldest image; there is one. `out` has its status and report.
  std::unique_ptr<ImageInFlight> receive(DecodedFrame& out) {
    (void)decoder_.receive(out, true);
    std::unique_ptr<ImageInFlight> image = std::move(images_.front());
    images_.pop_front();
    return image;
  }

  void discard() {
    decoder_.discard();
    images_.clear();
  }

  /// The devices that failed since the last call.
  std::vector<LostDevice> new_losses() {
    std::vector<LostDevice> lost = decoder_.lost_devices();
    const auto told = static_cast<std::ptrdiff_t>(std::exchange(told_losses_, lost.size()));
    lost.erase(lost.begin(), lost.begin() + told);
    return lost;
  }

 private:
  AsyncDecoder decoder_;
  std::deque<std::unique_ptr<ImageInFlight>> images_;  // oldest first
  std::size_t told_losses_ = 0;
};

struct Counters {
  std::atomic<guint64> frames{0}, bytes{0}, concealed{0}, errors{0};
};

struct DecoderState {
  std::string device = "auto";                    // under the object lock
  gint64 max_pixels = StreamLimits{}.max_pixels;  // under the object lock
  StreamLimits limits;                            // for the decoders
  std::optional<Decoder> decoder;                 // on one device
  std::unique_ptr<DecodeFlight> flight;           // in place of `decoder`, on several devices
  /// Size and sampling of the last image in flight.
  std::string shape;
  std::unique_ptr<GstVideoCodecState, decltype(&gst_video_codec_state_unref)> input{
      nullptr, gst_video_codec_state_unref};
  JpegBoundary boundary;
  Counters counters;
  std::string last_error;  // used by the streaming thread only
};

struct ZerorunDec {
  GstVideoDecoder base;
  DecoderState* state;
};
struct ZerorunDecClass {
  GstVideoDecoderClass base;
};

enum Property : guint { kDevice = 1, kMaxPixels, kStatistics };

G_DEFINE_TYPE(ZerorunDec, zerorun_dec, GST_TYPE_VIDEO_DECODER)

ZerorunDec* self_of(gpointer object) { return reinterpret_cast<ZerorunDec*>(object); }

GstStructure* statistics(ZerorunDec* self) {
  const Counters& c = self->state->counters;
  return gst_structure_new("zerorundec-statistics", "frames", G_TYPE_UINT64, c.frames.load(),
                           "bytes", G_TYPE_UINT64, c.bytes.load(), "concealed-frames",
                           G_TYPE_UINT64, c.concealed.load(), "errors", G_TYPE_UINT64,
                           c.errors.load(), nullptr);
}

void set_property(GObject* object, guint id, const GValue* value, GParamSpec* spec) {
  DecoderState& state = *self_of(object)->state;
  const ObjectLock lock(object);
  if (id == kDevice)
    state.device = device_text(value);
  else if (id == kMaxPixels)
    state.max_pixels = g_value_get_int64(value);
  else
    G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, spec);
}

void get_property(GObject* object, guint id, GValue* value, GParamSpec* spec) {
  if (id == kStatistics) {
    g_value_take_boxed(value, statistics(self_of(object)));
    return;
  }
  const DecoderState& state = *self_of(object)->state;
  const ObjectLock lock(object);
  if (id == kDevice)
    g_value_set_string(value, state.device.c_str());
  else if (id == kMaxPixels)
    g_value_set_int64(value, state.max_pixels);
  else
    G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, spec);
}

Result<AsyncDecodeParams> decode_params(ZerorunDec* self) {
  const ObjectLock lock(self);
  ZR_LET(device, parse_device(self->state->device));
  AsyncDecodeParams params;
  params.decode.limits.max_pixels = self->state->max_pixels;
  params.decode.backend = device.backend;
  params.decode.device = device.index;
  params.devices = device.list;
  return params;
}

/// One decoder, which works on one image at a time, or several devices with images in flight.
Status make_decoder(ZerorunDec* self) {
  ZR_LET(params, decode_params(self));
  DecoderState& state = *self->state;
  state.limits = params.decode.limits;
  if (params.devices.empty()) {
    ZR_LET(decoder, Decoder::create(params.decode));
    state.decoder.emplace(std::move(decoder));
  } else {
    ZR_LET(decoder, AsyncDecoder::create(params));
    state.flight = std::make_unique<DecodeFlight>(std::move(decoder));
  }
  return Status::ok();
}

gboolean start(GstVideoDecoder* base) {
  ZerorunDec* self = self_of(base);
  Counters& c = self->state->counters;
  c.frames = c.bytes = c.concealed = c.errors = 0;
  if (const Status status = make_decoder(self); !status) {
    post_error(self, status, GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_INIT);
    return FALSE;
  }
  self->state->boundary.reset();
  gst_video_decoder_set_packetized(base, FALSE);
  return TRUE;
}

gboolean stop(GstVideoDecoder* base) {
  DecoderState& state = *self_of(base)->state;
  state.input.reset();
  state.decoder.reset();
  state.flight.reset();
  return TRUE;
}

gboolean set_format(GstVideoDecoder* base, GstVideoCodecState* input) {
  const GstStructure* caps = gst_caps_get_structure(input->caps, 0);
  int sof = 0;  // from a parser: 3 is lossless, 9 arithmetic, ...
  if (gst_structure_get_int(caps, "sof-marker", &sof) && sof > 2) {
    GST_ELEMENT_ERROR(base, STREAM, WRONG_TYPE,
                      ("JPEG of the process SOF%d is not supported, only SOF0 to SOF2", sof),
                      (nullptr));
    return FALSE;
  }
  DecoderState& state = *self_of(base)->state;
  state.input.reset(gst_video_codec_state_ref(input));
  // A parser sends whole images; files and containers may send anything.
  gboolean parsed = FALSE;
  gst_structure_get_boolean(caps, "parsed", &parsed);
  gst_video_decoder_set_packetized(base, parsed);
  return TRUE;
}

gboolean flush(GstVideoDecoder* base) {
  DecoderState& state = *self_of(base)->state;
  state.boundary.reset();
  if (state.flight) state.flight->discard();
  return TRUE;
}

GstFlowReturn deliver_all(ZerorunDec* self);

/// On one device every frame is finished in handle_frame(): there is nothing to drain.
GstFlowReturn drain(GstVideoDecoder* base) { return deliver_all(self_of(base)); }

/// A stream without a usable image ends with an error.
GstFlowReturn finish(GstVideoDecoder* base) {
  ZerorunDec* self = self_of(base);
  if (const GstFlowReturn flow = deliver_all(self); flow != GST_FLOW_OK) return flow;
  const Counters& counters = self->state->counters;
  if (counters.frames > 0 || counters.errors == 0) return GST_FLOW_OK;
  GST_ELEMENT_ERROR(self, STREAM, DECODE,
                    ("no image of the stream can be decoded: %s", self->state->last_error.c_str()),
                    (nullptr));
  return GST_FLOW_ERROR;
}

GstFlowReturn parse(GstVideoDecoder* base, GstVideoCodecFrame*, GstAdapter* adapter,
                    gboolean at_eos) {
  return next_image(self_of(base)->state->boundary, base, adapter, at_eos != FALSE);
}

/// True for damage of one image. Once an image was decoded, an unsupported one is damage, too.
bool is_damage(const Status& status, bool decoded_before) noexcept {
  const ErrorGroup kind = group(status.code());
  const bool is_too_large = kind == ErrorGroup::capacity && status.code() != Errc::out_of_memory;
  return kind == ErrorGroup::corrupt || is_too_large ||
         (kind == ErrorGroup::unsupported && decoded_before);
}

/// Drops the frame. A kind of stream that is not supported stops the pipeline; damage stops it
/// after `max-errors` damaged frames in a row.
GstFlowReturn refuse(ZerorunDec* self, GstVideoCodecFrame* frame, const Status& status) {
  const bool decoded_before = self->state->counters.frames > 0;
  ++self->state->counters.errors;
  gst_video_decoder_drop_frame(&self->base, frame);
  const std::string& message = self->state->last_error = status.message();
  GstFlowReturn flow = GST_FLOW_ERROR;
  if (is_damage(status, decoded_before))
    GST_VIDEO_DECODER_ERROR(self, 1, STREAM, DECODE, ("%s", message.c_str()), (nullptr), flow);
  else if (group(status.code()) == ErrorGroup::unsupported)
    GST_ELEMENT_ERROR(self, STREAM, WRONG_TYPE, ("%s", message.c_str()), (nullptr));
  else
    GST_ELEMENT_ERROR(self, LIBRARY, FAILED, ("%s", message.c_str()), (nullptr));
  return flow;
}

/// Counts an image that was decoded and pushes it.
GstFlowReturn deliver(ZerorunDec* self, GstVideoCodecFrame* frame, const DecodeReport& report,
                      std::size_t jpeg_bytes) {
  if (report.is_concealed()) {
    GST_WARNING_OBJECT(self, "damaged image: %s", report.first_problem.message().c_str());
    GST_VIDEO_CODEC_FRAME_FLAG_SET(frame, GST_VIDEO_CODEC_FRAME_FLAG_CORRUPTED);
  }
  Counters& counters = self->state->counters;
  ++counters.frames;
  counters.bytes += jpeg_bytes;
  if (report.is_concealed()) ++counters.concealed;
  return gst_video_decoder_finish_frame(&self->base, frame);
}

/// Pushes the oldest image in flight.
GstFlowReturn deliver_oldest(ZerorunDec* self) {
  DecodedFrame done;
  const std::unique_ptr<ImageInFlight> image = self->state->flight->receive(done);
  const std::size_t bytes = image->jpeg().size();
  for (const LostDevice& lost : self->state->flight->new_losses()) post_loss(self, lost);
  GstVideoCodecFrame* const frame = image->release();
  if (!done.status) return refuse(self, frame, done.status);
  return deliver(self, frame, done.report, bytes);
}

GstFlowReturn deliver_all(ZerorunDec* self) {
  DecodeFlight* const flight = self->state->flight.get();
  GstFlowReturn flow = GST_FLOW_OK;
  while (flight != nullptr && !flight->is_empty()) {
    const GstFlowReturn one = deliver_oldest(self);
    if (flow == GST_FLOW_OK) flow = one;
  }
  return flow;
}

/// Decodes the image, whose output buffer is there, or puts it into flight.
GstFlowReturn decode_image(ZerorunDec* self, GstVideoCodecFrame* frame) {
  DecoderState& state = *self->state;
  if (state.flight && state.flight->is_full())
    if (const GstFlowReturn flow = deliver_oldest(self); flow != GST_FLOW_OK) {
      gst_video_decoder_drop_frame(&self->base, frame);
      return flow;
    }
  GstVideoCodecState* const output = gst_video_decoder_get_output_state(&self->base);
  auto image = ImageInFlight::map(frame, output->info);
  gst_video_codec_state_unref(output);
  if (!image) return refuse(self, frame, Status(Errc::out_of_memory, "a buffer cannot be mapped"));
  if (state.flight) return state.flight->submit(std::move(image)) ? GST_FLOW_OK : GST_FLOW_ERROR;
  const std::size_t bytes = image->jpeg().size();
  const auto report = state.decoder->decode(image->jpeg(), image->view());
  frame = image->release();
  return report ? deliver(self, frame, *report, bytes) : refuse(self, frame, report.status());
}

/// The buffers downstream have one size and format at a time: before an image of another one, and
/// before one that is refused, all images in flight are delivered.
GstFlowReturn await_shape(ZerorunDec* self, const Result<StreamInfo>& stream) {
  DecoderState& state = *self->state;
  if (!state.flight) return GST_FLOW_OK;
  std::string shape;
  if (stream) {
    shape = std::to_string(stream->width) + "x" + std::to_string(stream->height);
    if (stream->color == ColorModel::rgb || has_inks(stream->color)) shape += " rgb";
    for (const ComponentInfo& c : stream->components)
      shape.append(" ").append(std::to_string(c.h)).append("x").append(std::to_string(c.v));
  }
  if (!shape.empty() && shape == state.shape) return GST_FLOW_OK;
  state.shape = std::move(shape);
  return deliver_all(self);
}

GstFlowReturn decode_mapped(ZerorunDec* self, GstVideoCodecFrame* frame,
                            std::span<const std::byte> jpeg) {
  const auto stream = inspect(jpeg, self->state->limits);
  if (const GstFlowReturn before = await_shape(self, stream); before != GST_FLOW_OK) {
    gst_video_decoder_drop_frame(&self->base, frame);
    return before;
  }
  if (!stream) return refuse(self, frame, stream.status());
  const GstFlowReturn flow = negotiate_output(&self->base, *stream, self->state->input.get())
                                 ? gst_video_decoder_allocate_output_frame(&self->base, frame)
                                 : GST_FLOW_NOT_NEGOTIATED;
  if (flow != GST_FLOW_OK) {
    gst_video_decoder_drop_frame(&self->base, frame);
    return flow;
  }
  return decode_image(self, frame);
}

GstFlowReturn handle_frame(GstVideoDecoder* base, GstVideoCodecFrame* frame) {
  GstBuffer* input = gst_buffer_ref(frame->input_buffer);
  GstMapInfo map;
  if (!gst_buffer_map(input, &map, GST_MAP_READ)) {
    gst_buffer_unref(input);
    return refuse(self_of(base), frame, Status(Errc::out_of_memory, "the input buffer"));
  }
  GST_VIDEO_CODEC_FRAME_SET_SYNC_POINT(frame);
  const std::span<const std::byte> jpeg(reinterpret_cast<const std::byte*>(map.data), map.size);
  const GstFlowReturn flow = decode_mapped(self_of(base), frame, jpeg);
  gst_buffer_unmap(input, &map);
  gst_buffer_unref(input);
  return flow;
}

gboolean decide_allocation(GstVideoDecoder* base, GstQuery* query) {
  if (!GST_VIDEO_DECODER_CLASS(zerorun_dec_parent_class)->decide_allocation(base, query))
    return FALSE;
  use_any_strides(query);
  return TRUE;
}

void finalize(GObject* object) {
  free_state(self_of(object)->state);
  G_OBJECT_CLASS(zerorun_dec_parent_class)->finalize(object);
}

void install_properties(GObjectClass* object) {
  object->set_property = set_property;
  object->get_property = get_property;
  install_device(
      object, kDevice,
      "auto, cpu, cuda, cuda:N, or several GPUs, which have images in flight: cuda:N,M or "
      "cuda:all; all give the same samples");
  g_object_class_install_property(
      object, kMaxPixels,
      g_param_spec_int64("max-pixels", "Max pixels",
                         "Larger images count as damaged; memory is not allocated for them", 1,
                         gint64{kMaxDimension} * kMaxDimension, StreamLimits{}.max_pixels,
                         kReadyFlags));
  install_statistics(object, kStatistics,
                     "Since start: frames, bytes, concealed-frames (damaged, shown), errors "
                     "(damaged, dropped)");
}

void zerorun_dec_class_init(ZerorunDecClass* type) {
  GST_DEBUG_CATEGORY_INIT(zerorundec_debug, "zerorundec", 0, "zerorun JPEG decoder");
  auto* object = G_OBJECT_CLASS(type);
  object->finalize = finalize;
  install_properties(object);
  auto* element = GST_ELEMENT_CLASS(type);
  gst_element_class_set_static_metadata(
      element, "zerorun JPEG decoder", "Codec/Decoder/Image/Video",
      "Decodes baseline JPEG and Motion JPEG on the CPU or an NVIDIA GPU", "zerorun");
  add_pads(element, gst_caps_new_empty_simple("image/jpeg"), raw_caps());
  GstVideoDecoderClass& base = type->base;
  base.start = safe<start, FALSE>;
  base.stop = safe<stop, FALSE>;
  base.set_format = safe<set_format, FALSE>;
  base.flush = safe<flush, FALSE>;
  base.drain = safe<drain, GST_FLOW_ERROR>;
  base.finish = safe<finish, GST_FLOW_ERROR>;
  base.parse = safe<parse, GST_FLOW_ERROR>;
  base.handle_frame = safe<handle_frame, GST_FLOW_ERROR>;
  base.decide_allocation = safe<decide_allocation, FALSE>;
}

void zerorun_dec_init(ZerorunDec* self) {
  self->state = make_state<DecoderState>();
  gst_video_decoder_set_use_default_pad_acceptcaps(&self->base, TRUE);
  GST_PAD_SET_ACCEPT_TEMPLATE(GST_VIDEO_DECODER_SINK_PAD(&self->base));
}

}  // namespace

GType decoder_element_type() { return zerorun_dec_get_type(); }

}  // namespace zerorun::gst
