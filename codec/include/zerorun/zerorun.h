/* The C interface of zerorun: for programs in C, and for other languages through their FFI.
 * SPDX-License-Identifier: MIT
 *
 * Structs begin with struct_size, which the caller sets to sizeof; any other member may be 0, which
 * selects its default. So a program also works with a later library, whose structs are longer.
 *
 *   zerorun_encode_params params = {.struct_size = sizeof params};
 *   params.quality = 85;
 *
 * Calls return a zerorun_status. Its message is in the handle (zerorun_encoder_error() and the
 * like) until the next call with that handle, or in the zerorun_error that the caller passes where
 * there is no handle yet. A null handle is ZERORUN_INVALID_ARGUMENT. A call that fails to create a
 * handle sets *out to null. The library never throws, prints or aborts.
 *
 * Threads: one thread at a time uses a handle, except for zerorun_async_encoder and _decoder;
 * different handles are independent. Functions without a handle are thread-safe.
 *
 * Pointers are to host memory unless a comment says device memory. Pointers to params, options,
 * reports and errors may be null; so may handles that are destroyed. `stream` is a cudaStream_t. */
#ifndef ZERORUN_ZERORUN_H
#define ZERORUN_ZERORUN_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
#ifdef __GNUC__
#pragma GCC visibility push(default) /* what the shared library exports */
#endif

/* ---- outcomes: numbers never change their meaning; hundreds are groups -------------------- */

typedef int32_t zerorun_status;
enum {
  ZERORUN_OK = 0,
  ZERORUN_NOT_YET = 1, /* receive: nothing is finished */
  ZERORUN_END = 2,     /* receive: finish was called and everything has been received */

  /* The caller's arguments */
  ZERORUN_INVALID_ARGUMENT = 100,
  ZERORUN_INVALID_FRAME = 101,
  ZERORUN_ALREADY_FINISHED = 102,
  /* The stream breaks ITU-T T.81 */
  ZERORUN_NOT_JPEG = 200,
  ZERORUN_TRUNCATED = 201,
  ZERORUN_BAD_MARKER = 202,
  ZERORUN_BAD_SEGMENT_LENGTH = 203,
  ZERORUN_BAD_FRAME_HEADER = 204,
  ZERORUN_BAD_SCAN_HEADER = 205,
  ZERORUN_BAD_QUANT_TABLE = 206,
  ZERORUN_BAD_HUFFMAN_TABLE = 207,
  ZERORUN_MISSING_TABLE = 208,
  ZERORUN_MISSING_IMAGE = 209,
  ZERORUN_DUPLICATE_FRAME = 210,
  ZERORUN_BAD_HUFFMAN_CODE = 211,
  ZERORUN_RUN_PAST_BLOCK_END = 212,
  ZERORUN_RESTART_OUT_OF_ORDER = 213,
  ZERORUN_EXTRANEOUS_DATA = 214,
  /* Legal, but not decoded by zerorun */
  ZERORUN_PROGRESSIVE = 300,
  ZERORUN_ARITHMETIC = 301,
  ZERORUN_LOSSLESS = 302,
  ZERORUN_HIERARCHICAL = 303,
  ZERORUN_SAMPLE_PRECISION = 304,
  ZERORUN_COMPONENT_COUNT = 305,
  ZERORUN_JPEG_LS = 306,
  ZERORUN_DEFERRED_HEIGHT = 307,
  ZERORUN_PIXEL_FORMAT = 308,
  /* Limits and memory */
  ZERORUN_OUTPUT_TOO_SMALL = 400,
  ZERORUN_OUT_OF_MEMORY = 401,
  ZERORUN_TOO_MANY_PIXELS = 402,
  ZERORUN_TOO_MANY_SCANS = 403,
  ZERORUN_TOO_MUCH_HEADER = 404,
  ZERORUN_QUEUE_FULL = 405,
  ZERORUN_SIZE_NOT_REACHED = 406,
  ZERORUN_QUALITY_NOT_REACHED = 407,
  /* Devices */
  ZERORUN_NO_DEVICE = 500,
  ZERORUN_DEVICE_UNSUITABLE = 501,
  ZERORUN_DEVICE_FAILURE = 502,
  ZERORUN_CUDA_NOT_BUILT = 503
};

