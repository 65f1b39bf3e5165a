// The oracle: libjpeg-turbo's encoder.
// SPDX-License-Identifier: MIT
#include "tests/support/libjpeg_encode.hpp"

#include <algorithm>
#include <cstdlib>

#include "tests/support/libjpeg_session.hpp"
#include "tests/support/pictures.hpp"

namespace zerorun::test {
namespace {

struct EncodeJob {
  jpeg_compress_struct info;
  LibjpegErrors errors;
  unsigned char* stream;
  unsigned long stream_bytes;
  // Owned by the caller, since longjmp skips destructors.
  const LibjpegOptions* options;
  const jpeg_scan_info* scans;
  int width, height, input_components;
  J_COLOR_SPACE input_space, stream_space;
  JSAMPARRAY* raw;  // rows of each component, or null for pixels
  JSAMPARRAY scanlines;
};

void set_table(EncodeJob& job, int which, const std::optional<QuantTable>& table) {
  if (!table) return;
  unsigned int values[DCTSIZE2];
  std::copy(table->begin(), table->end(), values);
  jpeg_add_quant_table(&job.info, which, values, 100,
                       static_cast<boolean>(job.options->force_baseline));
}

void configure(EncodeJob& job) {
  jpeg_compress_struct& info = job.info;
  const LibjpegOptions& options = *job.options;
  info.image_width = static_cast<JDIMENSION>(job.width);
  info.image_height = static_cast<JDIMENSION>(job.height);
  info.input_components = job.input_components;
  info.in_color_space = job.input_space;
  jpeg_set_defaults(&info);
  jpeg_set_colorspace(&info, job.stream_space);
  jpeg_set_quality(&info, options.quality, static_cast<boolean>(options.force_baseline));
  set_table(job, 0, options.luma_table);
  set_table(job, 1, options.chroma_table);
  for (int c = 0; c < info.num_components; ++c) {
    const SamplingFactors factors =
        c == 3 ? options.black : options.factors[static_cast<std::size_t>(c)];
    info.comp_info[c].h_samp_factor = factors.h;
    info.comp_info[c].v_samp_factor = factors.v;
  }
  info.dct_method = JDCT_ISLOW;
  info.optimize_coding = static_cast<boolean>(options.optimal);
  info.arith_code = static_cast<boolean>(options.arithmetic);
  info.restart_interval = static_cast<unsigned>(options.restart_mcus);
  info.restart_in_rows = options.restart_rows;
  if (options.progressive) jpeg_simple_progression(&info);
  if (job.scans != nullptr) {
    info.scan_info = job.scans;
    info.num_scans =
        static_cast<int>(std::max(options.scans.size(), options.progressive_scans.size()));
  }
}

void write_raw(EncodeJob& job) {
  jpeg_compress_struct& info = job.info;
  info.raw_data_in = TRUE;
  jpeg_start_compress(&info, TRUE);
  const int lines = info.max_v_samp_factor * DCTSIZE;
  for (JDIMENSION mcu_row = 0; info.next_scanline < info.image_height; ++mcu_row) {
    JSAMPARRAY rows[MAX_COMPONENTS];
    for (int c = 0; c < info.num_components; ++c)
      rows[c] = job.raw[c] + mcu_row * static_cast<JDIMENSION>(DCTSIZE) *
                                 static_cast<JDIMENSION>(info.comp_info[c].v_samp_factor);
    jpeg_write_raw_data(&info, rows, static_cast<JDIMENSION>(lines));
  }
}

void write_pixels(EncodeJob& job) {
  jpeg_start_compress(&job.info, TRUE);
  while (job.info.next_scanline < job.info.image_height)
    jpeg_write_scanlines(&job.info, job.scanlines + job.info.next_scanline,
                         job.info.image_height - job.info.next_scanline);
}

/// The part between setjmp and longjmp.
bool run(EncodeJob& job) {
  job.errors.attach();
  job.info.err = &job.errors.base;
  if (setjmp(job.errors.jump) != 0) return false;
  jpeg_create_compress(&job.info);
  jpeg_mem_dest(&job.info, &job.stream, &job.stream_bytes);
  configure(job);
  job.raw != nullptr ? write_raw(job) : write_pixels(job);
  jpeg_finish_compress(&job.info);
  return true;
}

std::vector<std::byte> encode(EncodeJob& job, std::string* error) {
  std::vector<jpeg_scan_info> scans;
  for (const std::vector<int>& components : job.options->scans) {
    jpeg_scan_info scan{};
    scan.comps_in_scan = static_cast<int>(components.size());
    std::copy(components.begin(), components.end(), scan.component_index);
    scan.Se = DCTSIZE2 - 1;
    scans.push_back(scan);
  }
  for (const ProgressiveScan& wanted : job.options->progressive_scans) {
    jpeg_scan_info scan{};
    scan.comps_in_scan = static_cast<int>(wanted.components.size());
    std::copy(wanted.components.begin(), wanted.components.end(), scan.component_index);
    scan.Ss = wanted.ss;
    scan.Se = wanted.se;
    scan.Ah = wanted.ah;
    scan.Al = wanted.al;
    scans.push_back(scan);
  }
  job.scans = scans.empty() ? nullptr : scans.data();
  const bool ok = run(job);
  std::vector<std::byte> out;
  if (ok) {
    const auto* first = reinterpret_cast<const std::byte*>(job.stream);
    out.assign(first, first + job.stream_bytes);
  } else if (error != nullptr) {
    *error = job.errors.text;
  }
  jpeg_destroy_compress(&job.info);
  std::free(job.stream);
  return out;
}

/// Component samples with the last column and row repeated up to whole MCUs.
struct PaddedRows {
  std::vector<std::uint8_t> samples;
  std::vector<JSAMPROW> rows;
};

PaddedRows pad(const ComponentSource& from, std::size_t width, std::size_t height) {
  PaddedRows out;
  out.samples.resize(width * height);
  for (std::size_t y = 0; y < height; ++y) {
    const auto from_y = std::min<std::ptrdiff_t>(static_cast<std::ptrdiff_t>(y), from.height - 1);
    const std::uint8_t* source = from.samples + from_y * from.stride;
    std::uint8_t* target = out.samples.data() + y * width;
    std::copy_n(source, from.width, target);
    std::fill(target + from.width, target + width, source[from.width - 1]);
    out.rows.push_back(target);
  }
  return out;
}

J_COLOR_SPACE color_space(PixelInput input) {
  switch (input) {
    case PixelInput::gray:
      return JCS_GRAYSCALE;
    case PixelInput::rgb:
      return JCS_EXT_RGB;
    case PixelInput::bgr:
      return JCS_EXT_BGR;
    case PixelInput::rgbx:
      return JCS_EXT_RGBX;
    case PixelInput::bgrx:
      return JCS_EXT_BGRX;
    case PixelInput::xrgb:
      return JCS_EXT_XRGB;
    case PixelInput::xbgr:
      return JCS_EXT_XBGR;
    case PixelInput::ycbcr:
      return JCS_YCbCr;
  }
  return JCS_UNKNOWN;
}

int channels(PixelInput input) {
  if (input == PixelInput::gray) return 1;
  const bool three =
      input == PixelInput::rgb || input == PixelInput::bgr || input == PixelInput::ycbcr;
  return three ? 3 : 4;
}

}  // namespace

std::array<SamplingFactors, 3> factors_of(Subsampling sampling) {
  switch (sampling) {
    case Subsampling::s422:
      return {{{2, 1}, {1, 1}, {1, 1}}};
    case Subsampling::s420:
      return {{{2, 2}, {1, 1}, {1, 1}}};
    case Subsampling::s440:
      return {{{1, 2}, {1, 1}, {1, 1}}};
    case Subsampling::s411:
      return {{{4, 1}, {1, 1}, {1, 1}}};
    case Subsampling::s444:
    case Subsampling::gray:
      break;
  }
  return {};
}

std::vector<std::byte> libjpeg_encode_planes(int width, int height,
                                             std::span<const ComponentSource> components,
                                             const LibjpegOptions& options, std::string* error) {
  int h_max = 1, v_max = 1;
  for (std::size_t c = 0; c < components.size(); ++c) {
    h_max = std::max(h_max, options.factors[c].h);
    v_max = std::max(v_max, options.factors[c].v);
  }
  const auto round_up = [](int value, int unit) {
    return static_cast<std::size_t>((value + unit - 1) / unit);
  };
  std::vector<PaddedRows> padded;
  std::vector<JSAMPARRAY> raw;
  for (std::size_t c = 0; c < components.size(); ++c)
    padded.push_back(
        pad(components[c],
            round_up(width, 8 * h_max) * 8 * static_cast<std::size_t>(options.factors[c].h),
            round_up(height, 8 * v_max) * 8 * static_cast<std::size_t>(options.factors[c].v)));
  for (PaddedRows& component : padded) raw.push_back(component.rows.data());
  const J_COLOR_SPACE space = components.size() == 1 ? JCS_GRAYSCALE : JCS_YCbCr;
  EncodeJob job{};
  job.options = &options;
  job.width = width;
  job.height = height;
  job.input_components = static_cast<int>(components.size());
  job.input_space = space;
  job.stream_space = space;
  job.raw = raw.data();
  return encode(job, error);
}

std::vector<std::byte> libjpeg_encode_frame(const ConstFrameView& planar, LibjpegOptions options) {
  std::vector<ComponentSource> components;
  for (int p = 0; p < plane_count(planar.format); ++p) {
    const auto index = static_cast<std::size_t>(p);
    components.push_back({static_cast<int>(plane_row_bytes(planar.format, p, planar.width)),
                          plane_rows(planar.format, p, planar.height), planar.data[index],
                          planar.stride_bytes[index]});
  }
  options.factors = factors_of(native_subsampling(planar.format));
  return libjpeg_encode_planes(planar.width, planar.height, components, options);
}

std::vector<std::byte> libjpeg_encode_pixels(int width, int height, PixelInput input,
                                             const std::uint8_t* pixels, std::ptrdiff_t stride,
                                             const LibjpegOptions& options, bool gray_stream,
                                             std::string* error) {
  std::vector<JSAMPROW> rows;
  for (int y = 0; y < height; ++y)
    rows.push_back(const_cast<JSAMPROW>(pixels + y * stride));  // libjpeg's rows are not const
  EncodeJob job{};
  job.options = &options;
  job.width = width;
  job.height = height;
  job.input_components = channels(input);
  job.input_space = options.cmyk_stream ? JCS_CMYK : color_space(input);
  job.stream_space = JCS_YCbCr;
  if (input == PixelInput::gray || gray_stream) job.stream_space = JCS_GRAYSCALE;
  if (options.rgb_stream) job.stream_space = JCS_RGB;
  if (options.cmyk_stream) job.stream_space = options.ycck_stream ? JCS_YCCK : JCS_CMYK;
  job.scanlines = rows.data();
  return encode(job, error);
}

std::vector<std::byte> libjpeg_sample(int width, int height, Subsampling sampling,
                                      LibjpegOptions options, std::uint64_t seed) {
  const int samples = options.cmyk_stream ? 4 : (sampling == Subsampling::gray ? 1 : 3);
  const auto picture = make_picture(Content::photo, width, height, samples, seed);
  if (!options.cmyk_stream) options.factors = factors_of(sampling);
  const PixelInput input = samples == 1   ? PixelInput::gray
                           : samples == 3 ? PixelInput::rgb
                                          : PixelInput::rgbx;
  return libjpeg_encode_pixels(width, height, input, picture.data(),
                               static_cast<std::ptrdiff_t>(width) * samples, options);
}

std::string to_string(const Factors& factors) {
  std::string text;
  for (const SamplingFactors& f : factors) {
    if (!text.empty()) text += ',';
    text.append(std::to_string(f.h)).append("x").append(std::to_string(f.v));
  }
  return text;
}

std::vector<Factors> all_factors() {
  return {
      {{{1, 1}, {1, 1}, {1, 1}}}, {{{2, 1}, {1, 1}, {1, 1}}}, {{{2, 2}, {1, 1}, {1, 1}}},
      {{{1, 2}, {1, 1}, {1, 1}}}, {{{4, 1}, {1, 1}, {1, 1}}}, {{{1, 4}, {1, 1}, {1, 1}}},
      {{{4, 2}, {1, 1}, {1, 1}}}, {{{2, 4}, {1, 1}, {1, 1}}}, {{{1, 3}, {1, 1}, {1, 1}}},
      {{{3, 1}, {1, 1}, {1, 1}}}, {{{3, 2}, {1, 1}, {1, 1}}}, {{{2, 3}, {1, 1}, {1, 1}}},
      {{{2, 2}, {1, 2}, {2, 1}}}, {{{2, 2}, {2, 1}, {2, 1}}}, {{{1, 2}, {1, 1}, {1, 2}}},
      {{{4, 1}, {2, 1}, {1, 1}}}, {{{1, 1}, {2, 2}, {2, 2}}}, {{{1, 1}, {2, 1}, {1, 2}}},
      {{{2, 2}, {2, 2}, {1, 1}}}, {{{1, 1}, {1, 1}, {2, 2}}}, {{{3, 1}, {2, 1}, {1, 1}}},
      {{{2, 1}, {2, 1}, {2, 1}}}, {{{1, 3}, {1, 2}, {1, 1}}}, {{{2, 1}, {1, 2}, {1, 1}}},
  };
}

std::vector<std::byte> odd_stream(int width, int height, LibjpegOptions options,
                                  std::uint64_t seed) {
  int h_max = 1, v_max = 1;
  for (const SamplingFactors& f : options.factors) {
    h_max = std::max(h_max, f.h);
    v_max = std::max(v_max, f.v);
  }
  std::array<std::vector<std::uint8_t>, 3> samples;
  std::vector<ComponentSource> components;
  for (std::size_t c = 0; c < 3; ++c) {
    const int w = (width * options.factors[c].h + h_max - 1) / h_max;
    const int h = (height * options.factors[c].v + v_max - 1) / v_max;
    samples[c] = make_picture(Content::photo, w, h, 1, seed + c);
    components.push_back({w, h, samples[c].data(), w});
  }
  return libjpeg_encode_planes(width, height, components, options);
}

}  // namespace zerorun::test
