//! The table. Magics and shapes are from the formats' own specifications, named in each row.

use super::{Look, Recognised, Says, archives, flatfiles, magics, pickles, protobufs, rules, text};
use crate::format::{Format, FormatInfo, Match, Status};

macro_rules! rows {
    ($($name:ident $id:literal $title:literal $extensions:expr, $promises:literal, $rules:expr, $look:expr, $specification:literal;)*) => {
        $(static $name: Recognised = Recognised {
            info: &FormatInfo {
                id: $id,
                title: $title,
                extensions: &$extensions,
                promises: $promises,
                status: Status::Recognised,
                rules: $rules,
                specification: $specification,
            },
            look: $look,
        };)*
        /// Every row, in the order in which equal matches win.
        pub(in super::super) const ALL: &[&dyn Format] = &[$(&$name),*];
    };
}

use Look::{File, Folder, Magic};
use rules::{EITHER, EMPTY, NAMED, PAGE, PICKLED, POINTER};

// Endings make a file a candidate in a folder of weights, so only those stand here that weights usually have.
rows! {
    // Not the file that was meant.
    EMPTY_FILE "empty-file" "an empty file" [], false, EMPTY, File(text::empty), "none";
    LFS "git-lfs-pointer" "a Git-LFS pointer" [], false, POINTER, File(text::lfs_pointer), "git-lfs, docs/spec.md";
    ERROR_PAGE "error-page" "an error page" [], false, PAGE, File(text::error_page), "none";

    // What its loader unpickles.
    TORCH_ZIP "torch-zip" "a torch zip checkpoint" ["pt", "pth", "bin", "ckpt", "distcp"], false, PICKLED, File(archives::torch), "PyTorch, caffe2/serialize/inline_container.cc and torch/serialization.py";
    TORCHSCRIPT "torchscript" "a TorchScript archive" ["pt", "pth", "ptl"], false, PICKLED, File(archives::torchscript), "PyTorch, torch/csrc/jit/serialization";
    TORCH_PACKAGE "torch-package" "a torch.package archive" ["pt"], false, PICKLED, File(archives::torch_package), "PyTorch, torch/package";
    TORCH_EXPORT "torch-export" "a torch.export archive" ["pt2"], false, PICKLED, File(archives::torch_export), "PyTorch, torch/csrc/export/pt2_archive_constants.h";
    TORCH_LEGACY "torch-legacy" "a legacy torch stream" ["pt", "pth", "bin", "ckpt"], false, PICKLED, File(pickles::torch_legacy), "PyTorch, torch/serialization.py, `_legacy_save`";
    TORCH_TAR "torch-tar" "a legacy torch tar" ["pt", "pth"], false, PICKLED, File(archives::torch_tar), "PyTorch, torch/serialization.py, `legacy_load`";
    DCP "torch-dcp" "a torch distributed checkpoint" [], false, PICKLED, Folder(Match::Magic, &[&[".metadata", "*.metadata"], &["*.distcp"]], Says::Unpickled), "PyTorch, torch/distributed/checkpoint";
    JOBLIB "joblib" "a joblib dump" ["joblib"], false, PICKLED, File(pickles::joblib), "joblib, numpy_pickle.py";
    PICKLE "pickle" "a pickle" ["pkl", "pickle", "bin", "pt", "pth", "ckpt", "pdparams", "pdopt"], false, PICKLED, File(pickles::pickle), "CPython, Lib/pickletools.py";

    // Containers of tensors.
    GGUF "gguf" "GGUF" ["gguf"], true, NAMED, File(magics::gguf), "ggml, docs/gguf.md";
    GGML "ggml" "a legacy ggml file" ["ggml"], false, NAMED, File(magics::ggml), "llama.cpp before GGUF, llama.h";
    HDF5 "hdf5" "HDF5" ["h5", "hdf5"], true, NAMED, File(magics::hdf5), "HDF5 file format specification 3.0, II.A";
    NPY "npy" "a NumPy array" ["npy"], true, EITHER, File(flatfiles::npy), "NumPy, numpy/lib/_format_impl.py";
    NPZ "npz" "a NumPy archive" ["npz"], true, NAMED, File(archives::npz), "NumPy, numpy/lib/_npyio_impl.py";
    KERAS "keras" "a Keras archive" ["keras"], true, NAMED, File(archives::keras), "Keras, keras/src/saving/saving_lib.py";
    SKOPS "skops" "a skops archive" ["skops"], false, EITHER, File(archives::skops), "skops, skops/io";
    ONNX "onnx" "ONNX" ["onnx"], true, NAMED, File(protobufs::onnx), "onnx/onnx.proto";
    ORT "ort" "an ONNX Runtime model" ["ort"], false, NAMED, Magic(&[(4, b"ORTM")]), "ONNX Runtime, ort.fbs";
    TFLITE "tflite" "TFLite" ["tflite"], true, NAMED, Magic(&[(4, b"TFL3")]), "LiteRT, schema.fbs";
    LITERTLM "litertlm" "a LiteRT-LM container" ["litertlm", "task"], false, NAMED, Magic(&[(0, b"LITERTLM")]), "LiteRT-LM";
    PTE "executorch" "an ExecuTorch program" ["pte"], false, NAMED, Magic(&[(4, b"ET12")]), "ExecuTorch, schema/program.fbs";
    PTD "executorch-data" "ExecuTorch tensor data" ["ptd"], false, NAMED, Magic(&[(4, b"FT01")]), "ExecuTorch, extension/flat_tensor";
    MLMODEL "coreml" "a Core ML model" ["mlmodel"], false, NAMED, File(protobufs::coreml), "coremltools, mlmodel/format/Model.proto";
    TENSORRT "tensorrt" "a TensorRT engine" ["engine", "plan", "trt"], false, NAMED, File(magics::tensorrt), "TensorRT, samples/common/sampleEngines.cpp";
    OM "huawei-om" "a Huawei OM model" ["om"], false, NAMED, Magic(&[(0, b"IMOD")]), "Ascend CANN";
    OM_SVP "huawei-om-svp" "a Huawei OM model for SVP" ["om"], false, NAMED, Magic(&[(0, b"PICO")]), "Ascend CANN";
    RKNN "rknn" "an RKNN model" ["rknn"], false, NAMED, Magic(&[(0, b"RKNN\0")]), "RKNN Toolkit";
    NCNN "ncnn" "an NCNN graph" [], false, NAMED, Magic(&[(0, b"7767517\n")]), "NCNN, docs/developer-guide/param-and-model-file-structure.md";
    FLAX "flax" "Flax msgpack" ["msgpack"], false, NAMED, File(flatfiles::flax), "Flax, flax/serialization.py";
    PADDLE "paddle" "Paddle parameters" ["pdiparams"], false, NAMED, File(flatfiles::paddle), "Paddle, paddle/phi/core/framework/dense_tensor_serialize.cc";
    TF_INDEX "tf-checkpoint" "a TensorFlow checkpoint index" [], false, NAMED, File(flatfiles::tf_index), "TensorFlow, tensor_bundle.h and table_format.txt";
    SAVED_MODEL_PB "tf-saved-model-graph" "a TensorFlow SavedModel graph" [], false, NAMED, File(protobufs::saved_model), "TensorFlow, saved_model.proto";
    GRAPH_DEF "tf-graph" "a TensorFlow graph" [], false, NAMED, File(protobufs::graph_def), "TensorFlow, graph.proto";

    // Folders. A folder that is a model folder too is read as that, unless its names leave no doubt.
    SAVED_MODEL "tf-saved-model" "a TensorFlow SavedModel folder" [], false, NAMED, Folder(Match::Magic, &[&["saved_model.pb", "saved_model.pbtxt"]], Says::NotRead), "TensorFlow, SavedModel";
    KERAS_FOLDER "keras-folder" "an unzipped Keras archive" [], false, NAMED, Folder(Match::Structure, &[&["metadata.json"], &["config.json"], &["model.weights.h5", "model.weights.npz", "model.weights.json"]], Says::NotRead), "Keras, keras/src/saving/saving_lib.py";
    MLPACKAGE "coreml-package" "a Core ML package" [], false, NAMED, Folder(Match::Magic, &[&["Manifest.json"], &["Data"]], Says::NotRead), "coremltools, modelpackage/src/ModelPackage.cpp";
    MLMODELC "coreml-compiled" "a compiled Core ML model" [], false, NAMED, Folder(Match::Magic, &[&["coremldata.bin"]], Says::NotRead), "coremltools";
    ORBAX "orbax" "an Orbax checkpoint" [], false, NAMED, Folder(Match::Magic, &[&["_CHECKPOINT_METADATA", "_METADATA", "manifest.ocdbt"]], Says::NotRead), "Orbax; TensorStore, kvstore/ocdbt";
    ZARR "zarr" "a zarr store" [], false, NAMED, Folder(Match::Magic, &[&[".zarray", ".zgroup", "zarr.json"]], Says::NotRead), "zarr 2 and 3";

    // Wrappers and programs.
    ZIP "zip" "a zip archive" [], false, EITHER, File(archives::zip), "PKWARE APPNOTE 6.3.10";
    TAR "tar" "a tar archive" [], false, NAMED, File(archives::tar), "POSIX.1-2017, pax";
    GZIP "gzip" "a gzip file" [], false, NAMED, File(magics::gzip), "RFC 1952";
    BZIP2 "bzip2" "a bzip2 file" [], false, NAMED, File(magics::bzip2), "bzip2";
    XZ "xz" "an xz file" [], false, NAMED, File(magics::xz), "The .xz file format 1.2.1";
    ZSTD "zstd" "a zstd file" [], false, NAMED, File(magics::zstd), "RFC 8878";
    LZ4 "lz4" "an lz4 file" [], false, NAMED, File(magics::lz4), "lz4_Frame_format.md";
    SEVEN_ZIP "7z" "a 7z archive" [], false, NAMED, Magic(&[(0, b"7z\xbc\xaf\x27\x1c")]), "7-Zip, DOC/7zFormat.txt";
    RAR "rar" "a rar archive" [], false, NAMED, Magic(&[(0, b"Rar!\x1a\x07")]), "RAR 5.0 technote";
    EXECUTABLE "executable" "an executable" [], false, NAMED, File(magics::executable), "ELF, PE/COFF and Mach-O";
}
