"""Coefficients of the expansions, written by ``tools/fit_coefficients.py``.

Polynomials are listed constant term first; split constants are unevaluated sums.
"""

from __future__ import annotations

Coefficients = dict[str, tuple[float, ...]]


def _floats(*digits: str) -> tuple[float, ...]:
    return tuple(map(float.fromhex, digits))


LN2: Coefficients = {
    "f32": _floats(
        "0x1.62e4000000000p-1",
        "0x1.7f7d1c0000000p-20",
    ),
    "f64": _floats(
        "0x1.62e42fefa3800p-1",
        "0x1.ef35793c76730p-45",
    ),
}
"""log(2); the first part times an exponent is exact."""

PI: Coefficients = {
    "f32": _floats(
        "0x1.921fb60000000p+1",
        "-0x1.777a5c0000000p-24",
        "-0x1.ee59da0000000p-49",
    ),
    "f64": _floats(
        "0x1.921fb54442d18p+1",
        "0x1.1a62633145c07p-53",
        "-0x1.f1976b7ed8fbcp-109",
    ),
}
"""pi."""

PI_FROM_BELOW: Coefficients = {
    "f32": _floats(
        "0x1.921fb40000000p+1",
        "0x1.4442d00000000p-23",
        "0x1.8469880000000p-47",
    ),
}
"""pi, in parts of one sign."""

PI_PAIR: Coefficients = {
    "f32": _floats(
        "0x1.921fb60000000p+1",
        "-0x1.777a5c0000000p-24",
    ),
    "f64": _floats(
        "0x1.921fb54442d18p+1",
        "0x1.1a62633145c07p-53",
    ),
}
"""pi."""

LOG10_2: Coefficients = {
    "f32": _floats(
        "0x1.3441360000000p-2",
        "-0x1.ec10c00000000p-27",
    ),
    "f64": _floats(
        "0x1.34413509f79ffp-2",
        "-0x1.9dc1da994fd21p-59",
    ),
}
"""log10(2)."""

LOG2_E: Coefficients = {
    "f32": _floats(
        "0x1.7154760000000p+0",
        "0x1.4ae0c00000000p-26",
    ),
    "f64": _floats(
        "0x1.71547652b82fep+0",
        "0x1.777d0ffda0d24p-56",
    ),
}
"""1 / log(2)."""

LOG10_E: Coefficients = {
    "f32": _floats(
        "0x1.bcb7b20000000p-2",
        "-0x1.5b235e0000000p-27",
    ),
    "f64": _floats(
        "0x1.bcb7b1526e50ep-2",
        "0x1.95355baaafad3p-57",
    ),
}
"""1 / log(10)."""

TWO_OVER_LN2: Coefficients = {
    "f32": _floats(
        "0x1.7154760000000p+1",
        "0x1.4ae0c00000000p-25",
    ),
    "f64": _floats(
        "0x1.71547652b82fep+1",
        "0x1.777d0ffda0d24p-55",
    ),
}
"""2 / log(2)."""

TWO_THIRDS_OVER_LN2: Coefficients = {
    "f32": _floats(
        "0x1.ec709e0000000p-1",
        "-0x1.e2fe020000000p-28",
    ),
    "f64": _floats(
        "0x1.ec709dc3a03fdp-1",
        "0x1.d27f05548af0cp-55",
    ),
}
"""2 / (3 log(2))."""

EXP: Coefficients = {
    "f32": _floats(
        "0x1.0000000000000p+0",
        "0x1.0000000000000p-1",
        "0x1.5554880000000p-3",
        "0x1.5554e20000000p-5",
        "0x1.123fac0000000p-7",
        "0x1.6d53dc0000000p-10",
    ),
    "f64": _floats(
        "0x1.0000000000000p+0",
        "0x1.000000000000cp-1",
        "0x1.555555555555cp-3",
        "0x1.555555554fd81p-5",
        "0x1.111111110e9c1p-7",
        "0x1.6c16c18635009p-10",
        "0x1.a01a01b46851dp-13",
        "0x1.a019951ee3315p-16",
        "0x1.71ddee03d3022p-19",
        "0x1.28b19c738850fp-22",
        "0x1.af6f5d30077f0p-26",
    ),
}
"""(exp(r) - 1) / r."""

