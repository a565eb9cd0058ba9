"""`mx.nd`: arrays and the functions on them; each module lists what it adds."""

from typing import NoReturn

from mxprof_nb.runtime.nd import (
    absent,
    binary,
    contrib,
    creation,
    custom,
    draws,
    elementwise,
    files,
    image,
    indexing,
    joining,
    linalg,
    loss,
    matrix,
    nn,
    optimizer,
    ordering,
    random,
    reduction,
    shape,
    unary,
    waiting,
    windows,
)
from mxprof_nb.runtime.nd.array import NDArray
from mxprof_nb.runtime.nd.binary import *
from mxprof_nb.runtime.nd.creation import *
from mxprof_nb.runtime.nd.custom import *
from mxprof_nb.runtime.nd.draws import *
from mxprof_nb.runtime.nd.elementwise import *
from mxprof_nb.runtime.nd.files import *
from mxprof_nb.runtime.nd.indexing import *
from mxprof_nb.runtime.nd.joining import *
from mxprof_nb.runtime.nd.loss import *
from mxprof_nb.runtime.nd.matrix import *
from mxprof_nb.runtime.nd.nn import *
from mxprof_nb.runtime.nd.optimizer import *
from mxprof_nb.runtime.nd.ordering import *
from mxprof_nb.runtime.nd.reduction import *
from mxprof_nb.runtime.nd.shape import *
from mxprof_nb.runtime.nd.unary import *
from mxprof_nb.runtime.nd.waiting import *
from mxprof_nb.runtime.nd.windows import *

__all__ = ["NDArray", "contrib", "image", "linalg", "random"]
__all__ += binary.__all__
__all__ += creation.__all__
__all__ += custom.__all__
__all__ += draws.__all__
__all__ += elementwise.__all__
__all__ += files.__all__
__all__ += indexing.__all__
__all__ += joining.__all__
__all__ += loss.__all__
__all__ += matrix.__all__
__all__ += nn.__all__
__all__ += optimizer.__all__
__all__ += ordering.__all__
__all__ += reduction.__all__
__all__ += shape.__all__
__all__ += unary.__all__
__all__ += waiting.__all__
__all__ += windows.__all__


def __getattr__(name: str) -> NoReturn:
    raise absent.no_such_name(name, __all__)