typedef struct zerorun_error {
  size_t struct_size;
  zerorun_status code;
  int64_t byte_offset;      /* in the data passed to the call; -1: unknown */
  int64_t restart_interval; /* counted from 0; -1: unknown */
  char message[256];        /* what happened, where, what to do; ends with 0 */
} zerorun_error;

const char* zerorun_version(void);
/* Stable lower-case name of a code, for example "bad_huffman_code"; "unknown" for other numbers. */
const char* zerorun_status_name(zerorun_status code);

/* ---- frames ------------------------------------------------------------------------------- */

/* 8 bits a sample; YCbCr is full range BT.601 (JFIF). Planes as in zerorun/frame.hpp. */
enum {
  ZERORUN_GRAY8 = 0,
  ZERORUN_YUV420P = 1,
  ZERORUN_YUV422P = 2,
  ZERORUN_YUV444P = 3,
  ZERORUN_YUV440P = 4,
  ZERORUN_YUV411P = 5,
  ZERORUN_NV12 = 6,
  ZERORUN_NV21 = 7,
  ZERORUN_YUYV = 8,
  ZERORUN_UYVY = 9,
  ZERORUN_RGB24 = 10,
  ZERORUN_BGR24 = 11,
  ZERORUN_RGBX32 = 12,
  ZERORUN_BGRX32 = 13,
  ZERORUN_XRGB32 = 14,
  ZERORUN_XBGR32 = 15,
  ZERORUN_CMYK32 = 16 /* for decoding CMYK and YCCK alone */
};

/* The caller's memory; encoders only read it. The stride is the distance in bytes from one row to
 * the next; it may be negative. */
typedef struct zerorun_frame {
  size_t struct_size;
  int32_t format;        /* ZERORUN_GRAY8 ... */
  int32_t width, height; /* pixels, 1..65535 */
  uint8_t* data[3];
  ptrdiff_t stride_bytes[3];
} zerorun_frame;

/* ---- choices ------------------------------------------------------------------------------ */

enum { ZERORUN_BACKEND_AUTOMATIC = 0, ZERORUN_BACKEND_CPU = 1, ZERORUN_BACKEND_CUDA = 2 };

/* Code of the CPU backend. BEST: what the environment's ZERORUN_CPU names, else the best that the
 * machine has. Another one that the machine lacks is ZERORUN_INVALID_ARGUMENT. */
enum {
  ZERORUN_INSTRUCTION_SET_BEST = 0,
  ZERORUN_INSTRUCTION_SET_SCALAR = 1,
  ZERORUN_INSTRUCTION_SET_SSE4 = 2,
  ZERORUN_INSTRUCTION_SET_AVX2 = 3,
  ZERORUN_INSTRUCTION_SET_AVX512 = 4,
  ZERORUN_INSTRUCTION_SET_NEON = 5
};

enum {
  ZERORUN_SUBSAMPLING_AS_FRAME = 0, /* 4:2:0 for RGB */
  ZERORUN_SUBSAMPLING_444 = 1,
  ZERORUN_SUBSAMPLING_422 = 2,
  ZERORUN_SUBSAMPLING_420 = 3,
  ZERORUN_SUBSAMPLING_440 = 4,
  ZERORUN_SUBSAMPLING_411 = 5,
  ZERORUN_SUBSAMPLING_GRAY = 6
};

enum { ZERORUN_HUFFMAN_STANDARD = 0, ZERORUN_HUFFMAN_OPTIMAL = 1, ZERORUN_HUFFMAN_TRAINED = 2 };