EXP2: Coefficients = {
    "f32": _floats(
        "0x1.62e4300000000p-1",
        "0x1.ebfbe00000000p-3",
        "0x1.c6af720000000p-5",
        "0x1.3b2a480000000p-7",
        "0x1.5f0df80000000p-10",
        "0x1.4424c80000000p-13",
    ),
    "f64": _floats(
        "0x1.62e42fefa39efp-1",
        "0x1.ebfbdff82c58fp-3",
        "0x1.c6b08d704a183p-5",
        "0x1.3b2ab6fba4d80p-7",
        "0x1.5d87fe7888bacp-10",
        "0x1.430912f8a92f4p-13",
        "0x1.ffcbfcdb83190p-17",
        "0x1.62c02163cfad9p-20",
        "0x1.b52422db6abeap-24",
        "0x1.e4d1feea03d6ep-28",
        "0x1.eafd7764e33c4p-32",
        "0x1.c0e7b60119791p-36",
    ),
}
"""(2**r - 1) / r."""

TANH: Coefficients = {
    "f32": _floats(
        "0x1.5551020000000p-1",
        "0x1.56090a0000000p-2",
        "0x1.0728d00000000p-3",
        "0x1.dd8f8c0000000p-5",
    ),
    "f64": _floats(
        "0x1.5555555556727p-1",
        "0x1.55555554ab3a3p-2",
        "0x1.11111138a8a31p-3",
        "0x1.6c16b7b6138d7p-5",
        "0x1.a01b6a9a4e770p-7",
        "0x1.9ff9660308cecp-9",
        "0x1.73b7553029e90p-11",
        "0x1.179faa1213857p-13",
        "0x1.25511fcf024a8p-15",
    ),
}
"""((exp(2 r) - 1) / 2 - r - r**2) / r**3."""

EXPM1: Coefficients = {
    "f32": _floats(
        "0x1.fffffe0000000p-2",
        "0x1.5554ac0000000p-3",
        "0x1.5557200000000p-5",
        "0x1.122a5c0000000p-7",
        "0x1.6b69400000000p-10",
    ),
    "f64": _floats(
        "0x1.0000000000005p-1",
        "0x1.555555555553cp-3",
        "0x1.55555555520abp-5",
        "0x1.111111111864fp-7",
        "0x1.6c16c17f560e3p-10",
        "0x1.a01a017825865p-13",
        "0x1.a019a60e99179p-16",
        "0x1.71de811976ac9p-19",
        "0x1.28a3380d040b7p-22",
        "0x1.ae771cb86ac14p-26",
    ),
}
"""(exp(r) - 1 - r) / r**2."""

ARCTAN: Coefficients = {
    "f32": _floats(
        "-0x1.55553c0000000p-2",
        "0x1.99917e0000000p-3",
        "-0x1.241cd00000000p-3",
        "0x1.c069b00000000p-4",
        "-0x1.57adee0000000p-4",
        "0x1.d90e880000000p-5",
        "-0x1.fb7a720000000p-6",
        "0x1.6229f60000000p-7",
        "-0x1.d01aa80000000p-10",
    ),
    "f64": _floats(
        "-0x1.5555555555522p-2",
        "0x1.9999999995164p-3",
        "-0x1.2492492371733p-3",
        "0x1.c71c717cddaf8p-4",
        "-0x1.745d117d84af6p-4",
        "0x1.3b13647ab07fcp-4",
        "-0x1.110e4080760efp-4",
        "0x1.e1bae6ec3e99ep-5",
        "-0x1.ae5b36241ef7bp-5",
        "0x1.82d01d9146ac1p-5",
        "-0x1.5988753a420fdp-5",
        "0x1.2bf74338df2d6p-5",
        "-0x1.e94e0fe7be15fp-6",
        "0x1.676c587f5ad2fp-6",
        "-0x1.c60bc9d0a1defp-7",
        "0x1.d59962d2ad472p-8",
        "-0x1.780ee16770454p-9",
        "0x1.b0f185fa67115p-11",
        "-0x1.3c99bdf631f79p-13",
        "0x1.b7c55a6d9bcd4p-17",
    ),
}
"""(arctan(t) / t - 1) / t**2, in t**2."""

