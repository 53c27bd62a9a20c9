"""Reads a PNG file with nothing but zlib, checks every checksum, and writes the bare pixels.

usage: read_png.py PNG RAW WIDTH HEIGHT
"""
import struct
import sys
import zlib

data = open(sys.argv[1], "rb").read()
width, height = int(sys.argv[3]), int(sys.argv[4])
assert data[:8] == b"\x89PNG\r\n\x1a\n", "no PNG signature"
chunks, at = [], 8
while at < len(data):
    (length,) = struct.unpack(">I", data[at : at + 4])
    kind, body = data[at + 4 : at + 8], data[at + 8 : at + 8 + length]
    (checksum,) = struct.unpack(">I", data[at + 8 + length : at + 12 + length])
    assert checksum == zlib.crc32(kind + body), f"wrong checksum of {kind}"
    chunks.append((kind, body))
    at += 12 + length
assert [kind for kind, _ in chunks] == [b"IHDR", b"IDAT", b"IEND"], "other chunks"
header = struct.unpack(">IIBBBBB", chunks[0][1])
assert header == (width, height, 8, 2, 0, 0, 0), f"header {header}"
raw = zlib.decompress(chunks[1][1])
stride = 3 * width
assert len(raw) == (stride + 1) * height, "wrong size"


def predict(kind, left, above, corner):
    if kind < 4:
        return (0, left, above, (left + above) // 2)[kind]
    guess = left + above - corner
    return min((abs(guess - left), 0, left), (abs(guess - above), 1, above),
               (abs(guess - corner), 2, corner))[2]


out, before = bytearray(), bytearray(stride)
for y in range(height):
    kind, row = raw[y * (stride + 1)], bytearray(raw[y * (stride + 1) + 1 : (y + 1) * (stride + 1)])
    for i in range(stride):
        left, corner = (row[i - 3], before[i - 3]) if i >= 3 else (0, 0)
        row[i] = (row[i] + predict(kind, left, before[i], corner)) & 255
    out += row
    before = row
open(sys.argv[2], "wb").write(out)
