"""Every exception that mxprof_nb raises on purpose.

::

    MxprofError
    ├── TraceError                      (ValueError)
    │   ├── SchemaError                 table, column, row, value
    │   ├── AlignmentError              traces that have nothing in common to join them by
    │   ├── EmptyTraceError
    │   └── MissingDataError            what is missing, who provides it
    ├── ReadError                       (ValueError) path, place
    │   ├── UnknownFormatError
    │   ├── CorruptTraceError
    │   ├── UnsupportedVersionError
    │   └── LimitExceededError
    ├── WriteError                      (OSError) path
    ├── CaptureError                    (RuntimeError)
    │   ├── AlreadyRecordingError
    │   ├── NotRecordingError
    │   ├── MarkError                   (ValueError) a span, mark, counter or step is not valid
    │   └── ProfilerError               (EngineError) `mx.profiler` cannot do that now
    │       └── ProfilerOptionError     (ValueError) an option or choice of it does not exist
    ├── BackendError                    (RuntimeError)
    │   ├── BackendNotFoundError        (LookupError) name, known names
    │   └── BackendUnavailableError     (ImportError) why, how to install
    ├── MissingPackageError             (ImportError) a format needs a package: how to install it
    ├── UnknownNameError                (LookupError) the glossary has no such name
    ├── NameTakenError                  (ImportError) `register_as` a name that something else has
    ├── MissingModuleError              (ModuleNotFoundError) the runtime lacks a module
    └── EngineError                     (RuntimeError) the embedded runtime, see `mxprof_nb.runtime`
        ├── OperatorError               operator, shapes, site, first cause
        │   └── PositionError           (IndexError)
        ├── CustomOperatorError         an operator written in Python does not keep its word
        ├── ArgumentError               (ValueError)
        │   └── ShapeError
        ├── GradientError               what cannot be differentiated
        │   └── StaleGradientError      (UserWarning) a step without a backward before
        ├── ScheduledRateError          (UserWarning) a schedule sets the learning rate
        ├── DatasetError                (ValueError) a file of a dataset is damaged
        │   └── MissingDatasetError     (FileNotFoundError)
        ├── LoadingTimeoutError         (TimeoutError) a batch did not come in time
        ├── ParameterError              a parameter of a network has no value, or not there
        │   ├── DeferredInitializationError  its shape is not known yet
        │   └── ParameterFileError      (ValueError) a file does not fit the network
        ├── NoGraphError                a block has no graph of its own
        └── UnknownOperatorError        (LookupError)

Each derives from the builtin that fits, so ``except ValueError`` works for people who do not
know this tree. Messages say what happened, the value and the place, and what to do; they are
built by the classmethods below so that tests compare fields and the wording lives in one place.
"""

from mxprof_nb.errors.base import MxprofError, close_match
from mxprof_nb.errors.capture import (
    AlreadyRecordingError,
    BackendError,
    BackendNotFoundError,
    BackendUnavailableError,
    CaptureError,
    MarkError,
    MissingModuleError,
    MissingPackageError,
    NameTakenError,
    NotRecordingError,
    UnknownNameError,
)
from mxprof_nb.errors.engine import (
    ArgumentError,
    CustomOperatorError,
    DatasetError,
    DeferredInitializationError,
    EngineError,
    GradientError,
    LoadingTimeoutError,
    MissingDatasetError,
    NoGraphError,
    OperatorError,
    ParameterError,
    ParameterFileError,
    PositionError,
    ProfilerError,
    ProfilerOptionError,
    ScheduledRateError,
    ShapeError,
    StaleGradientError,
    UnknownOperatorError,
)
from mxprof_nb.errors.traces import (
    AlignmentError,
    CorruptTraceError,
    EmptyTraceError,
    LimitExceededError,
    MissingDataError,
    ReadError,
    SchemaError,
    TraceError,
    UnknownFormatError,
    UnsupportedVersionError,
    WriteError,
)

__all__ = [
    "AlignmentError",
    "AlreadyRecordingError",
    "ArgumentError",
    "BackendError",
    "BackendNotFoundError",
    "BackendUnavailableError",
    "CaptureError",
    "CorruptTraceError",
    "CustomOperatorError",
    "DatasetError",
    "DeferredInitializationError",
    "EmptyTraceError",
    "EngineError",
    "GradientError",
    "LimitExceededError",
    "LoadingTimeoutError",
    "MarkError",
    "MissingDataError",
    "MissingDatasetError",
    "MissingModuleError",
    "MissingPackageError",
    "MxprofError",
    "NameTakenError",
    "NoGraphError",
    "NotRecordingError",
    "OperatorError",
    "ParameterError",
    "ParameterFileError",
    "PositionError",
    "ProfilerError",
    "ProfilerOptionError",
    "ReadError",
    "ScheduledRateError",
    "SchemaError",
    "ShapeError",
    "StaleGradientError",
    "TraceError",
    "UnknownFormatError",
    "UnknownNameError",
    "UnknownOperatorError",
    "UnsupportedVersionError",
    "WriteError",
    "close_match",
]