ARCTAN_OF_HALF: Coefficients = {
    "f32": _floats(
        "-0x1.5555100000000p-2",
        "0x1.997a960000000p-3",
        "-0x1.2245ba0000000p-3",
        "0x1.9fdef40000000p-4",
        "-0x1.a393da0000000p-5",
    ),
    "f64": _floats(
        "-0x1.5555555555108p-2",
        "0x1.999999991d314p-3",
        "-0x1.249248fd2a7b9p-3",
        "0x1.c71c65418b692p-4",
        "-0x1.745bed9f8275fp-4",
        "0x1.3b022fcb1869fp-4",
        "-0x1.10629c9a959a6p-4",
        "0x1.d8b3c4769ec78p-5",
        "-0x1.853d7fed9ba68p-5",
        "0x1.06046aae546b8p-5",
        "-0x1.93823ee765e7cp-7",
    ),
}
"""(arctan(t) / t - 1) / t**2, in t**2, for t up to 1/2."""

ARCSIN: Coefficients = {
    "f32": _floats(
        "0x1.5555ca0000000p-3",
        "0x1.3301ac0000000p-4",
        "0x1.74808c0000000p-5",
        "0x1.8c25380000000p-6",
        "0x1.59652c0000000p-5",
    ),
    "f64": _floats(
        "0x1.555555555538fp-3",
        "0x1.333333336e26dp-4",
        "0x1.6db6db42dc67cp-5",
        "0x1.f1c72c11eeafep-6",
        "0x1.6e89f85557e58p-6",
        "0x1.1c6ba0146a008p-6",
        "0x1.c70301f298704p-7",
        "0x1.8e9fc26940bb2p-7",
        "0x1.ad039c008b9f5p-8",
        "0x1.3f20bef217577p-6",
        "-0x1.08868a923d7cdp-6",
        "0x1.04fbc67cdbda1p-5",
    ),
}
"""(arcsin(t) / t - 1) / t**2, in t**2, for t up to 1/2."""

SINH: Coefficients = {
    "f32": _floats(
        "0x1.5555560000000p-3",
        "0x1.110fe20000000p-7",
        "0x1.a28ee20000000p-13",
    ),
    "f64": _floats(
        "0x1.5555555555559p-3",
        "0x1.111111110f627p-7",
        "0x1.a01a01b022726p-13",
        "0x1.71ddf7a848894p-19",
        "0x1.af60047cc2fcbp-26",
    ),
}
"""(sinh(r) / r - 1) / r**2, in r**2."""

COSH: Coefficients = {
    "f32": _floats(
        "0x1.0000000000000p-1",
        "0x1.5554e20000000p-5",
        "0x1.6d53dc0000000p-10",
    ),
    "f64": _floats(
        "0x1.0000000000000p-1",
        "0x1.5555555555558p-5",
        "0x1.6c16c16c14fedp-10",
        "0x1.a01a01ad88c54p-16",
        "0x1.27e4cbf185c52p-22",
        "0x1.1f8c1ce5f19b9p-29",
    ),
}
"""(cosh(r) - 1) / r**2, in r**2."""

SINE: Coefficients = {
    "f32": _floats(
        "0x1.55552c0000000p-2",
        "0x1.110eb40000000p-1",
        "0x1.9f6a400000000p-4",
        "0x1.5d6c640000000p-7",
    ),
    "f64": _floats(
        "0x1.5555555555554p-2",
        "0x1.11111111110c7p-1",
        "0x1.a01a01a014bcep-4",
        "0x1.71de3a5291940p-7",
        "0x1.ae6454cc108a4p-11",
        "0x1.6123ca9ca31f4p-15",
        "0x1.ae42d204e040dp-20",
        "0x1.881e483ba248ep-25",
    ),
}
"""(sin(r) / r - 1) / z - 1, in z = -r**2 / 8."""

