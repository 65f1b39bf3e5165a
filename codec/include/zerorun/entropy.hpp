// General-purpose entropy coding on host arrays: the serial references of the CUDA versions
// (zerorun/cuda_entropy.hpp). JPEG has specialised stages of its own.
// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "zerorun/status.hpp"

namespace zerorun::entropy {

/// Inputs and outputs are host memory and do not overlap; the caller sizes the outputs. After an
/// error the outputs hold what was written before the error was found.

/// Run-length encode: run r is `values[r]`, repeated `lengths[r]` times. Returns the number of
/// runs, at most in.size(). [1,2,3,6,6,6,5,5] -> values [1,2,3,6,5], lengths [1,1,1,3,2]. Errors:
/// output_too_small.
ZERORUN_API Result<std::size_t> run_length_encode(std::span<const std::int32_t> in,
                                                  std::span<std::int32_t> values,
                                                  std::span<std::uint32_t> lengths);

/// The inverse. Lengths may be 0. Returns the number of elements written.
ZERORUN_API Result<std::size_t> run_length_decode(std::span<const std::int32_t> values,
                                                  std::span<const std::uint32_t> lengths,
                                                  std::span<std::int32_t> out);

/// out[i] = in[0] + ... + in[i-1] (exclusive) or ... + in[i] (inclusive), modulo 2^32.
ZERORUN_API Status exclusive_scan(std::span<const std::uint32_t> in, std::span<std::uint32_t> out);
ZERORUN_API Status inclusive_scan(std::span<const std::uint32_t> in, std::span<std::uint32_t> out);

/// Keeps in[i] where flags[i] != 0, in order. Returns the number of elements kept.
ZERORUN_API Result<std::size_t> compact(std::span<const std::int32_t> in,
                                        std::span<const std::uint8_t> flags,
                                        std::span<std::int32_t> out);

inline constexpr int kSymbols = 256;
inline constexpr int kMaxCodeBits = 32;

/// A prefix code over bytes. bits == 0: the symbol has no codeword. The codeword is the low `bits`
/// bits of the value, highest bit first.
struct Codebook {
  std::array<std::uint32_t, kSymbols> value{};
  std::array<std::uint8_t, kSymbols> bits{};
};

ZERORUN_API Status histogram(std::span<const std::uint8_t> in,
                             std::span<std::uint64_t, kSymbols> counts);

/// Canonical Huffman code of a histogram; no codeword is longer than max_bits (8..32). Of equal
/// counts the larger symbol is merged first, as in T.81 K.2. A lone symbol gets one bit. Lengths
/// over the limit are shortened by the procedure of T.81 Figure K.3. The lengths define the values:
/// shorter codewords first, then smaller symbols, counting up. The counts add up to less than 2^64;
/// if all are 0 there are no codewords.
ZERORUN_API Result<Codebook> build_codebook(std::span<const std::uint64_t, kSymbols> counts,
                                            int max_bits);

/// Bits that encode() will write. Errors: invalid_argument, with the offset of a symbol that has no
/// codeword.
ZERORUN_API Result<std::uint64_t> encoded_bits(std::span<const std::uint8_t> in,
                                               const Codebook& book);

/// Bit position of the first codeword of each chunk of chunk_symbols symbols, then the number of
/// bits: ceil(in.size() / chunk_symbols) + 1 entries. Decoders can start at each chunk.
ZERORUN_API Status chunk_offsets(std::span<const std::uint8_t> in, const Codebook& book,
                                 std::uint32_t chunk_symbols, std::span<std::uint64_t> offsets);

/// Variable-length encode: codewords in order from the highest bit of out[0] on; the last word is
/// filled with 0. Returns the number of bits; `out` needs ceil(bits / 32) words.
ZERORUN_API Result<std::uint64_t> encode(std::span<const std::uint8_t> in, const Codebook& book,
                                         std::span<std::uint32_t> out);

/// The inverse: decodes out.size() symbols from the first `bits` bits.
/// Errors: truncated and bad_huffman_code, with the byte (most significant first) in which the
/// codeword starts; invalid_argument if the codebook is no prefix code.
ZERORUN_API Status decode(std::span<const std::uint32_t> in, std::uint64_t bits,
                          const Codebook& book, std::span<std::uint8_t> out);

/// decode() with the chunk_offsets(): each chunk must use all bits from its offset to the next.
/// Errors, of the first chunk that has one: invalid_argument if the offsets are too few, decrease
/// or exceed `bits`; truncated and bad_huffman_code as in decode(), where the chunk ends the bits;
/// extraneous_data if a chunk leaves bits over.
ZERORUN_API Status decode_chunks(std::span<const std::uint32_t> in, std::uint64_t bits,
                                 const Codebook& book, std::uint32_t chunk_symbols,
                                 std::span<const std::uint64_t> offsets,
                                 std::span<std::uint8_t> out);

}  // namespace zerorun::entropy
