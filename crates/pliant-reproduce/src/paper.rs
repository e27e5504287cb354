//! Papers that are reproduced.

/// Paper in `references.bib`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Paper {
    /// Key in `references.bib`.
    pub key: &'static str,
    /// Authors.
    pub authors: &'static str,
    /// Authors, title and year.
    pub citation: &'static str,
}

/// Paper on VegaFEM.
pub const VEGA: Paper = Paper {
    key: "SinSchroederBarbic2013",
    authors: "Sin, Schroeder and Barbič",
    citation: "Sin, Schroeder and Barbič, *Vega: non-linear FEM deformable object simulator*, 2012",
};

/// Paper on elastic bodies with regularized constraints.
pub const SERVIN: Paper = Paper {
    key: "ServinLacoursiereMelin2006",
    authors: "Servin, Lacoursière and Melin",
    citation: "Servin, Lacoursière and Melin, *Interactive simulation of elastic deformable materials*, 2006",
};

/// Comparison of neo-Hookean laws; the key is that of the newest paper.
pub const NEO_HOOKEAN: Paper = Paper {
    key: "SmithDeGoesKim2018",
    authors: "Bower; Bonet and Wood; Smith, de Goes and Kim",
    citation: "Three neo-Hookean laws (Bower 2009; Bonet and Wood 2008; Smith, de Goes and Kim, *Stable neo-Hookean flesh simulation*, 2018) compared",
};

/// Paper on model reduction.
pub const SUBSPACE: Paper = Paper {
    key: "BarbicJames2005",
    authors: "Barbič and James",
    citation: "Barbič and James, *Real-time subspace integration for St. Venant–Kirchhoff deformable models*, 2005",
};

/// SIGGRAPH course on FEM simulation.
pub const COURSE: Paper = Paper {
    key: "SifakisBarbic2012",
    authors: "Sifakis and Barbič",
    citation: "Sifakis and Barbič, *FEM simulation of 3D deformable solids*, SIGGRAPH course, 2012",
};