SINE_OF_ANGLE: Coefficients = {
    "f32": _floats(
        "0x1.5555560000000p-2",
        "0x1.1110f20000000p-1",
        "0x1.a016240000000p-4",
        "0x1.71aa320000000p-7",
        "0x1.a0526a0000000p-11",
    ),
}
"""(sin(r - 1.75e-8 r**5) / r - 1) / z - 1, in z = -r**2 / 8."""

ERF_OF_SQUARE: Coefficients = {
    "f32": _floats(
        "0x1.06eba80000000p-3",
        "-0x1.81273c0000000p-2",
        "0x1.ce2b520000000p-4",
        "-0x1.b7b2640000000p-6",
        "0x1.4f774a0000000p-8",
        "-0x1.6374760000000p-11",
    ),
    "f64": _floats(
        "0x1.06eba8214db69p-3",
        "-0x1.812746b037a0ap-2",
        "0x1.ce2f21a044560p-4",
        "-0x1.b82ce313109ddp-6",
        "0x1.565bcd278a47ep-8",
        "-0x1.c02db9ab34720p-11",
        "0x1.f9a3f8d5c1580p-14",
        "-0x1.f4e63580589cfp-17",
        "0x1.bb1ed7d2cef83p-20",
        "-0x1.6b630fda0d4e0p-23",
        "0x1.3f8479a3974bep-26",
        "-0x1.3474bd25967fbp-29",
    ),
}
"""erf(x) / x - 1, in x**2, for x up to 3/4."""

SCALED_ERFC: Coefficients = {
    "f32": _floats(
        "0x1.dd2c8c0000000p-3",
        "-0x1.1df1ae0000000p-3",
        "0x1.f7f5580000000p-7",
        "0x1.16ed580000000p-4",
        "-0x1.9ddc260000000p-4",
        "0x1.7fe88a0000000p-4",
        "-0x1.0f9e260000000p-4",
        "0x1.30b1660000000p-5",
        "-0x1.0ad81e0000000p-6",
        "0x1.4641ce0000000p-8",
        "-0x1.29fa8a0000000p-11",
        "-0x1.69b8d40000000p-13",
    ),
    "f64": _floats(
        "0x1.dd2c8b74febf6p-3",
        "-0x1.1df1ad154a28dp-3",
        "0x1.f7f5df66fda90p-7",
        "0x1.16ecefcfa51fep-4",
        "-0x1.9ddb23c3e9eb1p-4",
        "0x1.7fee004e16fdfp-4",
        "-0x1.0fb06dfe3a5f9p-4",
        "0x1.3079edf5b9fbbp-5",
        "-0x1.09623887159fcp-6",
        "0x1.49c672d085f0bp-8",
        "-0x1.8d4a98e0db829p-11",
        "-0x1.a1df67efa83b2p-13",
        "0x1.3be03c0de862dp-13",
        "-0x1.994fe0298cbb3p-16",
        "-0x1.7888a2fa3b29ap-17",
        "0x1.7ebc0f2239c4ep-18",
        "0x1.3bda5c9b0f6ddp-22",
        "-0x1.b4e3514a42258p-21",
        "0x1.35f5942745ad5p-24",
        "0x1.a39c911f71ba5p-24",
        "-0x1.ebea66de55878p-27",
        "-0x1.f963196f6f2f2p-28",
    ),
}
"""(1 + 2 x) exp(x**2) erfc(x) - 1, in (x - 4) / (x + 4), for x from 3/4 on."""

