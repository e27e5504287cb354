//! Elements that are inverted where their law is undefined.

use rayon::prelude::*;

use super::Elastic;
use crate::material::{LANES, Material, Points};

/// Most strongly inverted element among those whose law is undefined when inverted.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct InvertedElement {
    /// Index of the element.
    pub element: u32,
    /// Number of such elements.
    pub count: usize,
    /// `det F` at its worst quadrature point.
    pub volume_ratio: f64,
    /// Index of the region of the element.
    pub region: usize,
}

impl Elastic {
    /// Returns the element with the smallest `det F ≤ 0` at a quadrature point where its law is undefined, or `None`.
    ///
    /// # Panics
    /// If there are not three displacements per vertex.
    pub fn find_inverted(&self, u: &[f64]) -> Option<InvertedElement> {
        self.check_length(u);
        let elements = self.elements();
        let points = elements.points_per_element();
        let of_group = |group: usize| -> Option<InvertedElement> {
            let region = elements.region(group);
            if self.materials()[region].is_defined_inverted() {
                return None;
            }
            let mut f = [Points::ZERO; 8];
            self.deformation_gradients(u, group..group + 1, &mut f[..points]);
            let volume_ratio =
                |lane: usize| f[..points].iter().map(|f| f.determinants()[lane]).fold(f64::INFINITY, f64::min);
            let lanes = elements.numbers(group).iter().take(LANES).enumerate();
            let inverted =
                lanes.map(|(lane, &element)| (element, volume_ratio(lane))).filter(|(_, ratio)| *ratio <= 0.0);
            inverted
                .map(|(element, volume_ratio)| InvertedElement { element, count: 1, volume_ratio, region })
                .reduce(worse)
        };
        if self.materials().iter().all(Material::is_defined_inverted) {
            return None;
        }
        // The order of groups is kept and the first of equals is taken, so that the result does not depend on threads.
        (0..elements.group_count()).into_par_iter().filter_map(of_group).reduce_with(worse)
    }
}

/// Returns the worse of two, with the total count.
fn worse(a: InvertedElement, b: InvertedElement) -> InvertedElement {
    let worst = if b.volume_ratio < a.volume_ratio { b } else { a };
    InvertedElement { count: a.count + b.count, ..worst }
}
