//! Bodies of the sizes that papers have, in shapes of our own.
