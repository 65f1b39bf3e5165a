// Marker segments of one image: bytes -> structs, every length checked (T.81 Annex B).
// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "codec/arith/zigzag.hpp"
#include "codec/syntax/scan_layout.hpp"
#include "codec/syntax/tables.hpp"
#include "zerorun/decoder.hpp"
#include "zerorun/status.hpp"

namespace zerorun {

/// SOF, and the geometry that follows from it (T.81 A.1.1).
struct FrameHeader {
  bool extended = false;     ///< SOF1
  bool progressive = false;  ///< SOF2
  int width = 0, height = 0;
  int h_max = 1, v_max = 1;
  struct Component {
    int id, h, v, quant_table;
    int width = 0, height = 0;             ///< samples
    int blocks_wide = 0, blocks_high = 0;  ///< blocks that hold samples
    /// As in PlaneView: 0 as parsed, else made by image_part().
    int block_x = 0, block_y = 0, shrink = 0;

    /// Without memory.
    PlaneView plane() const { return {nullptr, 0, width, height, block_x, block_y, shrink}; }
  };
  std::vector<Component> components;  ///< 1, 3 or 4
};

/// Derives factors and sizes of the components from width, height, h and v.
void measure(FrameHeader& frame);

/// One scan with the tables as they stand when it starts.
struct ScanHeader {
  std::vector<int> components;  ///< indices into FrameHeader::components
  ScanLayout layout{};
  std::array<std::optional<HuffmanSpec>, 4> dc, ac;       ///< the destinations that the scan uses
  std::array<QuantTable, kMaxDecodedComponents> quant{};  ///< one a scan component
  std::size_t data_offset = 0;                            ///< first entropy-coded byte
  int ss = 0, se = 63;  ///< spectral selection; 0..63 in a sequential frame
  int ah = 0, al = 0;   ///< successive approximation; 0 in a sequential frame

  bool is_dc() const { return ss == 0; }
  bool is_refinement() const { return ah > 0; }
};

/// Reads an image header by header. After a scan header the caller finds the end of the
/// entropy-coded data and calls resume_at().
class HeaderParser {
 public:
  HeaderParser(std::span<const std::byte> data, const StreamLimits& limits);

  /// SOI. Must be called first.
  Status start();

  /// Reads segments up to the next SOS: true, with scan() filled; false at the end of the image
  /// (EOI, or where a missing EOI is tolerated; see problem()).
  Result<bool> next_scan();

  void resume_at(std::size_t offset) { pos_ = offset; }

  const FrameHeader& frame() const { return *frame_; }
  const ScanHeader& scan() const { return scan_; }
  /// As the segments before the first scan tell; those behind it do not count (as in libjpeg), so
  /// that it stays the same while the image is decoded.
  ColorModel color_model() const { return color_model_ ? *color_model_ : model_by_headers(); }
  std::size_t position() const { return pos_; }

  /// Components of which no scan so far contains the DC.
  int unsent_components() const;

  /// The first oddity that was tolerated; ok if there was none.
  const Status& problem() const { return problem_; }
  void note_problem(Status problem);

  /// What inspect() reports beside the frame.
  const std::vector<MarkerSegment>& segments() const { return segments_; }
  bool has_jfif() const { return has_jfif_; }
  int pixel_aspect_x() const { return aspect_x_; }
  int pixel_aspect_y() const { return aspect_y_; }
  int exif_orientation() const { return orientation_; }
  /// Keeps copies of APPn and COM.
  void keep_segments() { keep_segments_ = true; }

 private:
  using Bytes = std::span<const std::uint8_t>;

  /// Code of the next marker, or 0 at the end of the data.
  std::uint8_t next_marker();
  /// Payload of the segment at pos_; moves past it.
  Result<Bytes> segment();
  Status read_segment(std::uint8_t code);
  Status read_dqt(Bytes payload);
  Status read_dht(Bytes payload);
  Status read_sof(std::uint8_t code, Bytes payload);
  Status read_sos(Bytes payload);
  Status read_band(Bytes band, ScanHeader& scan);
  void note_progression(const ScanHeader& scan);
  void read_app(std::uint8_t code, Bytes payload);
  ColorModel model_by_headers() const;
  void check_transform();
  Status latch_tables();
  Status latch_huffman(std::size_t destination, bool is_dc);
  Status fail(Errc code, std::string detail) const;
  bool all_components_scanned() const { return frame_ && unsent_components() == 0; }
  Result<bool> end_of_image(std::uint8_t code);

  Bytes data_;
  StreamLimits limits_;
  std::size_t pos_ = 0;
  std::size_t marker_pos_ = 0;  // of the FF of the marker being read
  std::int64_t header_bytes_ = 0;
  int scans_ = 0;
  bool keep_segments_ = false;

  std::optional<FrameHeader> frame_;
  ScanHeader scan_;
  std::array<std::optional<QuantTable>, 4> quant_;
  std::array<std::optional<HuffmanSpec>, 4> dc_, ac_;
  int restart_interval_ = 0;
  std::array<bool, kMaxDecodedComponents> scanned_{};
  /// Progressive: Al of the last scan of each coefficient, plus 1; 0: there was none.
  std::array<std::array<std::uint8_t, kBlockSize>, kMaxDecodedComponents> sent_bits_{};
  std::int64_t scan_blocks_ = 0;  ///< progressive: blocks of all scans

  Status problem_;
  std::vector<MarkerSegment> segments_;
  bool has_jfif_ = false;
  std::optional<int> adobe_transform_;  ///< of the last Adobe segment
  std::size_t adobe_pos_ = 0;
  std::optional<ColorModel> color_model_;  ///< from the first scan on
  int aspect_x_ = 1, aspect_y_ = 1;
  int orientation_ = 1;
};

/// Orientation tag of an EXIF APP1 payload ("Exif\0\0" + TIFF); 1 if there is none or it is
/// damaged.
int read_exif_orientation(std::span<const std::uint8_t> app1);
/// Changes EXIF's entries where there are some: the orientation to 1, and the pixel dimensions.
void reset_exif_orientation(std::span<std::uint8_t> app1);
void set_exif_size(std::span<std::uint8_t> app1, int width, int height);

}  // namespace zerorun
