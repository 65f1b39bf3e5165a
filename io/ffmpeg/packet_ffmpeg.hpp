// Motion JPEG packets out of containers.
// SPDX-License-Identifier: MIT
#pragma once

#include <memory>

#include "io/ffmpeg/demuxer.hpp"
#include "io/formats.hpp"

namespace zerorun::io::av {

/// The video stream of `demuxer` is Motion JPEG. Packets with two fields come as they are.
Result<PacketReaderPtr> open_container_packets(std::unique_ptr<Demuxer> demuxer);

}  // namespace zerorun::io::av
