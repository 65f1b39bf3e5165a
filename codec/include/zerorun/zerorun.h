/* The C interface of zerorun: for programs in C, and for other languages through their FFI.
 * SPDX-License-Identifier: MIT
 *
 * Structs begin with struct_size, which the caller sets to sizeof; every other member may be 0 and
 * then has its default. So a program keeps working with a later library, whose structs are longer.
 *
 *   zerorun_encode_params params = {.struct_size = sizeof params};
 *   params.quality = 85;
 *
 * Calls return a zerorun_status. The sentence that goes with it is in the handle
 * (zerorun_encoder_error() and its like) until the next call with that handle, or, where there is
 * no handle yet, in the zerorun_error that the caller may pass. A null handle is
 * ZERORUN_INVALID_ARGUMENT. No exception comes out of the library, and it never prints or aborts.
 *
 * Threads: a handle is used by one thread at a time, different handles by any threads at once.
 * zerorun_async_encoder and _decoder say more about themselves. Functions without a handle are
 * thread-safe.
 *
 * Host memory unless a comment says device memory. `stream` is a cudaStream_t. */
#ifndef ZERORUN_ZERORUN_H
#define ZERORUN_ZERORUN_H

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define ZERORUN_C_API __attribute__((visibility("default")))
#else
#define ZERORUN_C_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---- outcomes: numbers never change their meaning; hundreds are groups -------------------- */

typedef int32_t zerorun_status;
enum {
  ZERORUN_OK = 0,
  ZERORUN_NOT_YET = 1, /* receive: nothing is finished */
  ZERORUN_END = 2,     /* receive: finish was called and everything was received */

  ZERORUN_INVALID_ARGUMENT = 100,
  ZERORUN_INVALID_FRAME = 101,
  ZERORUN_ALREADY_FINISHED = 102,

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

  ZERORUN_PROGRESSIVE = 300,
  ZERORUN_ARITHMETIC = 301,
  ZERORUN_LOSSLESS = 302,
  ZERORUN_HIERARCHICAL = 303,
  ZERORUN_SAMPLE_PRECISION = 304,
  ZERORUN_COMPONENT_COUNT = 305,
  ZERORUN_JPEG_LS = 306,
  ZERORUN_DEFERRED_HEIGHT = 307,
  ZERORUN_PIXEL_FORMAT = 308,

  ZERORUN_OUTPUT_TOO_SMALL = 400,
  ZERORUN_OUT_OF_MEMORY = 401,
  ZERORUN_TOO_MANY_PIXELS = 402,
  ZERORUN_TOO_MANY_SCANS = 403,
  ZERORUN_TOO_MUCH_HEADER = 404,
  ZERORUN_QUEUE_FULL = 405,

  ZERORUN_NO_DEVICE = 500,
  ZERORUN_DEVICE_UNSUITABLE = 501,
  ZERORUN_DEVICE_FAILURE = 502,
  ZERORUN_CUDA_NOT_BUILT = 503
};

typedef struct zerorun_error {
  size_t struct_size;
  zerorun_status code;
  int64_t byte_offset;      /* in the data passed to the call; -1 where there is none */
  int64_t restart_interval; /* counted from 0; -1 where there is none */
  char message[256];        /* what, where, what to do; ends with 0 */
} zerorun_error;

ZERORUN_C_API const char* zerorun_version(void);
/* Stable lower-case name of a code, for example "bad_huffman_code"; "unknown" for other numbers. */
ZERORUN_C_API const char* zerorun_status_name(zerorun_status code);

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
  ZERORUN_XBGR32 = 15
};

/* The caller's memory. Encoders only read it. The stride is the distance in bytes from one row to
 * the next and may be negative. */
typedef struct zerorun_frame {
  size_t struct_size;
  int32_t format; /* ZERORUN_GRAY8 ... */
  int32_t width;  /* pixels, 1..65535 */
  int32_t height;
  uint8_t* data[3];
  ptrdiff_t stride_bytes[3];
} zerorun_frame;

/* ---- choices ------------------------------------------------------------------------------ */

enum { ZERORUN_BACKEND_AUTOMATIC = 0, ZERORUN_BACKEND_CPU = 1, ZERORUN_BACKEND_CUDA = 2 };

