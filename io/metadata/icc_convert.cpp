// Conversion from the space of an ICC profile to sRGB, by lcms2.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <utility>

#include "codec/base/try.hpp"
#include "io/samples/frame_convert.hpp"
#include "io/samples/pixel_pack.hpp"
#include "zerorun/content.hpp"
#include "zerorun/convert.hpp"

#ifdef ZERORUN_HAVE_LCMS
#include <lcms2.h>
#endif

namespace zerorun::io {

/// ICC.1 7.2.6: the colour space of the samples is the signature at 16.
bool is_ink_profile(std::span<const std::uint8_t> icc) noexcept {
  constexpr std::uint8_t kCmyk[] = {'C', 'M', 'Y', 'K'};
  return icc.size() >= 128 && std::ranges::equal(icc.subspan(16, 4), kCmyk);
}

bool InkDecoder::takes(const StreamInfo& stream) {
  return has_inks(stream.color) && is_ink_profile(picture_content(stream).icc);
}

Result<ProfileConverter> InkDecoder::converter(const StreamInfo& stream) {
  const std::vector<std::uint8_t> icc = picture_content(stream).icc;
  const bool is_inverted = stream.color != ColorModel::cmyk;
  const std::lock_guard lock(mutex_);
  if (!converter_ || icc != icc_ || is_inverted != is_inverted_) {
    ZR_LET(made, ProfileConverter::create_for_inks(icc, is_inverted));
    converter_ = std::move(made);
    icc_ = icc;
    is_inverted_ = is_inverted;
  }
  return *converter_;
}

Result<DecodeReport> InkDecoder::decode(Decoder& decoder, std::span<const std::byte> jpeg,
                                        const StreamInfo& stream, Frame& out) {
  ZR_LET(found, converter(stream));
  Frame inks;
  ZR_LET(report, decoder.decode(jpeg, PixelFormat::cmyk32, inks));
  ZR_TRY(out.reshape(PixelFormat::rgb24, inks.width(), inks.height()));
  found.convert(std::as_const(inks).view(), out.view());
  return report;
}

void ProfileConverter::convert(const FrameView& frame) const { convert(frame, frame); }

#ifdef ZERORUN_HAVE_LCMS
namespace {

using Profile = std::shared_ptr<void>;
Profile owned(cmsHPROFILE profile) {
  return {profile, [](void* p) {
            if (p != nullptr) cmsCloseProfile(p);
          }};
}

/// Grey samples stay grey: the D50 tone curve of sRGB.
Profile srgb_gray() {
  const double kSrgb[] = {2.4, 1 / 1.055, 0.055 / 1.055, 1 / 12.92, 0.04045};
  cmsToneCurve* curve = cmsBuildParametricToneCurve(nullptr, 4, kSrgb);
  Profile profile = owned(cmsCreateGrayProfile(cmsD50_xyY(), curve));
  cmsFreeToneCurve(curve);
  return profile;
}

/// Makes the transform from samples of `from_type`, which the profile describes, to those of `to`.
Result<std::shared_ptr<void>> make_transform(std::span<const std::uint8_t> icc,
                                             cmsColorSpaceSignature space,
                                             cmsUInt32Number from_type, const Profile& to,
                                             cmsUInt32Number to_type) {
  const Profile from =
      owned(cmsOpenProfileFromMem(icc.data(), static_cast<cmsUInt32Number>(icc.size())));
  if (!from) return Status(Errc::bad_input, "the ICC profile is damaged");
  if (cmsGetColorSpace(from.get()) != space)
    return Status(Errc::bad_input, "the ICC profile is not for these samples");
  // No cache: it would make calls of several threads wait for nothing, and is not safe there.
  cmsHTRANSFORM made =
      cmsCreateTransform(from.get(), from_type, to.get(), to_type, INTENT_RELATIVE_COLORIMETRIC,
                         cmsFLAGS_BLACKPOINTCOMPENSATION | cmsFLAGS_NOCACHE);
  if (made == nullptr) return Status(Errc::bad_input, "the ICC profile cannot be used");
  return std::shared_ptr<void>(made, [](void* transform) { cmsDeleteTransform(transform); });
}

}  // namespace

Result<ProfileConverter> ProfileConverter::create(std::span<const std::uint8_t> icc,
                                                  PixelFormat format) {
  const bool gray = format == PixelFormat::gray8;
  const cmsUInt32Number type = gray ? TYPE_GRAY_8 : TYPE_RGB_8;
  ProfileConverter converter;
  ZR_LET(made, make_transform(icc, gray ? cmsSigGrayData : cmsSigRgbData, type,
                              gray ? srgb_gray() : owned(cmsCreate_sRGBProfile()), type));
  converter.transform_ = made;
  return converter;
}

Result<ProfileConverter> ProfileConverter::create_for_inks(std::span<const std::uint8_t> icc,
                                                           bool is_inverted) {
  ProfileConverter converter;
  ZR_LET(made, make_transform(icc, cmsSigCmykData, is_inverted ? TYPE_CMYK_8_REV : TYPE_CMYK_8,
                              owned(cmsCreate_sRGBProfile()), TYPE_RGB_8));
  converter.transform_ = made;
  return converter;
}

void ProfileConverter::convert(const ConstFrameView& in, const FrameView& out) const {
  const ConvertTimer timer;
  for (int row = 0; row < out.height; ++row)
    cmsDoTransform(transform_.get(), row_of(in, 0, row), row_of(out, 0, row),
                   static_cast<cmsUInt32Number>(out.width));
}
#else
Result<ProfileConverter> ProfileConverter::create(std::span<const std::uint8_t>, PixelFormat) {
  return create_for_inks({}, false);
}
Result<ProfileConverter> ProfileConverter::create_for_inks(std::span<const std::uint8_t>, bool) {
  return Status(Errc::not_built, "conversion by ICC profiles needs lcms2 (liblcms2-dev)");
}
void ProfileConverter::convert(const ConstFrameView&, const FrameView&) const {}
#endif

}  // namespace zerorun::io
