// PNG, TIFF, BMP and WebP by OpenCV's imgcodecs.
// SPDX-License-Identifier: MIT

#include <cstdlib>
#include <cstring>
#include <exception>
#include <mutex>
#include <new>
#include <opencv2/core.hpp>
#include <opencv2/core/utils/logger.hpp>
#include <opencv2/imgcodecs.hpp>
#include <string>
#include <string_view>

#include "codec/base/try.hpp"
#include "io/metadata/metadata.hpp"
#include "io/metadata/tiff_directory.hpp"
#include "io/samples/frame_convert.hpp"
#include "io/pictures/image_file.hpp"
#include "io/samples/samples.hpp"
#include "io/samples/pixel_pack.hpp"

extern "C" const char* zerorun_load_opencv();  // .cmake/load_at_run_time.cmake

namespace zerorun::io {
namespace {

/// Silences OpenCV, which reports damage on stderr too: the library never prints. The level is
/// one for all threads, so the last one out restores it.
class QuietOpenCv {
 public:
  QuietOpenCv() {
    const std::lock_guard lock(mutex_);
    if (inside_++ == 0)
      before_ = cv::utils::logging::setLogLevel(cv::utils::logging::LOG_LEVEL_SILENT);
  }
  ~QuietOpenCv() {
    const std::lock_guard lock(mutex_);
    if (--inside_ == 0) cv::utils::logging::setLogLevel(before_);
  }
  QuietOpenCv(const QuietOpenCv&) = delete;
  QuietOpenCv& operator=(const QuietOpenCv&) = delete;

