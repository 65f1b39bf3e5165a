/* The C interface from C11: encode, inspect, decode.
 * SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "zerorun/zerorun.h"

#define CHECK(condition)                                              \
  do {                                                                \
    if (!(condition)) {                                               \
      fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
      exit(1);                                                        \
    }                                                                 \
  } while (0)

enum { kWidth = 67, kHeight = 45 };

static uint8_t pixels[kHeight][3 * kWidth];

static zerorun_frame make_frame(void) {
  zerorun_frame frame = {.struct_size = sizeof frame};
  int x, y;
  for (y = 0; y < kHeight; ++y)
    for (x = 0; x < 3 * kWidth; ++x) pixels[y][x] = (uint8_t)(2 * x + 3 * y);
  frame.format = ZERORUN_RGB24;
  frame.width = kWidth;
  frame.height = kHeight;
  frame.data[0] = pixels[0];
  frame.stride_bytes[0] = 3 * kWidth;
  return frame;
}

int main(void) {
  zerorun_encode_params params = {.struct_size = sizeof params};
  zerorun_encoder* encoder = NULL;
  zerorun_decoder* decoder = NULL;
  zerorun_error error = {.struct_size = sizeof error};
  zerorun_info info = {.struct_size = sizeof info};
  zerorun_decode_report report = {.struct_size = sizeof report};
  zerorun_frame frame = make_frame();
  zerorun_frame decoded = {.struct_size = sizeof decoded};
  const uint8_t* jpeg = NULL;
  size_t size = 0;

  params.quality = 85;
  params.backend = ZERORUN_BACKEND_CPU;
  CHECK(zerorun_encoder_create(&params, &encoder, &error) == ZERORUN_OK);
  CHECK(zerorun_encoder_encode(encoder, &frame, &jpeg, &size) == ZERORUN_OK);
  CHECK(jpeg[0] == 0xFF && jpeg[1] == 0xD8 && jpeg[size - 1] == 0xD9);

  CHECK(zerorun_inspect(jpeg, size, &info, &error) == ZERORUN_OK);
  CHECK(info.width == kWidth && info.height == kHeight && info.quality == 85);
  CHECK(info.subsampling == ZERORUN_SUBSAMPLING_420);

  CHECK(zerorun_decoder_create(NULL, &decoder, &error) == ZERORUN_OK);
  CHECK(zerorun_decoder_decode(decoder, jpeg, size, ZERORUN_RGB24, &decoded, &report) ==
        ZERORUN_OK);
  CHECK(decoded.width == kWidth && decoded.height == kHeight && decoded.data[0] != NULL);
  CHECK(report.bytes_consumed == size && report.concealed_intervals == 0);

  CHECK(zerorun_decoder_decode(decoder, jpeg, 100, ZERORUN_RGB24, &decoded, NULL) != ZERORUN_OK);
  CHECK(strlen(zerorun_decoder_error(decoder)->message) > 10);

  zerorun_decoder_destroy(decoder);
  zerorun_encoder_destroy(encoder);
  return 0;
}
