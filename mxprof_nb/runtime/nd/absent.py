"""What `mx.nd` of MXNet 1.9.1 has and the embedded runtime does not, by name."""

from __future__ import annotations

from collections.abc import Iterable

from mxprof_nb.errors import close_match

__all__ = ["ABSENT", "no_such_name"]

#: Operators and modules; names of MXNet's own workings are left out.
ABSENT = frozenset(
    {
        "BatchNorm_v1",
        "BilinearSampler",
        "CTCLoss",
        "Convolution_v1",
        "Correlation",
        "Crop",
        "GridGenerator",
        "IdentityAttachKLSparseReg",
        "Pooling_v1",
        "RNN",
        "ROIPooling",
        "SVMOutput",
        "SequenceLast",
        "SequenceMask",
        "SequenceReverse",
        "Softmax",
        "SpatialTransformer",
        "all_finite",
        "amp_cast",
        "amp_multicast",
        "cast_storage",
        "col2im",
        "ctc_loss",
        "from_dlpack",
        "from_numpy",
        "ftml_update",
        "histogram",
        "im2col",
        "imdecode",
        "khatri_rao",
        "lamb_update_phase1",
        "lamb_update_phase2",
        "moments",
        "mp_lamb_update_phase1",
        "mp_lamb_update_phase2",
        "multi_all_finite",
        "multi_lars",
        "multi_sum_sq",
        "onehot_encode",
        "preloaded_multi_mp_sgd_mom_update",
        "preloaded_multi_mp_sgd_update",
        "preloaded_multi_sgd_mom_update",
        "preloaded_multi_sgd_update",
        "random_generalized_negative_binomial",
        "random_pdf_dirichlet",
        "random_pdf_exponential",
        "random_pdf_gamma",
        "random_pdf_generalized_negative_binomial",
        "random_pdf_negative_binomial",
        "random_pdf_normal",
        "random_pdf_poisson",
        "random_pdf_uniform",
        "reset_arrays",
        "sample_generalized_negative_binomial",
        "sample_negative_binomial",
        "sparse",
        "to_dlpack_for_read",
        "to_dlpack_for_write",
    }
)


def no_such_name(name: str, known: Iterable[str]) -> AttributeError:
    """Return the error for a name that `mx.nd` does not have here."""
    if name in ABSENT:
        return AttributeError(
            f"mx.nd.{name}: MXNet 1.9.1 has it, the embedded runtime of mxprof_nb does not. "
            "Another operator can be written with mx.nd.Custom."
        )
    public = [each for each in known if not each.startswith("_")]
    if name.startswith("linalg_"):
        return AttributeError(
            f"mx.nd has no {name!r} here; see mx.nd.linalg.{name.removeprefix('linalg_')}."
        )
    return AttributeError(f"mx.nd has no {name!r}.{close_match(name, public)}")