TANGENT: Coefficients = {
    "f32": _floats(
        "0x1.5554d60000000p-2",
        "0x1.112f340000000p-3",
        "0x1.b5613c0000000p-5",
        "0x1.91508a0000000p-6",
        "0x1.8cb03a0000000p-9",
        "0x1.35355c0000000p-7",
    ),
    "f64": _floats(
        "0x1.55555555554e9p-2",
        "0x1.1111111118adcp-3",
        "0x1.ba1ba1b416fd6p-5",
        "0x1.664f49b6bdc09p-6",
        "0x1.226e10e716ca9p-7",
        "0x1.d6d964789a4c5p-9",
        "0x1.7d59305779bcep-10",
        "0x1.380bd329573b3p-11",
        "0x1.d1af15004b096p-13",
        "0x1.1fa60230fcff1p-13",
        "-0x1.c90c9ccd3cfc1p-16",
        "0x1.7a59fd6448b7ap-14",
        "-0x1.7bbad3739eb4fp-15",
        "0x1.5f8b84f8712cbp-16",
    ),
}
"""(tan(r) / r - 1) / r**2, in r**2."""

SINE_OF_SQUARE: Coefficients = {
    "f32": _floats(
        "-0x1.55554c0000000p-3",
        "0x1.110ee00000000p-7",
        "-0x1.9f728c0000000p-13",
        "0x1.5de3700000000p-19",
    ),
}
"""(sin(r) / r - 1) / r**2, in r**2."""

TANH_OF_SQUARE: Coefficients = {
    "f32": _floats(
        "-0x1.55553e0000000p-2",
        "0x1.1109c00000000p-3",
        "-0x1.b89b1e0000000p-5",
        "0x1.54c6ca0000000p-6",
        "-0x1.8296540000000p-8",
    ),
}
"""(tanh(r) / r - 1) / r**2, in r**2."""

LOG_F32: Coefficients = {
    "f32": _floats(
        "0x1.5555640000000p-2",
        "-0x1.00023c0000000p-2",
        "0x1.9998600000000p-3",
        "-0x1.54678a0000000p-3",
        "0x1.23642a0000000p-3",
        "-0x1.0e68760000000p-3",
        "0x1.025cc60000000p-3",
        "-0x1.2d36b00000000p-4",
    ),
}
"""(log(1 + f) - f + f**2 / 2) / f**3."""

LOG_F64: Coefficients = {
    "f64": _floats(
        "0x1.5555555555594p-1",
        "0x1.999999997f6eep-2",
        "0x1.24924942423edp-2",
        "0x1.c71c51ceeacd2p-3",
        "0x1.746649e261b8dp-3",
        "0x1.39a0b1c03dbcbp-3",
        "0x1.2f0f4cbb2f684p-3",
    ),
}
"""2 (atanh(s) - s) / s**3, in s**2."""

ARCTANH: Coefficients = {
    "f32": _floats(
        "0x1.5555420000000p-2",
        "0x1.99abde0000000p-3",
        "0x1.21e0da0000000p-3",
        "0x1.0b190c0000000p-3",
    ),
    "f64": _floats(
        "0x1.5555555555577p-2",
        "0x1.99999999913c9p-3",
        "0x1.2492492a52089p-3",
        "0x1.c71c6de642e02p-4",
        "0x1.745dd4814dc0dp-4",
        "0x1.3afdfa394a1c5p-4",
        "0x1.1297961ae89dap-4",
        "0x1.c140ef21d5f50p-5",
        "0x1.34ca7eb09b2a2p-4",
    ),
}
"""(arctanh(s) / s - 1) / s**2, in s**2."""

LOG2_TAIL: Coefficients = {
    "f32": _floats(
        "0x1.2777120000000p-1",
        "0x1.a5b9480000000p-2",
        "0x1.5a264e0000000p-2",
    ),
    "f64": _floats(
        "0x1.2776c50ef9d34p-1",
        "0x1.a61762a756568p-2",
        "0x1.484b14238b062p-2",
        "0x1.0c9a633df9b50p-2",
        "0x1.c69fbe3d2cf08p-3",
        "0x1.87ac8bae86f5dp-3",
        "0x1.860d895be7164p-3",
    ),
}
"""2 / log(2) (atanh(s) - s - s**3 / 3) / s**5, in s**2."""
