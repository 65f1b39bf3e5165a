// Everything that the codec library offers.
// SPDX-License-Identifier: MIT
#pragma once

#include "zerorun/async_decoder.hpp"
#include "zerorun/async_encoder.hpp"
#include "zerorun/backend.hpp"
#include "zerorun/decoder.hpp"
#include "zerorun/encoder.hpp"
#include "zerorun/entropy.hpp"
#include "zerorun/export.hpp"
#include "zerorun/frame.hpp"
#include "zerorun/host_memory.hpp"
#include "zerorun/in_flight.hpp"
#include "zerorun/status.hpp"
#include "zerorun/stream_info.hpp"
#include "zerorun/version.hpp"
