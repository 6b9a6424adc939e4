"""Records operators that view, move, repeat, join or make elements."""

from common import *

r = Recorder("shape")
x23, x34 = r.rand((2, 3), "N C"), r.rand((3, 4), "H W")
x234 = r.rand((2, 3, 4), "N H W")
v4, v3 = r.rand((4,), "K"), r.rand((3,), "M")
t32 = T(x23.tensor.t(), "C N")
t243 = T(x234.tensor.transpose(1, 2), "N W H")
number = T(torch.tensor(1.5), "")
empty = T(torch.zeros(0, 3), "N C")
others = [r.rand((2, 3), "N C", d) for d in (f64, f16, bf16, i64, i32, i16, i8, u8, boolean, c64, c128)]


def each(op, names, *args, view=False, **kwargs):
    """Records the same call in every other dtype."""
    for x in others:
        r.case(op, x, *args, names=names, view=view, **kwargs)


# Views

op = "torch.permute"
r.case(op, x234, [D("W", 2), D("N", 0), D("H", 1)], names="W N H", view=True)
r.case(op, x234, [2, 0, 1], names="W N H", view=True)
r.case(op, x23, [-1, 0], names="C N", view=True)
r.case(op, t32, [1, 0], names="N C", view=True)
r.case(op, v4, [D("K", 0)], names="K", view=True)
r.case(op, number, [], names="")
r.case(op, empty, [1, 0], names="C N", view=True)
r.case(op, others[6], [1, 0], names="C N", view=True)
r.case("torch.Tensor.permute", x234, 1, 2, 0, names="H W N", view=True)
r.error(op, "rank", x234, ["N", "H"])
r.error(op, "name_not_found", x23, ["N", "X"])
r.error(op, "duplicate_names", x23, ["N", "N"])
r.error(op, "index", x23, [0, 2])

op = "torch.movedim"
r.case(op, x234, D("N", 0), 2, names="H W N", view=True)
r.case(op, x234, D("W", 2), D("N", 0), names="W N H", view=True)
r.case(op, x234, 0, -1, names="H W N", view=True)
r.case(op, x234, [0, 1], [1, 2], names="W N H", view=True)
r.case(op, x234, [D("W", 2), D("N", 0)], [0, 1], names="W N H", view=True)
r.case(op, t243, -1, 0, names="H N W", view=True)
r.case(op, number, 0, 0, names="")
r.case(op, empty, 0, 1, names="C N", view=True)
r.case("torch.moveaxis", x234, 1, 0, names="H N W", view=True)
r.case("torch.Tensor.movedim", others[8], 1, 0, names="C N", view=True)
r.error(op, "name_not_found", x234, "X", 0)
r.error(op, "index", x234, 0, 3)
r.error(op, "rank", x234, [0, 1], [0])
r.error(op, "duplicate_names", x234, ["N", "N"], [0, 1])

for op in ("torch.swapaxes", "torch.swapdims"):
    r.case(op, x234, 0, 2, names="W H N", view=True)
    r.case(op, x234, D("N", 0), D("H", 1), names="H N W", view=True)
    r.case(op, t32, -1, 0, names="N C", view=True)
    r.case(op, others[3], 0, 1, names="C N", view=True)
    r.error(op, "name_not_found", x234, "X", "N")

op = "torch.unsqueeze"
r.case(op, x23, 0, names="_ N C", view=True)
r.case(op, x23, 1, names="N _ C", view=True)
r.case(op, x23, -1, names="N C _", view=True)
r.case(op, x23, -3, names="_ N C", view=True)
r.case(op, t32, 1, names="C _ N", view=True)
r.case(op, number, 0, names="_", view=True)
r.case(op, empty, 2, names="N C _", view=True)
r.case(op, others[9], 1, names="N _ C", view=True)
r.case("torch.Tensor.unsqueeze", v4, 1, names="K _", view=True)
r.error(op, "index", x23, 3)
r.error(op, "index", x23, -4)

op = "torch.diagonal"
r.case(op, x34, names="_", view=True)
r.case(op, x34, 1, names="_", view=True)
r.case(op, x34, -1, names="_", view=True)
r.case(op, x234, 0, D("H", 1), D("W", 2), names="N _", view=True)
r.case(op, x234, 1, D("W", 2), D("N", 0), names="H _", view=True)
r.case(op, x234, -1, -1, 0, names="H _", view=True)
r.case(op, x234, 0, S("N", 0), S("W", 2), outdim="K", names="H K", view=True,
       fn=lambda x, o, a, b, outdim: torch.diagonal(x, o, a, b))