enum { /* what coefficients are decided for; all but EXACT make smaller files at equal quality */
       ZERORUN_TUNE_EXACT = 0, /* the bytes of libjpeg-turbo */
       ZERORUN_TUNE_PHOTO = 1,
       ZERORUN_TUNE_TEXT = 2,
       ZERORUN_TUNE_PSNR = 3
};
enum { ZERORUN_EFFORT_FAST = 0, ZERORUN_EFFORT_BEST = 1 };
enum {                               /* quantisation tables, scaled by quality */
       ZERORUN_TABLES_AUTOMATIC = 0, /* as suits the tuning */
       ZERORUN_TABLES_ANNEX_K = 1,
       ZERORUN_TABLES_FLAT = 2,
       ZERORUN_TABLES_FFMPEG = 3,
       ZERORUN_TABLES_TUNED = 4
};

enum {
  ZERORUN_RESTART_AUTOMATIC = 0,
  ZERORUN_RESTART_NONE = 1,
  ZERORUN_RESTART_MCUS = 2,
  ZERORUN_RESTART_MCU_ROWS = 3
};

/* ---- encoder: frames to JPEG streams ------------------------------------------------------ */

/* A marker segment for every stream: 0xE0..0xEF (APPn) or 0xFE (COM). */
typedef struct zerorun_segment {
  int32_t marker;
  const void* payload;
  size_t payload_size; /* at most 65533 */
} zerorun_segment;

typedef struct zerorun_encode_params {
  size_t struct_size;
  int32_t quality;       /* 1..100 on libjpeg's scale; 0: 90 */
  int32_t subsampling;   /* ZERORUN_SUBSAMPLING_... */
  int32_t huffman;       /* ZERORUN_HUFFMAN_... */
  int32_t restart;       /* ZERORUN_RESTART_... */
  int32_t restart_count; /* for MCUS and MCU_ROWS */
  int32_t backend;       /* ZERORUN_BACKEND_... */
  int32_t device;        /* CUDA device index */
  int32_t threads;       /* CPU threads for one frame; 0: usable cores */
  int32_t no_jfif_header;
  int32_t pixel_aspect_x, pixel_aspect_y; /* both 0: 1 to 1 */
  /* 64 entries 1..255 in row order, instead of quality; null: none */
  const uint16_t *luma_table, *chroma_table;
  const zerorun_segment* segments;
  size_t segment_count;
  int32_t instruction_set; /* ZERORUN_INSTRUCTION_SET_... */
  int32_t tune;            /* ZERORUN_TUNE_... */
  int32_t effort;          /* ZERORUN_EFFORT_... */
  int32_t tables;          /* ZERORUN_TABLES_... */
  int32_t note_setting;    /* not 0: a COM segment says what each picture was coded with */
  /* These four as in SizeGoal (zerorun/encoder.hpp), and not with own tables; 0: none. What cannot
   * be so small or so good is ZERORUN_SIZE_NOT_REACHED or ZERORUN_QUALITY_NOT_REACHED. */
  size_t target_bytes, max_bytes;
  double target_psnr, target_ssim;
  int32_t progressive; /* not 0: scans chosen for size, as EncodeParams::progressive */
} zerorun_encode_params;

typedef struct zerorun_encoder zerorun_encoder;

zerorun_status zerorun_encoder_create(const zerorun_encode_params* params, zerorun_encoder** out,
                                      zerorun_error* error);
void zerorun_encoder_destroy(zerorun_encoder* encoder);

/* Encodes into memory of the handle: *jpeg is valid until the next call with it. */
zerorun_status zerorun_encoder_encode(zerorun_encoder* encoder, const zerorun_frame* frame,
                                      const uint8_t** jpeg, size_t* size);
/* Encodes into the caller's memory. ZERORUN_OUTPUT_TOO_SMALL: `out` holds no stream. */
zerorun_status zerorun_encoder_encode_to(zerorun_encoder* encoder, const zerorun_frame* frame,
                                         uint8_t* out, size_t capacity, size_t* size);
/* A size that no stream of such a frame exceeds. */
zerorun_status zerorun_max_encoded_bytes(const zerorun_encode_params* params, int32_t format,
                                         int32_t width, int32_t height, size_t* size);
