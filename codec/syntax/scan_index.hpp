// An optional index of a scan in APP9 segments: the bits and coefficients of each group of MCUs.
// With it a parallel decoder starts in all groups at once; other decoders skip the segments.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "codec/arith/host_device.hpp"
#include "codec/syntax/scan_layout.hpp"

namespace zerorun {

// Payload of an index segment: "zerorun\0" (8 bytes), version 1 (1 byte), log2 of the MCUs of a
// group (1 byte), number of the first entry (4 bytes, big-endian), then entries of 4 bytes. Each
// restart interval starts a new group; its last group may be shorter. Every segment but the last is
// full (kIndexSegmentEntries), and the segments follow each other directly.

inline constexpr std::size_t kIndexLeadBytes = 14;  ///< of a payload, before its first entry
inline constexpr std::size_t kIndexEntryBytes = 4;
inline constexpr std::size_t kIndexSegmentEntries = (65533 - kIndexLeadBytes) / kIndexEntryBytes;
inline constexpr int kMaxIndexGroupLog2 = 5;  ///< a group has a power of two of MCUs
/// A block has at most 27 bits of DC and 63 * 26 of AC, so the number of a group's bits fits in 16
/// bits.
inline constexpr int kMaxIndexGroupBlocks = 39;
static_assert(kMaxIndexGroupBlocks * (27 + 63 * 26) < 65536);

/// In the stream both are big-endian.
struct IndexEntry {
  std::uint16_t bits;   ///< of the group's code, before stuffing and without padding
  std::uint16_t pairs;  ///< DC of all blocks (differences of 0 too) and AC that are not 0

  friend bool operator==(const IndexEntry&, const IndexEntry&) = default;
};

/// Where the index of a scan lies in its stream.
struct ScanIndexPlace {
  std::size_t offset;  ///< of the first entry
  int group_mcus;
  std::uint32_t groups;
};

/// Offset of entry i. Between two segments lie a marker, a length and the lead of a payload.
ZR_HD std::size_t index_entry_offset(const ScanIndexPlace& place, std::size_t i) {
  return place.offset + kIndexEntryBytes * i + i / kIndexSegmentEntries * (4 + kIndexLeadBytes);
}

/// Groups of all restart intervals.
std::int64_t index_groups(const ScanLayout& layout, int group_mcus);

/// The group size that our encoders choose, in MCUs.
int index_group_mcus(const ScanLayout& layout);

/// Bytes of all segments with their markers.
std::size_t index_segment_bytes(std::size_t groups);

/// Appends the segments with zeros as entries. The offset counts from the start of `out`.
ScanIndexPlace append_index_segments(int group_mcus, std::uint32_t groups,
                                     std::vector<std::uint8_t>& out);

/// Writes the entries into the place that append_index_segments() made. Precondition:
/// entries.size() is its number of groups.
void fill_index(const ScanIndexPlace& place, std::span<const IndexEntry> entries,
                std::span<std::uint8_t> stream);

/// "zerorun\0" at the start of an APP9 payload, whatever follows.
bool is_index_payload(std::span<const std::uint8_t> payload);

/// Assembles the index from the APP9 segments of a header, one by one.
class ScanIndexReader {
 public:
  /// `marker` and `payload_begin` are offsets in the stream. Other APP9 payloads are ignored.
  void add(std::span<const std::uint8_t> payload, std::size_t marker, std::size_t payload_begin);

  /// Nothing if there is no index, or one that is damaged or that does not fit the scan.
  std::optional<ScanIndexPlace> place(const ScanLayout& layout) const;

 private:
  bool accept(std::span<const std::uint8_t> payload, std::size_t marker, std::size_t payload_begin);

  bool damaged_ = false;
  ScanIndexPlace place_{};
  std::size_t end_ = 0;  // of the last segment
};

}  // namespace zerorun
