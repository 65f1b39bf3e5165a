// The oracle: libjpeg-turbo's decoder.
// SPDX-License-Identifier: MIT
#include "tests/support/libjpeg_decode.hpp"

#include <algorithm>
#include <climits>
#include <cstdlib>

#include "tests/support/libjpeg_session.hpp"

namespace zerorun::test {
namespace {

constexpr std::uint64_t kMaxPixels = 120'000'000;  // larger images are too much for a test
constexpr int kMaxScans = 500;                     // more would take libjpeg minutes

/// Gives 64 bytes at a time.
struct PieceSource {
  jpeg_source_mgr base;  // first, so that libjpeg's pointer to it is a pointer to this
  std::span<const std::byte> rest;

  void attach(std::span<const std::byte> jpeg) {
    rest = jpeg;
    base.bytes_in_buffer = 0;
    base.init_source = [](j_decompress_ptr) {};
    base.term_source = [](j_decompress_ptr) {};
    base.resync_to_restart = jpeg_resync_to_restart;
    base.fill_input_buffer = fill;
    base.skip_input_data = [](j_decompress_ptr info, long bytes) {
      while (bytes > static_cast<long>(info->src->bytes_in_buffer)) {
        bytes -= static_cast<long>(info->src->bytes_in_buffer);
        fill(info);
      }
      info->src->next_input_byte += bytes;
      info->src->bytes_in_buffer -= static_cast<std::size_t>(std::max(0L, bytes));
    };
  }

