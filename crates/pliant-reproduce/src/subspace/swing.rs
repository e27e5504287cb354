//! Swinging bar as a full model and as reduced models.

use std::ops::ControlFlow;

use anyhow::bail;
use pliant::integrator::{Integrator, Newmark};
use pliant::material::{AnyLaw, YoungPoisson};
use pliant::math::Vec3;
use pliant::mesh::{Cells, VolumeMesh, generate};
use pliant::model::{Assembly, Body, Fixed, Model};
use pliant::reduced::{ReducedModel, Reduction, ReductionParams};
use pliant::solver::Dense;
use pliant::system::State;

use crate::bodies::GRAVITY;
use crate::measure::march;
use crate::picture::PosedSurface;
use crate::{Page, Stopped};

/// Young's modulus \[Pa\].
pub const YOUNG: f64 = 4e6;
/// Time step \[s\].
pub const DT: f64 = 0.01;
/// Number of steps of reduced models between two progress reports.
const LOOK: usize = 50;

/// Kind of basis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Linear modes and their derivatives.
    Derivatives,
    /// Linear modes, with the law of the full model.
    Modes,
    /// Linear modes with the linear law (modal analysis).
    Linear,
}

impl Kind {
    pub fn name(self) -> &'static str {
        match self {
            Self::Derivatives => "modes and derivatives",
            Self::Modes => "modes alone",
            Self::Linear => "linear modal analysis",
        }
    }

    pub fn law(self) -> &'static str {
        if self == Self::Linear { "linear" } else { "stvk" }
    }

    fn params(self, size: usize) -> ReductionParams {
        let alone = ReductionParams { modes: Some(size), derivatives: Some(0), ..ReductionParams::new(size) };
        if self == Self::Derivatives { ReductionParams::new(size) } else { alone }
    }
}

/// Bar that is fixed at one end.
pub struct Bar {
    pub mesh: VolumeMesh,
    tip: usize,
}

impl Bar {
    pub fn new(cells: [usize; 3]) -> anyhow::Result<Self> {
        let mesh = generate::block([1.0, 0.1, 0.1], cells, Cells::Hex)?;
        let tip = mesh.vertex_sets()["x-max"][0] as usize;
        Ok(Self { mesh, tip })
    }

    pub fn model(&self, law: &str) -> anyhow::Result<Model> {
        let law = AnyLaw::new(law, YoungPoisson { young: YOUNG, poisson: 0.35 })?;
        let builder = Model::builder().body(Body::new(self.mesh.clone(), law, 1000.0));
        let fixed = builder.fix(Fixed::new(self.mesh.vertex_sets()["x-min"].clone()));
        Ok(fixed.gravity(Vec3::new(0.0, -GRAVITY, 3.0)).build()?)
    }

    fn tip(&self, q: &[f64]) -> Vec3 {
        Vec3::from_slice(&q[3 * self.tip..])
    }
}

/// Computes a reduction of a model.
pub fn reduction(page: &Page<'_>, model: &Model, kind: Kind, size: usize) -> anyhow::Result<Reduction> {
    let what = format!("{} with {size} basis vectors", kind.name());
    page.now(&what)?;
    let mut watch = |_| if page.now(&what).is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) };
    let made = Reduction::new(model, &kind.params(size), &mut watch);
    // Reports a stop by the user as such, rather than as a failed reduction.
    page.now(&what)?;
    Ok(made?.0)
}

/// Motion of the full model.
pub struct Full {
    /// Displacements after each step.
    shapes: Vec<Vec<f64>>,
    /// Time \[s\] and height of the tip relative to rest \[m\].
    pub tip: Vec<(f64, f64)>,
    /// Minimum of these heights \[m\].
    pub lowest: f64,
    /// Step of the minimum.
    lowest_step: usize,
}

impl Full {
    pub fn swing(page: &Page<'_>, bar: &Bar, steps: usize) -> anyhow::Result<Self> {
        let mut assembly = Assembly::new(bar.model("stvk")?);
        let mut state = assembly.rest_state();
        let mut full = Self { shapes: Vec::new(), tip: Vec::new(), lowest: 0.0, lowest_step: 0 };
        let outcome = march(
            page,
            "full model",
            &mut assembly,
            &mut Newmark::default().into(),
            &mut state,
            DT,
            steps,
            |_, state| {
                let height = bar.tip(&state.q).y;
                if height < full.lowest {
                    (full.lowest, full.lowest_step) = (height, full.shapes.len());
                }
                full.tip.push((state.time, height));
                full.shapes.push(state.q.clone());
            },
        )?;
        if !outcome.is_finished() {
            bail!("full model: {outcome:?}");
        }
        Ok(full)
    }

    /// Returns the shape at the lowest position of the tip.
    pub fn surface(&self, bar: &Bar, offset: Vec3) -> anyhow::Result<PosedSurface> {
        let model = bar.model("stvk")?;
        let state = State { q: self.shapes[self.lowest_step].clone(), ..model.rest_state() };
        Ok(PosedSurface::new(&model, &state, offset))
    }
}

/// Motion of a reduced model, compared with the full model.
pub struct Reduced {
    /// Time \[s\] and height of the tip relative to rest \[m\].
    pub tip: Vec<(f64, f64)>,
    /// Maximum `‖u − u_full‖` in the norm of the mass matrix, relative to the maximum `‖u_full‖`.
    pub error: f64,
    /// Maximum distance between the tips, relative to the maximum tip displacement of the full model.
    pub tip_error: f64,
    /// Minimum height of the tip relative to rest \[m\].
    pub lowest: f64,
    /// Maximum volume relative to rest.
    pub volume: f64,
    /// State of the full mesh at the lowest position of the full model.
    pub extreme: State,
}

impl Reduced {
    pub fn swing(page: &Page<'_>, bar: &Bar, kind: Kind, size: usize, full: &Full) -> anyhow::Result<Self> {
        let model = bar.model(kind.law())?;
        let reduction = reduction(page, &model, kind, size)?;
        let mut reduced = ReducedModel::new(model, reduction)?;
        let (mut integrator, mut solver, mut state) = (Newmark::default(), Dense::default(), reduced.rest_state());
        let norm = |model: &Model, u: &[f64]| (2.0 * model.mass().kinetic_energy(u)).sqrt();
        let (mut error, mut tip_error, mut largest, mut farthest) = (0.0_f64, 0.0_f64, 0.0_f64, 0.0_f64);
        let (mut tip, mut lowest, mut volume, mut extreme) = (Vec::new(), 0.0_f64, 0.0_f64, None);
        for (number, shape) in full.shapes.iter().enumerate() {
            if number % LOOK == 0 {
                page.now(format_args!("{} with {size} basis vectors: step {number}", kind.name()))?;
            }
            integrator.step(&mut reduced, &mut solver, &mut state, DT)?;
            let now = reduced.expand(&state);
            let difference: Vec<f64> = now.q.iter().zip(shape).map(|(a, b)| a - b).collect();
            error = error.max(norm(reduced.model(), &difference));
            largest = largest.max(norm(reduced.model(), shape));
            tip_error = tip_error.max(bar.tip(&difference).length());
            farthest = farthest.max(bar.tip(shape).length());
            volume = volume.max(reduced.model().bodies()[0].volume(&now.q) / bar.mesh.volume());
            let height = bar.tip(&now.q).y;
            lowest = lowest.min(height);
            tip.push((now.time, height));
            if number == full.lowest_step {
                extreme = Some(now);
            }
        }
        let extreme = extreme.ok_or(Stopped)?;
        Ok(Self { tip, error: error / largest, tip_error: tip_error / farthest, lowest, volume, extreme })
    }
}
