"""What can go wrong. Messages name what was found, where, and what was expected."""


class PliantError(Exception):
    """Any of these."""


class MeshError(PliantError, ValueError):
    """A mesh that cannot be simulated, or a file that is none."""


class MaterialError(PliantError, ValueError):
    """A material that is not possible."""


class ModelError(PliantError, ValueError):
    """A model that does not fit together."""


class SceneError(PliantError, ValueError):
    """A scene that cannot be built, or options that do not go together."""


class CheckpointError(PliantError, ValueError):
    """A checkpoint that is broken, or of another simulation."""


class SolveError(PliantError, ArithmeticError):
    """A step, an equilibrium or modes that could not be found. What was computed before is kept."""


class FileError(PliantError, OSError):
    """A file that the system does not let us read or write."""


class MissingFileError(FileError, FileNotFoundError):
    """A file that is not there."""


class PliantWarning(UserWarning):
    """What was repaired in a mesh, or left out of a file."""