/* For all later frames. */
zerorun_status zerorun_encoder_set_quality(zerorun_encoder* encoder, int32_t quality);
/* target_bytes and max_bytes of all later frames, without a target of quality. */
zerorun_status zerorun_encoder_set_size(zerorun_encoder* encoder, size_t target_bytes,
                                        size_t max_bytes);
/* target_psnr and target_ssim of all later frames, without sizes. */
zerorun_status zerorun_encoder_set_target(zerorun_encoder* encoder, double target_psnr,
                                          double target_ssim);
/* What the last frame was coded with: `thrift` is 0 without a size, and up to 1024 where
 * coefficients are dropped to reach it. Any pointer may be null. */
zerorun_status zerorun_encoder_setting(const zerorun_encoder* encoder, double* quality,
                                       int32_t* thrift, int32_t* codings);
/* The PSNR or SSIM of the last frame, if it had such a target; may be infinity. Else 0. */
double zerorun_encoder_reached(const zerorun_encoder* encoder);
/* What AUTOMATIC became: ZERORUN_BACKEND_CPU or _CUDA; AUTOMATIC for null. */
int32_t zerorun_encoder_backend(const zerorun_encoder* encoder);
/* The error of the last call with this handle; null for null. */
const zerorun_error* zerorun_encoder_error(const zerorun_encoder* encoder);

/* ---- asynchronous encoder: several frames at a time, received in order -------------------- */

/* Any thread may submit at any time; one thread at a time receives. */
typedef struct zerorun_async_encoder zerorun_async_encoder;

typedef struct zerorun_async_params {
  size_t struct_size;
  int32_t lanes; /* frames that are coded at a time; 0: a number that suits the backend */
  int32_t depth; /* most frames submitted and not yet received; 0: twice the lanes */
  /* AsyncEncodeParams::devices (zerorun/async.hpp), instead of the device of the other params */
  const int32_t* devices; /* null: one device, or, with device_count -1, all that are usable */
  int32_t device_count;
} zerorun_async_params;

typedef struct zerorun_submit_options {
  size_t struct_size;
  uint64_t tag;                   /* comes back with the frame */
  int32_t quality;                /* of this frame; 0: that of the encoder */
  int32_t wait;                   /* not 0: wait until another thread makes room by receiving */
  size_t target_bytes, max_bytes; /* of this frame; all four 0: those of the encoder */
  double target_psnr, target_ssim;
} zerorun_submit_options;

typedef struct zerorun_encoded {
  size_t struct_size;
  int64_t number; /* counted from 0 in the order of submission */
  uint64_t tag;
  const uint8_t* jpeg; /* valid until the next receive; null after an error */
  size_t size;
  const zerorun_error* error; /* of this frame alone, valid as long as jpeg; null: none */
  double quality;             /* these three as of zerorun_encoder_setting() */
  int32_t thrift, codings;
  double reached; /* as of zerorun_encoder_reached() */
} zerorun_encoded;

/* The threads of `encode` are those of one lane; CPU: 0 means 1. */
zerorun_status zerorun_async_encoder_create(const zerorun_encode_params* encode,
                                            const zerorun_async_params* async,
                                            zerorun_async_encoder** out, zerorun_error* error);
/* Drops the frames in flight; returns when the library no longer reads any of them. */
void zerorun_async_encoder_destroy(zerorun_async_encoder* encoder);

/* Keep the frame's memory unchanged until the frame is received. Receive reports a frame that
 * cannot be encoded. Errors, after which nothing was submitted: ZERORUN_QUEUE_FULL,
 * ZERORUN_ALREADY_FINISHED, ZERORUN_INVALID_ARGUMENT. */
zerorun_status zerorun_async_encoder_submit(zerorun_async_encoder* encoder,
                                            const zerorun_frame* frame,
                                            const zerorun_submit_options* options,
                                            zerorun_error* error);
/* ZERORUN_OK: *out is the oldest frame; see its error. ZERORUN_NOT_YET (only without `wait`), or
 * ZERORUN_END. With `wait` and no frame in flight it waits for another thread to submit one. */
