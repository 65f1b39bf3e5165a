// The long help texts of the package.
// SPDX-License-Identifier: MIT
#pragma once

namespace zerorun::python::docs {

inline constexpr char kEncode[] = R"(Encodes a picture as JPEG and returns the stream, SOI to EOI.

image is an array of uint8, or a tuple of planes, in host memory (numpy, anything
with the buffer protocol, DLPack) or on a GPU (__cuda_array_interface__, DLPack):

  (height, width)       grey
  (height, width, 3)    RGB; BGR with format='bgr24'
  (height, width, 4)    RGB and a byte that is ignored; also 'bgr0', '0rgb', '0bgr'
  (height, width, 2)    with format='yuyv422' or 'uyvy422'
  (y, cb, cr)           planes of 4:2:0, 4:2:2, 4:4:4, 4:4:0 or 4:1:1
  (y, cbcr)             NV12; NV21 with format='nv21'. cbcr: (height/2, width/2, 2)
  (height*3/2, width)   4:2:0 in one array, with format='nv12', 'nv21' or 'yuv420p'
  (bytes,)              planes one after another, with format= and size=(width, height)

YCbCr is full range BT.601. Any strides do; samples that do not lie side by side are
copied. A picture on a GPU is coded there, on `stream` or on the stream that its
library uses at the moment; the call waits for the bytes.

Options:
  quality       1 to 100 on libjpeg's scale (90)
  subsampling   '420', '422', '444', '440', '411', 'gray'; None: the picture's own,
                and '420' for RGB
  tune          'exact' (libjpeg's bytes), or smaller at equal quality: 'photo', 'text', 'psnr'
  effort        with tune: 'fast', or 'best' for smaller streams
  target_size   bytes that the stream fills, never more; quality does not count then
  max_size      bytes that a stream of this quality must not exceed
  target_psnr   dB that the decoded samples have at least, by the lowest quality that does it
  target_ssim   the same for the SSIM of luma (0.98)
  tables        'auto', 'annex-k', 'flat', 'ffmpeg' or 'tuned' quantisation tables
  huffman       'standard', or smaller: 'trained' (as fast), 'optimal' (two passes)
  restart       'auto', None, MCUs between markers (64) or rows of MCUs ('1rows')
  progressive   True: a progressive stream, smaller and slower; huffman does not count then
  luma_table, chroma_table   64 entries from 1 to 255 in row order
  jfif_header   False leaves the JFIF segment out
  pixel_aspect  (x, y) for the JFIF segment
  segments      [(0xE1, b'Exif...'), (0xFE, b'comment')], written after JFIF
  device        None: a GPU if there is one, else the CPU; 'cpu', 'cuda', 'cuda:1'
  threads       CPU threads for one picture; 0: one a core
  instruction_set   'best', or one of instruction_sets(): the code of the CPU backend

The bytes are those of the program `zerorun encode` with these options.
Raises zerorun.Error; TypeError for what is no array.)";

inline constexpr char kEncoder[] =
    R"(Encodes picture after picture with the same options and keeps its memory.

    encoder = zerorun.Encoder(quality=85, subsampling='444')
    jpeg = encoder.encode(image)

Threads may share an encoder; their calls then come one after another. A child of
fork() makes its own on the CPU. Options are those of encode().)";
inline constexpr char kEncodeInto[] =
    R"(Encodes a picture into memory of the caller.

For a picture in host memory, out is a writable buffer (bytearray, numpy), and the call
returns the size of the stream. Raises CapacityError if out is too small.

For a picture on a GPU, out is an array of uint8 there and size_out 8 bytes for the size
(an int64 array viewed as uint8). The call puts the work on the stream and returns None at
once; keep the arrays until the stream has got there. A size larger than out means that the
stream did not fit; max_encoded_bytes() is always enough. With target_size or max_size, a
size of 0 means that the picture cannot be so small.)";

inline constexpr char kDecode[] = R"(Decodes a JPEG stream (bytes or a buffer) to uint8 arrays.

format: what comes back
  'rgb24', 'bgr24'                    (height, width, 3)
  'rgb0', 'bgr0', '0rgb', '0bgr'      (height, width, 4), the fourth byte is 255
  'gray8'                             (height, width)
  'yuv420p', 'yuv422p', 'yuv444p', 'yuv440p', 'yuv411p'
                                      a tuple (y, cb, cr) of arrays
  'nv12', 'nv21'                      a tuple (y, cbcr); cbcr has (rows, columns, 2)
  'yuyv422', 'uyvy422'                (height, width rounded up to even, 2)
  'cmyk32'                            (height, width, 4): C, M, Y and K as CMYK and YCCK store
                                      them; inspect().color tells whether 255 is no ink
out: arrays of these shapes to decode into, which are returned; rows may have gaps
to: 'host' for numpy arrays, 'device' for a zerorun.DeviceArray, which PyTorch, CuPy and
    JAX take without a copy. None: 'device' if device= names a GPU, else 'host'