r.case(op, T(x34.tensor.t(), "W H"), 1, names="_", view=True)
r.case(op, x34, 100, names="_")
r.case(op, empty, names="_")
r.case(op, others[9], names="_", view=True)
r.case(op, others[8], names="_", view=True)
r.error(op, "index", x234, 0, 1, 1)
r.error(op, "name_not_found", x234, 0, "X", "N")
r.error(op, "duplicate_names", x234, 0, "H", "W", outdim="N")
r.error(op, "index", v4)

op = "torch.Tensor.unfold"
fold = lambda x, d, s, t, outdim=None: x.unfold(d, s, t)
r.case(op, v4, D("K", 0), 2, 1, names="K _", view=True)
r.case(op, x234, D("W", 2), 2, 2, names="N H W _", view=True)
r.case(op, x234, -1, 3, 1, names="N H W _", view=True)
r.case(op, x234, D("H", 1), 2, 1, outdim="F", names="N H W F", view=True, fn=fold)
r.case(op, t243, 1, 4, 3, names="N W H _", view=True)
r.case(op, number, 0, 1, 1, names="_")
r.case(op, others[3], 1, 3, 5, names="N C _", view=True)
r.case(op, others[8], 0, 1, 1, names="N C _", view=True)
r.case(op, x23, 0, 0, 1, names="N C _")
r.error(op, "shape", v4, "K", 5, 1)
r.error(op, "shape", v4, "K", 1, 0)
r.error(op, "name_not_found", v4, "X", 1, 1)
r.error(op, "duplicate_names", x234, "H", 2, 1, outdim="N")

bare = r.rand((2, 6), "_ _")
for op, view in (("torch.reshape", False), ("torch.Tensor.view", True)):
    r.case(op, bare, [3, 4], names="_ _", view=view)
    r.case(op, bare, [-1], names="_", view=view)
    r.case(op, bare, [2, -1, 3], names="_ _ _", view=view)
    r.case(op, x23, [2, 3], names="N C", view=view)
    r.case(op, x23, [-1, 3], names="N C", view=view)
    r.case(op, T(torch.zeros(0, 2), "_ _"), [2, 0], names="_ _")
    r.case(op, T(torch.ones(1), "_"), [], names="")
    r.case(op, T(others[9].tensor, "_ _"), [3, 2], names="_ _", view=view)
    r.error(op, "shape", bare, [5, -1])
    r.error(op, "shape", bare, [-1, -1])
    r.error(op, "resize", x23, [6])
r.case("torch.reshape", T(x23.tensor.t(), "_ _"), [6], names="_")
r.case("torch.Tensor.reshape", bare, 4, 3, names="_ _")
r.case("torch.Tensor.view", bare, 4, 3, names="_ _", view=True)
for op in ("torch.Tensor.reshape_as", "torch.Tensor.view_as"):
    r.case(op, bare, T(torch.zeros(3, 4), "N C"), names="_ _")
    r.case(op, bare, T(torch.zeros(12), "_"), names="_")
    r.case(op, bare, T(torch.zeros(2, 3, 2), "_ _ _"), names="_ _ _")
    r.case(op, bare, T(torch.zeros(1, 12, 1), "_ _ _"), names="_ _ _")
    r.case(op, x23, x23, names="N C")
    r.case(op, number, T(torch.zeros(1, 1), "_ _"), names="_ _")
    r.case(op, T(torch.zeros(0), "_"), T(torch.zeros(4, 0), "_ _"), names="_ _")
    r.case(op, T(others[3].tensor, "_ _"), T(torch.zeros(6), "_"), names="_")
    r.error(op, "resize", x23, T(torch.zeros(6), "_"))
    r.error(op, "shape", bare, number)
for op in ("torch.ravel", "torch.Tensor.ravel"):
    r.case(op, x23, names="_")
    r.case(op, t32, names="_")
    r.case(op, number, names="_")
    r.case(op, empty, names="_")
    r.case(op, others[8], names="_")

op = "torch.Tensor.expand_as"
one3 = r.rand((1, 3), "N C")
r.case(op, one3, x23, names="N C", view=True)
r.case(op, v3, T(torch.zeros(2, 3), "_ _"), names="_ M", view=True)
r.case(op, number, x23, names="_ _", view=True)
r.case(op, x23, x23, names="N C", view=True)
r.case(op, one3, T(torch.zeros(4, 0, 3), "_ _ _"), names="_ N C")
r.case(op, T(torch.zeros(3, 1), "C N"), t32, names="C N", view=True)
r.case(op, T(torch.ones(1, dtype=i32), "N"), empty, names="_ N")
r.case(op, T(torch.ones(2, 1, dtype=boolean), "N C"), x23, names="N C", view=True)
r.error(op, "shape", x23, x34)
r.error(op, "rank", x23, v3)

