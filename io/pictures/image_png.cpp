// Reads and writes PNG by libpng alone, which takes a millisecond to load; the other kinds take
// OpenCV's 80 libraries.
// SPDX-License-Identifier: MIT
#include <png.h>
#include <zlib.h>

#include <bit>
#include <csetjmp>
#include <cstddef>
#include <cstring>
#include <new>
#include <span>
#include <string>
#include <vector>

#include "codec/base/try.hpp"
#include "io/samples/frame_convert.hpp"
#include "io/pictures/image_file.hpp"
#include "io/samples/pixel_pack.hpp"
#include "io/samples/samples.hpp"
#include "zerorun/decoder.hpp"

namespace zerorun::io {
namespace {

/// libpng leaves its functions by longjmp, so that what has a destructor lives outside of those
/// that call it.
struct Session {
  std::jmp_buf back;
  char error[128] = "";
  std::span<const std::byte> input;
  std::vector<std::byte>* output = nullptr;
  bool out_of_memory = false;
};

Session& session_of(png_structp png) { return *static_cast<Session*>(png_get_error_ptr(png)); }

[[noreturn]] void leave(png_structp png, png_const_charp message) {
  Session& session = session_of(png);
  std::strncpy(session.error, message, sizeof session.error - 1);
  std::longjmp(session.back, 1);
}

void ignore(png_structp, png_const_charp) {}

void take_input(png_structp png, png_bytep to, std::size_t count) {
  auto& session = *static_cast<Session*>(png_get_io_ptr(png));
  if (count > session.input.size()) png_error(png, "it is cut short");
  std::memcpy(to, session.input.data(), count);
  session.input = session.input.subspan(count);
}

/// Frees what libpng allocated.
class Reader {
 public:
  explicit Reader(Session& session)
      : png(png_create_read_struct(PNG_LIBPNG_VER_STRING, &session, leave, ignore)),
        info(png != nullptr ? png_create_info_struct(png) : nullptr) {}
  ~Reader() { png_destroy_read_struct(&png, &info, nullptr); }
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;
  png_structp png;
  png_infop info;
};

struct Header {
  png_uint_32 width = 0, height = 0;
  bool is_gray = false, is_16_bits = false;
};

/// False after an error. Sets the transformations to 8 or 16 bits of grey or RGB, with alpha if it
/// is asked for.
bool read_header(Session& session, const Reader& reader, bool alpha, Header& header) {
  if (setjmp(session.back) != 0) return false;
  png_set_user_limits(reader.png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);  // decode() has better words
  png_set_read_fn(reader.png, &session, take_input);
  // libpng would unpack each: a file of a few megabytes may have hundreds, of megabytes each.
  constexpr png_byte kTexts[] = "iTXt\0tEXt\0zTXt";
  png_set_keep_unknown_chunks(reader.png, PNG_HANDLE_CHUNK_NEVER, kTexts, 3);
  png_read_info(reader.png, reader.info);
  header.width = png_get_image_width(reader.png, reader.info);
  header.height = png_get_image_height(reader.png, reader.info);
  const int depth = png_get_bit_depth(reader.png, reader.info);
  const int colour = png_get_color_type(reader.png, reader.info);
  header.is_gray = (colour & PNG_COLOR_MASK_COLOR) == 0;
  header.is_16_bits = depth == 16;
  if (colour == PNG_COLOR_TYPE_PALETTE) png_set_palette_to_rgb(reader.png);
  if (header.is_gray && depth < 8) png_set_expand_gray_1_2_4_to_8(reader.png);
  if (!alpha)
    png_set_strip_alpha(reader.png);
  else if (png_get_valid(reader.png, reader.info, PNG_INFO_tRNS) != 0)
    png_set_tRNS_to_alpha(reader.png);
  if (header.is_16_bits && std::endian::native == std::endian::little) png_set_swap(reader.png);
  png_set_interlace_handling(reader.png);
  png_read_update_info(reader.png, reader.info);
  return true;
}

bool read_rows(Session& session, const Reader& reader, png_bytepp rows) {
  if (setjmp(session.back) != 0) return false;
  png_read_image(reader.png, rows);
  return true;
}

/// Pixels of `channels` samples, the alpha last if there is one.
template <typename Sample>
void copy_pixels(const std::vector<std::uint8_t>& bytes, int channels, const SampleRules& rules,
                 const FrameView& out) {
  const int colours = out.format == PixelFormat::gray8 ? 1 : 3;
  const SampleReader reader{rules, channels > colours ? colours : -1};
  const auto* from = reinterpret_cast<const Sample*>(bytes.data());
  for (int y = 0; y < out.height; ++y) {
    std::uint8_t* to = row_of(out, 0, y);
    for (int x = 0; x < out.width; ++x, from += channels)
      for (int c = 0; c < colours; ++c) *to++ = reader.read(from, c, x, y);
  }
}

Status read_samples(Session& session, const Reader& reader, const Header& header,
                    const SampleRules& rules, Frame& out) {
  const std::size_t row_bytes = png_get_rowbytes(reader.png, reader.info);
  const int channels = png_get_channels(reader.png, reader.info);
  const bool is_plain = !header.is_16_bits && channels == (header.is_gray ? 1 : 3);
  std::vector<std::uint8_t> all(is_plain ? 0 : row_bytes * header.height);
  std::vector<png_bytep> rows(header.height);
  for (std::size_t y = 0; y < rows.size(); ++y)
    rows[y] = is_plain ? row_of(out.view(), 0, static_cast<int>(y)) : all.data() + y * row_bytes;
  if (!read_rows(session, reader, rows.data())) return Status(Errc::bad_input, session.error);
  if (is_plain) return Status::ok();
  const ConvertTimer timer;
  if (header.is_16_bits)
    copy_pixels<std::uint16_t>(all, channels, rules, out.view());
  else
    copy_pixels<std::uint8_t>(all, channels, rules, out.view());
  return Status::ok();
}

Status decode(std::span<const std::byte> data, const SampleRules& rules, Frame& out) {
  Session session;
  session.input = data;
  const Reader reader(session);
  if (reader.info == nullptr) return Status(Errc::out_of_memory);
  Header header;
  if (!read_header(session, reader, rules.alpha != Alpha::ignore, header))
    return Status(Errc::bad_input, session.error);
  const std::int64_t pixels = std::int64_t{header.width} * header.height;
  if (pixels > rules.max_pixels)
    return Status(Errc::too_many_pixels,
                  std::to_string(header.width) + "x" + std::to_string(header.height));
  ZR_TRY(out.reshape(header.is_gray ? PixelFormat::gray8 : PixelFormat::rgb24,
                     static_cast<int>(header.width), static_cast<int>(header.height)));
  return read_samples(session, reader, header, rules, out);
}

void give_output(png_structp png, png_bytep from, std::size_t count) {
  auto& session = *static_cast<Session*>(png_get_io_ptr(png));
  try {
    const auto* bytes = reinterpret_cast<const std::byte*>(from);
    session.output->insert(session.output->end(), bytes, bytes + count);
    return;
  } catch (const std::bad_alloc&) {
    session.out_of_memory = true;
  }
  png_error(png, "out of memory");
}

/// Frees what libpng allocated.
class Writer {
 public:
  explicit Writer(Session& session)
      : png(png_create_write_struct(PNG_LIBPNG_VER_STRING, &session, leave, ignore)),
        info(png != nullptr ? png_create_info_struct(png) : nullptr) {}
  ~Writer() { png_destroy_write_struct(&png, &info); }
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;
  png_structp png;
  png_infop info;
};

/// The settings of OpenCV's writer, which are chosen for speed. False after an error.
bool write_all(Session& session, const Writer& writer, const ConstFrameView& frame,
               png_bytepp rows) {
  if (setjmp(session.back) != 0) return false;
  png_set_write_fn(writer.png, &session, give_output, nullptr);
  png_set_filter(writer.png, PNG_FILTER_TYPE_BASE, PNG_FILTER_SUB);
  png_set_compression_level(writer.png, Z_BEST_SPEED);
  png_set_compression_strategy(writer.png, Z_RLE);
  png_set_IHDR(writer.png, writer.info, static_cast<png_uint_32>(frame.width),
               static_cast<png_uint_32>(frame.height), 8,
               frame.format == PixelFormat::gray8 ? PNG_COLOR_TYPE_GRAY : PNG_COLOR_TYPE_RGB,
               PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
  png_write_info(writer.png, writer.info);
  png_write_image(writer.png, rows);
  png_write_end(writer.png, writer.info);
  return true;
}

}  // namespace

Status decode_png(const std::string& name, const SampleRules& rules,
                  std::span<const std::byte> data, Frame& out) {
  try {
    const Status status = decode(data, rules, out);
    if (status) return status;
    return Status(status.code(),
                  "'" + name + "'" + (status.detail().empty() ? "" : ": " + status.detail()));
  } catch (const std::bad_alloc&) {
    return Status(Errc::out_of_memory, "'" + name + "'");
  }
}

Status encode_png(const ConstFrameView& frame, std::vector<std::byte>& out) {
  out.clear();
  Session session;
  session.output = &out;
  const Writer writer(session);
  if (writer.info == nullptr) return Status(Errc::out_of_memory, "an image of png");
  std::vector<png_bytep> rows(static_cast<std::size_t>(frame.height));
  for (std::size_t y = 0; y < rows.size(); ++y)  // libpng only reads them
    rows[y] = const_cast<png_bytep>(row_of(frame, 0, static_cast<int>(y)));
  if (write_all(session, writer, frame, rows.data())) return Status::ok();
  if (session.out_of_memory) return Status(Errc::out_of_memory, "an image of png");
  return Status(Errc::unsupported_output, std::string("png: ") + session.error);
}

}  // namespace zerorun::io
