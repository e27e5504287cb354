//! Files of reduced models.
//!
//! The file begins with the magic word `PLIANTRM`, the version, and the mesh fingerprint in four bytes. Five integers
//! of eight bytes follow: the free flag, the kind of forces, and the numbers of coordinates, basis vectors and
//! elements. Then come numbers of eight bytes: the mass and energy of the fingerprint, `ω²`, the basis column by
//! column, and the coefficients of the polynomial or the elements with their weights.

use std::path::Path;

use super::basis::Basis;
use super::elasticity::ReducedElasticity;
use super::elements::{ReducedElements, WeightedElement};
use super::reduction::{Fingerprint, Reduction, ReductionError};
use super::stvk::StVkTensors;
use crate::files::{Files, Seal, Sealed};
use crate::model::Model;

const MAGIC: &[u8; 8] = b"PLIANTRM";
const VERSION: u32 = 1;

const LINEAR: u64 = 0;
const POLYNOMIAL: u64 = 1;
const PROJECTION: u64 = 2;
const CUBATURE: u64 = 3;

impl Reduction {
    /// Writes the file atomically: it appears complete or not at all.
    pub fn write(&self, files: &dyn Files, path: &Path) -> Result<(), ReductionError> {
        let mut seal = Seal::new(MAGIC, VERSION);
        let selection = match &self.elasticity {
            ReducedElasticity::Elements(elements) => elements.selection().unwrap_or_default(),
            _ => &[],
        };
        let kind = match &self.elasticity {
            ReducedElasticity::Linear(_) => LINEAR,
            ReducedElasticity::StVk(_) => POLYNOMIAL,
            ReducedElasticity::Elements(elements) if elements.selection().is_none() => PROJECTION,
            ReducedElasticity::Elements(_) => CUBATURE,
        };
        seal.u32(self.fingerprint.mesh);
        let sizes = [self.basis.dim(), self.basis.size(), selection.len()].map(|size| size as u64);
        [u64::from(self.is_free), kind].into_iter().chain(sizes).for_each(|number| seal.u64(number));
        seal.f64s(&[self.fingerprint.mass, self.fingerprint.energy]);
        seal.f64s(&self.omega_squared);
        self.basis.columns().iter().for_each(|column| seal.f64s(column));
        if let ReducedElasticity::StVk(tensors) = &self.elasticity {
            tensors.coefficients().iter().for_each(|numbers| seal.f64s(numbers));
        }
        for element in selection {
            seal.u32(element.body);
            seal.u32(element.element);
            seal.f64s(&[element.weight]);
        }
        Ok(files.write(path, &seal.finish())?)
    }

    /// Reads a reduction of this model.
    pub fn read(files: &dyn Files, path: &Path, model: &Model) -> Result<Self, ReductionError> {
        let bytes = files.read(path)?;
        let broken = |found: String| ReductionError::Broken { path: path.into(), found };
        let mut sealed = Sealed::open(&bytes, MAGIC, VERSION).map_err(broken)?;
        let mesh = sealed.u32().map_err(broken)?;
        let mut number = || sealed.u64().map_err(broken);
        let (is_free, kind, dim, size, chosen) = (number()?, number()?, number()?, number()?, number()?);
        let expected = Fingerprint::of(model);
        if mesh != expected.mesh || dim != model.dim() as u64 {
            return Err(ReductionError::OtherMesh { found: mesh, expected: expected.mesh });
        }
        if is_free > 1 || size == 0 || size > dim || kind > CUBATURE || (chosen > 0) != (kind == CUBATURE) {
            return Err(broken(format!("kind {kind}, {size} basis vectors and {chosen} elements")));
        }
        let mut numbers = |count: u64, what: &str| sealed.f64s(count, what).map_err(broken);
        let fingerprint = numbers(2, "numbers")?;
        let omega_squared = numbers(size, "frequencies")?;
        if omega_squared.iter().any(|square| !(*square > 0.0)) {
            return Err(broken("it has frequencies that are not positive".into()));
        }
        let columns = (0..size).map(|_| numbers(dim, "numbers of a basis vector")).collect::<Result<Vec<_>, _>>()?;
        let basis = Basis::of_columns(columns);
        let r = basis.size();
        let elasticity = match kind {
            LINEAR => ReducedElasticity::Linear(omega_squared.clone()),
            POLYNOMIAL => {
                let too_many = || broken(format!("{r} basis vectors"));
                let counts = StVkTensors::coefficient_counts(r).ok_or_else(too_many)?;
                let mut coefficients = [const { Vec::new() }; 3];
                for (coefficients, count) in coefficients.iter_mut().zip(counts) {
                    *coefficients = numbers(count as u64, "coefficients")?;
                }
                let tensors = StVkTensors::from_coefficients(r, coefficients).ok_or_else(too_many)?;
                ReducedElasticity::StVk(tensors)
            }
            PROJECTION => ReducedElasticity::Elements(ReducedElements::all(model, &basis)),
            _ => {
                let mut elements = Vec::new();
                for _ in 0..chosen {
                    let (body, element) = (sealed.u32().map_err(broken)?, sealed.u32().map_err(broken)?);
                    let weight = sealed.f64s(1, "weights").map_err(broken)?[0];
                    if body as usize >= model.bodies().len() {
                        return Err(broken(format!("an element of body {body}")));
                    }
                    elements.push(WeightedElement { body, element, weight });
                }
                let selected = ReducedElements::selected(model, &basis, &elements);
                ReducedElasticity::Elements(selected.map_err(|error| broken(error.to_string()))?)
            }
        };
        sealed.finish().map_err(broken)?;
        let fingerprint = Fingerprint { mesh, mass: fingerprint[0], energy: fingerprint[1] };
        let reduction = Self { fingerprint, basis, omega_squared, elasticity, is_free: is_free == 1 };
        reduction.check(model)?;
        Ok(reduction)
    }
}

