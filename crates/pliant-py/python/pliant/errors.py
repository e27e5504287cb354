"""Exceptions and warnings. Messages name the place, what was found and what was expected."""


class PliantError(Exception):
    """Base class of all exceptions of this package."""


class MeshError(PliantError, ValueError):
    """Mesh that cannot be simulated, or a file that is not a mesh."""


class MaterialError(PliantError, ValueError):
    """Invalid material parameters."""


class ModelError(PliantError, ValueError):
    """Model with inconsistent parts."""


class SceneError(PliantError, ValueError):
    """Scene that cannot be built, or incompatible options."""


class CheckpointError(PliantError, ValueError):
    """Checkpoint that is corrupt or belongs to another simulation."""


class SolveError(PliantError, ArithmeticError):
    """Step, equilibrium or modes that did not converge. Earlier results are kept."""


class FileError(PliantError, OSError):
    """File that cannot be read or written."""


class MissingFileError(FileError, FileNotFoundError):
    """File that does not exist."""


class PliantWarning(UserWarning):
    """Repair of a mesh, or data that a file format cannot store."""
