// General-purpose entropy coding primitives on host arrays: the serial references that the CUDA
// versions (zerorun/cuda_entropy.hpp) are compared with. JPEG uses its own, specialised stages.
// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "zerorun/status.hpp"

namespace zerorun::entropy {

/// Inputs and outputs are host memory, do not overlap, and outputs are sized by the caller. After
/// an error the outputs hold whatever was written before it was found.

/// Run-length encode: `values[r]` repeated `lengths[r]` times is run r. Returns the runs.
/// [1,2,3,6,6,6,5,5] -> values [1,2,3,6,5], lengths [1,1,1,3,2]. Outputs need in.size() entries
/// at most; Errc::output_too_small otherwise.
ZERORUN_API Result<std::size_t> run_length_encode(std::span<const std::int32_t> in,
                                                  std::span<std::int32_t> values,
                                                  std::span<std::uint32_t> lengths);

/// The inverse. Lengths may be 0. Returns the elements written.
ZERORUN_API Result<std::size_t> run_length_decode(std::span<const std::int32_t> values,
                                                  std::span<const std::uint32_t> lengths,
                                                  std::span<std::int32_t> out);

/// out[i] = in[0] + ... + in[i-1] (exclusive) or ... + in[i] (inclusive), modulo 2^32.
ZERORUN_API Status exclusive_scan(std::span<const std::uint32_t> in, std::span<std::uint32_t> out);
ZERORUN_API Status inclusive_scan(std::span<const std::uint32_t> in, std::span<std::uint32_t> out);

/// Keeps in[i] where flags[i] != 0, in order. Returns the elements kept.
ZERORUN_API Result<std::size_t> compact(std::span<const std::int32_t> in,
                                        std::span<const std::uint8_t> flags,
                                        std::span<std::int32_t> out);

inline constexpr int kSymbols = 256;
inline constexpr int kMaxCodeBits = 32;

/// A prefix code over bytes. bits == 0: the symbol has no codeword. The value stands in the low
/// `bits` bits; the first bit of the codeword is the highest of them.
struct Codebook {
  std::array<std::uint32_t, kSymbols> value{};
  std::array<std::uint8_t, kSymbols> bits{};
};

ZERORUN_API Status histogram(std::span<const std::uint8_t> in,
                             std::span<std::uint64_t, kSymbols> counts);

/// Canonical Huffman code of a histogram with no codeword longer than max_bits (8..32).
/// Ties are broken by the larger symbol, as T.81 K.2 does. One distinct symbol gets one bit.
/// Lengths over the limit are shortened by the procedure of T.81 Figure K.3. The lengths alone
/// define the values: shorter codewords first, then smaller symbols, counting up. The counts must
/// add up to less than 2^64; without any there are no codewords.
ZERORUN_API Result<Codebook> build_codebook(std::span<const std::uint64_t, kSymbols> counts,
                                            int max_bits);

/// Bits that encode() will write; Errc::invalid_argument, with the offset of the symbol, if one has
/// no codeword.
ZERORUN_API Result<std::uint64_t> encoded_bits(std::span<const std::uint8_t> in,
                                               const Codebook& book);

/// Bit position of the first codeword of every chunk of chunk_symbols symbols, and the number of
/// bits as last entry: in.size() / chunk_symbols, rounded up, plus 1 entries. It lets decoders
/// start at each chunk.
ZERORUN_API Status chunk_offsets(std::span<const std::uint8_t> in, const Codebook& book,
                                 std::uint32_t chunk_symbols, std::span<std::uint64_t> offsets);

/// Variable-length encode: codewords in order, first bit in the highest bit of out[0], the last
/// word filled up with 0. Returns the number of bits; out needs ceil(bits / 32) words.
ZERORUN_API Result<std::uint64_t> encode(std::span<const std::uint8_t> in, const Codebook& book,
                                         std::span<std::uint32_t> out);

/// The inverse: decodes out.size() symbols from `bits` bits; what follows them is not looked at.
/// Errors: truncated and bad_huffman_code with the byte (most significant first) in which the
/// codeword starts; invalid_argument if the codebook is no prefix code.
ZERORUN_API Status decode(std::span<const std::uint32_t> in, std::uint64_t bits,
                          const Codebook& book, std::span<std::uint8_t> out);

/// decode() by a chunk index: each chunk must lie between its offset and the next one and use up
/// all bits there. Errors, those of the first chunk that has one: invalid_argument if the offsets
/// are too few, decrease or pass `bits`; truncated and bad_huffman_code as in decode(), with the
/// end of the chunk as end of the bits; extraneous_data where bits of the chunk are left.
ZERORUN_API Status decode_chunks(std::span<const std::uint32_t> in, std::uint64_t bits,
                                 const Codebook& book, std::uint32_t chunk_symbols,
                                 std::span<const std::uint64_t> offsets,
                                 std::span<std::uint8_t> out);

}  // namespace zerorun::entropy
