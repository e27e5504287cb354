"""Materials, one function per elastic law.

>>> rubber = pliant.materials.neo_hookean(young=1e6, poisson=0.45, density=1000)
>>> coefficients = {"mu01": 1e5, "mu10": 2e5, "v1": 1e7}
>>> tire = pliant.materials.mooney_rivlin(coefficients=coefficients, density=1100)

``young`` is Young's modulus in Pa, ``poisson`` Poisson's ratio, and ``density`` the mass density in kg/m³. Strings may
have other units: ``young="1 MPa"``, ``density="1.1 g/cm^3"``. Instead of the first two, ``coefficients`` gives those of
the law's formula, in Pa. Missing values are taken from the mesh file if it has them. Statics without gravity needs no
density.

``inversion`` is the treatment of compressed and inverted elements: ``"clamp"`` clamps stretches to
``inversion_threshold`` (0.1), ``"extrapolate"`` extrapolates the energy quadratically below it.
``compression_resistance`` is an additional resistance to compression.

For a user-defined law see :meth:`pliant.Material.from_energy`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, Protocol

from ._pliant import Material

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ._types import Inversion, Quantity

__all__ = [
    "corotational",
    "linear",
    "mooney_rivlin",
    "neo_hookean",
    "neo_hookean_bower",
    "stable_neo_hookean",
    "stvk",
]


class _Law(Protocol):
    def __call__(
        self,
        *,
        young: Quantity | None = None,
        poisson: float | None = None,
        density: Quantity | None = None,
        coefficients: Mapping[str, Quantity] | None = None,
        inversion: Inversion | None = None,
        inversion_threshold: float | None = None,
        compression_resistance: float | None = None,
    ) -> Material: ...


def _law(name: str, about: str) -> _Law:
    def law(
        *,
        young: Quantity | None = None,
        poisson: float | None = None,
        density: Quantity | None = None,
        coefficients: Mapping[str, Quantity] | None = None,
        inversion: Inversion | None = None,
        inversion_threshold: float | None = None,
        compression_resistance: float | None = None,
    ) -> Material:
        return Material(
            name,
            young=young,
            poisson=poisson,
            density=density,
            coefficients=coefficients,
            inversion=inversion,
            inversion_threshold=inversion_threshold,
            compression_resistance=compression_resistance,
        )

    law.__name__ = law.__qualname__ = name.replace("-", "_")
    law.__doc__ = about
    return law


linear = _law("linear", "``μ ε:ε + λ/2 tr²ε``: small displacements only, at the lowest cost.")
stvk = _law("stvk", "St. Venant–Kirchhoff, ``μ E:E + λ/2 tr²E``: large rotations, moderate strains.")
neo_hookean = _law("neo-hookean", "``μ/2 (I₁ − 3) − μ ln J + λ/2 ln²J``: large strains (Bonet and Wood).")
neo_hookean_bower = _law(
    "neo-hookean-bower",
    "``μ/2 (J^(−2/3) I₁ − 3) + λ/2 (J − 1)²``: large strains, volumetric–deviatoric split (Bower).",
)
stable_neo_hookean = _law(
    "stable-neo-hookean",
    "Large strains; defined for every deformation, also inverted ones (Smith et al.).",
)
mooney_rivlin = _law(
    "mooney-rivlin",
    "``μ01 (J^(−4/3) I₂ − 3) + μ10 (J^(−2/3) I₁ − 3) + v1 (J − 1)²``: rubber, with two deviatoric terms.",
)


def corotational(
    *,
    young: Quantity | None = None,
    poisson: float | None = None,
    density: Quantity | None = None,
    coefficients: Mapping[str, Quantity] | None = None,
    inversion: Inversion | None = None,
    inversion_threshold: float | None = None,
    compression_resistance: float | None = None,
    tangent: Literal["exact", "warped"] | None = None,
    frame: Literal["polar", "qr"] | None = None,
) -> Material:
    """``μ‖F − R‖² + λ/2 tr²(RᵀF − I)``, ``F = R S``: large rotations, small strains.

    ``tangent="warped"`` omits the derivative of the rotation. ``frame="qr"`` takes the rotation from a QR
    decomposition.
    """
    return Material(
        "corotational",
        young=young,
        poisson=poisson,
        density=density,
        coefficients=coefficients,
        inversion=inversion,
        inversion_threshold=inversion_threshold,
        compression_resistance=compression_resistance,
        tangent=tangent,
        frame=frame,
    )