zerorun_status zerorun_async_encoder_receive(zerorun_async_encoder* encoder, int32_t wait,
                                             zerorun_encoded* out);
/* As the members of AsyncEncoder (zerorun/async.hpp). */
zerorun_status zerorun_async_encoder_finish(zerorun_async_encoder* encoder);
zerorun_status zerorun_async_encoder_discard(zerorun_async_encoder* encoder);
zerorun_status zerorun_async_encoder_set_quality(zerorun_async_encoder* encoder, int32_t quality);
int32_t zerorun_async_encoder_in_flight(const zerorun_async_encoder* encoder);
int32_t zerorun_async_encoder_depth(const zerorun_async_encoder* encoder);
int32_t zerorun_async_encoder_backend(const zerorun_async_encoder* encoder);
/* The device that failed as number `which`, counted from 0 in the order of the failures, and why.
 * ZERORUN_END: no more devices failed so far. `device` may be null. */
zerorun_status zerorun_async_encoder_lost_device(const zerorun_async_encoder* encoder,
                                                 int32_t which, int32_t* device,
                                                 zerorun_error* why);

/* ---- decoder: JPEG streams to frames ------------------------------------------------------ */

/* A rectangle of pixels; all 0: the whole picture. */
typedef struct zerorun_region {
  int32_t x, y, width, height;
} zerorun_region;

typedef struct zerorun_decode_params {
  size_t struct_size;
  int32_t nearest_upsampling; /* 0: libjpeg's "fancy" triangle filter */
  int32_t strict;             /* not 0: damage is an error and not concealed */
  int32_t backend, device, threads;
  int32_t max_scans;        /* 0: 100 */
  int64_t max_pixels;       /* 0: 2^27 */
  int64_t max_header_bytes; /* 0: 64 MiB */
  int32_t instruction_set;  /* ZERORUN_INSTRUCTION_SET_... */
  int32_t scale;            /* see zerorun_decoder_select(); 0: 1 */
  zerorun_region region;
} zerorun_decode_params;

typedef struct zerorun_decode_report {
  size_t struct_size;
  size_t bytes_consumed; /* to the end of EOI */
  int64_t intervals;
  int64_t concealed_intervals;  /* damaged restart intervals */
  zerorun_status first_problem; /* the first damage or oddity; ZERORUN_OK: none */
  int64_t cpu_scans;            /* scans that the CUDA backend left to the CPU */
} zerorun_decode_report;

typedef struct zerorun_decoder zerorun_decoder;

zerorun_status zerorun_decoder_create(const zerorun_decode_params* params, zerorun_decoder** out,
                                      zerorun_error* error);
void zerorun_decoder_destroy(zerorun_decoder* decoder);

/* For the images from here on, as Decoder::select() (zerorun/decoder.hpp): the picture at
 * 1 / `scale`, and `region` of that; null: all of it. */
zerorun_status zerorun_decoder_select(zerorun_decoder* decoder, int32_t scale,
                                      const zerorun_region* region);
/* Decodes into the caller's frame, which has the size of the image (see zerorun_inspect()), or of
 * what zerorun_decoder_select() wants of it, and any format. */
zerorun_status zerorun_decoder_decode_to(zerorun_decoder* decoder, const void* jpeg, size_t size,
                                         const zerorun_frame* out, zerorun_decode_report* report);
/* Decodes into memory of the handle, valid until the next call with it. The caller sets
 * out->struct_size; the call fills the rest of *out. */
zerorun_status zerorun_decoder_decode(zerorun_decoder* decoder, const void* jpeg, size_t size,
                                      int32_t format, zerorun_frame* out,
                                      zerorun_decode_report* report);
int32_t zerorun_decoder_backend(const zerorun_decoder* decoder);
const zerorun_error* zerorun_decoder_error(const zerorun_decoder* decoder);

/* ---- asynchronous decoder: several images at a time, received in order -------------------- */

/* Its functions work as those of zerorun_async_encoder. */
typedef struct zerorun_async_decoder zerorun_async_decoder;

