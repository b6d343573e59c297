"""Programs after NumPy's guide: numbers and text, dates, structured arrays, printing."""

import io

import numpy as np

from tests.parity.program import integers, normal, positive, program


@program(lambda rng, shape, dtype: ("\n".join(f"{v:.3f},{w}" for v, w in rng.normal(size=(5, 2))),))
def table_from_text(text):
    table = np.loadtxt(io.StringIO(text), delimiter=",")
    return table[:, 0] * table[:, 1], table.mean(axis=0)


@program(lambda rng, shape, dtype: (" ".join(map(str, rng.integers(0, 99, shape[0]))),))
def numbers_from_a_string(text):
    values = np.array([float(word) for word in text.split()])
    whole = np.array(text.split(), dtype=np.int64)
    return values / values.max(), whole.sum()


@program(normal, shapes=((6,), (9,)))
def text_from_numbers(x):
    words = [f"{value:+.2f}" for value in x]
    return ", ".join(words), np.array2string(x, precision=3), str(x[:2])


@program(normal, shapes=((5,), (8,)))
def prints_as_it_goes(x):
    print("values", x)
    y = x * 2
    print(f"sum {y.sum():.4f}", y.shape)
    return y


@program(positive, shapes=((5,), (8,)))
def prints_with_options(x):
    with np.printoptions(precision=2, suppress=True):
        print(x * 1000)
    return repr(x > 1)


@program(normal)
def saved_and_loaded_in_memory(x):
    file = io.BytesIO()
    np.save(file, x * 2)
    file.seek(0)
    y = np.load(file)
    return y, np.frombuffer(x.tobytes(), dtype=x.dtype) + 1


@program(normal, shapes=((4, 3), (6, 2)))
def text_of_a_table(table):
    out = io.StringIO()
    np.savetxt(out, table, fmt="%.2f")
    return out.getvalue(), table.sum(axis=1)


@program(integers, dtypes=("int64", "int32"))
def digits_of_numbers(n):
    n = np.abs(n) * 37
    digits = [n // 10**k % 10 for k in range(3)]
    return np.stack(digits), np.binary_repr(int(n[0]), width=16), sum(digits)


@program(integers, dtypes=("int64",))
def dates(n):
    start = np.datetime64("2024-02-27")
    days = start + n.astype("timedelta64[D]")
    months = days.astype("datetime64[M]").astype(int) % 12 + 1
    return days, months, (days - start) / np.timedelta64(1, "D")


@program(lambda rng, shape, dtype: (np.datetime64("2021-01-01") + rng.integers(0, 999, shape[0]),))
def weekdays_of_dates(days):
    weekday = (days.astype("datetime64[D]").view(np.int64) + 3) % 7
    return weekday, np.diff(days), np.is_busday(days), days.max()


@program(normal)
def structured_records(x):
    records = np.zeros(len(x), dtype=[("value", x.dtype), ("rank", "i4")])
    records["value"] = x
    records["rank"] = np.argsort(np.argsort(x))
    return records["value"] * 2, records[:2], records["rank"].max()


@program(lambda rng, shape, dtype: (np.array(["red", "green", "blue"])[rng.integers(0, 3, shape)],))
def colors_as_strings(names):
    codes = np.unique(names, return_inverse=True)[1]
    return np.char.upper(names), codes * 2, names == "red", np.strings.str_len(names)


@program(normal)
def objects_in_arrays(x):
    boxes = np.array([None, x, "text"], dtype=object)
    return boxes[1] + 1, boxes[2], len(boxes)


@program(integers, dtypes=("int64", "uint8"))
def letters_as_numbers(n):
    letters = (n % 26 + 97).astype(np.uint8)
    word = letters.tobytes().decode("ascii")
    shifted = (letters - 97 + 13) % 26 + 97
    return word, shifted.astype(np.uint8), word.count("a")


@program(positive)
def number_formatting_of_results(x):
    total = x.sum()
    share = 100 * x[0] / total
    return f"{share:5.1f} %", round(float(total), 3), np.format_float_scientific(x[0], precision=3)
