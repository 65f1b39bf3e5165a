// What a payloader for RFC 2435 behind the encoder asks for.
// SPDX-License-Identifier: MIT
#include <string>

#include "io/gstreamer/video_formats.hpp"

namespace zerorun::gst {
namespace {

/// The element behind a pad, or null. The caller owns the reference.
GstElement* element_behind(GstPad* source) {
  GstPad* peer = gst_pad_get_peer(source);
  if (peer == nullptr) return nullptr;
  GstElement* element = gst_pad_get_parent_element(peer);
  gst_object_unref(peer);
  return element;
}

bool is_jpeg_payloader(GstElement* element) {
  const GstElementFactory* factory = gst_element_get_factory(element);
  return factory != nullptr && std::string(GST_OBJECT_NAME(factory)) == "rtpjpegpay";
}

/// True if rtpjpegpay is the next element, or behind elements such as queues that pass on what they
/// get.
bool has_jpeg_payloader(GstElement* encoder) {
  constexpr int kMostElements = 16;
  GstElement* element = GST_ELEMENT(gst_object_ref(encoder));
  bool found = false;
  for (int i = 0; i < kMostElements && element != nullptr && !found; ++i) {
    GstPad* source = gst_element_get_static_pad(element, "src");
    gst_object_unref(element);
    element = source != nullptr ? element_behind(source) : nullptr;
    if (source != nullptr) gst_object_unref(source);
    found = element != nullptr && is_jpeg_payloader(element);
  }
  if (element != nullptr) gst_object_unref(element);
  return found;
}

void warn(GstElement* encoder, const char* sentence) {
  GST_ELEMENT_WARNING(encoder, STREAM, ENCODE, ("%s", sentence), (nullptr));
}

}  // namespace

void fit_to_payloader(GstElement* encoder, EncodeParams& params, PixelFormat format) {
  if (!has_jpeg_payloader(encoder)) return;
  const auto fits = [](Subsampling s) { return s == Subsampling::s420 || s == Subsampling::s422; };
  if (!params.subsampling && !is_rgb(format) && !fits(native_subsampling(format)))
    params.subsampling = Subsampling::s420;
  if (params.subsampling && !fits(*params.subsampling))
    warn(encoder, "RFC 2435 (rtpjpegpay) has 4:2:0 and 4:2:2 alone; set subsampling to 420 or 422");
  if (params.huffman != HuffmanTables::standard)
    warn(encoder, "RFC 2435 (rtpjpegpay) carries no Huffman tables; set huffman to standard");
  if (params.progressive)
    warn(encoder, "RFC 2435 (rtpjpegpay) carries no progressive streams; set progressive to false");
}

}  // namespace zerorun::gst
