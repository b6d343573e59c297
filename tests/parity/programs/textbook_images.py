"""Image processing: filters, morphology, histograms, geometry."""

import numpy as np

from tests.parity.program import program

SHAPES = ((9, 12), (31, 40))


def image(rng, shape, dtype):
    """Gray values from 0 to 1."""
    return (rng.random(shape).astype(dtype),)


def mask(rng, shape, dtype):
    return (rng.random(shape) < 0.35,)


def gray_levels(rng, shape, dtype):
    return (rng.integers(20, 200, shape).astype(np.uint8),)


def color(rng, shape, dtype):
    return (rng.random((*shape, 3)).astype(dtype),)


@program(image, shapes=SHAPES)
def convolution_2d(picture):
    kernel = np.array([[0, -1, 0], [-1, 5, -1], [0, -1, 0]], dtype=picture.dtype)
    padded = np.pad(picture, 1, mode="edge")
    out = np.zeros_like(picture)
    for i in range(3):
        for j in range(3):
            out += kernel[i, j] * padded[i : i + picture.shape[0], j : j + picture.shape[1]]
    return np.clip(out, 0, 1)


@program(image, shapes=SHAPES)
def sobel_edges(picture):
    gx = picture[:-2, 2:] + 2 * picture[1:-1, 2:] + picture[2:, 2:]
    gx -= picture[:-2, :-2] + 2 * picture[1:-1, :-2] + picture[2:, :-2]
    gy = picture[2:, :-2] + 2 * picture[2:, 1:-1] + picture[2:, 2:]
    gy -= picture[:-2, :-2] + 2 * picture[:-2, 1:-1] + picture[:-2, 2:]
    magnitude = np.hypot(gx, gy)
    return magnitude / magnitude.max(), np.arctan2(gy, gx)


@program(image, shapes=SHAPES)
def separable_gaussian_blur(picture, sigma=1.0):
    radius = int(3 * sigma)
    x = np.arange(-radius, radius + 1)
    kernel = np.exp(-(x**2) / (2 * sigma**2)).astype(picture.dtype)
    kernel /= kernel.sum()
    rows = np.apply_along_axis(np.convolve, 1, picture, kernel, mode="same")
    return np.apply_along_axis(np.convolve, 0, rows, kernel, mode="same")


@program(image, shapes=SHAPES)
def median_filter(picture):
    padded = np.pad(picture, 1, mode="reflect")
    windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3))
    return np.median(windows, axis=(2, 3))


@program(image, shapes=SHAPES)
def bilateral_filter(picture, reach=0.2):
    total, weights = np.zeros_like(picture), np.zeros_like(picture)
    for dy in (-1, 0, 1):
        for dx in (-1, 0, 1):
            shifted = np.roll(np.roll(picture, dy, axis=0), dx, axis=1)
            closeness = np.exp(-(dx * dx + dy * dy) / 2)
            weight = closeness * np.exp(-((shifted - picture) ** 2) / (2 * reach**2))
            total += weight * shifted
            weights += weight
    return total / weights


@program(gray_levels, shapes=SHAPES)
def histogram_equalization(picture):
    counts = np.bincount(picture.ravel(), minlength=256)
    cumulative = counts.cumsum()
    first = cumulative[cumulative > 0].min()
    table = np.round((cumulative - first) / (picture.size - first) * 255)
    return np.clip(table, 0, 255).astype(np.uint8)[picture]


@program(gray_levels, shapes=SHAPES)
def otsu_threshold(picture):
    counts = np.bincount(picture.flatten(), minlength=256).astype(np.float64)
    share = counts / counts.sum()
    weight = np.cumsum(share)
    mean = np.cumsum(share * np.arange(256))
    valid = (weight > 1e-9) & (weight < 1 - 1e-9)
    between = np.zeros(256)
    between[valid] = (mean[-1] * weight[valid] - mean[valid]) ** 2
    between[valid] /= weight[valid] * (1 - weight[valid])
    best = int(np.argmax(between))
    return best, picture > best


@program(image, shapes=SHAPES)
def adaptive_threshold(picture, half=2, offset=0.02):
    integral = np.zeros((picture.shape[0] + 1, picture.shape[1] + 1), dtype=picture.dtype)
    integral[1:, 1:] = picture.cumsum(axis=0).cumsum(axis=1)
    rows, columns = np.indices(picture.shape)
    top, bottom = np.maximum(rows - half, 0), np.minimum(rows + half + 1, picture.shape[0])
    left, right = np.maximum(columns - half, 0), np.minimum(columns + half + 1, picture.shape[1])
    area = (bottom - top) * (right - left)
    sums = integral[bottom, right] - integral[top, right]
    sums = sums - integral[bottom, left] + integral[top, left]
    return (picture > sums / area - offset).astype(np.uint8)


@program(mask, shapes=SHAPES)
def dilation_and_erosion(shape):
    padded = np.pad(shape, 1)
    center = padded[1:-1, 1:-1]
    up, down = padded[:-2, 1:-1], padded[2:, 1:-1]
    left, right = padded[1:-1, :-2], padded[1:-1, 2:]
    dilated = center | up | down | left | right
    eroded = center & up & down & left & right
    return dilated, eroded, dilated ^ eroded