enum {
  ZERORUN_SUBSAMPLING_AS_FRAME = 0, /* 4:2:0 for RGB */
  ZERORUN_SUBSAMPLING_444 = 1,
  ZERORUN_SUBSAMPLING_422 = 2,
  ZERORUN_SUBSAMPLING_420 = 3,
  ZERORUN_SUBSAMPLING_440 = 4,
  ZERORUN_SUBSAMPLING_411 = 5,
  ZERORUN_SUBSAMPLING_GRAY = 6
};

enum { ZERORUN_HUFFMAN_STANDARD = 0, ZERORUN_HUFFMAN_OPTIMAL = 1 };

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
  int32_t threads;       /* CPU threads for one frame; 0: one per core */
  int32_t no_jfif_header;
  int32_t pixel_aspect_x; /* both 0: 1 to 1 */
  int32_t pixel_aspect_y;
  const uint16_t* luma_table; /* 64 entries 1..255 in row order instead of quality; may be null */
  const uint16_t* chroma_table;
  const zerorun_segment* segments;
  size_t segment_count;
  int32_t
      index; /* a scan index in APP9 segments: zerorun's CUDA decoder starts everywhere at once */
} zerorun_encode_params;

typedef struct zerorun_encoder zerorun_encoder;

/* *out is null after an error. `params` and `error` may be null, here and below. */
ZERORUN_C_API zerorun_status zerorun_encoder_create(const zerorun_encode_params* params,
                                                    zerorun_encoder** out, zerorun_error* error);
ZERORUN_C_API void zerorun_encoder_destroy(zerorun_encoder* encoder); /* null is allowed */

/* Encodes into memory of the handle: *jpeg is valid until the next call with it. */
ZERORUN_C_API zerorun_status zerorun_encoder_encode(zerorun_encoder* encoder,
                                                    const zerorun_frame* frame,
                                                    const uint8_t** jpeg, size_t* size);
/* Encodes into the caller's memory. ZERORUN_OUTPUT_TOO_SMALL: nothing useful was written. */
ZERORUN_C_API zerorun_status zerorun_encoder_encode_to(zerorun_encoder* encoder,
                                                       const zerorun_frame* frame, uint8_t* out,
                                                       size_t capacity, size_t* size);
/* A size that no stream of such a frame exceeds. */
ZERORUN_C_API zerorun_status zerorun_max_encoded_bytes(const zerorun_encode_params* params,
                                                       int32_t format, int32_t width,
                                                       int32_t height, size_t* size);
/* Of the frames from here on. */
ZERORUN_C_API zerorun_status zerorun_encoder_set_quality(zerorun_encoder* encoder, int32_t quality);
/* ZERORUN_BACKEND_CPU or _CUDA: what AUTOMATIC became; AUTOMATIC for null. */
ZERORUN_C_API int32_t zerorun_encoder_backend(const zerorun_encoder* encoder);
/* Of the last call with this handle; null for null. */
ZERORUN_C_API const zerorun_error* zerorun_encoder_error(const zerorun_encoder* encoder);

/* ---- asynchronous encoder: several frames at a time, received in order -------------------- */

/* Any thread may submit at any time; one thread at a time receives. */
typedef struct zerorun_async_encoder zerorun_async_encoder;

typedef struct zerorun_async_params {
  size_t struct_size;
  int32_t lanes; /* frames coded at a time; 0: as suits the backend */
  int32_t depth; /* frames submitted and not yet received; 0: twice the lanes */
} zerorun_async_params;

typedef struct zerorun_submit_options {
  size_t struct_size;
  uint64_t tag;    /* comes back with the frame */
  int32_t quality; /* of this frame; 0: that of the encoder */
  int32_t wait;    /* not 0: wait for a place that another thread makes by receiving */
} zerorun_submit_options;

typedef struct zerorun_encoded {
  size_t struct_size;
  int64_t number; /* counted from 0 in the order of submission */
  uint64_t tag;
  const uint8_t* jpeg; /* valid until the next receive; null after an error */
  size_t size;
  const zerorun_error* error; /* of this frame alone, valid as jpeg is; null: none */
} zerorun_encoded;