op = "torch.as_strided"
for size, stride, offset in (([2], [1], None), ([2, 2], [1, 2], 1), ([3, 3], [1, 1], 0), ([], [], 3),
                             ([2, 0], [1, 1], None), ([6], [1], 0), ([4], [0], 2), ([2, 3], [3, 1], None)):
    args = [size, stride] + ([] if offset is None else [offset])
    r.case(op, x23, *args, names=" ".join("_" * len(size)), view=True)
r.error(op, "shape", x23, [7], [1])
r.error(op, "shape", x23, [2, 2], [1])

for n in (1, 2, 3):
    op = f"torch.atleast_{n}d"
    for x in (number, v4, x23, t32, x234, empty, others[3], others[9]):
        rank = x.tensor.dim()
        new = ["_"] * max(n - rank, 0)
        own = [name or "_" for name in x.names]
        if n == 3 and rank == 1:
            names = ["_"] + own + ["_"]
        elif n == 3 and rank == 2:
            names = own + ["_"]
        else:
            names = new + own
        r.case(op, x, names=" ".join(names), view=True)

op = "torch.chunk"
v5 = r.rand((5,), "N", i64)
for count in (1, 2, 3, 4, 5, 9):
    r.case(op, v5, count, names="N", view=True)
r.case(op, x234, 2, D("W", 2), names="N H W", view=True)
r.case(op, empty, 3, names="N C")
r.error(op, "name_not_found", x23, 2, "X")

op = "torch.split_with_sizes"
r.case(op, v5, [2, 3], names="N", view=True)
r.case(op, v5, [0, 5, 0], names="N")
r.case(op, x234, [1, 3], D("W", 2), names="N H W", view=True)
r.case(op, x234, [1, 1, 1], -2, names="N H W", view=True)
r.case(op, t32, [1, 2], names="C N", view=True)
r.case(op, empty, [0, 0], names="N C")
r.case(op, others[8], [2, 1], 1, names="N C", view=True)
r.case(op, others[10], [1, 1], D("N", 0), names="N C", view=True)
r.error(op, "shape", v5, [2, 2])
r.error(op, "name_not_found", v5, [2, 3], "X")

op = "torch.tensor_split"
r.case(op, v5, 2, names="N")
r.case(op, v5, 3, names="N")
r.case(op, v5, 7, names="N")
r.case(op, v5, [1, 3], names="N")
r.case(op, v5, [3, 1, -1, 9], names="N")
r.case(op, x234, 3, D("W", 2), names="N H W")
r.case(op, x234, [2], -1, names="N H W")
r.case(op, empty, 2, names="N C")
r.case(op, others[9], 2, 1, names="N C")
r.error(op, "name_not_found", v5, 2, "X")
for op, x, names in (("torch.hsplit", x234, "N H W"), ("torch.vsplit", x234, "N H W"),
                     ("torch.dsplit", x234, "N H W")):
    at = {"h": 1, "v": 0, "d": 2}[op[6]]
    size = x.tensor.shape[at]
    r.case(op, x, size, names=names)
    r.case(op, x, 1, names=names)
    r.case(op, x, [1], names=names)
    r.case(op, x, [1, 1], names=names)
    r.case(op, x, [], names=names)
    r.case(op, x, [-1, 7], names=names)
    r.case(op, T(x.tensor.to(i32), names), size, names=names)
    r.case(op, T(x.tensor.to(c64), names), [1], names=names)
    r.error(op, "shape", x, 5)
    r.error(op, "rank", number, 1)
r.case("torch.hsplit", v4, 2, names="K")
r.case("torch.hsplit", v4, [1, 2], names="K")

# Joins

op = "torch.stack"
a, b = r.rand((2, 3), "N C"), r.rand((2, 3), "N _")
r.case(op, [a, b], names="_ N C")
r.case(op, [a, b], 1, names="N _ C")
r.case(op, [a, b, a], -1, names="N C _")
r.case(op, [v4], names="_ K")
r.case(op, [number, T(torch.tensor(2.5), "")], names="_")
r.case(op, [a, r.rand((2, 3), "N C", i64)], names="_ N C")
r.case(op, [t32, t32], 2, names="C N _")
r.case(op, [empty, empty], names="_ N C")
r.case(op, [others[8], others[9]], names="_ N C")
r.error(op, "name_mismatch", [a, T(torch.zeros(2, 3), "N D")])
r.error(op, "misaligned", [a, T(torch.zeros(2, 3), "C _")])
r.error(op, "rank", [a, v3])
r.error(op, "shape", [a, T(torch.zeros(2, 4), "N C")])
r.error(op, "index", [a, a], 4)