 private:
  static inline std::mutex mutex_;
  static inline int inside_ = 0;
  static inline cv::utils::logging::LogLevel before_ = cv::utils::logging::LOG_LEVEL_SILENT;
};

// The type cv::Exception is data of OpenCV's library, which is not open when this file is linked;
// so its text is read: "OpenCV(4.6.0) FILE:LINE: error: (-215:NAME) SENTENCE in function
// 'FUNCTION'".
bool is_memory_error(const std::exception& error) noexcept {
  return std::strstr(error.what(), ": error: (-4:") != nullptr;  // cv::Error::StsNoMem
}

std::string reason(const std::exception& error) {
  std::string_view text = error.what();
  if (const auto at = text.find(": error: ("); at != text.npos) {
    const auto close = text.find(") ", at);
    if (close != text.npos) text.remove_prefix(close + 2);
  }
  return std::string(text.substr(0, text.find(" in function ")));
}

/// Opens OpenCV's libraries.
Status load_opencv() {
  const char* const error = zerorun_load_opencv();
  if (error == nullptr) return Status::ok();
  return Status(Errc::not_built, std::string("OpenCV is not installed: ") + error);
}

/// Colour type 4 is grey with alpha, which OpenCV expands to four equal channels (PNG 11.2.2).
bool is_gray_png(ContentKind kind, std::span<const std::byte> data) noexcept {
  return kind == ContentKind::png && number(as_u8(data), 25, 1, false) == 4u;
}

/// OpenCV's BMP reader throws and prints at the end of its data. So a file that is too short is
/// refused here, and "end of bitmap" codes are appended: the length of run-length coded files is
/// not known beforehand.
Status complete_bmp(const std::string& name, std::int64_t max_pixels,
                    std::vector<std::byte>& data) {
  constexpr std::size_t kFileHeader = 14, kCoreHeader = 12, kInfoHeader = 40, kPadding = 4096;
  const Status short_file(Errc::bad_input, "'" + name + "' is cut short");
  if (data.size() < kFileHeader + kCoreHeader) return short_file;
  const auto field = [&data](std::uint64_t at, int bytes) -> std::uint64_t {
    return number(as_u8(data), at, bytes, true).value_or(0);
  };
  const std::uint64_t pixels_at = field(10, 4), header_bytes = field(kFileHeader, 4);
  if (data.size() < kFileHeader + header_bytes || pixels_at > data.size()) return short_file;
  std::uint64_t width = field(18, 2), height = field(20, 2), bits = field(24, 2), coding = 0;
  if (header_bytes >= kInfoHeader) {
    width = field(18, 4);
    const auto rows = static_cast<std::int32_t>(field(22, 4));  // < 0: top down
    height = static_cast<std::uint64_t>(std::abs(std::int64_t{rows}));
    bits = field(28, 2);
    coding = field(30, 4);
  }
  if (width * height > static_cast<std::uint64_t>(max_pixels))
    return Status(Errc::too_many_pixels,
                  "'" + name + "' says " + std::to_string(width) + "x" + std::to_string(height));
  constexpr std::uint64_t kRle8 = 1, kRle4 = 2;
  const std::uint64_t row_bytes = (width * bits + 31) / 32 * 4;
  const bool run_length = coding == kRle8 || coding == kRle4;
  if (!run_length && row_bytes * height > data.size() - pixels_at) return short_file;
  if ((data.size() - pixels_at) % 2 != 0) data.push_back(std::byte{0});
  for (std::size_t i = 0; i < kPadding; i += 2) {
    data.push_back(std::byte{0});
    data.push_back(std::byte{1});
  }
  return Status::ok();
}

/// libtiff multiplies 8-bit samples by alpha that is called unassociated: the tag then says that it
/// was done before. True: 0 is white, which OpenCV forgets if samples have more than 8 bits.
bool prepare_tiff(std::span<std::uint8_t> file) {
  constexpr std::uint32_t kWhiteIsZero = 0, kAssociated = 1, kUnassociated = 2;
  constexpr std::uint16_t kShort = 3;
  const auto header = tiff::read_header(file);
  if (!header) return false;
  bool is_white_zero = false;
  for (const tiff::Entry& entry :
       tiff::read_directory(file, header->little, header->first_directory)) {
    const auto value = entry.integer(header->little);
    if (entry.tag == tiff::kPhotometric) is_white_zero = value == kWhiteIsZero;
    if (entry.tag == tiff::kExtraSamples && entry.type == kShort && value == kUnassociated)
      put_number(file.subspan(entry.value_at, 2), kAssociated, header->little);
  }
  return is_white_zero;
}

/// OpenCV's order is B G R (A).
template <typename Sample>
void copy_pixels(const cv::Mat& image, const SampleRules& rules, Frame& out) {
  const int channels = image.channels();
  const SampleReader reader{rules, channels == 4 ? 3 : -1};
  const int colours = out.format() == PixelFormat::gray8 ? 1 : 3;
  for (int row = 0; row < image.rows; ++row) {
    const Sample* from = image.ptr<Sample>(row);
    std::uint8_t* to = row_of(out.view(), 0, row);
    for (int x = 0; x < image.cols; ++x, from += channels)
      for (int c = colours; c-- > 0;) *to++ = reader.read(from, c, x, row);
  }
}

Status take_image(const std::string& name, const cv::Mat& image, bool gray,
                  const SampleRules& rules, Frame& out) {
  if (image.empty()) return Status(Errc::bad_input, "'" + name + "' cannot be decoded");
  if (image.depth() != CV_8U && image.depth() != CV_16U)
    return Status(Errc::unknown_format,
                  "'" + name + "' has samples that are not 8- or 16-bit unsigned integers");
  const int channels = image.channels();
  if (channels != 1 && channels != 3 && channels != 4)
    return Status(Errc::unknown_format,
                  "'" + name + "' has " + std::to_string(channels) + " channels");
  const PixelFormat format = gray || channels == 1 ? PixelFormat::gray8 : PixelFormat::rgb24;
  ZR_TRY(out.reshape(format, image.cols, image.rows));
  const ConvertTimer timer;
  if (image.depth() == CV_16U)
    copy_pixels<std::uint16_t>(image, rules, out);
  else
    copy_pixels<std::uint8_t>(image, rules, out);
  return Status::ok();
}

}  // namespace

Status decode_by_opencv(const std::string& name, ContentKind kind, const SampleRules& rules,
                        std::vector<std::byte>& data, Frame& out) {
  ZR_TRY(load_opencv());
  if (kind == ContentKind::bmp) ZR_TRY(complete_bmp(name, rules.max_pixels, data));
  ZR_TRY(check_stored_size(name, kind, rules.max_pixels, data));
  const QuietOpenCv quiet;
  try {
    // UNCHANGED: all bits, and no rotation by EXIF.
    const cv::Mat bytes(1, static_cast<int>(data.size()), CV_8U, data.data());
    const bool is_white_zero = kind == ContentKind::tiff && prepare_tiff({bytes.data, data.size()});
    cv::Mat image = cv::imdecode(bytes, cv::IMREAD_UNCHANGED);
    for (int row = 0; is_white_zero && image.depth() == CV_16U && row < image.rows; ++row)
      for (int i = 0; i < image.cols * image.channels(); ++i)
        image.ptr<std::uint16_t>(row)[i] ^= 0xFFFF;
    return take_image(name, image, is_gray_png(kind, data), rules, out);
  } catch (const std::bad_alloc&) {
    return Status(Errc::out_of_memory, "'" + name + "'");
  } catch (const std::exception& error) {
    if (is_memory_error(error)) return Status(Errc::out_of_memory, "'" + name + "'");
    return Status(Errc::bad_input, "'" + name + "': " + reason(error));
  }
}

Status encode_by_opencv(const ConstFrameView& frame, const std::string& extension,
                        std::vector<std::byte>& out) {
  ZR_TRY(load_opencv());
  const QuietOpenCv quiet;
  try {
    const bool gray = frame.format == PixelFormat::gray8;
    cv::Mat image(frame.height, frame.width, gray ? CV_8UC1 : CV_8UC3);
    const FrameView view{gray ? PixelFormat::gray8 : PixelFormat::bgr24,
                         frame.width,
                         frame.height,
                         {image.data},
                         {static_cast<std::ptrdiff_t>(image.step[0])}};
    {
      const ConvertTimer timer;
      if (gray)
        copy_frame(frame, view);
      else
        swizzle_rgb(frame, view);
    }
    std::vector<unsigned char> bytes;
    std::vector<int> parameters;
    // Lossless, as all other formats here: a quality above 100 means lossless WebP.
    if (extension == "webp") parameters = {cv::IMWRITE_WEBP_QUALITY, 101};
    if (!cv::imencode("." + extension, image, bytes, parameters))
      return Status(Errc::unsupported_output, "OpenCV cannot write " + extension);
    out.resize(bytes.size());
    if (!bytes.empty()) std::memcpy(out.data(), bytes.data(), bytes.size());
    return Status::ok();
  } catch (const std::bad_alloc&) {
    return Status(Errc::out_of_memory, "an image of " + extension);
  } catch (const std::exception& error) {
    return Status(Errc::unsupported_output, extension + ": " + reason(error));
  }
}

}  // namespace zerorun::io