/* `encode`, whose threads are those of one lane (0: 1), and `async` may be null. */
ZERORUN_C_API zerorun_status zerorun_async_encoder_create(const zerorun_encode_params* encode,
                                                          const zerorun_async_params* async,
                                                          zerorun_async_encoder** out,
                                                          zerorun_error* error);
/* Frames in flight are dropped; returns when the library no longer reads any of them. */
ZERORUN_C_API void zerorun_async_encoder_destroy(zerorun_async_encoder* encoder);

/* The caller keeps the frame's memory unchanged until the frame is received. A frame that cannot be
 * encoded is reported by receive. Errors: ZERORUN_QUEUE_FULL, ZERORUN_ALREADY_FINISHED,
 * ZERORUN_INVALID_ARGUMENT; then nothing was submitted. `options` may be null. */
ZERORUN_C_API zerorun_status zerorun_async_encoder_submit(zerorun_async_encoder* encoder,
                                                          const zerorun_frame* frame,
                                                          const zerorun_submit_options* options,
                                                          zerorun_error* error);
/* ZERORUN_OK: *out is the oldest frame, finished; see its error. Else ZERORUN_NOT_YET (only without
 * wait) or ZERORUN_END. With `wait` and no frame in flight it waits for another thread to submit.
 */
ZERORUN_C_API zerorun_status zerorun_async_encoder_receive(zerorun_async_encoder* encoder,
                                                           int32_t wait, zerorun_encoded* out);
/* No frame will follow: submit fails from here on, receive gives the rest, then ZERORUN_END. */
ZERORUN_C_API zerorun_status zerorun_async_encoder_finish(zerorun_async_encoder* encoder);
/* Drops every frame in flight, and allows submission again after finish. */
ZERORUN_C_API zerorun_status zerorun_async_encoder_discard(zerorun_async_encoder* encoder);
ZERORUN_C_API zerorun_status zerorun_async_encoder_set_quality(zerorun_async_encoder* encoder,
                                                               int32_t quality);
ZERORUN_C_API int32_t zerorun_async_encoder_in_flight(const zerorun_async_encoder* encoder);
ZERORUN_C_API int32_t zerorun_async_encoder_depth(const zerorun_async_encoder* encoder);
ZERORUN_C_API int32_t zerorun_async_encoder_backend(const zerorun_async_encoder* encoder);

/* ---- decoder: JPEG streams to frames ------------------------------------------------------ */

typedef struct zerorun_decode_params {
  size_t struct_size;
  int32_t nearest_upsampling; /* 0: libjpeg's "fancy" triangle filter */
  int32_t strict;             /* damage becomes an error instead of being concealed */
  int32_t backend;
  int32_t device;
  int32_t threads;
  int32_t max_scans;        /* 0: 100 */
  int64_t max_pixels;       /* 0: 2^27 */
  int64_t max_header_bytes; /* 0: 64 MiB */
} zerorun_decode_params;

typedef struct zerorun_decode_report {
  size_t struct_size;
  size_t bytes_consumed; /* to the end of EOI */
  int64_t intervals;
  int64_t concealed_intervals;  /* damaged restart intervals; 0 for a sound stream */
  zerorun_status first_problem; /* the first damage or oddity; ZERORUN_OK if there was none */
  int64_t slow_scans;         /* decoded stage by stage by the CUDA backend, which is slower */
} zerorun_decode_report;

typedef struct zerorun_decoder zerorun_decoder;

ZERORUN_C_API zerorun_status zerorun_decoder_create(const zerorun_decode_params* params,
                                                    zerorun_decoder** out, zerorun_error* error);
ZERORUN_C_API void zerorun_decoder_destroy(zerorun_decoder* decoder);

/* Decodes into the caller's frame, which has the size of the image (zerorun_inspect() tells) and
 * any format. `report` may be null. */
ZERORUN_C_API zerorun_status zerorun_decoder_decode_to(zerorun_decoder* decoder, const void* jpeg,
                                                       size_t size, const zerorun_frame* out,
                                                       zerorun_decode_report* report);