#[cfg(test)]
mod tests {
    use std::ops::ControlFlow;

    use super::super::{CubatureParams, Forces, ReductionParams};
    use super::*;
    use crate::files::Memory;
    use crate::material::{AnyLaw, YoungPoisson};
    use crate::mesh::{Cells, generate};
    use crate::model::{Body, Fixed};

    /// Returns the model of the seed of the fuzz target.
    fn model() -> Model {
        let mesh = generate::block([2.0, 1.0, 1.0], [2, 1, 1], Cells::Tet5).unwrap();
        let clamp = mesh.vertex_sets()["x-min"].clone();
        let law = AnyLaw::new("stvk", YoungPoisson { young: 1e5, poisson: 0.3 }).unwrap();
        Model::builder().body(Body::new(mesh, law, 1000.0)).fix(Fixed::new(clamp)).build().unwrap()
    }

    fn bytes(forces: Forces) -> Vec<u8> {
        let params = ReductionParams { forces, ..ReductionParams::new(3) };
        let (reduction, _) = Reduction::new(&model(), &params, &mut |_| ControlFlow::Continue(())).unwrap();
        let files = Memory::default();
        reduction.write(&files, Path::new("a.pliant")).unwrap();
        files.contents().remove(0).1
    }

    fn read(bytes: Vec<u8>) -> Result<Reduction, ReductionError> {
        Reduction::read(&Memory::with("a.pliant", bytes), Path::new("a.pliant"), &model())
    }

    /// Checks that invalid data with a correct checksum is handled.
    #[test]
    fn nonsense_under_a_right_checksum_is_an_error_or_a_model_but_no_panic() {
        let mut rng = fastrand::Rng::with_seed(1);
        let cubature = Forces::Cubature(CubatureParams { elements: 4, ..CubatureParams::default() });
        for forces in [Forces::Auto, Forces::Projection, cubature] {
            let good = bytes(forces);
            read(good.clone()).unwrap();
            let body = &good[..good.len() - 4];
            for _ in 0..600 {
                let mut changed = body.to_vec();
                for _ in 0..rng.usize(1..4) {
                    // Half of the changes are in the header.
                    let end = if rng.bool() { 80 } else { changed.len() };
                    let place = rng.usize(8..end);
                    changed[place] = if rng.bool() { rng.u8(..) } else { 0xff * u8::from(rng.bool()) };
                }
                if rng.usize(..8) == 0 {
                    changed.truncate(rng.usize(12..changed.len()));
                }
                let mut sum = crc32fast::Hasher::new();
                sum.update(&changed);
                changed.extend(sum.finalize().to_le_bytes());
                drop(read(changed));
            }
        }
    }

    #[test]
    fn the_seed_of_the_fuzz_target_is_a_reduced_model() {
        let seed = include_bytes!("../../../../fuzz/corpus/pliant/bar.pliant");
        let read = read(seed.to_vec()).unwrap();
        assert_eq!((read.basis().size(), read.elasticity().name()), (3, "polynomial"));
    }
}
