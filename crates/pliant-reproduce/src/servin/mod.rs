//! Servin, Lacoursière and Melin 2006: elasticity as regularised constraints.