for op, dims in (("torch.hstack", "h"), ("torch.vstack", "v"), ("torch.dstack", "d"), ("torch.column_stack", "c")):
    vectors = {"h": "K", "v": "_ K", "d": "_ K _", "c": "K _"}[dims]
    matrix = {"h": "N C", "v": "N C", "d": "N C _", "c": "N C"}[dims]
    numbers = {"h": "_", "v": "_ _", "d": "_ _ _", "c": "_ _"}[dims]
    r.case(op, [v4, v4], names=vectors)
    r.case(op, [a, b], names=matrix)
    r.case(op, [number, number], names=numbers)
    r.case(op, [x234, x234], names="N H W")
    r.case(op, [a, r.rand((2, 3), "_ C", i32)], names=matrix)
    r.case(op, [others[3], others[9]], names=matrix)
    r.case(op, [t32, t32], names=matrix.replace("N C", "C N"))
    r.case(op, [empty, empty], names=matrix)
    r.error(op, "name_mismatch", [a, T(torch.zeros(2, 3), "N D")])
r.case("torch.row_stack", [v4, v4], names="_ K")

op = "torch.block_diag"
h = r.rand((2, 2), "N C")
r.case(op, x23, h, names="N C")
r.case(op, v3, names="_ M")
r.case(op, v3, number, h.__class__(h.tensor, "N M"), names="N M")
r.case(op, x23, names="N C")
r.case(op, empty, x23, names="N C")
r.case(op, T(x23.tensor, "_ _"), h, names="N C")
r.case(op, x23, T(torch.ones(1, 2, dtype=i64), "_ _"), names="N C")
r.case(op, others[9], others[3], names="N C")
r.error(op, "name_mismatch", x23, x34)
r.error(op, "rank", x234)

op = "torch.cartesian_prod"
i3, j2 = r.rand((3,), "A", i64), r.rand((2,), "B", i64)
r.case(op, i3, j2, names="_ _")
r.case(op, i3, names="A")
r.case(op, i3, j2, j2, names="_ _")
r.case(op, i3, T(torch.zeros(0, dtype=i64), "B"), names="_ _")
r.case(op, v4, v3, names="_ _")
r.case(op, j2, j2, names="_ _")
r.case(op, r.rand((2,), "A", c64), r.rand((2,), "A", c64), names="_ _")
r.case(op, r.rand((2,), "A", boolean), r.rand((3,), "B", boolean), names="_ _")
r.error(op, "rank", x23, v3)
r.error(op, "dtype", v3, i3)

op = "torch.combinations"
r.case(op, v4, names="_ _")
r.case(op, v4, 3, names="_ _")
r.case(op, v4, 1, names="_ _")
r.case(op, v4, 0, names="_")
r.case(op, v3, 5, names="_ _")
r.case(op, v3, 2, True, names="_ _")
r.case(op, i3, r=2, with_replacement=True, names="_ _")
r.case(op, T(torch.zeros(0), "A"), names="_ _")
r.case(op, r.rand((3,), "A", c128), names="_ _")
r.error(op, "rank", x23)

op = "torch.meshgrid"
ax, ay, az = r.rand((2,), "X"), r.rand((3,), "Y"), r.rand((2,), "Z")
r.case(op, ax, ay, indexing="ij", names="X Y", view=True)
r.case(op, ax, ay, indexing="xy", names="Y X", view=True)
r.case(op, ax, ay, az, indexing="ij", names="X Y Z", view=True)
r.case(op, ax, ay, az, indexing="xy", names="Y X Z", view=True)
r.case(op, ax, indexing="ij", names="X", view=True)
r.case(op, ax, number, indexing="ij", names="X _")
r.case(op, ax, T(torch.zeros(0), "Y"), indexing="ij", names="X Y")
r.case(op, [ax, ay], indexing="ij", names="X Y", view=True)
r.case(op, i3, j2, indexing="xy", names="B A", view=True)
r.case(op, ax, T(ay.tensor, "_"), indexing="ij", names="X _", view=True)
r.error(op, "duplicate_names", ax, ax)
r.error(op, "rank", x23, ax)
r.error(op, "dtype", ax, i3)

