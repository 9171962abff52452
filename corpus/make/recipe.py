"""The parts of an input that is too large to keep, put together; the tests build it from `case.json` with the same function."""

from blake3 import blake3


def payload(key, n_bytes):
    """Bytes that look like weights to nobody: fixed by the key, never zero, so that no zero tail arises by chance."""
    return blake3(key.encode()).digest(length=n_bytes).replace(b"\0", b"\1")


def build(parts):
    """The bytes of a recipe: `{"hex": ..}`, `{"text": ..}`, `{"repeat": "a character", "count": n}`, `{"payload": "a key", "count": n}`."""
    out = bytearray()
    for part in parts:
        if "hex" in part:
            out += bytes.fromhex(part["hex"])
        elif "text" in part:
            out += part["text"].encode()
        elif "payload" in part:
            out += payload(part["payload"], part["count"])
        else:
            out += part["repeat"].encode() * part["count"]
    return bytes(out)