@program(mask, shapes=SHAPES)
def distance_transform(shape):
    """City-block distance to the nearest background pixel, in two sweeps over the rows."""
    far = shape.shape[0] + shape.shape[1]
    distance = np.where(shape, far, 0)
    for row in range(1, shape.shape[0]):
        np.minimum(distance[row], distance[row - 1] + 1, out=distance[row])
    for row in range(shape.shape[0] - 2, -1, -1):
        np.minimum(distance[row], distance[row + 1] + 1, out=distance[row])
    for column in range(1, shape.shape[1]):
        distance[:, column] = np.minimum(distance[:, column], distance[:, column - 1] + 1)
    for column in range(shape.shape[1] - 2, -1, -1):
        distance[:, column] = np.minimum(distance[:, column], distance[:, column + 1] + 1)
    return distance


@program(mask, shapes=((6, 8), (14, 15)))
def connected_components(shape):
    """Every pixel takes the smallest number around it until nothing changes."""
    labels = np.where(shape, np.arange(1, shape.size + 1).reshape(shape.shape), 0)
    while True:
        padded = np.pad(labels, 1)
        stack = np.stack(
            [labels, padded[:-2, 1:-1], padded[2:, 1:-1], padded[1:-1, :-2], padded[1:-1, 2:]]
        )
        smallest = np.where(stack > 0, stack, shape.size + 1).min(axis=0)
        new = np.where(shape, smallest, 0)
        if np.array_equal(new, labels):
            break
        labels = new
    return labels, len(np.unique(labels)) - 1


@program(image, shapes=SHAPES)
def bilinear_resize(picture):
    height, width = 2 * picture.shape[0] - 1, picture.shape[1] // 2
    y = np.linspace(0, picture.shape[0] - 1, height)
    x = np.linspace(0, picture.shape[1] - 1, width)
    y0 = np.clip(y.astype(int), 0, picture.shape[0] - 2)
    x0 = np.clip(x.astype(int), 0, picture.shape[1] - 2)
    fy, fx = (y - y0)[:, None], (x - x0)[None, :]
    top = picture[np.ix_(y0, x0)] * (1 - fx) + picture[np.ix_(y0, x0 + 1)] * fx
    bottom = picture[np.ix_(y0 + 1, x0)] * (1 - fx) + picture[np.ix_(y0 + 1, x0 + 1)] * fx
    return top * (1 - fy) + bottom * fy


@program(image, shapes=SHAPES)
def rotate_nearest(picture, angle=0.3):
    height, width = picture.shape
    y, x = np.mgrid[0:height, 0:width]
    cy, cx = (height - 1) / 2, (width - 1) / 2
    c, s = np.cos(angle), np.sin(angle)
    source_x = np.rint(c * (x - cx) + s * (y - cy) + cx).astype(np.intp)
    source_y = np.rint(-s * (x - cx) + c * (y - cy) + cy).astype(np.intp)
    inside = (source_x >= 0) & (source_x < width) & (source_y >= 0) & (source_y < height)
    out = np.zeros_like(picture)
    out[inside] = picture[source_y[inside], source_x[inside]]
    return out


@program(color, shapes=SHAPES)
def luminance_and_saturation(picture):
    luma = picture @ np.array([0.299, 0.587, 0.114], dtype=picture.dtype)
    high, low = picture.max(axis=-1), picture.min(axis=-1)
    saturation = np.divide(high - low, high, out=np.zeros_like(high), where=high > 0)
    srgb = np.where(luma <= 0.0031308, 12.92 * luma, 1.055 * luma ** (1 / 2.4) - 0.055)
    return srgb, saturation


@program(color, shapes=SHAPES)
def white_balance_and_gamma(picture):
    picture = picture.astype(np.float64)
    means = picture.reshape(-1, 3).mean(axis=0)
    balanced = np.minimum(picture * (means.mean() / means), 1)
    eight_bit = (255 * balanced**0.8 + 0.5).astype(np.uint8)
    return eight_bit[..., ::-1], eight_bit.transpose(2, 0, 1).copy()


@program(image, shapes=((4, 5), (6, 8)))
def floyd_steinberg_dither(picture):
    work = np.pad(picture, ((0, 1), (1, 1)))
    height, width = picture.shape
    for row in range(2):
        for column in range(1, width + 1):
            old = work[row, column]
            new = 1.0 if old > 0.5 else 0.0
            error = old - new
            work[row, column] = new
            work[row, column + 1] += error * 7 / 16
            work[row + 1, column - 1 : column + 2] += error * np.array([3, 5, 1]) / 16
    return work[:2, 1:-1]


@program(image, shapes=((8, 12), (32, 40)))
def pooling_and_patches(picture):
    blocks = picture.reshape(picture.shape[0] // 4, 4, picture.shape[1] // 4, 4)
    strongest = blocks.max(axis=(1, 3))
    mean = blocks.mean(axis=(1, 3))
    patches = blocks.swapaxes(1, 2).reshape(-1, 16)
    return strongest, mean, patches - patches.mean(axis=1, keepdims=True)


@program(image, shapes=SHAPES)
def template_matching(picture):
    template = picture[2:5, 3:6]
    windows = np.lib.stride_tricks.sliding_window_view(picture, template.shape)
    difference = ((windows - template) ** 2).sum(axis=(-2, -1))
    row, column = np.unravel_index(difference.argmin(), difference.shape)
    return int(row), int(column), difference


@program(lambda rng, shape, dtype: (rng.random(shape).astype(dtype), 0.1), shapes=SHAPES)
def noise_and_psnr(picture, scale):
    noise = np.sin(37 * np.arange(picture.size)).reshape(picture.shape).astype(picture.dtype)
    noisy = picture + scale * noise
    mse = np.mean((noisy - picture) ** 2)
    if mse == 0:
        return np.inf
    return 10 * np.log10(1 / mse), noisy
