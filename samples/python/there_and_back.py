# A picture as JPEG and back, in three lines.
# SPDX-License-Identifier: MIT
import numpy as np
import zerorun

picture = np.fromfunction(lambda y, x, c: (x + 2 * y + 80 * c) % 256, (480, 640, 3)).astype("uint8")
jpeg = zerorun.encode(picture, quality=85, subsampling="444")
again = zerorun.decode(jpeg)
info = zerorun.inspect(jpeg)
error = np.abs(again.astype(int) - picture).mean()
print(f"{info.width}x{info.height}, quality {info.quality}, {len(jpeg)} bytes, mean error {error:.2f}")
