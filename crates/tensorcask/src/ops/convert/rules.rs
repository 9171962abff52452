//! What a conversion can lose.

use crate::core::{Rule, rules};

rules! {
    METADATA_CONFLICT "CV001" "metadata-conflict" Loss Error []
        "The files that are merged give one metadata key different values, and the target holds one value a key. \
         The first value is kept. Accept it with `--accept metadata-conflict` if the others may go."
    DTYPE_NOT_IN_TARGET "CV002" "dtype-not-in-target" Loss Error []
        "The target format has no such element type. Accepted with `--accept dtype-not-in-target`, the tensor is left out."
    TENSOR_MISSING "CV003" "tensor-missing" Loss Error []
        "The source describes a tensor whose bytes are not there: the file was cut, or a shard is absent. Nothing can be \
         written for it, so this loss is never accepted: fetch the file again, or leave the tensor out with `--exclude`."
    TENSORS_LEFT_OUT "CV004" "tensors-left-out" Loss Error []
        "`--include` or `--exclude` leaves tensors of the source out. Asking for it accepts it; the receipt says \
         that the conversion is not lossless."
    METADATA_TYPE "CV005" "metadata-type" Loss Error []
        "The target holds text as metadata, and this value is a number, a truth value, a list or a map. Accepted with \
         `--accept metadata-type`, its JSON text is written."
}

/// Every kind of loss, for `explain` and `--accept`.
pub static RULES: &[&Rule] = ALL;
