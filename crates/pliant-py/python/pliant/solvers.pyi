from ._pliant import Solver

__all__ = [
    "auto",
    "block_jacobi",
    "direct",
    "direct_single",
    "incomplete_cholesky",
    "stale_factor",
]

def auto(
    *,
    tolerance: float = 1e-06,
    iterations: int = 5000,
) -> Solver: ...

def direct(
) -> Solver: ...

def direct_single(
    *,
    tolerance: float = 1e-06,
    iterations: int = 5000,
) -> Solver: ...

def block_jacobi(
    *,
    tolerance: float = 1e-06,
    iterations: int = 5000,
) -> Solver: ...

def incomplete_cholesky(
    *,
    tolerance: float = 1e-06,
    iterations: int = 5000,
) -> Solver: ...

def stale_factor(
    *,
    tolerance: float = 1e-06,
    iterations: int = 5000,
) -> Solver: ...