stream: the CUDA stream of a picture on a GPU
scale: 2, 4 or 8 for a picture of 1/2, 1/4 or 1/8, whose sides are rounded up; as libjpeg
    scales. It takes less time than the whole picture
region: (x, y, width, height) in pixels of the scaled picture; what lies outside is not
    transformed, and where the stream has restart markers not even decoded

Options:
  upsampling    'fancy' (libjpeg's filter) or 'nearest', for RGB
  strict        True: damage is an error. Otherwise damaged parts are concealed
  max_pixels, max_scans, max_header_bytes    limits, checked before memory is allocated
  device, threads, instruction_set    as of encode()

EXIF orientation is not applied; inspect() tells it. Raises zerorun.Error.)";

inline constexpr char kDecoder[] =
    R"(Decodes stream after stream with the same options and keeps its memory.

    decoder = zerorun.Decoder()
    rgb = decoder.decode(jpeg)
    if decoder.report.concealed_intervals: ...

Threads may share a decoder; their calls then come one after another. A child of
fork() makes its own on the CPU. Options are those of decode().)";

inline constexpr char kEncodeBatch[] =
    R"(Encodes pictures of any sizes side by side; returns a list in their order.

An image that cannot be encoded has its exception in the list, and the others go on.
workers is the number of threads; 0: one a core, on a GPU 4 to 16. Pictures that lie on a GPU
are coded there together, and so many threads (0: up to 8) copy their streams. Ctrl-C ends the
call. Options are those of encode().)";
inline constexpr char kDecodeBatch[] =
    R"(Decodes streams of any sizes side by side; returns a list of arrays in their order.

A str or an os.PathLike is the name of a file, which is read by the thread that decodes it:
the fastest way from a folder to arrays, with one file a thread in memory (to device memory
two). A stream that cannot be read or decoded has its exception in the list, and the others go
on. workers is the number of threads; 0: one a core, on a GPU at most 16. format, to and the
options are those of decode(). scale and region may also be lists with one entry for each stream;
None is the whole picture.)";

inline constexpr char kAsyncEncoder[] =
    R"(Encodes several frames at a time; they come back in the order of submission.

    for jpeg in zerorun.AsyncEncoder(quality=85).map(frames): ...

or by hand: submit() until in_flight is depth, then receive() the oldest. Iteration gives a
zerorun.Coded for each frame in flight. Frames stay referenced until they are received; do not
change them before. Any thread may call any member. Options are those of encode(), and
lanes (frames coded at a time; 0: one a core, 4 on a GPU) and depth (0: twice the lanes).
device='cuda:0,2', 'cuda:all' or ['cuda:0', 'cuda:2'] takes several GPUs. If one fails, the
others code its frames again, and lost_devices names it.)";
inline constexpr char kSubmitImage[] =
    R"(Puts a picture in host memory into the queue. tag comes back with the stream.

Raises CapacityError with the code 'queue_full' if depth frames are in flight; with wait=True
it waits until another thread receives one.)";

inline constexpr char kAsyncDecoder[] =
    R"(Decodes several streams at a time; they come back in the order of submission.

    for rgb in zerorun.AsyncDecoder('rgb24').map(streams): ...

Works as AsyncEncoder. Results are numpy arrays of `format`. Options are those of decode().)";

inline constexpr char kMap[] =
    R"(Submits the inputs while there is room and gives the results in order.

An input that fails raises its error from next(); a further next() goes on behind it.)";
inline constexpr char kReceive[] =
    R"(Takes the oldest frame when it is finished: a zerorun.Coded.

With wait it waits for that, also for another thread to submit; without, it returns None if
the frame is not ready. After finish() it returns None when all frames are received.)";

inline constexpr char kInspect[] =
    R"(Reads the headers up to the first scan: a zerorun.StreamInfo. Decodes nothing.

Raises zerorun.Error for streams that decode() would refuse. Limits are those of decode(); by
default every size is allowed.)";
inline constexpr char kTranscode[] =
    R"(Codes a JPEG stream again without loss: its coefficients stay what they are, or are those of
the turned, mirrored or cut picture, as jpegtran's. All APPn and COM segments are kept.

Options:
  optimize      True: Huffman tables of its own; a stream that would not get smaller stays
  scans         'keep', 'baseline' or 'progressive'
  restart       'keep', None for no markers, or MCUs between markers (64)
  rotate        90, 180 or 270 clockwise; 'auto': as EXIF tells, whose orientation becomes 1
  flip          'h' or 'v', after the rotation
  crop          (x, y, width, height) of the turned picture; begins with a whole MCU
  gray          True: luma alone
  edges         'keep', 'trim' or 'refuse': blocks at an edge that cannot move
  verify        True: decodes the new stream, too, and compares the coefficients
  strict, max_pixels, max_scans, max_header_bytes, threads, instruction_set
                as of decode()

Raises zerorun.Error, for damaged streams too.)";

}  // namespace zerorun::python::docs
