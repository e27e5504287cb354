//! Barbič and James 2005: models that move in a few directions.
