"""Records what the Python packages of three models return, for onnx/tests/onnx_examples.rs.

Usage: python3 scripts/onnx_examples.py MODELS      (pip install magika==1.0.3 rapidocr_onnxruntime==1.4.4 silero_vad==6.2.3)

MODELS is the folder of `scripts/onnx_models.py fetch`. Writes onnx/tests/data/examples.json and onnx/tests/data/page.png. Steps before and
after the models are those of the packages' own code; the numbers of the models are onnxruntime's.
"""
import io
import json
import math
import os
import sys

import numpy as np
import onnxruntime
from PIL import Image, ImageDraw, ImageFont

DATA = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "onnx/tests/data")
RATE = 16000


def sound():
    """Two seconds: a voice-like sum of harmonics between silences, as the test computes it."""
    at = np.arange(2 * RATE)
    time = at / RATE
    total = np.zeros(len(at))
    for harmonic in range(1, 30):
        pitch = 120.0 * harmonic
        formants = sum(math.exp(-(((pitch - f) / 120.0) ** 2)) for f in (700.0, 1220.0, 2600.0))
        total += formants * np.sin(2 * math.pi * pitch * time + 3 * np.sin(2 * math.pi * 5 * time) * harmonic / 10)
    loud = np.where((time > 0.4) & (time < 1.5), 0.5 + 0.5 * np.sin(2 * math.pi * 4 * time), 0.0)
    return (0.1 * loud * total).astype(np.float32)


def speech(models):
    from silero_vad.utils_vad import get_speech_timestamps_from_probs

    random = np.random.default_rng(1)
    cases = []
    for rate in (16000, 8000):
        for _ in range(4):
            level = np.repeat(random.random(12), random.integers(1, 12, 12))
            probabilities = np.clip(level + 0.1 * random.standard_normal(len(level)), 0, 1).round(3).tolist()
            block = 512 * rate // 16000
            samples = len(probabilities) * block - int(random.integers(0, block))
            found = get_speech_timestamps_from_probs(probabilities, sampling_rate=rate, audio_length_samples=samples)
            segments = [[one["start"], one["end"]] for one in found]
            cases.append({"rate": rate, "samples": samples, "probabilities": probabilities, "segments": segments})
    session = onnxruntime.InferenceSession(f"{models}/silero_vad__data_silero_vad/model.onnx")
    samples, state, context, all = sound(), np.zeros((2, 1, 128), np.float32), np.zeros(64, np.float32), []
    for start in range(0, len(samples), 512):
        block = samples[start : start + 512]
        block = np.concatenate([block, np.zeros(512 - len(block), np.float32)])
        inputs = {"input": np.concatenate([context, block])[None], "state": state, "sr": np.array(RATE, np.int64)}
        output, state = session.run(None, inputs)
        context = block[-64:]
        all.append(round(float(output[0, 0]), 6))
    return {"cases": cases, "probabilities": all}


FILES = [
    b"fn main() {\n    let x: Vec<u32> = (0..10).map(|x| x * x).collect();\n    println!(\"{x:?}\");\n}\n" * 3,
    b"import os\n\ndef main(path):\n    for name in os.listdir(path):\n        print(name)\n\nif __name__ == '__main__':\n    main('.')\n",
    b"  \n\t{\"name\": [1, 2, 3], \"other\": {\"a\": null, \"b\": true}}\n\n",
    b"# Title\n\nSome *text* with [a link](https://example.org).\n\n- one\n- two\n\n```sh\nls -l\n```\n",
    bytes((7 * n * n + 13 * n) % 256 for n in range(6000)),
    b"a,b,c\n1,2,3\n4,5,6\n7,8,9\n" * 8,
    b"short",
    b"",
    b"\xff\xfe\xfd",
    b"          \n\n       x          ",
]


def file_type(_):
    from magika import Magika

    magika, cases = Magika(), []
    for data in FILES:
        result = magika.identify_bytes(data)
        case = {"bytes": data.hex(), "kind": str(result.output.label), "score": round(float(result.score), 6)}
        features = Magika._extract_features_from_seekable
        if len(data) >= 8:
            from magika.types.seekable import Seekable

            found = features(Seekable(io.BytesIO(data)), 1024, 0, 1024, 256, 4096, False)
            if found.beg[7] != 256:
                numbers = np.array(found.beg + found.end)
                case["sum"] = int(numbers.sum())
                # The place counts as well.
                case["weighted"] = int((numbers * (1 + np.arange(len(numbers)))).sum())
        cases.append(case)
    return cases


def read_text(_):
    from rapidocr_onnxruntime import RapidOCR
    from rapidocr_onnxruntime.ch_ppocr_det.text_detect import TextDetector
    from rapidocr_onnxruntime.ch_ppocr_det.utils import DBPostProcess
    from rapidocr_onnxruntime.ch_ppocr_rec.utils import CTCLabelDecode

    random = np.random.default_rng(2)
    map = 0.1 * random.random((40, 96))
    for top, bottom, left, right, level in [(4, 9, 6, 40, 0.9), (5, 10, 50, 90, 0.8), (20, 26, 3, 80, 0.7), (30, 32, 5, 60, 0.95), (34, 38, 70, 90, 0.45)]:
        map[top:bottom, left:right] = level + 0.05 * random.random((bottom - top, right - left))
    map = map.round(3).astype(np.float32)
    post = DBPostProcess(thresh=0.3, box_thresh=0.5, max_candidates=1000, unclip_ratio=1.6, score_mode="fast", use_dilation=True)
    found, _ = post(map[None, None], (120, 288))
    detector = TextDetector.__new__(TextDetector)
    found = detector.filter_tag_det_res(found, (120, 288))
    boxes = sorted([int(b[:, 1].min()), int(b[:, 1].max()), int(b[:, 0].min()), int(b[:, 0].max())] for b in found)
    scores = random.random((20, 6)).round(3)
    scores[::3, 0] = 1.5
    scores[4] = scores[5]
    ((text, score),) = CTCLabelDecode(character=list("abcd"))(scores[None])

    image = Image.new("L", (420, 150), 255)
    draw = ImageDraw.Draw(image)
    font = ImageFont.truetype("/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf", 26)
    for row, line in enumerate(["Named tensors", "for Rust: 2026", "one two three"]):
        draw.text((20, 10 + 46 * row), line, font=font, fill=0)
    image.save(f"{DATA}/page.png", optimize=True)
    result, _ = RapidOCR()(f"{DATA}/page.png", use_cls=False)
    lines = []
    for box, line, sure in result:
        box = np.array(box)
        rows, columns = (int(box[:, 1].min()), int(box[:, 1].max())), (int(box[:, 0].min()), int(box[:, 0].max()))
        lines.append({"rows": rows, "columns": columns, "text": line, "score": round(float(sure), 4)})
    return {
        "map": map.tolist(),
        "boxes": boxes,
        "scores": scores.tolist(),
        "text": text,
        "score": float(score),
        "lines": lines,
    }


if len(sys.argv) != 2:
    raise SystemExit(__doc__)
parts = {part.__name__: part(sys.argv[1]) for part in (speech, file_type, read_text)}
with open(f"{DATA}/examples.json", "w") as file:
    # `round` leaves digits of the conversion from f32.
    text = json.dumps(parts, separators=(",", ":"))
    file.write(json.dumps(json.loads(text, parse_float=lambda x: round(float(x), 6)), separators=(",", ":")) + "\n")