/* Decodes into memory of the handle, valid until the next call with it, and describes it in *out,
 * whose struct_size the caller sets. */
ZERORUN_C_API zerorun_status zerorun_decoder_decode(zerorun_decoder* decoder, const void* jpeg,
                                                    size_t size, int32_t format, zerorun_frame* out,
                                                    zerorun_decode_report* report);
ZERORUN_C_API int32_t zerorun_decoder_backend(const zerorun_decoder* decoder);
ZERORUN_C_API const zerorun_error* zerorun_decoder_error(const zerorun_decoder* decoder);

/* ---- asynchronous decoder: several images at a time, received in order -------------------- */

/* Any thread may submit at any time; one thread at a time receives. */
typedef struct zerorun_async_decoder zerorun_async_decoder;

typedef struct zerorun_decode_options {
  size_t struct_size;
  uint64_t tag;              /* comes back with the frame */
  const zerorun_frame* into; /* the caller's frame, as for zerorun_decoder_decode_to(); null: memory
                                of the handle. The struct is read at once; its memory is written
                                until the image is received */
  int32_t wait;              /* not 0: wait for a place that another thread makes by receiving */
} zerorun_decode_options;

typedef struct zerorun_decoded {
  size_t struct_size;
  int64_t number; /* counted from 0 in the order of submission */
  uint64_t tag;
  const zerorun_frame* frame; /* valid until the next receive, as the next two are; null after an
                                 error; without meaning where `into` was given */
  const zerorun_decode_report* report; /* null after an error */
  const zerorun_error* error;          /* of this image alone; null: none */
} zerorun_decoded;

/* `decode`, whose threads are those of one lane (0: 1), and `async` may be null. `format` is that
 * of all frames but `into`. */
ZERORUN_C_API zerorun_status zerorun_async_decoder_create(const zerorun_decode_params* decode,
                                                          const zerorun_async_params* async,
                                                          int32_t format,
                                                          zerorun_async_decoder** out,
                                                          zerorun_error* error);
/* Images in flight are dropped; returns when the library no longer reads or writes any of them. */
ZERORUN_C_API void zerorun_async_decoder_destroy(zerorun_async_decoder* decoder);

/* The caller keeps the bytes unchanged until the image is received. One that cannot be decoded is
 * reported by receive. Errors: ZERORUN_QUEUE_FULL, ZERORUN_ALREADY_FINISHED,
 * ZERORUN_INVALID_ARGUMENT; then nothing was submitted. `options` may be null. */
ZERORUN_C_API zerorun_status zerorun_async_decoder_submit(zerorun_async_decoder* decoder,
                                                          const void* jpeg, size_t size,
                                                          const zerorun_decode_options* options,
                                                          zerorun_error* error);
/* As zerorun_async_encoder_receive(), and so are the calls below. */
ZERORUN_C_API zerorun_status zerorun_async_decoder_receive(zerorun_async_decoder* decoder,
                                                           int32_t wait, zerorun_decoded* out);
ZERORUN_C_API zerorun_status zerorun_async_decoder_finish(zerorun_async_decoder* decoder);
ZERORUN_C_API zerorun_status zerorun_async_decoder_discard(zerorun_async_decoder* decoder);
ZERORUN_C_API int32_t zerorun_async_decoder_in_flight(const zerorun_async_decoder* decoder);
ZERORUN_C_API int32_t zerorun_async_decoder_depth(const zerorun_async_decoder* decoder);
ZERORUN_C_API int32_t zerorun_async_decoder_backend(const zerorun_async_decoder* decoder);

/* ---- what a stream is --------------------------------------------------------------------- */

typedef struct zerorun_info {
  size_t struct_size;
  int32_t width;
  int32_t height;
  int32_t components;            /* 1 or 3 */
  int32_t subsampling;           /* ZERORUN_SUBSAMPLING_...; 0 for factors without such a name */
  int32_t rgb;                   /* components are R, G, B */
  int32_t extended;              /* SOF1 */
  int32_t restart_interval_mcus; /* 0: none */
  int32_t quality;               /* libjpeg's scale; 0: tables of another kind */
  int32_t exif_orientation;      /* 1..8 */
  int32_t pixel_aspect_x;
  int32_t pixel_aspect_y;
  size_t header_bytes;      /* offset of the first entropy-coded byte */
  int32_t index_group_mcus; /* MCUs of an entry of the scan index; 0: none */
} zerorun_info;

