"""OpenVINO or ONNX Runtime on the networks that Facet exports (see peer.py).

A plan is its forward passes alone: the encoder once if the policy sees, the score network once a
step, with tensors made beforehand. Several settings are tried for each work, and the fastest stays.
usage: runtime_peer.py SPEC, which compare.py makes
"""
import json
import statistics
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper

from peer import difference, load, milliseconds, serve

spec = json.loads(sys.argv[1])


class OpenVino:
    """One network in one setting: `run` calls it, `output` is a view of what it gave."""

    settings = [{"ENABLE_CPU_PINNING": True}, {"ENABLE_CPU_PINNING": False}]

    def __init__(self, path, inputs, threads, setting):
        import openvino
        core = openvino.Core()
        model = core.read_model(path)
        model.reshape({name: list(array.shape) for name, array in inputs.items()})
        compiled = core.compile_model(model, "CPU", {
            "PERFORMANCE_HINT": "LATENCY", "NUM_STREAMS": 1, "INFERENCE_NUM_THREADS": threads,
            "INFERENCE_PRECISION_HINT": "f32", **setting})
        self.request = compiled.create_infer_request()
        for name, array in inputs.items():
            self.request.set_tensor(name, openvino.Tensor(array, shared_memory=True))
        self.output = self.request.get_output_tensor().data

    def run(self):
        self.request.infer(share_outputs=True)

    @staticmethod
    def about():
        import openvino
        default = openvino.Core().get_property("CPU", "INFERENCE_PRECISION_HINT").get_type_name()
        return (openvino.__version__.split("-")[0],
                f"latency hint, one stream, f32 (its default here: {default}), static shapes")


class OnnxRuntime:
    settings = [{"session.intra_op.allow_spinning": "1"}, {"session.intra_op.allow_spinning": "0"}]

    def __init__(self, path, inputs, threads, setting):
        import onnxruntime
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL
        for key, value in setting.items():
            options.add_session_config_entry(key, value)
        self.session = onnxruntime.InferenceSession(path, options, ["CPUExecutionProvider"])
        self.binding = self.session.io_binding()
        for name, array in inputs.items():
            self.binding.bind_cpu_input(name, array)
        (first,) = self.session.get_outputs()
        self.session.run_with_iobinding(self.bound_to_any(first.name))
        shape = self.binding.copy_outputs_to_cpu()[0].shape
        value = onnxruntime.OrtValue.ortvalue_from_shape_and_type(shape, np.float32)
        self.binding.bind_ortvalue_output(first.name, value)
        self.value = value

    def bound_to_any(self, name):
        self.binding.bind_output(name)
        return self.binding

    def run(self):
        self.session.run_with_iobinding(self.binding)

    @property
    def output(self):
        return self.value.numpy()

    @staticmethod
    def about():
        import onnxruntime
        return onnxruntime.__version__, "all optimizations, bound tensors"


RUNTIME = {"openvino": OpenVino, "onnxruntime": OnnxRuntime}[spec["runtime"]]


def write_empty_model(path):
    x, y = (helper.make_tensor_value_info(n, TensorProto.FLOAT, [1]) for n in ("x", "y"))
    graph = helper.make_graph([helper.make_node("Identity", ["x"], ["y"])], "empty", [x], [y])
    opset = [helper.make_opsetid("", 17)]
    onnx.save(helper.make_model(graph, opset_imports=opset, ir_version=8), path)


def call_milliseconds():
    """Of a model that does nothing: what Python and the runtime's door cost."""
    path = spec["folder"] + "/empty.onnx"
    write_empty_model(path)
    empty = RUNTIME(path, {"x": np.zeros(1, np.float32)}, 1, {})
    return statistics.median(milliseconds(empty.run) for _ in range(200))


# ---- Plans ---------------------------------------------------------------------------------------

def networks(policy, threads, setting):
    """The score network, the encoder or None, and the largest difference of their outputs."""
    _, case = load(f"{spec['folder']}/{policy}.safetensors")
    rows = spec["branches"][policy]
    inputs = {name: np.ascontiguousarray(case[name][:rows])
              for name in ("x", "t", "z", "context") if name in case}
    inputs["t"] = inputs["t"].astype(np.int64)
    score = RUNTIME(f"{spec['folder']}/{policy}.onnx", inputs, threads, setting)
    score.run()
    far, encoder = difference(score.output, case["prediction"][:rows]), None
    if "image" in case:
        image = {"image": np.ascontiguousarray(case["image"][:1])}
        encoder = RUNTIME(f"{spec['folder']}/{policy}-encoder.onnx", image, threads, setting)
        encoder.run()
        far = max(far, difference(encoder.output, case["features"][:1]))
    return score, encoder, far


def plan(policy, steps, threads, setting):
    score, encoder, far = networks(policy, threads, setting)

    def run():
        if encoder:
            encoder.run()
        for _ in range(steps):
            score.run()

    return run, far


def fastest(policy, steps, threads):
    best = None
    for setting in RUNTIME.settings:
        run, far = plan(policy, steps, threads, setting)
        run()
        time = statistics.median(milliseconds(run) for _ in range(5))
        if best is None or time < best[0]:
            best = time, run, far, setting
    return best[1:]


works, differences, chosen = {}, {}, set()
for name, threads in spec["works"]:
    run, far, setting = fastest(*spec["plans"][name], threads)
    works[name, threads] = run
    differences[name] = max(far, differences.get(name, 0.0))
    chosen.add(", ".join(f"{key.split('.')[-1].lower()} {value}" for key, value in setting.items()))
version, settings = RUNTIME.about()
serve(works, {"version": version, "differences": differences,
              "settings": settings + "; " + " / ".join(sorted(chosen)),
              "call_ms": call_milliseconds()})
