// Encodes a grey ramp in memory to a JPEG file, in C: encode_minimal_c OUTPUT.jpg.
// SPDX-License-Identifier: MIT
#include <stdio.h>

#include <zerorun/zerorun.h>

int main(int argc, char** argv) {
  if (argc != 2) return fprintf(stderr, "usage: encode_minimal_c OUTPUT.jpg\n"), 2;
  static uint8_t pixels[480][640];
  for (int i = 0; i < 480 * 640; ++i) pixels[i / 640][i % 640] = (uint8_t)(i % 640 * 255 / 639);
  zerorun_frame frame = {.struct_size = sizeof frame, .format = ZERORUN_GRAY8, .width = 640};
  frame.height = 480;
  frame.data[0] = pixels[0];
  frame.stride_bytes[0] = 640;
  zerorun_error error = {.struct_size = sizeof error};
  zerorun_encode_params params = {.struct_size = sizeof params, .quality = 85};
  zerorun_encoder* encoder;
  if (zerorun_encoder_create(&params, &encoder, &error) != ZERORUN_OK)
    return fprintf(stderr, "encode_minimal_c: %s\n", error.message), 1;
  const uint8_t* jpeg;  // the encoder's memory
  size_t size;
  if (zerorun_encoder_encode(encoder, &frame, &jpeg, &size) != ZERORUN_OK)
    return fprintf(stderr, "encode_minimal_c: %s\n", zerorun_encoder_error(encoder)->message), 1;
  FILE* file = fopen(argv[1], "wb");
  if (!file || fwrite(jpeg, 1, size, file) != size || fclose(file) != 0)
    return perror("encode_minimal_c"), 1;
  zerorun_encoder_destroy(encoder);
  return 0;
}
