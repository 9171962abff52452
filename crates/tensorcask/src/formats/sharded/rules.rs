//! What can be wrong with a set of shards as a set.

use crate::core::rules;

rules! {
    INDEX_JSON "SH001" "index-json" Structure Error ["IX01"] "The shard index is no JSON object, so nothing says which tensor lies in which shard. Fetch the index again, or write it anew from the shards."
    INDEX_DUPLICATE_KEY "SH002" "index-duplicate-key" Structure Error ["IX01"] "A key occurs twice in the shard index. Readers differ in which they take."
    INDEX_WEIGHT_MAP "SH003" "index-weight-map" Structure Error ["IX02"] "`weight_map` has to be an object that gives each tensor the name of its shard."
    SHARD_PATH_ESCAPES "SH004" "shard-path-escapes" Security Error ["IX03", "CON-11"] "The index names a shard by a path that is absolute, has a drive letter or a backslash, or holds `..`: a loader that follows it reads a file outside the folder. It was not followed. No honest writer makes such a name: do not load the model."
    SHARD_EXTENSION "SH005" "shard-extension" Structure Error ["IX03"] "A shard's extension differs from the one that the index's own name gives. Loaders that go by the index's name refuse it or read it with the wrong reader."
    SHARD_MISSING "SH006" "shard-missing" Structure Error ["IX04", "IX10"] "A shard that the index names, or that the numbering asks for, is not in the folder. Its tensors are listed as missing. Fetch the file."
    STRAY_WEIGHTS "SH010" "stray-weights" Structure Warning ["IX08"] "A weight file lies beside the set and no index names it: a left-over of an earlier save, or a shard of another numbering. Loaders that take every file of a pattern merge it silently. Move it away."
    SINGLE_BESIDE_INDEX "SH011" "single-file-beside-index" Structure Error ["IX08"] "`model.safetensors` lies beside a shard index. transformers takes the single file first and ignores the shards; mlx-lm merges both. Two programs load different weights: remove one of the two."
    SHARD_NUMBERING "SH013" "shard-numbering" Structure Warning ["IX10"] "The names `-NNNNN-of-NNNNN` do not form one complete numbering: their totals differ or a number is missing, although the index names every file that it needs."
    SHARDS_WITHOUT_INDEX "SH014" "shards-without-index" Structure Warning [] "Several numbered shards and no index: loaders that need one fail, others guess. Write the index: convert the folder into a new one."
    EMPTY_SHARD "SH016" "empty-shard" Structure Note ["IX12"] "A shard of the set holds no tensor. mlx-lm writes such a first shard when the first tensor alone is over the limit; nothing is lost."
    NOT_A_SET "SH018" "not-a-sharded-set" Structure Warning [] "Several weight files of unrelated names lie in a model folder, without an index and without `model.safetensors`. Only the first is listed as the checkpoint: give the others by their own path."
}