  static boolean fill(j_decompress_ptr info) {
    static const JOCTET eoi[] = {0xFF, JPEG_EOI};  // as jpeg_mem_src() does behind the end
    auto* self = reinterpret_cast<PieceSource*>(info->src);
    const std::span<const std::byte> piece =
        self->rest.first(std::min<std::size_t>(64, self->rest.size()));
    self->rest = self->rest.subspan(piece.size());
    if (piece.empty()) (*info->err->emit_message)(reinterpret_cast<j_common_ptr>(info), -1);
    info->src->next_input_byte =
        piece.empty() ? eoi : reinterpret_cast<const JOCTET*>(piece.data());
    info->src->bytes_in_buffer = piece.empty() ? sizeof eoi : piece.size();
    return TRUE;
  }
};

struct DecodeJob {
  jpeg_decompress_struct info;
  LibjpegErrors errors;
  jpeg_progress_mgr progress;
  std::span<const std::byte> jpeg;
  Feed feed;
  PieceSource pieces;
};

void stop_scan_flood(j_common_ptr common) {
  if (reinterpret_cast<j_decompress_ptr>(common)->input_scan_number <= kMaxScans) return;
  auto* errors = reinterpret_cast<LibjpegErrors*>(common->err);
  std::snprintf(errors->text, sizeof errors->text, "more than %d scans", kMaxScans);
  std::longjmp(errors->jump, 1);
}

/// Runs `body(job)` under setjmp; the body owns nothing that has a destructor.
template <typename Body>
LibjpegVerdict guarded(std::span<const std::byte> jpeg, Feed feed, Body&& body) {
  LibjpegVerdict verdict;
  DecodeJob job{};
  job.jpeg = jpeg;
  job.feed = feed;
  job.errors.attach();
  job.info.err = &job.errors.base;
  verdict.delivered = body(job);
  verdict.warnings = job.errors.warnings;
  verdict.text = job.errors.text;
  jpeg_destroy_decompress(&job.info);
  return verdict;
}

/// Reads the header; false if the image is too large for a test.
bool open(DecodeJob& job) {
  jpeg_create_decompress(&job.info);
  job.progress.progress_monitor = stop_scan_flood;
  job.info.progress = &job.progress;
  if (job.feed == Feed::whole) {
    jpeg_mem_src(&job.info, reinterpret_cast<const unsigned char*>(job.jpeg.data()),
                 static_cast<unsigned long>(job.jpeg.size()));
  } else {
    job.pieces.attach(job.jpeg);
    job.info.src = &job.pieces.base;
  }
  jpeg_read_header(&job.info, TRUE);
  job.info.dct_method = JDCT_ISLOW;
  job.info.do_block_smoothing = FALSE;
  return std::uint64_t{job.info.image_width} * job.info.image_height <= kMaxPixels;
}

/// Of one block; at most what an int holds.
int magnitude(const JCOEF* block, const JQUANT_TBL* table) {
  std::int64_t sum = 0;
  for (int k = 0; table != nullptr && k < DCTSIZE2; ++k)
    sum += std::int64_t{std::abs(block[k])} * table->quantval[k];
  return static_cast<int>(std::min<std::int64_t>(sum, INT_MAX));
}

bool read_coefficients(DecodeJob& job, std::vector<ComponentCoefficients>& out, int* peak) {
  if (setjmp(job.errors.jump) != 0) return false;
  if (!open(job)) return false;
  jvirt_barray_ptr* arrays = jpeg_read_coefficients(&job.info);
  out.resize(static_cast<std::size_t>(job.info.num_components));
  for (int c = 0; c < job.info.num_components; ++c) {
    const jpeg_component_info& component = job.info.comp_info[c];
    ComponentCoefficients& target = out[static_cast<std::size_t>(c)];
    target.blocks_wide = static_cast<int>(component.width_in_blocks);
    target.blocks_high = static_cast<int>(component.height_in_blocks);
    target.values.clear();
    for (JDIMENSION y = 0; y < component.height_in_blocks; ++y) {
      JBLOCKARRAY row = (*job.info.mem->access_virt_barray)(
          reinterpret_cast<j_common_ptr>(&job.info), arrays[c], y, 1, FALSE);
      const JCOEF* first = row[0][0];
      target.values.insert(target.values.end(), first,
                           first + std::size_t{component.width_in_blocks} * DCTSIZE2);
      for (JDIMENSION x = 0; peak != nullptr && x < component.width_in_blocks; ++x)
        *peak = std::max(*peak, magnitude(row[0][x], component.quant_table));
    }
  }
  jpeg_finish_decompress(&job.info);
  return true;
}

/// Component memory in whole MCUs, which jpeg_read_raw_data writes.
struct PaddedPlane {
  std::vector<std::uint8_t> samples;
  std::vector<JSAMPROW> rows;
  std::size_t stride = 0;
};

/// Allocates objects of the caller, so that longjmp skips no destructor.
void allocate(DecodeJob& job, std::vector<PaddedPlane>& planes) {
  const jpeg_decompress_struct& info = job.info;
  const auto mcus = [](JDIMENSION size, int factor) {
    const auto unit = static_cast<std::size_t>(8 * factor);
    return (size + unit - 1) / unit;
  };
  planes.resize(static_cast<std::size_t>(info.num_components));
  for (int c = 0; c < info.num_components; ++c) {
    PaddedPlane& plane = planes[static_cast<std::size_t>(c)];
    const jpeg_component_info& component = info.comp_info[c];
    plane.stride = mcus(info.image_width, info.max_h_samp_factor) * 8 *
                   static_cast<std::size_t>(component.h_samp_factor);
    const std::size_t rows = mcus(info.image_height, info.max_v_samp_factor) * 8 *
                             static_cast<std::size_t>(component.v_samp_factor);
    plane.samples.assign(plane.stride * rows, 0);
    plane.rows.resize(rows);
    for (std::size_t y = 0; y < rows; ++y) plane.rows[y] = plane.samples.data() + y * plane.stride;
  }
}

bool read_raw(DecodeJob& job, std::vector<PaddedPlane>& planes, std::vector<ComponentPlane>& out) {
  if (setjmp(job.errors.jump) != 0) return false;
  if (!open(job) || job.info.num_components > 4) return false;
  jpeg_decompress_struct& info = job.info;
  info.raw_data_out = TRUE;
  info.do_fancy_upsampling = FALSE;
  info.out_color_space = info.jpeg_color_space;
  jpeg_start_decompress(&info);
  allocate(job, planes);
  for (std::size_t mcu_row = 0; info.output_scanline < info.output_height; ++mcu_row) {
    JSAMPARRAY rows[4];
    for (int c = 0; c < info.num_components; ++c)
      rows[c] = planes[static_cast<std::size_t>(c)].rows.data() +
                mcu_row * 8 * static_cast<std::size_t>(info.comp_info[c].v_samp_factor);
    jpeg_read_raw_data(&info, rows, static_cast<JDIMENSION>(info.max_v_samp_factor * 8));
  }
  const auto scaled = [](JDIMENSION size, int factor, int max_factor) {
    return static_cast<int>((static_cast<int>(size) * factor + max_factor - 1) / max_factor);
  };
  out.resize(planes.size());
  for (int c = 0; c < info.num_components; ++c) {
    const jpeg_component_info& component = info.comp_info[c];
    const PaddedPlane& plane = planes[static_cast<std::size_t>(c)];
    ComponentPlane& target = out[static_cast<std::size_t>(c)];
    target.width = scaled(info.image_width, component.h_samp_factor, info.max_h_samp_factor);
    target.height = scaled(info.image_height, component.v_samp_factor, info.max_v_samp_factor);
    target.samples.clear();
    for (int y = 0; y < target.height; ++y) {
      const JSAMPROW row = plane.rows[static_cast<std::size_t>(y)];
      target.samples.insert(target.samples.end(), row, row + target.width);
    }
  }
  jpeg_finish_decompress(&info);
  return true;
}

bool read_pixels(DecodeJob& job, PixelOutput space, bool fancy, Pixels& out, unsigned scale) {
  if (setjmp(job.errors.jump) != 0) return false;
  if (!open(job)) return false;
  jpeg_decompress_struct& info = job.info;
  info.out_color_space = space == PixelOutput::gray  ? JCS_GRAYSCALE
                         : space == PixelOutput::rgb ? JCS_RGB
                                                     : JCS_CMYK;
  info.do_fancy_upsampling = static_cast<boolean>(fancy);
  info.scale_num = 1;
  info.scale_denom = scale;
  jpeg_start_decompress(&info);
  out.width = static_cast<int>(info.output_width);
  out.height = static_cast<int>(info.output_height);
  const std::size_t row_bytes =
      std::size_t{info.output_width} * static_cast<std::size_t>(info.output_components);
  out.samples.assign(row_bytes * info.output_height, 0);
  while (info.output_scanline < info.output_height) {
    JSAMPROW row = out.samples.data() + info.output_scanline * row_bytes;
    jpeg_read_scanlines(&info, &row, 1);
  }
  jpeg_finish_decompress(&info);
  return true;
}

}  // namespace

LibjpegVerdict libjpeg_coefficients(std::span<const std::byte> jpeg,
                                    std::vector<ComponentCoefficients>& out, Feed feed, int* peak) {
  return guarded(jpeg, feed, [&](DecodeJob& job) { return read_coefficients(job, out, peak); });
}

LibjpegVerdict libjpeg_planes(std::span<const std::byte> jpeg, std::vector<ComponentPlane>& out,
                              Feed feed) {
  std::vector<PaddedPlane> planes;
  return guarded(jpeg, feed, [&](DecodeJob& job) { return read_raw(job, planes, out); });
}

LibjpegVerdict libjpeg_pixels(std::span<const std::byte> jpeg, PixelOutput space, bool fancy,
                              Pixels& out, unsigned scale, Feed feed) {
  return guarded(jpeg, feed,
                 [&](DecodeJob& job) { return read_pixels(job, space, fancy, out, scale); });
}

bool same_coefficients(std::span<const std::byte> a, std::span<const std::byte> b) {
  std::vector<ComponentCoefficients> first, second;
  if (!libjpeg_coefficients(a, first).clean() || !libjpeg_coefficients(b, second).clean())
    return false;
  if (first.size() != second.size()) return false;
  for (std::size_t c = 0; c < first.size(); ++c)
    if (first[c].blocks_wide != second[c].blocks_wide ||
        first[c].blocks_high != second[c].blocks_high || first[c].values != second[c].values)
      return false;
  return true;
}

}  // namespace zerorun::test
