// Marker segments of one image.
// SPDX-License-Identifier: MIT
#include "codec/syntax/header_parser.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>

#include "codec/arith/zigzag.hpp"
#include "codec/base/marker.hpp"
#include "codec/base/try.hpp"

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
    note_problem(problem);  // an APPn or COM segment counts as empty, as in libjpeg
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
      if (payload.size() != 2) return fail(Errc::bad_segment_length, "DRI");
      restart_interval_ = be16(payload, 0);
      return Status::ok();
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

// Quantisation and Huffman tables (T.81 B.2.4).

Status HeaderParser::read_dqt(Bytes payload) {
  while (!payload.empty()) {
    const int precision = payload[0] >> 4, destination = payload[0] & 15;
    if (precision > 1 || destination > 3)
      return fail(Errc::bad_quant_table, "precision " + std::to_string(precision) +
                                             ", destination " + std::to_string(destination));
    const std::size_t bytes = precision == 0 ? 64 : 128;
    if (payload.size() < 1 + bytes)
      return fail(Errc::bad_segment_length, "the DQT segment ends inside a table");
    QuantTable& table = quant_[static_cast<std::size_t>(destination)].emplace();
    for (std::size_t k = 0; k < kBlockSize; ++k)
      table[kNaturalOfZigzag[k]] =
          static_cast<std::uint16_t>(precision == 0 ? payload[1 + k] : be16(payload, 1 + 2 * k));
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

Status HeaderParser::latch_huffman(std::size_t destination, bool is_dc) {
  if (destination >= dc_.size())
    return fail(Errc::bad_scan_header, "table destination " + std::to_string(destination));
  const auto& spec = (is_dc ? dc_ : ac_)[destination];
  if (!spec) return fail(Errc::missing_table, "Huffman table " + std::to_string(destination));
  if (Status status = check_huffman_spec(*spec, is_dc); !status)
    return fail(status.code(), (is_dc ? "DC table: " : "AC table: ") + status.detail());
  (is_dc ? scan_.dc : scan_.ac)[destination] = spec;
  return Status::ok();
}

Status HeaderParser::latch_tables() {
  // Motion JPEG may leave the standard tables out; they stand in for destinations 0 and 1.
  for (int destination = 0; destination < 2 && !frame_->progressive; ++destination) {
    const auto d = static_cast<std::size_t>(destination);
    if (!dc_[d]) dc_[d] = standard_huffman_spec(destination);
    if (!ac_[d]) ac_[d] = standard_huffman_spec(2 + destination);
  }
  for (std::size_t i = 0; i < scan_.components.size(); ++i) {
    const ScanLayout::Component& component = scan_.layout.component[i];
    // A scan of a progressive frame codes DC or AC; a refinement of DC has no codewords.
    const bool is_progressive = frame_->progressive;
    if (!is_progressive || (scan_.is_dc() && !scan_.is_refinement()))
      ZR_TRY(latch_huffman(component.dc_table, true));
    if (!is_progressive || !scan_.is_dc()) ZR_TRY(latch_huffman(component.ac_table, false));
    const int tq = frame_->components[static_cast<std::size_t>(scan_.components[i])].quant_table;
    if (tq > 3 || !quant_[static_cast<std::size_t>(tq)])
      return fail(Errc::missing_table, "quantisation table " + std::to_string(tq));
    scan_.quant[i] = *quant_[static_cast<std::size_t>(tq)];
  }
  return Status::ok();
}

// What the APPn segments say about an image.

void HeaderParser::read_app(std::uint8_t code, Bytes payload) {
  if (keep_segments_)
    segments_.push_back({code, std::vector<std::uint8_t>(payload.begin(), payload.end())});
  using std::string_view_literals::operator""sv;
  if (code == marker::kApp0 && starts_with(payload, "JFIF\0"sv) && payload.size() >= 14) {
    has_jfif_ = true;
    const int x = be16(payload, 8), y = be16(payload, 10);
    if (x > 0 && y > 0) {
      // Without a unit they are the aspect ratio. With one they are densities: a pixel that is
      // twice as dense is half as wide.
      aspect_x_ = payload[7] == 0 ? x : y;
      aspect_y_ = payload[7] == 0 ? y : x;
    }
  } else if (code == marker::kApp1 && starts_with(payload, "Exif\0\0"sv)) {
    orientation_ = read_exif_orientation(payload);
  } else if (code == marker::kApp14 && starts_with(payload, "Adobe"sv) && payload.size() >= 12) {
    adobe_transform_ = payload[11];
    adobe_pos_ = marker_pos_;
    if (color_model_) check_transform();
  }
}

/// Four components have transform 0 or 2, all others 0 or 1.
void HeaderParser::check_transform() {
  const int other = frame_->components.size() == 4 ? 2 : 1;
  if (!adobe_transform_ || *adobe_transform_ == 0 || *adobe_transform_ == other) return;
  note_problem(
      Status(Errc::bad_marker, "Adobe colour transform " + std::to_string(*adobe_transform_))
          .at_byte(static_cast<std::int64_t>(adobe_pos_)));
}

ColorModel HeaderParser::model_by_headers() const {
  if (frame_->components.size() == 1) return ColorModel::gray;
  if (frame_->components.size() == 4) {  // libjpeg's rule; only Adobe's segment counts
    if (!adobe_transform_) return ColorModel::cmyk;
    return *adobe_transform_ == 0 ? ColorModel::inverted_cmyk : ColorModel::ycck;
  }
  if (has_jfif_) return ColorModel::ycbcr;  // libjpeg's order: JFIF, then Adobe, then the ids
  if (adobe_transform_) return *adobe_transform_ == 0 ? ColorModel::rgb : ColorModel::ycbcr;
  const auto& c = frame_->components;
  return c[0].id == 'R' && c[1].id == 'G' && c[2].id == 'B' ? ColorModel::rgb : ColorModel::ycbcr;
}

namespace {

constexpr int kOrientation = 0x0112, kExifDirectory = 0x8769;
constexpr int kPixelWidth = 0xA002, kPixelHeight = 0xA003;
constexpr int kShort = 3, kLong = 4;

/// The TIFF structure of an EXIF APP1 payload.
template <typename Byte>
class Tiff {
 public:
  explicit Tiff(std::span<Byte> app1) {
    if (app1.size() < 6 + 8) return;
    const std::span<Byte> bytes = app1.subspan(6);
    little_ = bytes[0] == 'I';
    if (bytes[0] != bytes[1] || (bytes[0] != 'I' && bytes[0] != 'M')) return;
    bytes_ = bytes;
    if (number(2, 2) != 42) bytes_ = {};
  }

  std::uint64_t number(std::size_t at, std::size_t count) const {
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < count; ++i)
      value = value << 8 | bytes_[at + (little_ ? count - 1 - i : i)];
    return value;
  }
  void put(std::size_t at, std::size_t count, std::uint64_t value) const {
    for (std::size_t i = 0; i < count; ++i, value >>= 8)
      bytes_[at + (little_ ? i : count - 1 - i)] = static_cast<Byte>(value);
  }
  /// The place of the entry of a tag, of any type if `type` is 0, in the first directory; 0: there
  /// is none.
  std::size_t find(int tag, int type = 0) const {
    return bytes_.empty() ? 0 : find_in(number(4, 4), tag, type);
  }
  /// In the directory at `place`.
  std::size_t find_in(std::uint64_t place, int tag, int type = 0) const {
    if (place > bytes_.size() - 2) return 0;
    const auto directory = static_cast<std::size_t>(place);
    std::size_t at = directory + 2;
    for (std::uint64_t left = number(directory, 2); left > 0; --left, at += 12) {
      if (at + 12 > bytes_.size()) return 0;
      if (number(at, 2) == static_cast<unsigned>(tag) &&
          (type == 0 || number(at + 2, 2) == static_cast<unsigned>(type)))
        return at;
    }
    return 0;
  }

 private:
  std::span<Byte> bytes_;
  bool little_ = false;
};

}  // namespace

int read_exif_orientation(std::span<const std::uint8_t> app1) {
  const Tiff tiff(app1);
  const std::size_t at = tiff.find(kOrientation, kShort);
  if (at == 0) return 1;
  const std::uint64_t value = tiff.number(at + 8, 2);
  return value >= 1 && value <= 8 ? static_cast<int>(value) : 1;
}

void reset_exif_orientation(std::span<std::uint8_t> app1) {
  const Tiff tiff(app1);
  if (const std::size_t at = tiff.find(kOrientation, kShort); at != 0) tiff.put(at + 8, 2, 1);
}

void set_exif_size(std::span<std::uint8_t> app1, int width, int height) {
  const Tiff tiff(app1);
  const std::size_t link = tiff.find(kExifDirectory);
  if (link == 0) return;
  const std::uint64_t directory = tiff.number(link + 8, 4);
  for (const int tag : {kPixelWidth, kPixelHeight}) {
    const std::size_t at = tiff.find_in(directory, tag);
    if (at == 0) continue;
    tiff.put(at + 2, 2, kLong);
    tiff.put(at + 4, 4, 1);
    tiff.put(at + 8, 4, static_cast<std::uint64_t>(tag == kPixelWidth ? width : height));
  }
}

}  // namespace zerorun
