// Marker segments of one image.
// SPDX-License-Identifier: MIT
#include "codec/syntax/header_parser.hpp"

#include <algorithm>
#include <cstring>
#include <string>

#include "codec/arith/zigzag.hpp"
#include "codec/base/try.hpp"
#include "codec/syntax/bytes.hpp"
#include "codec/syntax/marker.hpp"

namespace zerorun {
namespace {

std::string hex(std::uint8_t code) {
  constexpr const char* kDigits = "0123456789ABCDEF";
  return {'F', 'F', ' ', kDigits[code >> 4], kDigits[code & 15]};
}

/// The error for a frame header that is not SOF0, SOF1 or SOF2 (T.81 Table B.1), by the low four
/// bits of its code; ok also for the codes of DHT, JPG and DAC.
constexpr std::array kProcessError{
    Errc::ok, Errc::ok,           Errc::ok,           Errc::lossless,
    Errc::ok, Errc::hierarchical, Errc::hierarchical, Errc::hierarchical,
    Errc::ok, Errc::arithmetic,   Errc::arithmetic,   Errc::lossless,
    Errc::ok, Errc::hierarchical, Errc::hierarchical, Errc::hierarchical};

}  // namespace

HeaderParser::HeaderParser(std::span<const std::byte> data, const StreamLimits& limits)
    : data_(reinterpret_cast<const std::uint8_t*>(data.data()), data.size()), limits_(limits) {}

Status HeaderParser::fail(Errc code, std::string detail) const {
  return Status(code, std::move(detail)).at_byte(static_cast<std::int64_t>(marker_pos_));
}

void HeaderParser::note_problem(Status problem) {
  if (problem_) problem_ = std::move(problem);
}

Status HeaderParser::start() {
  if (data_.size() < 2 || data_[0] != 0xFF || data_[1] != marker::kSoi)
    return Status(data_.empty() ? Errc::truncated : Errc::not_jpeg,
                  data_.empty() ? "it is empty" : "")
        .at_byte(0);
  pos_ = 2;
  return Status::ok();
}

std::uint8_t HeaderParser::next_marker() {
  std::size_t p = pos_;
  // T.81 B.1.1.2: any number of FF may precede the code. Other bytes do not belong here.
  while (p < data_.size()) {
    const void* ff = std::memchr(data_.data() + p, 0xFF, data_.size() - p);
    if (ff == nullptr) break;
    const std::size_t first_ff =
        static_cast<std::size_t>(static_cast<const std::uint8_t*>(ff) - data_.data());
    std::size_t q = first_ff;
    while (q < data_.size() && data_[q] == 0xFF) ++q;
    if (q == data_.size()) break;
    if (data_[q] == 0) {
      p = q + 1;
      continue;
    }
    if (first_ff != pos_)
      note_problem(Status(Errc::extraneous_data, std::to_string(first_ff - pos_) + " bytes")
                       .at_byte(static_cast<std::int64_t>(pos_)));
    marker_pos_ = q - 1;
    pos_ = q + 1;
    return data_[q];
  }
  pos_ = marker_pos_ = data_.size();
  return 0;
}

Result<HeaderParser::Bytes> HeaderParser::segment() {
  if (data_.size() - pos_ < 2) return fail(Errc::truncated, "inside a marker segment");
  const auto length = static_cast<std::size_t>(be16(data_, pos_));
  if (length < 2) {
    const Status problem = fail(Errc::bad_segment_length, std::to_string(length));
    const std::uint8_t code = data_[pos_ - 1];
    if (!marker::is_app(code) && code != marker::kCom) return problem;
    note_problem(problem);  // of an APPn or COM segment: it is empty, as in libjpeg
    pos_ += 2;
    return data_.subspan(pos_, 0);
  }
  if (length > data_.size() - pos_)
    return fail(Errc::bad_segment_length, std::to_string(length) + ", but only " +
                                              std::to_string(data_.size() - pos_) +
                                              " bytes follow");
  header_bytes_ += static_cast<std::int64_t>(length) + 2;
  if (header_bytes_ > limits_.max_header_bytes)
    return fail(Errc::too_much_header, std::to_string(limits_.max_header_bytes) + " bytes");
  const Bytes payload = data_.subspan(pos_ + 2, length - 2);
  pos_ += length;
  return payload;
}

int HeaderParser::unsent_components() const {
  int unsent = 0;
  for (std::size_t c = 0; frame_ && c < frame_->components.size(); ++c)
    unsent += scanned_[c] ? 0 : 1;
  return unsent;
}

Result<bool> HeaderParser::end_of_image(std::uint8_t code) {
  if (scans_ == 0)
    return fail(Errc::missing_image, frame_ ? "there is no scan" : "there is no frame header");
  if (code != marker::kEoi) note_problem(fail(Errc::truncated, "the end marker (EOI) is missing"));
  if (!all_components_scanned()) note_problem(fail(Errc::truncated, "a component was never sent"));
  return false;
}

Result<bool> HeaderParser::next_scan() {
  for (;;) {
    const std::uint8_t code = next_marker();
    if (code == 0 || code == marker::kEoi) return end_of_image(code);
    if (code == marker::kSoi && all_components_scanned()) {
      pos_ = marker_pos_;  // the next image of a stream; this one lacks its EOI
      return end_of_image(code);
    }
    if (code == marker::kTem) continue;
    if (marker::is_rst(code)) {
      if (scans_ > 0) note_problem(fail(Errc::restart_out_of_order, "outside of a scan"));
      continue;
    }
    Status status = read_segment(code);
    if (status && code == marker::kSos) return true;
    if (!status && all_components_scanned()) {
      // The picture is complete: what follows does no harm.
      note_problem(std::move(status));
      return false;
    }
    if (!status) return status;
  }
}

Status HeaderParser::read_segment(std::uint8_t code) {
  if (code == marker::kSoi) return fail(Errc::duplicate_frame, "a second SOI");
  if (code == marker::kSof55) return fail(Errc::jpeg_ls, "SOF55");
  if (code < marker::kSof0 || code == marker::kJpg || (code >= 0xF0 && code <= 0xFD))
    return fail(Errc::bad_marker, hex(code));
  if (code == marker::kDac && !frame_) return fail(Errc::arithmetic, "conditioning tables (DAC)");
  if (code == marker::kDhp || code == marker::kExp) return fail(Errc::hierarchical, hex(code));
  const Errc process = code <= marker::kSof15 ? kProcessError[code & 15] : Errc::ok;
  if (process != Errc::ok) return fail(process, "SOF" + std::to_string(code - marker::kSof0));

  ZR_LET(payload, segment());
  switch (code) {
    case marker::kSof0:
    case marker::kSof1:
    case marker::kSof2:
      return read_sof(code, payload);
    case marker::kDht:
      return read_dht(payload);
    case marker::kDqt:
      return read_dqt(payload);
    case marker::kDri:
      return read_dri(payload);
    case marker::kDac:  // of no use in a frame with Huffman coding, as in libjpeg
      note_problem(fail(Errc::arithmetic, "conditioning tables (DAC)"));
      return Status::ok();
    case marker::kSos:
      return read_sos(payload);
    default:
      break;  // APPn, COM, and DNL after a scan, which repeats a known height
  }
  if (marker::is_app(code) || code == marker::kCom) read_app(code, payload);
  return Status::ok();
}

Status HeaderParser::read_dri(Bytes payload) {
  if (payload.size() != 2) return fail(Errc::bad_segment_length, "DRI");
  restart_interval_ = be16(payload, 0);
  return Status::ok();
}

void measure(FrameHeader& frame) {
  const MaxFactors max = max_factors(frame.components);
  frame.h_max = max.h;
  frame.v_max = max.v;
  for (auto& c : frame.components) {
    c.width = component_extent(frame.width, c.h, frame.h_max);
    c.height = component_extent(frame.height, c.v, frame.v_max);
    c.blocks_wide = ceil_div(c.width, kBlockEdge);
    c.blocks_high = ceil_div(c.height, kBlockEdge);
  }
}

Status HeaderParser::read_sof(std::uint8_t code, Bytes payload) {
  if (frame_) return fail(Errc::duplicate_frame, "a second SOF");
  if (payload.size() < 6 || payload.size() != 6 + 3 * std::size_t{payload[5]})
    return fail(Errc::bad_segment_length, "SOF");
  FrameHeader frame;
  frame.extended = code == marker::kSof1;
  frame.progressive = code == marker::kSof2;
  frame.height = be16(payload, 1);
  frame.width = be16(payload, 3);
  const int count = payload[5];
  if (payload[0] != 8) return fail(Errc::sample_precision, std::to_string(payload[0]) + " bits");
  if (frame.width == 0 || count == 0)
    return fail(Errc::bad_frame_header, count == 0 ? "no component" : "width 0");
  if (frame.height == 0) return fail(Errc::deferred_height, "height 0");
  if (count != 1 && count != 3 && count != 4)
    return fail(Errc::component_count, std::to_string(count) + " components");
  if (std::int64_t{frame.width} * frame.height > limits_.max_pixels)
    return fail(Errc::too_many_pixels, std::to_string(frame.width) + "x" +
                                           std::to_string(frame.height) + ", limit " +
                                           std::to_string(limits_.max_pixels));
  for (std::size_t c = 0; c < static_cast<std::size_t>(count); ++c) {
    const std::size_t at = 6 + 3 * c;
    const FrameHeader::Component component{payload[at], payload[at + 1] >> 4, payload[at + 1] & 15,
                                           payload[at + 2]};
    if (component.h < 1 || component.h > 4 || component.v < 1 || component.v > 4)
      return fail(Errc::bad_frame_header, "sampling factors " + std::to_string(component.h) + "x" +
                                              std::to_string(component.v));
    frame.components.push_back(component);
  }
  measure(frame);
  frame_ = std::move(frame);
  return Status::ok();
}

Status HeaderParser::read_sos(Bytes payload) {
  if (!frame_) return fail(Errc::missing_image, "SOS before SOF");
  if (++scans_ > limits_.max_scans)
    return fail(Errc::too_many_scans, std::to_string(limits_.max_scans));
  if (!color_model_) {
    color_model_ = model_by_headers();
    check_transform();
  }
  // T.81 A.2: a sequential frame sends each component in one scan. libjpeg-turbo refuses the image,
  // shows the first one, or what comes last. Behind a complete picture each would cost as much.
  if (!frame_->progressive && all_components_scanned())
    return fail(Errc::extraneous_data, "a component is sent again");
  const std::size_t count = payload.empty() ? 0 : payload[0];
  if (count < 1 || count > 4 || payload.size() != 4 + 2 * count)
    return fail(Errc::bad_segment_length, "SOS");
  if (count > frame_->components.size())
    return fail(Errc::bad_scan_header, std::to_string(count) + " components in the scan");

  ScanHeader scan;
  std::array<ComponentSpec, kMaxDecodedComponents> specs{};
  for (std::size_t c = 0; c < frame_->components.size(); ++c) {
    specs[c].h = frame_->components[c].h;
    specs[c].v = frame_->components[c].v;
  }
  int blocks = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const int id = payload[1 + 2 * i];
    // Ids need not be unique: the first component of that id that this scan has not got yet.
    std::size_t c = 0;
    while (c < frame_->components.size() &&
           (frame_->components[c].id != id ||
            std::find(scan.components.begin(), scan.components.end(), static_cast<int>(c)) !=
                scan.components.end()))
      ++c;
    if (c == frame_->components.size())
      return fail(Errc::bad_scan_header, "component id " + std::to_string(id));
    if (!scan.components.empty() && static_cast<int>(c) < scan.components.back())
      return fail(Errc::bad_scan_header, "components not in the order of the frame (T.81 B.2.3)");
    const int dc = payload[2 + 2 * i] >> 4, ac = payload[2 + 2 * i] & 15;
    // A progressive scan uses one of them; latch_huffman() checks that.
    if (!frame_->progressive && (dc > 3 || ac > 3))
      return fail(Errc::bad_scan_header,
                  "table destinations " + std::to_string(dc) + " and " + std::to_string(ac));
    specs[c].dc_table = static_cast<std::uint8_t>(dc);
    specs[c].ac_table = static_cast<std::uint8_t>(ac);
    blocks += specs[c].h * specs[c].v;
    scan.components.push_back(static_cast<int>(c));
  }
  if (count > 1 && blocks > kMaxBlocksPerMcu)
    return fail(Errc::bad_frame_header, std::to_string(blocks) + " blocks in an MCU");
  ZR_TRY(read_band(payload.subspan(1 + 2 * count), scan));
  scan.layout = make_scan_layout(
      frame_->width, frame_->height, specs.data(), static_cast<int>(frame_->components.size()),
      scan.components.data(), static_cast<int>(count), restart_interval_);
  scan.data_offset = pos_;
  scan_ = std::move(scan);
  ZR_TRY(latch_tables());
  if (frame_->progressive) {
    // The decoder visits the blocks of a scan, however few bytes it has.
    scan_blocks_ += scan_.layout.blocks();
    if (scan_blocks_ / limits_.max_scans > ceil_div(limits_.max_pixels, kBlockSize))
      return fail(Errc::too_many_scans, std::to_string(scan_blocks_) + " blocks");
    note_progression(scan_);
  }
  for (const int c : scan_.components) {
    if (!scan_.is_dc()) break;
    bool& is_sent = scanned_[static_cast<std::size_t>(c)];
    if (is_sent && !frame_->progressive)
      note_problem(fail(Errc::extraneous_data, "a component is sent again"));
    is_sent = true;
  }
  return Status::ok();
}