# Moves and repeats

op = "torch.flip"
r.case(op, x234, [D("N", 0)], names="N H W")
r.case(op, x234, [0, 2], names="N H W")
r.case(op, x234, [-1, 1], names="N H W")
r.case(op, t243, [D("W", 1), D("H", 2)], names="N W H")
r.case(op, t32, [0], names="C N")
r.case(op, x23, [], names="N C")
r.case(op, number, [], names="")
r.case(op, empty, [0], names="N C")
r.case("torch.Tensor.flip", x23, 0, 1, names="N C")
each(op, "N C", [1])
r.error(op, "name_not_found", x23, ["X"])
r.error(op, "index", x23, [0, 0])
r.error(op, "index", x23, [2])

for op in ("torch.fliplr", "torch.flipud"):
    for x in (x23, t32, x234, empty, *others[3:9]):
        r.case(op, x, names=" ".join(x.names))
    r.error(op, "rank", number)
r.error("torch.fliplr", "rank", v4)

op = "torch.rot90"
r.case(op, x23, names="C N")
r.case(op, x23, 2, [0, 1], names="N C")
r.case(op, x23, 3, [0, 1], names="C N")
r.case(op, x23, 4, [0, 1], names="N C")
r.case(op, x23, -1, [0, 1], names="C N")
r.case(op, x234, 1, [D("W", 2), D("N", 0)], names="W H N")
r.case(op, x234, 1, [1, 2], names="N W H")
r.case(op, t243, -3, [-1, 0], names="H W N")
r.case(op, others[3], 1, [1, 0], names="C N")
r.case(op, others[9], 5, [0, 1], names="C N")
r.case(op, empty, names="C N")
r.error(op, "name_not_found", x23, 1, ["N", "X"])
r.error(op, "index", x23, 1, [0, 0])
r.error(op, "rank", x234, 1, [0, 1, 2])

op = "torch.roll"
r.case(op, x23, 1, D("C", 1), names="N C")
r.case(op, x23, -1, 1, names="N C")
r.case(op, x23, [1, 2], [D("N", 0), D("C", 1)], names="N C")
r.case(op, x23, 4, names="N C")
r.case(op, x234, [3, -1], [-1, 0], names="N H W")
r.case(op, t243, 2, D("H", 2), names="N W H")
r.case(op, t32, 1, names="C N")
r.case(op, x23, 300, 1, names="N C")
r.case(op, x23, 0, 0, names="N C")
r.case(op, empty, 1, 0, names="N C")
each(op, "N C", 1, 1)
r.error(op, "name_not_found", x23, 1, "X")
r.error(op, "index", x23, 1, 2)

op = "torch.Tensor.repeat"
r.case(op, x23, 2, 2, names="N C")
r.case(op, x23, [1, 3], names="N C")
r.case(op, x23, [2, 1, 2], names="_ N C")
r.case(op, v4, [2, 3], names="_ K")
r.case(op, number, [2, 2], names="_ _")
r.case(op, number, [], names="")
r.case(op, x23, [0, 2], names="N C")
r.case(op, t32, [2, 1], names="C N")
r.case(op, empty, [2, 2], names="N C")
each(op, "N C", [2, 1])
r.error(op, "rank", x23, [2])
r.error(op, "shape", x23, [2, -1])

op = "torch.tile"
r.case(op, x23, [2, 2], names="N C")
r.case(op, x23, [2], names="N C")
r.case(op, x23, [], names="N C")
r.case(op, x23, [2, 1, 2], names="_ N C")
r.case(op, x234, [2, 1], names="N H W")
r.case(op, number, [3], names="_")
r.case(op, t32, [1, 2], names="C N")
r.case(op, empty, [2], names="N C")
r.case("torch.Tensor.tile", v4, 3, names="K")
each(op, "N C", [2])
r.error(op, "shape", x23, [-2])

op = "torch.repeat_interleave"
counts = T(torch.tensor([0, 2, 1]), "_")
r.case(op, x23, 2, names="_")
r.case(op, x23, 2, D("C", 1), names="N C")
r.case(op, x23, 3, dim=D("N", 0), names="N C")
r.case(op, x23, counts, D("C", 1), names="N C")
r.case(op, v3, counts, names="_")
r.case(op, x23, T(torch.tensor([2]), "_"), -1, names="N C")
r.case(op, t32, counts, D("C", 0), names="C N")
r.case(op, x234, counts, 1, names="N H W")
r.case(op, x23, 0, 1, names="N C")
r.case(op, number, 3, names="_")
r.case(op, empty, 2, D("C", 1), names="N C")
r.case(op, x23, T(torch.tensor([1, 2], dtype=i32), "_"), 0, names="N C")
each(op, "N C", counts, 1)
r.error(op, "name_not_found", x23, 2, "X")
r.error(op, "shape", x23, -1, "N")
r.error(op, "shape", x23, counts, "N")
r.error(op, "dtype", x23, v3, "C")

