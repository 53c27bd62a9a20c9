"""The frames of images.h, as numpy computes them."""

import numpy as np

WIDTH, HEIGHT, STEPS, CHANNELS = 20, 12, 4, 3
FACTORS = (
    '{"track":["race1","race2","Zürich"],"size":["narrow","standard","wide"]}'
)
SETTINGS = '{"seed":7,"venue":"Zürich"}'


def images(count):
    frame, y, x, c = np.ogrid[:count, :HEIGHT, :WIDTH, :3]
    place = ((frame * HEIGHT + y) * WIDTH + x) * 3 + c
    noise = (place * 2654435761 % 2**32 >> 16) % 5
    return (6 * x + 4 * y + 40 * c + frame + noise).astype("u1")


def actions(count):
    frame, i = np.ogrid[:count, : STEPS * CHANNELS]
    return ((100.0 * frame + i) / 7.0).reshape(count, STEPS, CHANNELS)


def tasks(count):
    task = 4 * np.arange(count) % 9
    return np.stack([task // 3, task % 3], axis=1).astype("i4")


def flights(count):
    return (np.arange(count) // 3).astype("i4")


def write(file, count=6, **storage):
    """Writes `count` frames; `storage` says how the images are stored."""
    file.attrs["factors"] = FACTORS
    file.attrs["settings"] = SETTINGS
    storage = {"chunks": (1, HEIGHT, WIDTH, 3), "compression": "gzip"} | storage
    file.create_dataset("images", data=images(count), **storage)
    file["actions"] = actions(count)
    file["tasks"] = tasks(count)
    file["flights"] = flights(count)
