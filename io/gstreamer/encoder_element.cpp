// zerorunenc: raw video to image/jpeg.
// SPDX-License-Identifier: MIT
#include <atomic>
#include <memory>
#include <string>

#include <gst/video/gstvideoencoder.h>

#include "codec/base/try.hpp"
#include "io/gstreamer/element.hpp"
#include "io/gstreamer/encode_session.hpp"
#include "io/gstreamer/video_formats.hpp"

GST_DEBUG_CATEGORY_STATIC(zerorunenc_debug);
#define GST_CAT_DEFAULT zerorunenc_debug

namespace zerorun::gst {
namespace {

struct Counters {
  guint64 frames = 0, bytes = 0, last_bytes = 0, errors = 0;
  gint64 latency_sum_ns = 0, latency_max_ns = 0;
};

struct EncoderState {
  EncoderSettings settings;                // under the object lock
  Counters counters;                       // under the object lock
  std::unique_ptr<EncodeSession> session;  // under the stream lock
  std::atomic<GstFlowReturn> flow{GST_FLOW_OK};
};

struct ZerorunEnc {
  GstVideoEncoder base;
  EncoderState* state;
};
struct ZerorunEncClass {
  GstVideoEncoderClass base;
};

constexpr guint kStatistics = kSettingCount + 1;

G_DEFINE_TYPE(ZerorunEnc, zerorun_enc, GST_TYPE_VIDEO_ENCODER)

ZerorunEnc* self_of(gpointer object) { return reinterpret_cast<ZerorunEnc*>(object); }

constexpr char kJpegCaps[] =
    "image/jpeg, parsed = (boolean) true, sof-marker = (int) 0, width = (int) [ 1, 65535 ], "
    "height = (int) [ 1, 65535 ], framerate = (fraction) [ 0, MAX ]";

EncoderSettings settings_of(ZerorunEnc* self) {
  const ObjectLock lock(self);
  return self->state->settings;
}

GstStructure* statistics(ZerorunEnc* self) {
  const ObjectLock lock(self);
  const Counters& c = self->state->counters;
  const auto mean =
      static_cast<guint64>(c.frames == 0 ? 0 : c.latency_sum_ns / static_cast<gint64>(c.frames));
  return gst_structure_new("zerorunenc-statistics", "frames", G_TYPE_UINT64, c.frames, "bytes",
                           G_TYPE_UINT64, c.bytes, "last-frame-bytes", G_TYPE_UINT64, c.last_bytes,
                           "errors", G_TYPE_UINT64, c.errors, "mean-latency", G_TYPE_UINT64, mean,
                           "max-latency", G_TYPE_UINT64, static_cast<guint64>(c.latency_max_ns),
                           nullptr);
}

void set_property(GObject* object, guint id, const GValue* value, GParamSpec* spec) {
  if (id == 0 || id > kSettingCount) {
    G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, spec);
    return;
  }
  const ObjectLock lock(object);
  set_setting(self_of(object)->state->settings, id, value);
}

void get_property(GObject* object, guint id, GValue* value, GParamSpec* spec) {
  if (id == kStatistics) {
    g_value_take_boxed(value, statistics(self_of(object)));
  } else if (id == 0 || id > kSettingCount) {
    G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, spec);
  } else {
    const ObjectLock lock(object);
    get_setting(self_of(object)->state->settings, id, value);
  }
}

/// After an error no more frames are taken, until a flush or a new start: an application that stops
/// at the error would otherwise wait for a pipeline that goes on. Frames that were in flight at the
/// time may fail by the same error, which is posted once.
void post(ZerorunEnc* self, const Status& status) {
  if (self->state->flow.exchange(GST_FLOW_ERROR) == GST_FLOW_ERROR) return;
  post_error(self, status, GST_STREAM_ERROR, GST_STREAM_ERROR_ENCODE);
}