typedef struct zerorun_decode_options {
  size_t struct_size;
  uint64_t tag;              /* comes back with the frame */
  const zerorun_frame* into; /* the caller's frame, as for zerorun_decoder_decode_to(), written
                                until the image is received (the struct itself is read at once);
                                null: memory of the handle */
  int32_t wait;              /* not 0: wait until another thread makes room by receiving */
} zerorun_decode_options;

typedef struct zerorun_decoded {
  size_t struct_size;
  int64_t number; /* counted from 0 in the order of submission */
  uint64_t tag;
  /* Valid until the next receive. After an error `frame` and `report` are null. With `into`,
   * `frame` has no meaning. */
  const zerorun_frame* frame;
  const zerorun_decode_report* report;
  const zerorun_error* error; /* of this image alone; null: none */
} zerorun_decoded;

/* `format` is that of all frames but `into`. */
zerorun_status zerorun_async_decoder_create(const zerorun_decode_params* decode,
                                            const zerorun_async_params* async, int32_t format,
                                            zerorun_async_decoder** out, zerorun_error* error);
void zerorun_async_decoder_destroy(zerorun_async_decoder* decoder);
/* Keep the bytes unchanged until the image is received. */
zerorun_status zerorun_async_decoder_submit(zerorun_async_decoder* decoder, const void* jpeg,
                                            size_t size, const zerorun_decode_options* options,
                                            zerorun_error* error);
zerorun_status zerorun_async_decoder_receive(zerorun_async_decoder* decoder, int32_t wait,
                                             zerorun_decoded* out);
zerorun_status zerorun_async_decoder_finish(zerorun_async_decoder* decoder);
zerorun_status zerorun_async_decoder_discard(zerorun_async_decoder* decoder);
int32_t zerorun_async_decoder_in_flight(const zerorun_async_decoder* decoder);
int32_t zerorun_async_decoder_depth(const zerorun_async_decoder* decoder);
int32_t zerorun_async_decoder_backend(const zerorun_async_decoder* decoder);
zerorun_status zerorun_async_decoder_lost_device(const zerorun_async_decoder* decoder,
                                                 int32_t which, int32_t* device,
                                                 zerorun_error* why);

/* ---- transcoder: codes a stream again without loss ----------------------------------------- */

enum { ZERORUN_SCANS_KEEP = 0, ZERORUN_SCANS_BASELINE = 1, ZERORUN_SCANS_PROGRESSIVE = 2 };
/* Clockwise; UPRIGHT: as EXIF's orientation tells, which becomes 1. */
enum {
  ZERORUN_ROTATE_NONE = 0,
  ZERORUN_ROTATE_90 = 1,
  ZERORUN_ROTATE_180 = 2,
  ZERORUN_ROTATE_270 = 3,
  ZERORUN_ROTATE_UPRIGHT = 4
};
enum { ZERORUN_FLIP_NONE = 0, ZERORUN_FLIP_HORIZONTAL = 1, ZERORUN_FLIP_VERTICAL = 2 };
/* Blocks at an edge that are no whole MCU stay there, are left out, or are refused. */
enum { ZERORUN_EDGES_KEEP = 0, ZERORUN_EDGES_TRIM = 1, ZERORUN_EDGES_REFUSE = 2 };

/* As TranscodeParams and LosslessTransform in zerorun/transcoder.hpp. */
typedef struct zerorun_transcode_params {
  size_t struct_size;
  int32_t scans;            /* ZERORUN_SCANS_... */
  int32_t optimize;         /* not 0: codes again also where nothing else is asked */
  int32_t restart_interval; /* MCUs; 0: as in the stream; -1: no markers */
  int32_t rotate, flip;     /* ZERORUN_ROTATE_..., ZERORUN_FLIP_..., in this order */
  zerorun_region crop;      /* of the turned picture */
  int32_t gray;             /* not 0: luma alone */
  int32_t edges;            /* ZERORUN_EDGES_... */
  int32_t verify;           /* not 0: compares the coefficients of both streams */
  int32_t strict;           /* not 0: oddities are errors; damage always is */
  int32_t threads;          /* for one image; 0: all cores */
  int32_t max_scans;        /* 0: 100 */
  int64_t max_pixels;       /* 0: 2^27 */
  int64_t max_header_bytes; /* 0: 64 MiB */
  int32_t instruction_set;  /* ZERORUN_INSTRUCTION_SET_... */
  int32_t backend;          /* ZERORUN_BACKEND_... */
  int32_t device;           /* CUDA device index */
} zerorun_transcode_params;

