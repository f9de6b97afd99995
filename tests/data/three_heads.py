"""three_heads.py POCKET FOLDER: the embedded model with the first query head of each group twice. Of the first of the two
nothing is added to the residual stream, so that the model's tokens are the same."""
import json, pathlib, struct, sys
pocket, folder = map(pathlib.Path, sys.argv[1:])
config = json.loads((pocket / "config.json").read_text())
heads, d = config["num_attention_heads"], config["head_dim"]
config["num_attention_heads"] = heads * 3 // 2
(folder / "config.json").write_text(json.dumps(config))
(folder / "tokenizer.json").write_bytes((pocket / "tokenizer.json").read_bytes())
data = (pocket / "model.safetensors").read_bytes()
size = struct.unpack("<Q", data[:8])[0]
header, out = json.loads(data[8:8 + size]), b""
for name, t in sorted(header.items()):
    if name == "__metadata__":
        continue
    begin, end = (8 + size + x for x in t["data_offsets"])
    x = data[begin:end]
    if ".q_proj." in name:
        n = len(x) // heads
        part = [x[i * n:i * n + n] for i in range(heads)]
        x = b"".join(part[i] + part[i] + part[i + 1] for i in range(0, heads, 2))
        t["shape"][0] += heads // 2 * d
    elif ".o_proj." in name:
        n = 2 * d
        part = [x[i:i + n] for i in range(0, len(x), n)]
        x = b"".join((bytes(n) if i % 2 == 0 else b"") + p for i, p in enumerate(part))
        t["shape"][1] += heads // 2 * d
    t["data_offsets"] = [len(out), len(out) + len(x)]
    out += x
text = json.dumps(header).encode()
(folder / "model.safetensors").write_bytes(struct.pack("<Q", len(text)) + text + out)
