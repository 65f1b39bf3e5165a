# What stands at the top of the generated _zerorun.pyi.
_zerorun.__prefix__:
    from os import PathLike
    from typing import Any, Iterable, Iterator, Optional, Union
    from typing_extensions import Self, Unpack
    from ._errors import Error
    from ._types import (Coded, Data, DecodeOptions, Device, EncodeOptions, Image, Report, Stream, StreamInfo,
                         TranscodeOptions)
