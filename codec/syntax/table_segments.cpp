// Quantisation and Huffman tables of a stream (T.81 B.2.4).
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <string>

#include "codec/arith/zigzag.hpp"
#include "codec/base/try.hpp"
#include "codec/syntax/bytes.hpp"
#include "codec/syntax/header_parser.hpp"

namespace zerorun {

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

}  // namespace zerorun
