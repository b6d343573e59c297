"""Image processing: filters, color, geometry and segmentation as people write them."""

from dataclasses import dataclass, field

import numpy as np

from tests.parity.program import program

LUMA = np.array([0.299, 0.587, 0.114])
SOBEL_X = np.array([[-1, 0, 1], [-2, 0, 2], [-1, 0, 1]])


def gray(rng, shape, dtype):
    return (rng.random(shape).astype(dtype),)


def color(rng, shape, dtype):
    return (rng.random((*shape, 3)).astype(dtype),)


def bytes_image(rng, shape, dtype):
    return (rng.integers(0, 256, shape).astype(dtype),)


@program(color, shapes=((5, 7), (48, 33)), dtypes=("float64", "float32"))
def grayscale_and_contrast(image, gamma=2.2, *, low=2, high=98):
    luma = image @ LUMA.astype(image.dtype)
    lo, hi = np.percentile(luma, [low, high])
    if hi <= lo:
        return np.zeros_like(luma)
    stretched = np.clip((luma - lo) / (hi - lo), 0, 1)
    return stretched ** (1 / gamma)


@program(gray, shapes=((6, 8), (40, 51)), dtypes=("float64", "float32"))
def sobel_edges(image):
    def correlate(picture, kernel):
        padded = np.pad(picture, 1, mode="edge")
        out = np.zeros_like(picture)
        for dy in range(3):
            for dx in range(3):
                weight = kernel[dy, dx]
                if weight == 0:
                    continue
                out += weight * padded[dy : dy + picture.shape[0], dx : dx + picture.shape[1]]
        return out

    gx, gy = correlate(image, SOBEL_X), correlate(image, SOBEL_X.T)
    magnitude = np.hypot(gx, gy)
    direction = np.arctan2(gy, gx)
    return magnitude, direction, magnitude > magnitude.mean() + magnitude.std()


@program(bytes_image, shapes=((9, 9), (64, 40)), dtypes=("uint8", "int32"))
def equalize_histogram(image):
    hist = np.bincount(image.ravel(), minlength=256)
    cdf = hist.cumsum()
    first = cdf[cdf > 0][0]
    denominator = max(int(cdf[-1] - first), 1)
    table = np.round((cdf - first) / denominator * 255).clip(0, 255).astype(np.uint8)
    return table[image]


@program(bytes_image, shapes=((8, 8), (31, 57)), dtypes=("uint8", "int64"))
def otsu_threshold(image):
    counts, edges = np.histogram(image, bins=64, range=(0, 256))
    centers = (edges[:-1] + edges[1:]) / 2
    weight_low = np.cumsum(counts)
    weight_high = counts.sum() - weight_low
    with np.errstate(divide="ignore", invalid="ignore"):
        mean_low = np.cumsum(counts * centers) / weight_low
        mean_high = (np.sum(counts * centers) - np.cumsum(counts * centers)) / weight_high
        between = weight_low * weight_high * (mean_low - mean_high) ** 2
    best = int(np.nanargmax(between))
    return float(centers[best]), image > centers[best]


@dataclass
class Box:
    top: int
    left: int
    height: int
    width: int
    tags: list = field(default_factory=list)

    @property
    def area(self):
        return self.height * self.width

    def crop(self, image):
        return image[self.top : self.top + self.height, self.left : self.left + self.width]


@program(gray, shapes=((10, 12), (18, 21)), dtypes=("float64", "float32"))
def brightest_tile(image, size=4):
    boxes = [
        Box(y, x, size, size)
        for y in range(0, image.shape[0] - size + 1, size)
        for x in range(0, image.shape[1] - size + 1, size)
    ]
    means = np.array([box.crop(image).mean() for box in boxes])
    winner = boxes[int(means.argmax())]
    winner.tags.append(f"{winner.area} pixels of {image.size}")
    return winner.top, winner.left, winner.tags, means


@program(gray, shapes=((7, 7), (33, 29)), dtypes=("float64", "float32"))
def bilinear_resize(image, factor=1.5):
    height, width = image.shape
    rows = np.linspace(0, height - 1, int(height * factor))
    cols = np.linspace(0, width - 1, int(width * factor))
    y0 = np.floor(rows).astype(int)
    x0 = np.floor(cols).astype(int)
    y1 = np.minimum(y0 + 1, height - 1)
    x1 = np.minimum(x0 + 1, width - 1)
    wy = (rows - y0)[:, None]
    wx = (cols - x0)[None, :]
    top = image[np.ix_(y0, x0)] * (1 - wx) + image[np.ix_(y0, x1)] * wx
    bottom = image[np.ix_(y1, x0)] * (1 - wx) + image[np.ix_(y1, x1)] * wx
    return (top * (1 - wy) + bottom * wy).astype(image.dtype)


@program(gray, shapes=((9, 11), (37, 40)), dtypes=("float64", "float32"))
def median_filter(image, radius=1):
    windows = np.lib.stride_tricks.sliding_window_view(image, (2 * radius + 1,) * 2)
    result = image.copy()
    result[radius:-radius, radius:-radius] = np.median(windows, axis=(-2, -1))
    changed = np.count_nonzero(result != image)
    print(f"median filter changed {changed} of {image.size} pixels")
    return result


@program(color, shapes=((4, 6), (30, 21)), dtypes=("float64", "float32"))
def rgb_to_hsv(image):
    r, g, b = image[..., 0], image[..., 1], image[..., 2]
    value = image.max(axis=-1)
    spread = value - image.min(axis=-1)
    hue = np.zeros_like(value)
    safe = np.where(spread == 0, 1, spread)
    hue = np.where(value == r, ((g - b) / safe) % 6, hue)
    hue = np.where((value == g) & (value != r), (b - r) / safe + 2, hue)
    hue = np.where((value == b) & (value != r) & (value != g), (r - g) / safe + 4, hue)
    saturation = np.divide(spread, value, out=np.zeros_like(value), where=value > 0)
    return np.stack([hue / 6, saturation, value], axis=-1)


@program(bytes_image, shapes=((5, 5), (6, 7)), dtypes=("uint8", "int32"))
def label_components(image, threshold=110):
    mask = image > threshold
    labels = np.zeros(mask.shape, dtype=np.int32)
    current = 0
    for seed in zip(*np.nonzero(mask), strict=True):
        if labels[seed]:
            continue
        current += 1
        stack = [seed]
        while stack:
            y, x = stack.pop()
            if not (0 <= y < mask.shape[0] and 0 <= x < mask.shape[1]):
                continue
            if not mask[y, x] or labels[y, x]:
                continue
            labels[y, x] = current
            stack.extend([(y + 1, x), (y - 1, x), (y, x + 1), (y, x - 1)])
    sizes = np.bincount(labels.ravel())[1:]
    return labels, current, sizes.max() if current else 0


@program(color, shapes=((6, 5), (24, 31)), dtypes=("float64", "float32"))
def unsharp_mask(image, amount=0.6, passes=2):
    if image.ndim != 3 or image.shape[-1] != 3:
        raise ValueError(f"expected an RGB image, got shape {image.shape}")
    blurred = image.copy()
    for _ in range(passes):
        blurred[1:-1] = (blurred[:-2] + 2 * blurred[1:-1] + blurred[2:]) / 4
        blurred[:, 1:-1] = (blurred[:, :-2] + 2 * blurred[:, 1:-1] + blurred[:, 2:]) / 4
    sharp = image + amount * (image - blurred)
    np.clip(sharp, 0.0, 1.0, out=sharp)
    return sharp, float(np.abs(image - blurred).max())
