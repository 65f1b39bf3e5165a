// Marker segments of one image.
// SPDX-License-Identifier: MIT
#include "codec/syntax/header_parser.hpp"

#include <algorithm>
#include <cstring>
#include <string>

#include "codec/arith/zigzag.hpp"
#include "codec/base/try.hpp"
#include "codec/syntax/marker.hpp"

namespace zerorun {
namespace {

int be16(std::span<const std::uint8_t> bytes, std::size_t at) {
  return bytes[at] << 8 | bytes[at + 1];
}

std::string hex(std::uint8_t code) {
  constexpr const char* kDigits = "0123456789ABCDEF";
  return {'F', 'F', ' ', kDigits[code >> 4], kDigits[code & 15]};
}

bool starts_with(std::span<const std::uint8_t> bytes, std::string_view text) {
  return bytes.size() >= text.size() && std::memcmp(bytes.data(), text.data(), text.size()) == 0;
}

/// The coding processes that are not ours (T.81 Table B.1), or ok for SOF0 and SOF1.
Errc unsupported_process(std::uint8_t sof) {
  switch (sof) {
    case 0xC0:
    case 0xC1:
      return Errc::ok;
    case 0xC2:
      return Errc::progressive;
    case 0xC3:
      return Errc::lossless;
    case 0xC5:
    case 0xC6:
    case 0xC7:
      return Errc::hierarchical;
    case 0xC9:
    case 0xCA:
      return Errc::arithmetic;
    case 0xCB:
      return Errc::lossless;
    default:
      return Errc::hierarchical;  // SOF13 to SOF15
  }
}

bool is_sof(std::uint8_t code) {
  return code >= marker::kSof0 && code <= marker::kSof15 && code != marker::kDht &&
         code != marker::kJpg && code != marker::kDac;
}

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

Result<std::uint8_t> HeaderParser::next_marker() {
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
  return std::uint8_t{0};
}

Result<HeaderParser::Bytes> HeaderParser::segment() {
  if (data_.size() - pos_ < 2) return fail(Errc::truncated, "inside a marker segment");
  const auto length = static_cast<std::size_t>(be16(data_, pos_));
  if (length < 2) return fail(Errc::bad_segment_length, std::to_string(length));
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

bool HeaderParser::all_components_scanned() const {
  if (!frame_) return false;
  for (std::size_t c = 0; c < frame_->components.size(); ++c)
    if (!scanned_[c]) return false;
  return true;
}

Result<bool> HeaderParser::end_of_image(std::uint8_t code) {
  if (scans_ == 0)
    return fail(Errc::missing_image, frame_ ? "there is no scan" : "there is no frame header");
  if (code != marker::kEoi) note_problem(fail(Errc::truncated, "the end marker (EOI) is missing"));
  if (!all_components_scanned())
    note_problem(fail(Errc::missing_image, "a component was never sent"));
  return false;
}

Result<bool> HeaderParser::next_scan() {
  for (;;) {
    const auto code = next_marker();
    if (!code) return code.status();
    if (*code == 0 || *code == marker::kEoi) return end_of_image(*code);
    if (*code == marker::kSoi && all_components_scanned()) {
      pos_ = marker_pos_;  // the next image of a stream; this one lacks its EOI
      return end_of_image(*code);
    }
    if (*code == marker::kTem) continue;
    if (marker::is_rst(*code)) {
      if (scans_ > 0) note_problem(fail(Errc::restart_out_of_order, "outside of a scan"));
      continue;
    }
    Status status = read_segment(*code);
    if (status && *code == marker::kSos) return true;
    if (!status && all_components_scanned()) {
      // The picture is complete: what follows it cannot take it away.
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
  if (code == marker::kDac) return fail(Errc::arithmetic, "conditioning tables (DAC)");
  if (code == marker::kDhp || code == marker::kExp) return fail(Errc::hierarchical, hex(code));
  if (is_sof(code) && unsupported_process(code) != Errc::ok)
    return fail(unsupported_process(code), "SOF" + std::to_string(code - marker::kSof0));

  const auto payload = segment();
  if (!payload) return payload.status();
  switch (code) {
    case marker::kSof0:
    case marker::kSof1:
      return read_sof(code, *payload);
    case marker::kDht:
      return read_dht(*payload);
    case marker::kDqt:
      return read_dqt(*payload);
    case marker::kDri:
      return read_dri(*payload);
    case marker::kSos:
      return read_sos(*payload);
    default:
      break;  // APPn, COM, and DNL after a scan, which repeats a height that is known
  }
  if (marker::is_app(code) || code == marker::kCom) read_app(code, *payload);
  return Status::ok();
}

Status HeaderParser::read_dqt(Bytes payload) {
  while (!payload.empty()) {
    const int precision = payload[0] >> 4, destination = payload[0] & 15;
    if (precision > 1 || destination > 3)
      return fail(Errc::bad_quant_table, "precision " + std::to_string(precision) +
                                             ", destination " + std::to_string(destination));
    const std::size_t bytes = precision == 0 ? 64 : 128;
    if (payload.size() < 1 + bytes)
      return fail(Errc::bad_segment_length, "the DQT segment ends inside a table");
    QuantTableSlot& slot = quant_[static_cast<std::size_t>(destination)];
    for (std::size_t k = 0; k < kBlockSize; ++k)
      slot.table[kNaturalOfZigzag[k]] =
          static_cast<std::uint16_t>(precision == 0 ? payload[1 + k] : be16(payload, 1 + 2 * k));
    slot.defined = true;
    payload = payload.subspan(1 + bytes);
  }
  return Status::ok();
}

Status HeaderParser::read_dht(Bytes payload) {
  while (!payload.empty()) {
    if (payload.size() < 17) return fail(Errc::bad_huffman_table, "the DHT segment is too short");
    const int table_class = payload[0] >> 4, destination = payload[0] & 15;
    if (table_class > 1 || destination > 3)
      return fail(Errc::bad_huffman_table, "class " + std::to_string(table_class) +
                                               ", destination " + std::to_string(destination));
    HuffmanSpec spec;
    std::copy_n(payload.begin() + 1, kMaxCodeBits, spec.bits.begin() + 1);
    const auto count = static_cast<std::size_t>(spec.count());
    if (count > 256 || count > payload.size() - 17)
      return fail(Errc::bad_huffman_table,
                  std::to_string(count) + " symbols are promised, the segment holds " +
                      std::to_string(std::min<std::size_t>(payload.size() - 17, 256)));
    std::copy_n(payload.begin() + 17, count, spec.values.begin());
    (table_class == 0 ? dc_ : ac_)[static_cast<std::size_t>(destination)] = spec;
    payload = payload.subspan(17 + count);
  }
  return Status::ok();
}

Status HeaderParser::read_dri(Bytes payload) {
  if (payload.size() != 2) return fail(Errc::bad_segment_length, "DRI");
  restart_interval_ = be16(payload, 0);
  return Status::ok();
}

Status HeaderParser::read_sof(std::uint8_t code, Bytes payload) {
  if (frame_) return fail(Errc::duplicate_frame, "a second SOF");
  if (payload.size() < 6 || payload.size() != 6 + 3 * std::size_t{payload[5]})
    return fail(Errc::bad_segment_length, "SOF");
  FrameHeader frame;
  frame.extended = code == marker::kSof1;
  frame.height = be16(payload, 1);
  frame.width = be16(payload, 3);
  const int count = payload[5];
  if (payload[0] != 8) return fail(Errc::sample_precision, std::to_string(payload[0]) + " bits");
  if (frame.width == 0 || count == 0)
    return fail(Errc::bad_frame_header, count == 0 ? "no component" : "width 0");
  if (frame.height == 0) return fail(Errc::deferred_height, "height 0");
  if (count != 1 && count != 3)
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
  const MaxFactors max = max_factors(frame.components);
  frame.h_max = max.h;
  frame.v_max = max.v;
  for (auto& c : frame.components) {
    c.width = component_extent(frame.width, c.h, frame.h_max);
    c.height = component_extent(frame.height, c.v, frame.v_max);
    c.blocks_wide = ceil_div(c.width, kBlockEdge);
    c.blocks_high = ceil_div(c.height, kBlockEdge);
  }
  frame_ = std::move(frame);
  return Status::ok();
}

Status HeaderParser::read_sos(Bytes payload) {
  if (!frame_) return fail(Errc::missing_image, "SOS before SOF");
  if (++scans_ > limits_.max_scans)
    return fail(Errc::too_many_scans, std::to_string(limits_.max_scans));
  const std::size_t count = payload.empty() ? 0 : payload[0];
  if (count < 1 || count > 4 || payload.size() != 4 + 2 * count)
    return fail(Errc::bad_segment_length, "SOS");
  if (count > frame_->components.size())
    return fail(Errc::bad_scan_header, std::to_string(count) + " components in the scan");

  ScanHeader scan;
  std::array<ComponentSpec, kMaxComponents> specs{};
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
    if (dc > 3 || ac > 3)
      return fail(Errc::bad_scan_header,
                  "table destinations " + std::to_string(dc) + " and " + std::to_string(ac));
    specs[c].dc_table = static_cast<std::uint8_t>(dc);
    specs[c].ac_table = static_cast<std::uint8_t>(ac);
    blocks += specs[c].h * specs[c].v;
    scan.components.push_back(static_cast<int>(c));
  }
  if (count > 1 && blocks > kMaxBlocksPerMcu)
    return fail(Errc::bad_frame_header, std::to_string(blocks) + " blocks in an MCU");
  const Bytes band = payload.subspan(1 + 2 * count);
  if (band[0] != 0 || band[1] != 63 || band[2] != 0)
    return fail(Errc::bad_scan_header, "spectral selection or approximation in a sequential scan");
  scan.layout = make_scan_layout(
      frame_->width, frame_->height, specs.data(), static_cast<int>(frame_->components.size()),
      scan.components.data(), static_cast<int>(count), restart_interval_);
  scan.data_offset = pos_;
  if (scans_ == 1 && count == frame_->components.size()) scan.index = index_.place(scan.layout);
  scan_ = std::move(scan);
  ZR_TRY(latch_tables());
  for (const int c : scan_.components) scanned_[static_cast<std::size_t>(c)] = true;
  return Status::ok();
}

Status HeaderParser::latch_tables() {
  // Motion JPEG may leave the standard tables out; they stand in for destinations 0 and 1.
  for (int destination = 0; destination < 2; ++destination) {
    const auto d = static_cast<std::size_t>(destination);
    if (!dc_[d]) dc_[d] = standard_huffman_spec(destination);
    if (!ac_[d]) ac_[d] = standard_huffman_spec(2 + destination);
  }
  for (std::size_t i = 0; i < scan_.components.size(); ++i) {
    const ScanLayout::Component& component = scan_.layout.component[i];
    const auto& dc = dc_[component.dc_table];
    const auto& ac = ac_[component.ac_table];
    if (!dc || !ac)
      return fail(Errc::missing_table,
                  "Huffman table " + std::to_string(dc ? component.ac_table : component.dc_table));
    if (Status status = check_huffman_spec(*dc, true); !status)
      return fail(status.code(), "DC table: " + status.detail());
    if (Status status = check_huffman_spec(*ac, false); !status)
      return fail(status.code(), "AC table: " + status.detail());
    scan_.dc[component.dc_table] = dc;
    scan_.ac[component.ac_table] = ac;
    const int tq = frame_->components[static_cast<std::size_t>(scan_.components[i])].quant_table;
    if (tq > 3 || !quant_[static_cast<std::size_t>(tq)].defined)
      return fail(Errc::missing_table, "quantisation table " + std::to_string(tq));
    scan_.quant[i] = quant_[static_cast<std::size_t>(tq)].table;
  }
  return Status::ok();
}

void HeaderParser::read_app(std::uint8_t code, Bytes payload) {
  if (keep_segments_ && !(code == marker::kApp9 && is_index_payload(payload)))
    segments_.push_back({code, std::vector<std::uint8_t>(payload.begin(), payload.end())});
  using std::string_view_literals::operator""sv;
  if (code == marker::kApp0 && starts_with(payload, "JFIF\0"sv) && payload.size() >= 14) {
    has_jfif_ = true;
    const int x = be16(payload, 8), y = be16(payload, 10);
    if (x > 0 && y > 0) {
      // Without a unit they are the aspect ratio; with one they are densities, and a pixel that is
      // twice as dense is half as wide.
      aspect_x_ = payload[7] == 0 ? x : y;
      aspect_y_ = payload[7] == 0 ? y : x;
    }
  } else if (code == marker::kApp1 && starts_with(payload, "Exif\0\0"sv)) {
    orientation_ = read_exif_orientation(payload);
  } else if (code == marker::kApp14 && starts_with(payload, "Adobe"sv) && payload.size() >= 12) {
    adobe_transform_ = payload[11];
    if (*adobe_transform_ > 1)
      note_problem(
          fail(Errc::bad_marker, "Adobe colour transform " + std::to_string(*adobe_transform_)));
  } else if (code == marker::kApp9) {
    index_.add(payload, marker_pos_, pos_ - payload.size());
  }
}

ColorModel HeaderParser::color_model() const {
  if (frame_->components.size() == 1) return ColorModel::gray;
  if (has_jfif_) return ColorModel::ycbcr;  // libjpeg's order: JFIF, then Adobe, then the ids
  if (adobe_transform_) return *adobe_transform_ == 0 ? ColorModel::rgb : ColorModel::ycbcr;
  const auto& c = frame_->components;
  return c[0].id == 'R' && c[1].id == 'G' && c[2].id == 'B' ? ColorModel::rgb : ColorModel::ycbcr;
}

int read_exif_orientation(std::span<const std::uint8_t> app1) {
  if (app1.size() < 6 + 8) return 1;
  const auto tiff = app1.subspan(6);
  const bool little = tiff[0] == 'I';
  if (tiff[0] != tiff[1] || (tiff[0] != 'I' && tiff[0] != 'M')) return 1;
  const auto u16 = [&](std::size_t at) {
    return little ? tiff[at] | tiff[at + 1] << 8 : tiff[at] << 8 | tiff[at + 1];
  };
  const auto u32 = [&](std::size_t at) {
    const auto low = static_cast<std::uint64_t>(u16(little ? at : at + 2));
    const auto high = static_cast<std::uint64_t>(u16(little ? at + 2 : at));
    return high << 16 | low;
  };
  const std::uint64_t ifd = u32(4);
  if (u16(2) != 42 || ifd > tiff.size() - 2) return 1;
  const auto entries = static_cast<std::uint64_t>(u16(static_cast<std::size_t>(ifd)));
  for (std::uint64_t i = 0; i < entries; ++i) {
    const std::uint64_t at = ifd + 2 + 12 * i;
    if (at + 12 > tiff.size()) return 1;
    const auto entry = static_cast<std::size_t>(at);
    if (u16(entry) != 0x0112 || u16(entry + 2) != 3) continue;  // Orientation, SHORT
    const int value = u16(entry + 8);
    return value >= 1 && value <= 8 ? value : 1;
  }
  return 1;
}

}  // namespace zerorun
