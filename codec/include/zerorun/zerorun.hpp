// Everything that the codec library offers.
// SPDX-License-Identifier: MIT
#pragma once

#include "zerorun/async.hpp"
#include "zerorun/backend.hpp"
#include "zerorun/decoder.hpp"
#include "zerorun/encoder.hpp"
#include "zerorun/entropy.hpp"
#include "zerorun/frame.hpp"
#include "zerorun/status.hpp"
#include "zerorun/transcoder.hpp"
