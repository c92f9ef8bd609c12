"""Cases of evaluation, noise with and without given draws, and forget."""

from oracles.cases import Family, real, truth, values, whole

CASES = Family()
add = CASES.add

LABELS = values([0, 2, 1, 1], "int32")
add("accuracy", real(4, 3), LABELS)
add("accuracy", real(4, 3), LABELS, ignore_label=1)
add("accuracy", real(4, 3), values([1, 1, 1, 1], "int32"), 1)
add("accuracy", real(2, 3, 2), whole(2, 2))
add("accuracy", real(4, 3, 1), LABELS)
add("accuracy", real(4, 3), whole(3))
add("binary_accuracy", real(2, 3), values([[0, 1, -1], [1, 0, 1]], "int32"))
add("binary_accuracy", values([0.0, -1.0, 1.0]), values([1, 0, 0], "int32"))
add("binary_accuracy", real(2, 3), values([[-1] * 3] * 2, "int32"))
for name in ("classification_summary", "precision", "recall", "f1_score"):
    add(name, real(4, 3), LABELS)
    add(name, real(4, 3), LABELS, label_num=3)
    add(name, real(4, 3), LABELS, 2)
    add(name, real(4, 3), values([0, -1, 1, 1], "int32"))
    add(name, real(4, 3), LABELS, ignore_label=2)
add("classification_summary", real(4, 3), LABELS, 3, 2.0)
add("classification_summary", real(2, 3, 2), whole(2, 2), beta=0.5)
for multioutput in ("uniform_average", "raw_values"):
    add("r2_score", real(4, 3), real(4, 3), multioutput=multioutput)
    add("r2_score", real(4), real(4), multioutput=multioutput)
    add("r2_score", real(3, 2), values([[1.0, 2.0]] * 3), multioutput=multioutput)
    add("r2_score", real(4, 3), real(4, 3), real(4, 1, lo=0.5, plain=True), multioutput)
add("r2_score", real(4, 3), real(4, 3), multioutput="bad")

OFF = {"train": False}
add("dropout", real(2, 3), 0.5, mask=values([[0.0, 2.0, 2.0], [2.0, 0.0, 0.0]], plain=True))
add("dropout", real(2, 3), mask=real(2, 3, plain=True), return_mask=True)
add("dropout", real(2, 3), config=OFF)
add("dropout", real(2, 3), config=OFF, return_mask=True)
add("dropout", real(2, 3), mask=real(2, 3, plain=True), config=OFF)
add("dropout", real(2, 3), 0.0)
add("dropout", real(2, 3), 1.0)
add("gaussian", real(2, 3), real(2, 3), eps=real(2, 3, plain=True))
add("gaussian", real(2, 3), real(2, 3), eps=real(2, 3, plain=True), return_eps=True)
add("gaussian", real(2, 3), real(2, 3), eps=real(2, 2, plain=True))
add("zoneout", real(2, 3), real(2, 3), config=OFF)
add("zoneout", real(2, 3), real(2, 3), 0.0)
add("zoneout", real(2, 3), real(2, 3), 1.0)
for shape in ((4, 3), (2, 4, 3)):
    mask = truth(*shape)
    add("simplified_dropconnect", real(2, 3), real(4, 3), real(4), 0.4, True, mask, len(shape) == 3)
add("simplified_dropconnect", real(2, 3), real(4, 3), real(4), train=False)
add("simplified_dropconnect", real(2, 3), real(4, 3), ratio=0.0)
add("simplified_dropconnect", real(2, 3, 1), real(4, 3), ratio=0.0, use_batchwise_mask=False)
for shape in ((2, 3), (2, 3, 4)):
    add("dropout", real(*shape), 0.3, return_mask=True)
    add("gaussian", real(*shape), real(*shape), return_eps=True)
    add("zoneout", real(*shape), real(*shape), 0.3)
    add("rrelu", real(*shape, hi=1.0), 0.1, 0.4, return_r=True)
    add("gumbel_softmax", real(*shape))
    add("gumbel_softmax", real(*shape), 1.5, axis=-1)
add("simplified_dropconnect", real(2, 3), real(4, 3), real(4), 0.3)
add("simplified_dropconnect", real(2, 3), real(4, 3), real(4), 0.3, use_batchwise_mask=False)
add("forget", real(2, 3), call=lambda F, x: F.forget(lambda a: F.dropout(a * a, 0.3), x))

add("forget", lambda x: x * x + x, real(2, 3), call=lambda F, f, *xs: F.forget(f, *xs))
add(
    "forget",
    real(2, 3),
    real(2, 3),
    call=lambda F, x, y: F.forget(lambda a, b: (a * b, a + b), x, y),
)
add("forget", real(2), call=lambda F, x: F.forget(lambda a: a.array, x))