void count(ZerorunEnc* self, const EncodedFrame& coded, gint64 latency_ns) {
  const ObjectLock lock(self);
  Counters& c = self->state->counters;
  if (coded.status) {
    ++c.frames;
    c.bytes += coded.jpeg.size();
    c.last_bytes = coded.jpeg.size();
    c.latency_sum_ns += latency_ns;
    c.latency_max_ns = MAX(c.latency_max_ns, latency_ns);
  } else {
    ++c.errors;
  }
}

/// Called by the session's thread. A frame without an output buffer is dropped.
void deliver(ZerorunEnc* self, GstVideoCodecFrame* frame, const EncodedFrame& coded,
             gint64 latency_ns) {
  count(self, coded, latency_ns);
  if (coded.status && self->state->flow == GST_FLOW_OK) {
    const gsize bytes = coded.jpeg.size();
    frame->output_buffer = gst_video_encoder_allocate_output_buffer(&self->base, bytes);
    gst_buffer_fill(frame->output_buffer, 0, coded.jpeg.data(), bytes);
    frame->dts = frame->pts;
    GST_VIDEO_CODEC_FRAME_SET_SYNC_POINT(frame);
  } else if (!coded.status) {
    post(self, coded.status);
  }
  const GstFlowReturn flow = gst_video_encoder_finish_frame(&self->base, frame);
  if (flow != GST_FLOW_OK && self->state->flow == GST_FLOW_OK) self->state->flow = flow;
}

/// Releases the stream lock, which the session's thread needs to deliver, while `work` waits for
/// it.
template <typename Work>
auto without_stream_lock(ZerorunEnc* self, const Work& work) {
  struct Unlocked {
    ZerorunEnc* self;
    ~Unlocked() { GST_VIDEO_ENCODER_STREAM_LOCK(self); }
  };
  GST_VIDEO_ENCODER_STREAM_UNLOCK(self);
  const Unlocked until_the_end{self};
  return work();
}

void drain(ZerorunEnc* self) {
  if (self->state->session == nullptr) return;
  without_stream_lock(self, [&] { return self->state->session->drain(), true; });
}

gboolean start(GstVideoEncoder* base) {
  ZerorunEnc* self = self_of(base);
  self->state->flow = GST_FLOW_OK;
  const auto params = encode_params(settings_of(self));
  if (!params) {
    post(self, params.status());
    return FALSE;
  }
  const ObjectLock lock(self);
  self->state->counters = {};
  return TRUE;
}

gboolean stop(GstVideoEncoder* base) {
  self_of(base)->state->session.reset();
  return TRUE;
}

gboolean set_format(GstVideoEncoder* base, GstVideoCodecState* input) {
  ZerorunEnc* self = self_of(base);
  drain(self);
  self->state->session.reset();
  auto params = encode_params(settings_of(self));
  if (!params) {
    post(self, params.status());
    return FALSE;
  }
  set_pixel_aspect(params->encode, input->info);
  if (const auto format = pixel_format(GST_VIDEO_INFO_FORMAT(&input->info)))
    fit_to_payloader(GST_ELEMENT(base), params->encode, *format);
  auto session = EncodeSession::create(
      *params, input->info,
      [self](GstVideoCodecFrame* frame, const EncodedFrame& coded, gint64 latency_ns) {
        deliver(self, frame, coded, latency_ns);
      },
      [self](const LostDevice& lost) { post_loss(self, lost); });
  if (!session) {
    post(self, session.status());
    return FALSE;
  }
  self->state->session = *std::move(session);
  GST_DEBUG_OBJECT(self, "%d lanes on the %s", self->state->session->lanes(),
                   std::string(name(self->state->session->backend())).c_str());
  announce_output(base, input, params->encode, self->state->session->lanes());
  return TRUE;
}

/// Updates properties that a GstController controls.
void sync_properties(GstVideoEncoder* base, GstClockTime pts) {
  const GstClockTime time = gst_segment_to_stream_time(&base->input_segment, GST_FORMAT_TIME, pts);
  if (GST_CLOCK_TIME_IS_VALID(time)) gst_object_sync_values(GST_OBJECT(base), time);
}

