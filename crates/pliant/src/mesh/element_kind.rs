//! Kinds of elements.

/// Shape of all elements of a mesh.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "lowercase"))]
pub enum ElementKind {
    /// Linear tetrahedron. Vertices 1, 2, 3 are counter-clockwise seen from outside the face opposite vertex 0, so that
    /// `det[x₁−x₀, x₂−x₀, x₃−x₀] > 0`.
    Tet4,
    /// Trilinear hexahedron: vertices 0 to 3 around the bottom, 4 to 7 above them, as in VTK, Abaqus and Gmsh.
    Hex8,
}

impl ElementKind {
    /// Returns the number of vertices of one element.
    pub const fn nodes(self) -> usize {
        match self {
            Self::Tet4 => 4,
            Self::Hex8 => 8,
        }
    }

    /// Returns the faces of an element as local vertex numbers, counter-clockwise seen from outside.
    pub const fn faces(self) -> &'static [&'static [usize]] {
        match self {
            Self::Tet4 => &[&[0, 2, 1], &[0, 1, 3], &[1, 2, 3], &[0, 3, 2]],
            Self::Hex8 => &[&[0, 3, 2, 1], &[4, 5, 6, 7], &[0, 1, 5, 4], &[1, 2, 6, 5], &[2, 3, 7, 6], &[3, 0, 4, 7]],
        }
    }

    /// Returns the edges of an element as pairs of local vertex numbers.
    pub const fn edges(self) -> &'static [[usize; 2]] {
        match self {
            Self::Tet4 => &[[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]],
            Self::Hex8 => {
                &[[0, 1], [1, 2], [2, 3], [3, 0], [4, 5], [5, 6], [6, 7], [7, 4], [0, 4], [1, 5], [2, 6], [3, 7]]
            }
        }
    }

    /// Returns `n` with the name of the element: "1 tetrahedron", "2 hexahedra".
    pub fn count(self, n: usize) -> String {
        match (self, n) {
            (Self::Tet4, 1) => "1 tetrahedron".into(),
            (Self::Hex8, 1) => "1 hexahedron".into(),
            _ => format!("{n} {}", self.plural()),
        }
    }

    /// Returns the plural of the name: "tetrahedra", "hexahedra".
    pub const fn plural(self) -> &'static str {
        match self {
            Self::Tet4 => "tetrahedra",
            Self::Hex8 => "hexahedra",
        }
    }
}
