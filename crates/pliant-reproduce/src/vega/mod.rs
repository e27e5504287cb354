//! Sin, Schroeder and Barbič 2012: what VegaFEM can do, and how fast.