GstFlowReturn handle_frame(GstVideoEncoder* base, GstVideoCodecFrame* frame) {
  ZerorunEnc* self = self_of(base);
  sync_properties(base, frame->pts);
  if (const GstFlowReturn flow = self->state->flow; flow != GST_FLOW_OK) {
    gst_video_encoder_finish_frame(base, frame);
    return flow;
  }
  const EncoderSettings settings = settings_of(self);
  const Status status = without_stream_lock(self, [&] {
    return self->state->session->submit(
        frame, {settings.quality, settings.bitrate, settings.max_frame_size, settings.target_psnr,
                settings.target_ssim});
  });
  if (!status) {
    post(self, status);
    return GST_FLOW_ERROR;
  }
  return self->state->flow;
}

GstFlowReturn finish(GstVideoEncoder* base) {
  drain(self_of(base));
  return self_of(base)->state->flow;
}

gboolean flush(GstVideoEncoder* base) {
  ZerorunEnc* self = self_of(base);
  if (self->state->session != nullptr)
    without_stream_lock(self, [&] { return self->state->session->discard(), true; });
  self->state->flow = GST_FLOW_OK;
  return TRUE;
}

/// Upstream may use any strides, and needs buffers for the frames in flight.
gboolean propose_allocation(GstVideoEncoder* base, GstQuery* query) {
  if (!GST_VIDEO_ENCODER_CLASS(zerorun_enc_parent_class)->propose_allocation(base, query))
    return FALSE;
  gst_query_add_allocation_meta(query, GST_VIDEO_META_API_TYPE, nullptr);
  if (gst_query_get_n_allocation_pools(query) == 0) return TRUE;
  GstBufferPool* pool = nullptr;
  guint size = 0, least = 0, most = 0;
  gst_query_parse_nth_allocation_pool(query, 0, &pool, &size, &least, &most);
  const auto held = static_cast<guint>(settings_of(self_of(base)).depth) + 1;
  gst_query_set_nth_allocation_pool(query, 0, pool, size, MAX(least, held), most);
  if (pool != nullptr) gst_object_unref(pool);
  return TRUE;
}

void finalize(GObject* object) {
  free_state(self_of(object)->state);
  G_OBJECT_CLASS(zerorun_enc_parent_class)->finalize(object);
}

void zerorun_enc_class_init(ZerorunEncClass* type) {
  GST_DEBUG_CATEGORY_INIT(zerorunenc_debug, "zerorunenc", 0, "zerorun JPEG encoder");
  auto* object = G_OBJECT_CLASS(type);
  object->set_property = set_property;
  object->get_property = get_property;
  object->finalize = finalize;
  install_settings(object);
  install_statistics(object, kStatistics,
                     "Since start: frames, bytes, last-frame-bytes, errors, mean-latency and "
                     "max-latency (ns from input to output)");
  auto* element = GST_ELEMENT_CLASS(type);
  gst_element_class_set_static_metadata(
      element, "zerorun JPEG encoder", "Codec/Encoder/Image/Video",
      "Encodes JPEG and Motion JPEG on the CPU or an NVIDIA GPU", "zerorun");
  add_pads(element, raw_caps(), gst_caps_from_string(kJpegCaps));
  GstVideoEncoderClass& base = type->base;
  base.start = safe<start, FALSE>;
  base.stop = safe<stop, FALSE>;
  base.set_format = safe<set_format, FALSE>;
  base.handle_frame = safe<handle_frame, GST_FLOW_ERROR>;
  base.finish = safe<finish, GST_FLOW_ERROR>;
  base.flush = safe<flush, FALSE>;
  base.propose_allocation = safe<propose_allocation, FALSE>;
}

void zerorun_enc_init(ZerorunEnc* self) {
  self->state = make_state<EncoderState>();
  GST_PAD_SET_ACCEPT_TEMPLATE(GST_VIDEO_ENCODER_SINK_PAD(&self->base));
}

}  // namespace

GType encoder_element_type() { return zerorun_enc_get_type(); }

}  // namespace zerorun::gst