typedef struct zerorun_transcode_report {
  size_t struct_size;
  size_t bytes_consumed;        /* to the end of EOI */
  int32_t unchanged;            /* not 0: the stream is what it was */
  int32_t width, height;        /* of the new stream */
  zerorun_status first_problem; /* an oddity; ZERORUN_OK: none */
  int32_t of_gpu;               /* not 0: a GPU coded the scan */
} zerorun_transcode_report;

typedef struct zerorun_transcoder zerorun_transcoder;

zerorun_status zerorun_transcoder_create(const zerorun_transcode_params* params,
                                         zerorun_transcoder** out, zerorun_error* error);
void zerorun_transcoder_destroy(zerorun_transcoder* transcoder);
/* *out is memory of the handle, valid until the next call with it. */
zerorun_status zerorun_transcoder_transcode(zerorun_transcoder* transcoder, const void* jpeg,
                                            size_t size, const uint8_t** out, size_t* out_size,
                                            zerorun_transcode_report* report);
const zerorun_error* zerorun_transcoder_error(const zerorun_transcoder* transcoder);

/* ---- what a stream is --------------------------------------------------------------------- */

enum {
  ZERORUN_COLOR_GRAY = 0,
  ZERORUN_COLOR_YCBCR = 1,
  ZERORUN_COLOR_RGB = 2,
  ZERORUN_COLOR_CMYK = 3,          /* 0 is no ink */
  ZERORUN_COLOR_INVERTED_CMYK = 4, /* Adobe's: 255 is no ink */
  ZERORUN_COLOR_YCCK = 5           /* Adobe's: decoded to inverted CMYK */
};

typedef struct zerorun_info {
  size_t struct_size;
  int32_t width, height;
  int32_t components;            /* 1, 3 or 4 */
  int32_t subsampling;           /* ZERORUN_SUBSAMPLING_...; 0: other factors */
  int32_t rgb;                   /* components are R, G, B */
  int32_t extended;              /* SOF1 */
  int32_t restart_interval_mcus; /* 0: none */
  int32_t quality;               /* on libjpeg's scale; 0: other tables */
  int32_t exif_orientation;      /* 1..8 */
  int32_t pixel_aspect_x, pixel_aspect_y;
  size_t header_bytes; /* offset of the first entropy-coded byte */
  int32_t progressive; /* SOF2 */
  int32_t color;       /* ZERORUN_COLOR_... */
} zerorun_info;

/* Reads the headers up to the first scan. */
zerorun_status zerorun_inspect(const void* jpeg, size_t size, zerorun_info* info,
                               zerorun_error* error);

/* ---- CUDA --------------------------------------------------------------------------------- */

/* ZERORUN_OK if the device can be used, else the reason why not. */
zerorun_status zerorun_check_device(int32_t device, zerorun_error* error);

/* Host memory that a GPU copies fastest. Allocation is slow: keep and reuse it. */
zerorun_status zerorun_allocate_pinned(size_t size, void** memory, zerorun_error* error);
void zerorun_free_pinned(void* memory);

/* Frames and streams in device memory, on the caller's stream. Without CUDA in the build all of
 * these functions return ZERORUN_CUDA_NOT_BUILT. */
typedef struct zerorun_device_encoder zerorun_device_encoder;
typedef struct zerorun_device_decoder zerorun_device_decoder;