/// Spectral selection and successive approximation (T.81 B.2.3, G.1.1.1).
Status HeaderParser::read_band(Bytes band, ScanHeader& scan) {
  scan.ss = band[0];
  scan.se = band[1];
  scan.ah = band[2] >> 4;
  scan.al = band[2] & 15;
  if (!frame_->progressive) {
    if (scan.ss == 0 && scan.se == 63 && band[2] == 0) return Status::ok();
    return fail(Errc::bad_scan_header, "spectral selection or approximation in a sequential scan");
  }
  const bool is_band =
      scan.is_dc() ? scan.se == 0
                   : scan.ss <= scan.se && scan.se < kBlockSize && scan.components.size() == 1;
  if (is_band && scan.al <= 13 && (scan.ah == 0 || scan.al == scan.ah - 1)) return Status::ok();
  return fail(Errc::bad_scan_header,
              "coefficients " + std::to_string(scan.ss) + " to " + std::to_string(scan.se) +
                  ", approximation " + std::to_string(scan.ah) + " to " + std::to_string(scan.al) +
                  ", " + std::to_string(scan.components.size()) + " components");
}

/// A scan that is not the next one of its coefficients is decoded as it is, as by libjpeg.
void HeaderParser::note_progression(const ScanHeader& scan) {
  bool in_order = true;
  for (const int component : scan.components) {
    auto& sent = sent_bits_[static_cast<std::size_t>(component)];
    in_order = in_order && (scan.is_dc() || sent[0] > 0);  // T.81 G.1.1.1.1: DC comes first
    for (int k = scan.ss; k <= scan.se; ++k) {
      std::uint8_t& bits = sent[static_cast<std::size_t>(k)];
      in_order = in_order && (scan.is_refinement() ? bits == scan.ah + 1 : bits == 0);
      bits = static_cast<std::uint8_t>(scan.al + 1);
    }
  }
  if (!in_order)
    note_problem(fail(Errc::bad_scan_header,
                      "a progressive scan is not the next one of its "
                      "coefficients"));
}

}  // namespace zerorun
