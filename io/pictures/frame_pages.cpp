// Reads the pages of a TIFF file as frames.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <array>
#include <mutex>
#include <utility>

#include "io/base/readers.hpp"
#include "io/metadata/tiff_directory.hpp"
#include "io/pictures/image_file.hpp"
#include "zerorun/convert.hpp"

namespace zerorun::io {
namespace {

/// Whether a second directory follows the first one, by two short reads. True for pipes, which
/// cannot tell before they were read.
bool may_have_pages(ByteReader& file) {
  const auto read = [&file](std::uint64_t at, int bytes, bool little) {
    std::array<std::byte, 4> data{};
    const std::span<std::byte> part(data.data(), static_cast<std::size_t>(bytes));
    const Result<bool> is_there = file.read_at(at, std::span(&part, 1));
    return is_there && *is_there ? number(as_u8(part), 0, bytes, little) : std::nullopt;
  };
  const auto header = tiff::read_header(as_u8(file.peek(8)));
  if (!header || !file.is_regular_file()) return header.has_value();
  const auto count = read(header->first_directory, 2, header->little);
  constexpr std::uint64_t kEntryBytes = 12;
  return count &&
         read(std::uint64_t{header->first_directory} + 2 + *count * kEntryBytes, 4, header->little)
                 .value_or(0) != 0;
}

/// The file is in memory once. For each page its header is changed to that page, which the decoder
/// then finds first, so that pages are decoded one at a time.
class TiffPages final : public FrameReader {
 public:
  TiffPages(std::string name, const SourceOptions& options)
      : name_(std::move(name)), rules_(options.samples) {}

  /// False: there is one page.
  Result<bool> start(ByteReader& file) {
    ZR_TRY(read_whole_file(file, kMaxImageFileBytes, data_));
    directories_ = tiff::picture_directories(as_u8(data_));
    if (directories_.size() < 2 && file.is_regular_file()) return false;
    FrameWork first;
    ZR_TRY(load(0, first));
    info_.container = "image";
    info_.codec = "tiff";
    info_.width = first.item.width();
    info_.height = first.item.height();
    info_.format = first.item.format();
    describe_picture(first.content, info_);
    info_.frame_count = static_cast<std::int64_t>(directories_.size());
    return true;
  }

  std::string last_name() const override { return name_ + " page " + std::to_string(index_); }
  bool can_seek() const override { return true; }
  bool finds_index() override { return true; }
  Result<std::int64_t> seek_index(std::int64_t index) override {
    index_ = std::clamp<std::int64_t>(index, 0, info_.frame_count - 1);
    return index_;
  }

  Result<bool> next(FrameWork& work) override {
    if (index_ >= info_.frame_count) return false;
    work.time = {index_, 1};
    work.concealed = 0;
    work.loader = [this, page = static_cast<std::size_t>(index_)](FrameWork& loaded, int) {
      return load(page, loaded);
    };
    ++index_;
    work.name = last_name();
    return true;
  }

 private:
  Status load(std::size_t page, FrameWork& work) {
    const std::lock_guard lock(mutex_);
    std::vector<std::byte>& data = data_;
    tiff::choose_directory(directories_[page],
                           {reinterpret_cast<std::uint8_t*>(data.data()), data.size()});
    work.content =
        std::make_shared<PictureContent>(picture_content(std::span(std::as_const(data))));
    return decode_by_opencv(name_ + " page " + std::to_string(page + 1), ContentKind::tiff, rules_,
                            data, work.item);
  }

  std::string name_;
  SampleRules rules_;
  std::vector<std::uint32_t> directories_;
  std::mutex mutex_;  // for the bytes
  std::vector<std::byte> data_;
};

}  // namespace

Result<FrameReaderPtr> open_tiff_pages(ByteReader& file, const SourceOptions& options) {
  if (!may_have_pages(file)) return FrameReaderPtr();
  auto pages = std::make_unique<TiffPages>(file.name(), options);
  ZR_LET(has_several, pages->start(file));
  return has_several ? FrameReaderPtr(std::move(pages)) : FrameReaderPtr();
}

}  // namespace zerorun::io