/* Takes target_bytes and max_bytes; target_psnr and target_ssim are ZERORUN_INVALID_ARGUMENT. */
zerorun_status zerorun_device_encoder_create(const zerorun_encode_params* params,
                                             zerorun_device_encoder** out, zerorun_error* error);
/* Waits for the work that the encoder enqueued. */
void zerorun_device_encoder_destroy(zerorun_device_encoder* encoder);
/* Enqueues the coding of a frame. Its planes, `out` and `device_size` (aligned to 8) are device
 * memory; keep them until the work enqueued on `stream` has completed. If *device_size > capacity
 * then, the JPEG was too long and was not written. It is 0 if no stream of the frame is as small as
 * target_bytes or max_bytes. ZERORUN_INVALID_ARGUMENT if `stream` is being captured. */
zerorun_status zerorun_device_encoder_encode(zerorun_device_encoder* encoder,
                                             const zerorun_frame* frame, uint8_t* out,
                                             size_t capacity, size_t* device_size, void* stream);
/* The same for `count` frames (0 is allowed); each array has one element a frame, and the outputs
 * do not overlap. Consecutive frames of one format and size share kernel launches, which saves time
 * with small frames; with target_bytes or max_bytes they go one by one. Everything is checked
 * before the first frame is enqueued; after ZERORUN_OUT_OF_MEMORY and ZERORUN_DEVICE_FAILURE some
 * frames may be in work: keep their memory. */
zerorun_status zerorun_device_encoder_encode_batch(zerorun_device_encoder* encoder, size_t count,
                                                   const zerorun_frame* const* frames,
                                                   uint8_t* const* outs, const size_t* capacities,
                                                   size_t* const* device_sizes, void* stream);

/* A stream whose size is known, and memory for it. */
typedef struct zerorun_encoded_stream {
  size_t frame; /* the index of its frame in the batch */
  size_t size;  /* 0: no stream of the frame is as small as target_bytes or max_bytes */
  uint8_t* out; /* host memory of `size` bytes; null: the stream is not wanted */
} zerorun_encoded_stream;
/* Sets `out` of some streams. Any status but ZERORUN_OK ends the batch, which returns it. */
typedef zerorun_status (*zerorun_stream_memory)(void* user, zerorun_encoded_stream* streams,
                                                size_t count);
/* Encodes `count` device frames of any formats and sizes into host memory, and returns when all
 * streams are there, as DeviceEncoder::encode_to_host() (zerorun/cuda.hpp). `memory` is called by
 * this thread, with each stream once, in groups and in any order; it must not use this encoder. */
zerorun_status zerorun_device_encoder_encode_to_host(zerorun_device_encoder* encoder, size_t count,
                                                     const zerorun_frame* const* frames,
                                                     zerorun_stream_memory memory, void* user,
                                                     void* stream);
const zerorun_error* zerorun_device_encoder_error(const zerorun_device_encoder* encoder);

zerorun_status zerorun_device_decoder_create(const zerorun_decode_params* params,
                                             zerorun_device_decoder** out, zerorun_error* error);
void zerorun_device_decoder_destroy(zerorun_device_decoder* decoder);
/* As zerorun_decoder_select(). */
zerorun_status zerorun_device_decoder_select(zerorun_device_decoder* decoder, int32_t scale,
                                             const zerorun_region* region);
/* Decodes a stream in host memory into device planes. The report is complete when the call returns,
 * the frame when the work enqueued on `stream` has completed. */
zerorun_status zerorun_device_decoder_decode(zerorun_device_decoder* decoder, const void* jpeg,
                                             size_t size, const zerorun_frame* out, void* stream,
                                             zerorun_decode_report* report);
/* The same for a stream in device memory. */
zerorun_status zerorun_device_decoder_decode_device(zerorun_device_decoder* decoder,
                                                    const void* device_jpeg, size_t size,
                                                    const zerorun_frame* out, void* stream,
                                                    zerorun_decode_report* report);
const zerorun_error* zerorun_device_decoder_error(const zerorun_device_decoder* decoder);

#ifdef __GNUC__
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif

#endif
