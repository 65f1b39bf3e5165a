// Conversion from the space of an ICC profile to sRGB, by lcms2.
// SPDX-License-Identifier: MIT
#include "codec/base/try.hpp"
#include "io/samples/frame_convert.hpp"
#include "io/samples/pixel_pack.hpp"
#include "zerorun/convert.hpp"

#ifdef ZERORUN_HAVE_LCMS
#include <lcms2.h>
#endif

namespace zerorun::io {

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

}  // namespace

Result<ProfileConverter> ProfileConverter::create(std::span<const std::uint8_t> icc,
                                                  PixelFormat format) {
  const Profile from =
      owned(cmsOpenProfileFromMem(icc.data(), static_cast<cmsUInt32Number>(icc.size())));
  if (!from) return Status(Errc::bad_input, "the ICC profile is damaged");
  const bool gray = format == PixelFormat::gray8;
  const cmsColorSpaceSignature space = cmsGetColorSpace(from.get());
  if (space != (gray ? cmsSigGrayData : cmsSigRgbData))
    return Status(Errc::bad_input, "the ICC profile is not for these samples");
  const Profile to = gray ? srgb_gray() : owned(cmsCreate_sRGBProfile());
  const cmsUInt32Number type = gray ? TYPE_GRAY_8 : TYPE_RGB_8;
  // No cache: it would make calls of several threads wait for nothing, and is not safe there.
  cmsHTRANSFORM made =
      cmsCreateTransform(from.get(), type, to.get(), type, INTENT_RELATIVE_COLORIMETRIC,
                         cmsFLAGS_BLACKPOINTCOMPENSATION | cmsFLAGS_NOCACHE);
  if (made == nullptr) return Status(Errc::bad_input, "the ICC profile cannot be used");
  ProfileConverter converter;
  converter.transform_ = {made, [](void* transform) { cmsDeleteTransform(transform); }};
  return converter;
}

void ProfileConverter::convert(const FrameView& frame) const {
  const ConvertTimer timer;
  for (int row = 0; row < frame.height; ++row) {
    std::uint8_t* line = row_of(frame, 0, row);
    cmsDoTransform(transform_.get(), line, line, static_cast<cmsUInt32Number>(frame.width));
  }
}
#else
Result<ProfileConverter> ProfileConverter::create(std::span<const std::uint8_t>, PixelFormat) {
  return Status(Errc::not_built, "conversion by ICC profiles needs lcms2 (liblcms2-dev)");
}
void ProfileConverter::convert(const FrameView&) const {}
#endif

}  // namespace zerorun::io
