//! The hot path does not allocate: on one thread, and after set-up, the memory in use never rises.

use peak_alloc::PeakAlloc;
use pliant::force::{Definiteness, Elastic, Force, bind_all};
use pliant::material::{AnyLaw, Elasticity, Inversion, YoungPoisson};
use pliant::mesh::{Cells, generate};
use pliant::sparse::BlockMatrix;

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

#[test]
fn energy_force_and_stiffness_allocate_nothing() {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    for cells in [Cells::Tet5, Cells::Hex] {
        let mesh = generate::block([1.0, 1.0, 1.0], [8, 8, 8], cells).unwrap();
        for entry in AnyLaw::ALL {
            let moduli = YoungPoisson { young: 1e5, poisson: 0.4 };
            let law: Elasticity = AnyLaw::new(entry.name, moduli).unwrap().into();
            let threshold = Inversion::DEFAULT_THRESHOLD;
            let law = law.clone().with_inversion(Inversion::Extrapolate { threshold }).unwrap_or(law);
            let mut elastic = Elastic::uniform(&mesh, law);
            let mut stiffness = BlockMatrix::zero(bind_all(mesh.vertex_count(), &mut [&mut elastic]));
            let mut rng = fastrand::Rng::with_seed(1);
            let u: Vec<f64> = (0..3 * mesh.vertex_count()).map(|_| 0.3 * (rng.f64() - 0.5)).collect();
            let mut force = vec![0.0; u.len()];
            pool.install(|| {
                MEMORY.reset_peak_usage();
                let before = MEMORY.current_usage();
                let energy = elastic.energy(&u);
                elastic.add_force(&u, &mut force);
                elastic.add_force_and_stiffness(&u, Definiteness::Exact, &mut force, &mut stiffness);
                elastic.add_force_and_stiffness(&u, Definiteness::Projected, &mut force, &mut stiffness);
                let after = MEMORY.peak_usage();
                assert!(energy > 0.0, "{} on {cells:?}", entry.name);
                assert_eq!(after, before, "{} on {cells:?}", entry.name);
            });
        }
    }
}
