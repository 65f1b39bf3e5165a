# What stands at the top of the generated _zerorun.pyi.
_zerorun.__prefix__:
    from os import PathLike
    from typing import Any, Iterable, Iterator, Optional, Union
    from typing_extensions import Self, Unpack
    from ._options import Data, DecodeOptions, EncodeOptions, Image, Stream, TranscodeOptions
    from ._errors import Error
    from ._types import Coded, Device, Report, StreamInfo
