// Writes PNG by libpng.
// SPDX-License-Identifier: MIT
#include <zlib.h>

#include <new>
#include <string>
#include <vector>

#include "io/image_file.hpp"
#include "io/pixel_pack.hpp"
#include "io/image_png_session.hpp"

namespace zerorun::io {
namespace {

using libpng::Session;

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
      : png(png_create_write_struct(PNG_LIBPNG_VER_STRING, &session, libpng::leave,
                                    libpng::ignore)),
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