/* Reads the headers up to the first scan. */
ZERORUN_C_API zerorun_status zerorun_inspect(const void* jpeg, size_t size, zerorun_info* info,
                                             zerorun_error* error);

/* ---- CUDA --------------------------------------------------------------------------------- */

/* ZERORUN_OK if the device can be used, else why not. */
ZERORUN_C_API zerorun_status zerorun_check_device(int32_t device, zerorun_error* error);

/* Host memory that a GPU copies fastest. Slow to allocate: keep it. */
ZERORUN_C_API zerorun_status zerorun_allocate_pinned(size_t size, void** memory,
                                                     zerorun_error* error);
ZERORUN_C_API void zerorun_free_pinned(void* memory);

/* Frames and streams in device memory, on the caller's stream. All functions of a build without
 * CUDA return ZERORUN_CUDA_NOT_BUILT. */
typedef struct zerorun_device_encoder zerorun_device_encoder;
typedef struct zerorun_device_decoder zerorun_device_decoder;

ZERORUN_C_API zerorun_status zerorun_device_encoder_create(const zerorun_encode_params* params,
                                                           zerorun_device_encoder** out,
                                                           zerorun_error* error);
/* Waits for the work that it enqueued. */
ZERORUN_C_API void zerorun_device_encoder_destroy(zerorun_device_encoder* encoder);
/* Enqueues the coding of a frame whose planes are device memory. `out` and `device_size` are device
 * memory too, device_size aligned to 8. If *device_size > capacity afterwards, the stream was too
 * long and was not written. Keep all of it until `stream` has got so far. A stream
 * that is being captured is an error (ZERORUN_INVALID_ARGUMENT). */
ZERORUN_C_API zerorun_status zerorun_device_encoder_encode(zerorun_device_encoder* encoder,
                                                           const zerorun_frame* frame, uint8_t* out,
                                                           size_t capacity, size_t* device_size,
                                                           void* stream);
/* The same for `count` frames (0: nothing is done), each of the four arrays has one element a
 * frame; the outputs do not overlap. Frames of one format and size that follow each other go
 * through the kernels together: with small frames the launches are what costs. Frames and arguments
 * are checked before the first frame is enqueued; after ZERORUN_OUT_OF_MEMORY and
 * ZERORUN_DEVICE_FAILURE some may be under way, and what they read and write has to stay. */
ZERORUN_C_API zerorun_status zerorun_device_encoder_encode_batch(
    zerorun_device_encoder* encoder, size_t count, const zerorun_frame* const* frames,
    uint8_t* const* outs, const size_t* capacities, size_t* const* device_sizes, void* stream);
ZERORUN_C_API const zerorun_error* zerorun_device_encoder_error(
    const zerorun_device_encoder* encoder);

ZERORUN_C_API zerorun_status zerorun_device_decoder_create(const zerorun_decode_params* params,
                                                           zerorun_device_decoder** out,
                                                           zerorun_error* error);
ZERORUN_C_API void zerorun_device_decoder_destroy(zerorun_device_decoder* decoder);
/* Decodes a stream in host memory into device planes. The report is complete when the call returns,
 * the frame when `stream` has got so far. */
ZERORUN_C_API zerorun_status zerorun_device_decoder_decode(zerorun_device_decoder* decoder,
                                                           const void* jpeg, size_t size,
                                                           const zerorun_frame* out, void* stream,
                                                           zerorun_decode_report* report);
/* The same for a stream in device memory. */
ZERORUN_C_API zerorun_status zerorun_device_decoder_decode_device(
    zerorun_device_decoder* decoder, const void* device_jpeg, size_t size, const zerorun_frame* out,
    void* stream, zerorun_decode_report* report);
ZERORUN_C_API const zerorun_error* zerorun_device_decoder_error(
    const zerorun_device_decoder* decoder);

#ifdef __cplusplus
}
#endif

#endif
