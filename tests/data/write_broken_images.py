"""Writes image files with h5py that are wrong in one way each.

usage: write_broken_images.py FOLDER

Each function below takes a good file of six frames and breaks it; the file has the function's name.
"""

import os
import sys
import zlib

import h5py
import numpy as np
import sample_images as sample

IMAGES = sample.images(6)
CHUNK = (1, sample.HEIGHT, sample.WIDTH, 3)


def replace(file, name, values=None, **storage):
    del file[name]
    if values is not None:
        file.create_dataset(name, data=values, **storage)


def store(file, frame, stored, **settings):
    file["images"].id.write_direct_chunk((frame, 0, 0, 0), stored, **settings)


# ---- Refused when the file is opened -------------------------------------------------------------


def no_factors(file):
    del file.attrs["factors"]


def factors_not_json(file):
    file.attrs["factors"] = "track"


def settings_number(file):
    file.attrs["settings"] = 3


def no_images(file):
    replace(file, "images")


def images_group(file):
    replace(file, "images")
    file.create_group("images")


def images_floats(file):
    replace(file, "images", IMAGES.astype("f4"), chunks=CHUNK)


def images_signed(file):
    replace(file, "images", IMAGES.astype("i1"), chunks=CHUNK)


def images_wide(file):
    replace(file, "images", IMAGES.astype("u2"), chunks=CHUNK)


def images_grey(file):
    replace(file, "images", IMAGES[..., 0], chunks=CHUNK[:3])


def images_four_channels(file):
    replace(file, "images", np.zeros((6, 12, 20, 4), dtype="u1"), chunks=(1, 12, 20, 4))


def images_contiguous(file):
    replace(file, "images", IMAGES)


def images_two_a_chunk(file):
    replace(file, "images", IMAGES, chunks=(2, 12, 20, 3))


def images_half_a_chunk(file):
    replace(file, "images", IMAGES, chunks=(1, 6, 20, 3))


def images_shuffled(file):
    replace(file, "images", IMAGES, chunks=CHUNK, compression="gzip", shuffle=True)


def images_lzf(file):
    replace(file, "images", IMAGES, chunks=CHUNK, compression="lzf")


def images_none(file):
    replace(file, "images", IMAGES[:0], chunks=CHUNK, maxshape=(None,) + CHUNK[1:])


def images_too_wide(file):
    replace(file, "images")
    file.create_dataset("images", (6, 1, 20000, 3), "u1", chunks=(1, 1, 20000, 3))


def images_cut_short(file):
    replace(file, "images")
    images = file.create_dataset("images", IMAGES.shape, "u1", chunks=CHUNK, compression="gzip")
    images[:4] = IMAGES[:4]


def images_never_written(file):
    replace(file, "images")
    file.create_dataset("images", (10**9,) + CHUNK[1:], "u1", chunks=CHUNK, compression="gzip")
    for name, shape in (("actions", (10**9, 4, 3)), ("tasks", (10**9, 2)), ("flights", (10**9,))):
        replace(file, name)
        file.create_dataset(name, shape, "i4", chunks=True)


def images_fewer(file):
    replace(file, "images", IMAGES[:5], chunks=CHUNK)


def images_bloated(file):
    store(file, 2, bytes(100000))


def no_actions(file):
    replace(file, "actions")


def actions_text(file):
    replace(file, "actions", np.full((6, 4, 3), b"x"))


def actions_matrix(file):
    replace(file, "actions", np.zeros((6, 12)))


def actions_fewer(file):
    replace(file, "actions", np.zeros((5, 4, 3)))


def actions_no_steps(file):
    replace(file, "actions", np.zeros((6, 0, 3)))


def actions_nan(file):
    file["actions"][3, 2, 1] = np.nan


def actions_infinite(file):
    replace(file, "actions", np.full((6, 4, 3), -np.inf, dtype="f4"))


def no_tasks(file):
    replace(file, "tasks")


def tasks_floats(file):
    replace(file, "tasks", np.zeros((6, 2)))


def tasks_narrow(file):
    replace(file, "tasks", np.zeros((6, 1), dtype="i4"))


def tasks_fewer(file):
    replace(file, "tasks", np.zeros((5, 2), dtype="i4"))


def tasks_outside(file):
    file["tasks"][4, 1] = 3


def tasks_null(file):
    file["tasks"][5, 0] = -1


def tasks_huge(file):
    replace(file, "tasks", np.full((6, 2), 2**63, dtype="u8"))


def no_flights(file):
    replace(file, "flights")


def flights_floats(file):
    replace(file, "flights", np.zeros(6))


def flights_matrix(file):
    replace(file, "flights", np.zeros((6, 1), dtype="i4"))


def flights_fewer(file):
    replace(file, "flights", np.zeros(7, dtype="i4"))


def flights_negative(file):
    file["flights"][1] = -1


def flights_huge(file):
    replace(file, "flights", np.full(6, 2**40))


# ---- Unlike the sample, but whole: wrong beside it -----------------------------------------------


def other_factors(file):
    file.attrs["factors"] = sample.FACTORS.replace("race2", "race3")


def other_size(file):
    replace(file, "images", np.zeros((6, 10, 20, 3), dtype="u1"), chunks=(1, 10, 20, 3))


def other_steps(file):
    replace(file, "actions", np.zeros((6, 5, 3)))


# ---- Refused when frame 2 is read ----------------------------------------------------------------


def frame_noise(file):
    store(file, 2, bytes(range(200)))


def frame_flipped(file):
    packed = bytearray(zlib.compress(IMAGES[2].tobytes(), 1))
    packed[len(packed) // 2] ^= 0x10
    store(file, 2, bytes(packed))


def frame_checksum(file):
    packed = bytearray(zlib.compress(IMAGES[2].tobytes(), 1))
    packed[-1] ^= 1
    store(file, 2, bytes(packed))


def frame_cut(file):
    store(file, 2, zlib.compress(IMAGES[2].tobytes(), 1)[:-40])


def frame_shorter(file):
    store(file, 2, zlib.compress(IMAGES[2].tobytes()[:-1], 1))


def frame_longer(file):
    store(file, 2, zlib.compress(IMAGES[2].tobytes() + b"x", 1))


def frame_bare_shorter(file):
    store(file, 2, IMAGES[2].tobytes()[:-1], filter_mask=1)


def frame_bare_longer(file):
    store(file, 2, IMAGES[2].tobytes() + b"x", filter_mask=1)


def main():
    this = sys.modules[__name__]
    helpers = {"replace", "store", "main"}
    for name in [n for n in vars(this) if callable(getattr(this, n)) and n not in helpers]:
        with h5py.File(os.path.join(sys.argv[1], name + ".h5"), "w") as file:
            sample.write(file)
            getattr(this, name)(file)
    with h5py.File(os.path.join(sys.argv[1], "good.h5"), "w") as file:
        sample.write(file)


main()
