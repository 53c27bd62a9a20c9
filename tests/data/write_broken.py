"""Writes files with h5py that are not valid datasets, each wrong in one way.

usage: write_broken.py FOLDER

Each function below takes a good file of four demos and breaks it; the file has the function's name.
"""

import os
import sys

import h5py
import numpy as np


def good(file):
    data = file.create_group("data")
    data.attrs["factors"] = '{"track":["race1","race2","slalom"],"size":["narrow","wide"]}'
    data.attrs["env_args"] = "{}"
    data.attrs["total"] = 20
    for n in range(4):
        demo = data.create_group(f"demo_{n}")
        demo.attrs["num_samples"] = 5
        demo.attrs["track"] = "race1"
        demo.attrs["size"] = "wide"
        demo["actions"] = np.zeros((5, 3))
        demo["obs/state"] = np.ones((5, 2))
    return data


def replace(group, name, values):
    del group[name]
    group[name] = values


def no_data(file, data):
    file.move("data", "elsewhere")


def data_is_array(file, data):
    replace(file, "data", np.zeros(3))


def no_factors(file, data):
    del data.attrs["factors"]


def factors_number(file, data):
    data.attrs["factors"] = 3.5


def factors_two(file, data):
    data.attrs["factors"] = ["{}", "{}"]


def factors_not_json(file, data):
    data.attrs["factors"] = "track: race1"


def factors_array(file, data):
    data.attrs["factors"] = '["track"]'


def factors_empty(file, data):
    data.attrs["factors"] = "{}"


def factors_never_written(file, data):
    del data.attrs["factors"]
    space = h5py.h5s.create(h5py.h5s.SCALAR)
    kind = h5py.h5t.py_create(h5py.string_dtype(), logical=True)
    h5py.h5a.create(data.id, b"factors", kind, space)


def factors_too_many(file, data):
    data.attrs["factors"] = "{" + ",".join(f'"f{i}":["a"]' for i in range(17)) + "}"


def factors_same_value(file, data):
    data.attrs["factors"] = '{"track":["race1","race1"]}'


def env_args_number(file, data):
    data.attrs["env_args"] = 1


def no_demos(file, data):
    for name in list(data):
        del data[name]


def factor_missing(file, data):
    del data["demo_2"].attrs["size"]


def factor_number(file, data):
    data["demo_2"].attrs["size"] = 2


def value_unknown(file, data):
    data["demo_3"].attrs["track"] = "salom"


def value_with_newline(file, data):
    data["demo_3"].attrs["track"] = "race1\n"


def no_actions(file, data):
    del data["demo_1/actions"]


def no_actions_at_all(file, data):
    for name in data:
        del data[name]["actions"]


def actions_group(file, data):
    replace(data["demo_1"], "actions", np.zeros((5, 3)))
    del data["demo_1/actions"]
    data["demo_1"].create_group("actions")


def actions_vector(file, data):
    replace(data["demo_1"], "actions", np.zeros(5))


def actions_cube(file, data):
    replace(data["demo_0"], "actions", np.zeros((5, 3, 1)))


def actions_scalar(file, data):
    replace(data["demo_1"], "actions", 1.0)


def actions_null(file, data):
    replace(data["demo_1"], "actions", h5py.Empty("f8"))


def actions_text(file, data):
    replace(data["demo_1"], "actions", np.full((5, 3), b"x"))


def actions_bool(file, data):
    replace(data["demo_1"], "actions", np.zeros((5, 3), dtype=bool))


def actions_complex(file, data):
    replace(data["demo_1"], "actions", np.zeros((5, 3), dtype=complex))


def actions_empty(file, data):
    for name in data:
        replace(data[name], "actions", np.zeros((0, 3)))


def actions_longer(file, data):
    replace(data["demo_1"], "actions", np.zeros((6, 3)))


def actions_wider(file, data):
    replace(data["demo_1"], "actions", np.zeros((5, 4)))


def actions_nan(file, data):
    data["demo_3/actions"][4, 1] = np.nan


def actions_inf(file, data):
    replace(data["demo_0"], "actions", np.full((5, 3), -np.inf, dtype="f4"))


def samples_missing(file, data):
    del data["demo_1"].attrs["num_samples"]


def samples_text(file, data):
    data["demo_1"].attrs["num_samples"] = "5"


def samples_wrong(file, data):
    data["demo_1"].attrs["num_samples"] = 4


def total_wrong(file, data):
    data.attrs["total"] = 21


def obs_array(file, data):
    replace(data["demo_0"], "obs", np.zeros((5, 2)))


def obs_missing_once(file, data):
    del data["demo_2/obs"]


def obs_extra_once(file, data):
    data["demo_2/obs/speed"] = np.zeros((5, 1))


def obs_first_missing(file, data):
    del data["demo_0/obs"]


def obs_shorter(file, data):
    replace(data["demo_0"], "obs/state", np.zeros((4, 2)))


def obs_wider(file, data):
    replace(data["demo_1"], "obs/state", np.zeros((5, 3)))


def obs_nan(file, data):
    data["demo_1/obs/state"][0, 1] = np.nan


def obs_image(file, data):
    replace(data["demo_0"], "obs/state", np.zeros((5, 8, 8, 3), dtype="u1"))


def name_too_long(file, data):
    data.create_group("demo_" + "1" * 200)


def main():
    folder = sys.argv[1]
    this = sys.modules[__name__]
    helpers = {"good", "replace", "main"}
    for name in [n for n in vars(this) if callable(getattr(this, n)) and n not in helpers]:
        with h5py.File(os.path.join(folder, name + ".h5"), "w") as file:
            getattr(this, name)(file, good(file))
    with h5py.File(os.path.join(folder, "good.h5"), "w") as file:
        good(file)


main()
