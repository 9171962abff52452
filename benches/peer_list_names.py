"""The Python safetensors library's way to the names of a file; prints the median seconds of the library call."""
import sys
import time

from safetensors import safe_open

path, rounds = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 9
seconds = []
for _ in range(rounds):
    start = time.perf_counter()
    with safe_open(path, framework="np") as file:
        names = list(file.keys())
    seconds.append(time.perf_counter() - start)
print(f"{sorted(seconds)[len(seconds) // 2]:.6f} {len(names)}")
