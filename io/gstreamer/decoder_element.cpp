// zerorundec: image/jpeg to raw video.
// SPDX-License-Identifier: MIT
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include <gst/video/gstvideodecoder.h>

#include "io/gstreamer/decoder_output.hpp"
#include "io/gstreamer/device_name.hpp"
#include "io/gstreamer/elements.hpp"
#include "io/gstreamer/jpeg_parse.hpp"
#include "io/gstreamer/video_formats.hpp"
#include "zerorun/decoder.hpp"

GST_DEBUG_CATEGORY_STATIC(zerorundec_debug);
#define GST_CAT_DEFAULT zerorundec_debug

namespace zerorun::gst {
namespace {

struct Counters {
  guint64 frames = 0, bytes = 0, concealed = 0, errors = 0;
};

struct DecoderState {
  std::string device = "auto";  // these two under the object lock
  gint64 max_pixels = StreamLimits{}.max_pixels;
  std::optional<Decoder> decoder;
  GstVideoCodecState* input = nullptr;
  JpegBoundary boundary;
  Counters counters;       // under the object lock
  std::string last_error;  // of the streaming thread
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

constexpr char kSinkCaps[] = "image/jpeg";
constexpr char kSourceCaps[] = ZR_GST_RAW_CAPS;

GstStructure* statistics(ZerorunDec* self) {
  GST_OBJECT_LOCK(self);
  const Counters c = self->state->counters;
  GST_OBJECT_UNLOCK(self);
  return gst_structure_new("zerorundec-statistics", "frames", G_TYPE_UINT64, c.frames, "bytes",
                           G_TYPE_UINT64, c.bytes, "concealed-frames", G_TYPE_UINT64, c.concealed,
                           "errors", G_TYPE_UINT64, c.errors, nullptr);
}

void set_property(GObject* object, guint id, const GValue* value, GParamSpec* spec) {
  DecoderState& state = *self_of(object)->state;
  GST_OBJECT_LOCK(object);
  if (id == kDevice)
    state.device = g_value_get_string(value) == nullptr ? "auto" : g_value_get_string(value);
  else if (id == kMaxPixels)
    state.max_pixels = g_value_get_int64(value);
  else
    G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, spec);
  GST_OBJECT_UNLOCK(object);
}

void get_property(GObject* object, guint id, GValue* value, GParamSpec* spec) {
  if (id == kStatistics) {
    g_value_take_boxed(value, statistics(self_of(object)));
    return;
  }
  const DecoderState& state = *self_of(object)->state;
  GST_OBJECT_LOCK(object);
  if (id == kDevice)
    g_value_set_string(value, state.device.c_str());
  else if (id == kMaxPixels)
    g_value_set_int64(value, state.max_pixels);
  else
    G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, spec);
  GST_OBJECT_UNLOCK(object);
}

gboolean start(GstVideoDecoder* base) {
  ZerorunDec* self = self_of(base);
  GST_OBJECT_LOCK(self);
  const auto device = parse_device(self->state->device);
  DecodeParams params;
  params.limits.max_pixels = self->state->max_pixels;
  self->state->counters = {};
  GST_OBJECT_UNLOCK(self);
  if (!device) {
    GST_ELEMENT_ERROR(self, LIBRARY, SETTINGS, ("%s", device.status().message().c_str()),
                      (nullptr));
    return FALSE;
  }
  params.backend = device->backend;
  params.device = device->index;
  auto decoder = Decoder::create(params);
  if (!decoder) {
    GST_ELEMENT_ERROR(self, LIBRARY, INIT, ("%s", decoder.status().message().c_str()), (nullptr));
    return FALSE;
  }
  self->state->decoder.emplace(*std::move(decoder));
  self->state->boundary.reset();
  gst_video_decoder_set_packetized(base, FALSE);
  return TRUE;
}

void clear_input(DecoderState& state) {
  if (state.input != nullptr) gst_video_codec_state_unref(state.input);
  state.input = nullptr;
}

gboolean stop(GstVideoDecoder* base) {
  DecoderState& state = *self_of(base)->state;
  clear_input(state);
  state.decoder.reset();
  return TRUE;
}

gboolean set_format(GstVideoDecoder* base, GstVideoCodecState* input) {
  const GstStructure* caps = gst_caps_get_structure(input->caps, 0);
  int sof = 0;  // from a parser: 2 is progressive, 9 arithmetic, ...
  if (gst_structure_get_int(caps, "sof-marker", &sof) && sof != 0 && sof != 1) {
    GST_ELEMENT_ERROR(base, STREAM, WRONG_TYPE,
                      ("JPEG of the process SOF%d is not supported, only SOF0 and SOF1", sof),
                      (nullptr));
    return FALSE;
  }
  DecoderState& state = *self_of(base)->state;
  clear_input(state);
  state.input = gst_video_codec_state_ref(input);
  // A parser sends whole images; files and containers may send anything.
  gboolean parsed = FALSE;
  gst_structure_get_boolean(caps, "parsed", &parsed);
  gst_video_decoder_set_packetized(base, parsed);
  return TRUE;
}

gboolean flush(GstVideoDecoder* base) {
  self_of(base)->state->boundary.reset();
  return TRUE;
}

/// Frames are finished as they come: nothing waits for a drain.
GstFlowReturn drain(GstVideoDecoder*) { return GST_FLOW_OK; }

/// A stream without one usable image does not end as if all were well.
GstFlowReturn finish(GstVideoDecoder* base) {
  ZerorunDec* self = self_of(base);
  GST_OBJECT_LOCK(self);
  const Counters counters = self->state->counters;
  GST_OBJECT_UNLOCK(self);
  if (counters.frames > 0 || counters.errors == 0) return GST_FLOW_OK;
  GST_ELEMENT_ERROR(self, STREAM, DECODE,
                    ("no image of the stream can be decoded: %s", self->state->last_error.c_str()),
                    (nullptr));
  return GST_FLOW_ERROR;
}

GstFlowReturn parse(GstVideoDecoder* base, GstVideoCodecFrame*, GstAdapter* adapter,
                    gboolean at_eos) {
  JpegBoundary& boundary = self_of(base)->state->boundary;
  for (;;) {
    const JpegBoundary::Answer answer = boundary.next(adapter);
    if (answer.found == JpegBoundary::Found::garbage) {
      GST_DEBUG_OBJECT(base, "skipping %" G_GSIZE_FORMAT " bytes between images", answer.bytes);
      gst_adapter_flush(adapter, answer.bytes);
    } else if (answer.found == JpegBoundary::Found::image) {
      gst_video_decoder_add_to_frame(base, static_cast<int>(answer.bytes));
      return gst_video_decoder_have_frame(base);
    } else if (at_eos && gst_adapter_available(adapter) >= 4) {  // cut short: show what is there
      boundary.reset();
      gst_video_decoder_add_to_frame(base, static_cast<int>(gst_adapter_available(adapter)));
      return gst_video_decoder_have_frame(base);
    } else {
      if (at_eos) gst_adapter_clear(adapter);
      return GST_VIDEO_DECODER_FLOW_NEED_DATA;
    }
  }
}

/// Damage of one image, or what looks like it once others of the stream were fine.
bool is_damage(const Status& status, bool decoded_before) noexcept {
  switch (group(status.code())) {
    case ErrorGroup::corrupt:
      return true;
    case ErrorGroup::unsupported:
      return decoded_before;
    case ErrorGroup::capacity:
      return status.code() != Errc::out_of_memory;  // an image that claims to be huge
    default:
      return false;
  }
}

/// Drops the frame. A stream of a kind that is not decoded stops the pipeline; damage does when
/// `max-errors` frames in a row had it.
GstFlowReturn refuse(ZerorunDec* self, GstVideoCodecFrame* frame, const Status& status) {
  GST_OBJECT_LOCK(self);
  ++self->state->counters.errors;
  const bool decoded_before = self->state->counters.frames > 0;
  GST_OBJECT_UNLOCK(self);
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

Result<DecodeReport> decode_into(ZerorunDec* self, std::span<const std::byte> jpeg,
                                 GstBuffer* buffer) {
  GstVideoCodecState* output = gst_video_decoder_get_output_state(&self->base);
  GstVideoFrame frame;
  const bool mapped = gst_video_frame_map(&frame, &output->info, buffer, GST_MAP_WRITE);
  gst_video_codec_state_unref(output);
  if (!mapped) return Status(Errc::out_of_memory, "the output buffer cannot be mapped");
  auto report = self->state->decoder->decode(
      jpeg, view_of(frame, *pixel_format(GST_VIDEO_FRAME_FORMAT(&frame))));
  gst_video_frame_unmap(&frame);
  return report;
}

void count(ZerorunDec* self, const DecodeReport& report, gsize bytes) {
  GST_OBJECT_LOCK(self);
  Counters& counters = self->state->counters;
  ++counters.frames;
  counters.bytes += bytes;
  if (report.is_concealed()) ++counters.concealed;
  GST_OBJECT_UNLOCK(self);
}

GstFlowReturn decode_mapped(ZerorunDec* self, GstVideoCodecFrame* frame,
                            std::span<const std::byte> jpeg) {
  const auto stream = inspect(jpeg, self->state->decoder->params().limits);
  if (!stream) return refuse(self, frame, stream.status());
  if (!negotiate_output(&self->base, *stream, self->state->input)) {
    gst_video_decoder_drop_frame(&self->base, frame);
    return GST_FLOW_NOT_NEGOTIATED;
  }
  const GstFlowReturn flow = gst_video_decoder_allocate_output_frame(&self->base, frame);
  if (flow != GST_FLOW_OK) {
    gst_video_decoder_drop_frame(&self->base, frame);
    return flow;
  }
  const auto report = decode_into(self, jpeg, frame->output_buffer);
  if (!report) return refuse(self, frame, report.status());
  if (report->is_concealed()) {
    GST_WARNING_OBJECT(self, "damaged image: %s", report->first_problem.message().c_str());
    GST_VIDEO_CODEC_FRAME_FLAG_SET(frame, GST_VIDEO_CODEC_FRAME_FLAG_CORRUPTED);
  }
  count(self, *report, jpeg.size());
  return gst_video_decoder_finish_frame(&self->base, frame);
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
  // Any strides will do, if downstream says that it knows GstVideoMeta.
  GstBufferPool* pool = nullptr;
  guint size = 0, least = 0, most = 0;
  gst_query_parse_nth_allocation_pool(query, 0, &pool, &size, &least, &most);
  if (pool == nullptr) return TRUE;
  if (gst_query_find_allocation_meta(query, GST_VIDEO_META_API_TYPE, nullptr)) {
    GstStructure* config = gst_buffer_pool_get_config(pool);
    gst_buffer_pool_config_add_option(config, GST_BUFFER_POOL_OPTION_VIDEO_META);
    gst_buffer_pool_set_config(pool, config);
  }
  gst_object_unref(pool);
  return TRUE;
}

void finalize(GObject* object) {
  DecoderState* state = self_of(object)->state;
  clear_input(*state);
  delete state;
  G_OBJECT_CLASS(zerorun_dec_parent_class)->finalize(object);
}

void install_properties(GObjectClass* object) {
  object->set_property = set_property;
  object->get_property = get_property;
  constexpr auto kReady = static_cast<GParamFlags>(G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS |
                                                   GST_PARAM_MUTABLE_READY);
  g_object_class_install_property(
      object, kDevice,
      g_param_spec_string("device", "Device",
                          "auto, cpu, cuda or cuda:N; all give the same samples", "auto", kReady));
  g_object_class_install_property(
      object, kMaxPixels,
      g_param_spec_int64("max-pixels", "Max pixels",
                         "Larger images count as damaged; memory is not allocated for them", 1,
                         gint64{kMaxDimension} * kMaxDimension, StreamLimits{}.max_pixels, kReady));
  g_object_class_install_property(
      object, kStatistics,
      g_param_spec_boxed("statistics", "Statistics",
                         "Since start: frames, bytes, concealed-frames (damaged, shown), errors "
                         "(damaged, dropped)",
                         GST_TYPE_STRUCTURE,
                         static_cast<GParamFlags>(G_PARAM_READABLE | G_PARAM_STATIC_STRINGS)));
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
  static GstStaticPadTemplate sink =
      GST_STATIC_PAD_TEMPLATE("sink", GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS(kSinkCaps));
  static GstStaticPadTemplate source =
      GST_STATIC_PAD_TEMPLATE("src", GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS(kSourceCaps));
  gst_element_class_add_static_pad_template(element, &sink);
  gst_element_class_add_static_pad_template(element, &source);
  GstVideoDecoderClass& base = type->base;
  base.start = start;
  base.stop = stop;
  base.set_format = set_format;
  base.flush = flush;
  base.drain = drain;
  base.finish = finish;
  base.parse = parse;
  base.handle_frame = handle_frame;
  base.decide_allocation = decide_allocation;
}

void zerorun_dec_init(ZerorunDec* self) {
  self->state = new DecoderState;
  gst_video_decoder_set_use_default_pad_acceptcaps(&self->base, TRUE);
  GST_PAD_SET_ACCEPT_TEMPLATE(GST_VIDEO_DECODER_SINK_PAD(&self->base));
}

}  // namespace

GType decoder_element_type() { return zerorun_dec_get_type(); }

}  // namespace zerorun::gst