op = "torch.narrow_copy"
for x in (x23, t32, others[1], others[3], others[9]):
    r.case(op, x, D(x.names[1], 1), 1, 1, names=" ".join(x.names))
r.case(op, x234, -1, 1, 2, names="N H W")
r.case(op, x234, D("W", 2), -2, 2, names="N H W")
r.case(op, empty, 0, 0, 0, names="N C")
r.error(op, "name_not_found", x23, "X", 0, 1)
r.error(op, "index", x23, "C", 2, 2)

op = "torch.diag"
out = lambda x, d=0, names=None: torch.diag(x, d)
r.case(op, x34, names="_")
r.case(op, x34, 1, names="_")
r.case(op, x34, -2, names="_")
r.case(op, x34, 9, names="_")
r.case(op, v3, names="_ _")
r.case(op, v3, 1, names="_ _")
r.case(op, v3, -2, names="_ _")
r.case(op, T(x34.tensor.t(), "W H"), 1, names="_")
r.case(op, T(torch.zeros(0), "K"), names="_ _")
r.case(op, T(torch.zeros(0), "K"), 2, names="_ _")
for x in others:
    r.case(op, x, names="_")
r.line(op, [x34], {"names": ["K"]}, {"result": r.shown(torch.diag(x34.tensor), "K", False, False)}, False)
r.line(op, [v3], {"names": ["A", "B"]}, {"result": r.shown(torch.diag(v3.tensor), "A B", False, False)}, False)
r.error(op, "rank", x234)
r.error(op, "rank", number)

op = "torch.diagflat"
for x in (x23, v3, number, t32, empty, others[3], others[9], others[8]):
    r.case(op, x, names="_ _")
r.case(op, v3, 1, names="_ _")
r.case(op, v3, -1, names="_ _")
r.line(op, [v3], {"names": ["A", "B"]}, {"result": r.shown(torch.diagflat(v3.tensor), "A B", False, False)}, False)

op = "torch.diag_embed"
r.case(op, v3, names="_ _")
r.case(op, x23, names="N _ _")
r.case(op, x23, 1, names="N _ _")
r.case(op, x23, -1, 0, 2, names="_ N _")
r.case(op, x23, 0, 2, 0, names="_ N _")
r.case(op, x23, 1, 1, 0, names="_ _ N")
r.case(op, t32, names="C _ _")
r.case(op, empty, names="N _ _")
r.case(op, T(torch.zeros(0), "K"), 1, names="_ _")
r.case(op, others[3], names="N _ _")
r.case(op, others[9], names="N _ _")
r.line(op, [x23], {"names": ["C", "D"]}, {"result": r.shown(torch.diag_embed(x23.tensor), "N C D", False, False)}, False)
r.error(op, "rank", number)
r.error(op, "index", x23, 0, 1, 1)
r.error(op, "index", x23, 0, 3, 1)
r.line(op, [x23], {"names": ["N", "D"]}, {"error": {"kind": "duplicate_names", "message": ""}}, False)

for name in ("tril", "triu"):
    op = f"torch.{name}"
    r.case(op, x34, names="H W")
    r.case(op, x34, 1, names="H W")
    r.case(op, x34, -1, names="H W")
    r.case(op, x34, 7, names="H W")
    r.case(op, x34, diagonal=-7, names="H W")
    r.case(op, x234, names="N H W")
    r.case(op, t243, 1, names="N W H")
    r.case(op, t32, names="C N")
    r.case(op, empty, names="N C")
    each(op, "N C")
    r.case(f"torch.Tensor.{name}_", x34, names="H W")
    r.case(f"torch.Tensor.{name}_", x234, -1, names="N H W")
    r.case(f"torch.Tensor.{name}_", others[9], 1, names="N C")
    r.case(op, x34, out=T(torch.zeros(3, 4), "H W"), names="H W")
    r.case(op, x34, 1, out=T(torch.zeros(0), "_"), names="H W")
    r.error(op, "rank", v4)
    r.error(op, "name_mismatch_out", x34, out=T(torch.zeros(3, 4), "H C"))

# Selections

