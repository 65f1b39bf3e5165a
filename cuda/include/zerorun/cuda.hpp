// Everything that works on device memory, on the caller's CUDA stream.
// SPDX-License-Identifier: MIT
#pragma once

#include "zerorun/cuda_decoder.hpp"
#include "zerorun/cuda_encoder.hpp"
#include "zerorun/cuda_entropy.hpp"
