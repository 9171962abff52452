#!/usr/bin/env bash
# Copies the corpus into fuzz/corpus/TARGET, where the fuzzer starts from; git ignores that folder.
set -euo pipefail
cd "$(dirname "$0")"

seed() { # seed TARGET FILE...: each under the digest of its content, and none over 8 KiB, which would slow every run down
  local target=$1 file
  shift
  mkdir -p "corpus/$target"
  for file; do
    [ -f "$file" ] && [ "$(stat -c %s "$file")" -le 8192 ] || continue
    cp "$file" "corpus/$target/$(sha1sum "$file" | cut -c1-40)"
  done
}

seed safetensors ../corpus/safetensors/*/*.safetensors ../corpus/identify/*/*.safetensors
seed wire_pickle ../corpus/identify/*pickle*/* ../corpus/identify/*torch-legacy*/*
seed wire_zip ../corpus/identify/*zip*/*
seed shard_index ../corpus/shards/*/input/*.index.json
seed wire_json ../corpus/*/*/case.json ../corpus/shards/*/input/*.json
seed round_trip ../corpus/safetensors/{plain,scalars,dtypes-20}/*.safetensors

# The header of each file is a JSON text of its own.
for file in ../corpus/safetensors/*/*.safetensors; do
  [ "$(stat -c %s "$file")" -le 8192 ] || continue
  tail -c +9 "$file" > "corpus/wire_json/header-$(basename "$(dirname "$file")")"
done

# The probe target takes its file name from the first byte.
mkdir -p corpus/probe
n=0
for file in ../corpus/identify/*/* ../corpus/safetensors/plain/*; do
  [ -f "$file" ] && [ "$(stat -c %s "$file")" -le 8192 ] || continue
  for name in 0 1 "$((n % 16))"; do
    { printf "\\x$(printf %02x "$name")"; cat "$file"; } > "corpus/probe/$n-$name"
  done
  n=$((n + 1))
done