op = "torch.where"
mask = r.rand((2, 3), "N C", boolean)
row = r.rand((3,), "C", boolean)
r.case(op, mask, x23, r.rand((2, 3), "N C"), names="N C")
r.case(op, row, x23, r.rand((2, 3), "N _"), names="N C")
r.case(op, mask, v3.__class__(v3.tensor, "C"), number, names="N C")
r.case(op, mask, x23, 0.5, names="N C")
r.case(op, mask, 1.5, x23, names="N C")
r.case(op, mask, 1, 2.5, names="N C")
r.case(op, T(mask.tensor.t(), "C N"), t32, t32, names="C N")
r.case(op, mask, others[3], others[0], names="N C")
r.case(op, mask, others[9], x23, names="N C")
r.case(op, T(torch.tensor(True), ""), x23, others[4], names="N C")
r.case(op, T(torch.zeros(0, 3, dtype=boolean), "N C"), empty, 1.0, names="N C")
r.case("torch.Tensor.where", x23, mask, r.rand((2, 3), "_ C"), names="N C")
r.error(op, "name_mismatch", mask, x23, T(torch.zeros(2, 3), "N D"))
r.error(op, "dtype", x23, x23, x23)

# Factories

op = "torch.eye"
r.case(op, 3, names="_ _")
r.case(op, 2, 3, names="_ _")
r.case(op, 3, 2, names="_ _")
r.case(op, 0, names="_ _")
r.case(op, 0, 3, names="_ _")
for d in (f64, f16, i64, u8, boolean, c64):
    r.case(op, 2, dtype=d, names="_ _")
r.line(op, [2, 3], {"names": ["N", "C"]}, {"result": r.shown(torch.eye(2, 3), "N C", False, False)}, False)
r.error(op, "shape", -1)

op = "torch.linspace"
r.case(op, 0, 1, 5, names="_")
r.case(op, -1.5, 2.5, 9, names="_")
r.case(op, 3, -3, 4, names="_")
r.case(op, 0, 1, 1, names="_")
r.case(op, 0, 1, 0, names="_")
r.case(op, 2.5, 2.5, 3, names="_")
r.case(op, 0, 10, 4, dtype=i64, names="_")
r.case(op, -5, 5, 6, dtype=i32, names="_")
for d in (f64, f16, bf16):
    r.case(op, 0, 2, 6, dtype=d, names="_")
r.case(op, 1 + 1j, 3 - 1j, 4, dtype=c64, names="_")
r.case(op, 1 + 1j, 2.0, 3, names="_")
r.line(op, [0, 1, 3], {"names": ["N"]}, {"result": r.shown(torch.linspace(0, 1, 3), "N", False, False)}, False)
r.error(op, "shape", 0, 1, -1)
r.line(op, [0, 1, 3], {"names": ["N", "C"]}, {"error": {"kind": "names_len", "message": ""}}, False)

op = "torch.logspace"
r.case(op, 0, 2, 5, names="_")
r.case(op, -1.5, 1.5, 4, names="_")
r.case(op, 0, 3, 4, 2.0, names="_")
r.case(op, 1, 0, 3, base=5, names="_")
r.case(op, 0, 1, 1, names="_")
r.case(op, 0, 1, 0, names="_")
r.case(op, 0, 4, 5, base=2, dtype=i64, names="_")
r.case(op, 0, 1, 5, dtype=f64, names="_")
r.case(op, 0, 1, 3, dtype=f16, names="_")
r.line(op, [0, 1, 3], {"names": ["N"]}, {"result": r.shown(torch.logspace(0, 1, 3), "N", False, False)}, False)
r.error(op, "shape", 0, 1, -1)

for op in ("torch.tril_indices", "torch.triu_indices"):
    for args in ((3, 3), (2, 4), (4, 2), (3, 3, 1), (3, 3, -1), (2, 3, 5), (2, 3, -5), (0, 3), (3, 0, 1)):
        r.case(op, *args, names="_ _")
    r.case(op, 2, 2, dtype=i32, names="_ _")
    r.error(op, "shape", -1, 2)

windows = {"bartlett": {}, "blackman": {}, "hann": {}, "hamming": {}, "kaiser": {}}
for name in windows:
    op = f"torch.{name}_window"
    for n in (0, 1, 2, 5, 8):
        r.case(op, n, names="_")
    r.case(op, 6, False, names="_")
    r.case(op, 6, periodic=True, dtype=f64, names="_")
    r.case(op, 5, False, dtype=f16, names="_")
    r.error(op, "shape", -1)
r.case("torch.hamming_window", 6, True, 0.6, 0.4, names="_")
r.case("torch.kaiser_window", 6, False, 3.5, names="_")

op = "torch.vander"
r.case(op, v3, names="M _")
r.case(op, v3, 2, names="M _")
r.case(op, v3, 4, True, names="M _")
r.case(op, v3, N=0, names="M _")
r.case(op, i3, names="A _")
r.case(op, r.rand((3,), "A", f64), names="A _")
r.case(op, r.rand((2,), "A", c64), 3, names="A _")
r.case(op, r.rand((2,), "A", u8), increasing=True, names="A _")
r.error(op, "rank", x23)
r.error(op, "duplicate_names", v3, outdim="M")

# Complex numbers

z, zt = others[9], T(others[9].tensor.t(), "C N")
zd = others[10]
for op in ("torch.real", "torch.imag"):
    r.case(op, z, names="N C", view=True)
    r.case(op, zd, names="N C", view=True)
    r.case(op, zt, names="C N", view=True)
    r.case(op, T(z.tensor[0], "C"), names="C", view=True)
    r.case(op, T(z.tensor[1, 2], ""), names="")
    r.case(op, T(torch.zeros(0, 2, dtype=c64), "N C"), names="N C")
    r.case(op, T(z.tensor[:, 1:], "N C"), names="N C")
    r.case(op, T(zd.tensor[1:], "N C"), names="N C", view=True)
r.case("torch.real", x23, names="N C")
r.error("torch.imag", "dtype", x23)
op = "torch.view_as_real"
r.case(op, z, names="N C _", view=True)
r.case(op, zd, names="N C _", view=True)
r.case(op, zt, names="C N _", view=True)
r.case(op, T(z.tensor[0], "C"), names="C _", view=True)
r.case(op, T(z.tensor[1, 2], ""), names="_")
r.case(op, T(torch.zeros(0, dtype=c64), "N"), names="N _")
r.case(op, T(z.tensor[:, 1:], "N C"), names="N C _")
r.case(op, z, outdim="P", names="N C P", view=True, fn=lambda x, outdim: torch.view_as_real(x))
r.error(op, "dtype", x23)
r.error(op, "duplicate_names", z, outdim="N")
op = "torch.view_as_complex"
pairs = r.rand((3, 2), "N P")
r.case(op, pairs, names="N", view=True)
r.case(op, r.rand((2, 2, 2), "N H P"), names="N H", view=True)
r.case(op, r.rand((3, 2), "N P", f64), names="N", view=True)
r.case(op, r.rand((2,), "P"), names="")
r.case(op, T(torch.zeros(0, 2), "N P"), names="N")
r.case(op, T(r.rand((2, 3, 2), "A B P").tensor.transpose(0, 1), "B A P"), names="B A", view=True)
r.case(op, T(torch.zeros(2, 3, 2, dtype=f64), "A B P"), names="A B", view=True)
r.case(op, T(torch.ones(1, 2), "A P"), names="A", view=True)
r.error(op, "shape", x23)
r.error(op, "dtype", T(torch.zeros(3, 2, dtype=i64), "N P"))
op = "torch.complex"
re, im = r.rand((2, 3), "N C"), r.rand((2, 3), "_ C")
for a_, b_, names in ((re, im, "N C"), (r.rand((2, 3), "N C", f64), r.rand((2, 3), "N C", f64), "N C"),
                      (t32, T(im.tensor.t(), "C _"), "C N"), (re, v3.__class__(v3.tensor, "C"), "N C"),
                      (number, number, ""), (empty, empty, "N C"), (T(v3.tensor, "C"), re, "N C"),
                      (re, number, "N C")):
    r.case(op, a_, b_, names=names)
    r.case("torch.polar", T(a_.tensor.abs(), " ".join(n or "_" for n in a_.names)), b_, names=names)
for op in ("torch.complex", "torch.polar"):
    r.error(op, "name_mismatch", re, T(torch.zeros(2, 3), "N D"))
    r.error(op, "dtype", re, T(torch.zeros(2, 3, dtype=f64), "N C"))
for op in ("torch.conj_physical", "torch.conj"):
    resolve = lambda x: torch.conj(x).resolve_conj()
    for x in (z, zd, zt, x23, T(z.tensor[:, 1:], "N C"), T(torch.zeros(0, 1, dtype=c64), "N C"), others[3], others[8]):
        r.case(op, x, names=" ".join(x.names), fn=resolve)
r.case("torch.Tensor.conj_physical_", z, names="N C")

r.write()
