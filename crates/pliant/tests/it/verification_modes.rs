//! Lowest natural frequencies of a beam of 10 × 1 × 1 m (E = 1 MPa, ν = 0.3, 1000 kg/m³), which verify the stiffness
//! and mass matrices together. The reference is scikit-fem 12.0.2 with scipy 1.17.1 (ARPACK), with the same matrices
//! from a second program. Relative tolerance: 1e-8.
//!
//! By Sylvester's law of inertia, the number of negative pivots of `K − σM = LDLᵀ` is the number of `ω² < σ`, which
//! brackets each frequency without an eigenvalue solver.

use std::ops::ControlFlow;

use crate::support::{law, negative_pivots};
use pliant::force::{Conditions, Definiteness, Elastic, Force, bind_all};
use pliant::mass::MassMatrix;
use pliant::mesh::{Cells, VolumeMesh, generate};
use pliant::model::{Body, Fixed, Model};
use pliant::reduced::{Modes, ModesParams};
use pliant::sparse::BlockMatrix;

#[allow(clippy::excessive_precision, reason = "digits of the reference")]
#[rustfmt::skip]
const REFERENCES: [(&str, &str, [f64; 12]); 6] = [
    (
        "clamped hex8",
        "consistent",
        [
            0.05448179520798564,
            0.05448179520802411,
            0.3286706309230671,
            0.32867063092307314,
            0.4904163624307218,
            0.795168343860773,
            0.8742344078483667,
            0.8742344078483691,
            1.4742757354929192,
            1.6098459713419946,
            1.609845971341995,
            2.3889933918658754,
        ],
    ),
    (
        "clamped hex8",
        "lumped",
        [
            0.05437754952171507,
            0.05437754952175685,
            0.3245936481031545,
            0.3245936481031598,
            0.40021750172124293,
            0.7946832999781713,
            0.8510152354105581,
            0.8510152354105605,
            1.1981850311797788,
            1.5388931936255759,
            1.538893193625579,
            1.9887653514841441,
        ],
    ),
    (
        "clamped tet4",
        "consistent",
        [
            0.06600456067221307,
            0.07840245882949969,
            0.39145606851483805,
            0.4564743209329115,
            0.6879928981939293,
            0.7969227568949835,
            1.0193475839835073,
            1.1635580116042026,
            1.8335671523627675,
            2.048205252327918,
            2.0662408431800956,
            2.3953705985210796,
        ],
    ),
    (
        "clamped tet4",
        "lumped",
        [
            0.06591518032288592,
            0.07821998282895304,
            0.38805491054690805,
            0.45004208402618096,
            0.5615192373553803,
            0.7964373775814941,
            1.00058462697921,
            1.1318088710040455,
            1.6803012249825593,
            1.7779371818894951,
            1.9623983524214916,
            2.382209888088279,
        ],
    ),
    (
        "free tet4",
        "consistent",
        [
            0.4057795382445288,
            0.4806402643549837,
            1.0494390142931256,
            1.2180619919522917,
            1.3758715074088195,
            1.5833056168860289,
            1.90330849090759,
            2.1609828314570625,
            2.7553259142365905,
            2.8921190695626127,
            3.17408767771459,
            3.2132551883872296,
        ],
    ),
    (
        "free tet4",
        "lumped",
        [
            0.4002961523591274,
            0.4698760473168599,
            1.021328484399128,
            1.1216220025730284,
            1.1681405062342456,
            1.5793690704594918,
            1.8251289278790443,
            2.0363431218317234,
            2.23601760636577,
            2.7273952918473943,
            2.9762129415933134,
            3.143012609252965,
        ],
    ),
];

fn beam(body: &str) -> VolumeMesh {
    let cells = if body.ends_with("hex8") { Cells::Hex } else { Cells::Tet6 };
    generate::block([10.0, 1.0, 1.0], [20, 2, 2], cells).unwrap()
}

/// Checks the frequencies of shift-invert Lanczos. The hexahedral beam has frequencies of multiplicity two.
#[test]
fn modes_are_found_with_the_frequencies_of_scikit_fem() {
    for (body, masses, frequencies) in REFERENCES {
        let mesh = beam(body);
        let clamp = mesh.vertex_sets()["x-min"].clone();
        let law = law("linear", &[384_615.384_615_384_6, 576_923.076_923_076_9]);
        let mut builder = Model::builder().body(Body::new(mesh, law, 1000.0));
        if masses == "lumped" {
            builder = builder.lumped_mass();
        }
        if body.starts_with("clamped") {
            builder = builder.fix(Fixed::new(clamp));
        }
        let model = builder.build().unwrap();
        let modes = Modes::find(&model, &ModesParams::new(12), &mut |_| ControlFlow::Continue(())).unwrap();
        assert_eq!(modes.rigid.len(), if body.starts_with("free") { 6 } else { 0 });
        for ((found, expected), residual) in modes.frequencies().iter().zip(&frequencies).zip(&modes.residuals) {
            assert!((found / expected - 1.0).abs() < 1e-8, "{body}, {masses}: {found} Hz, expected {expected}");
            assert!(*residual < 1e-8, "{body}, {masses}, {found} Hz: residual {residual:e}");
        }
        assert!(modes.info.solves < 100, "{body}, {masses}: {:?}", modes.info);
    }
}

#[test]
fn natural_frequencies_of_a_beam_are_those_of_scikit_fem() {
    for (body, masses, frequencies) in REFERENCES {
        let beam = beam(body);
        let clamp = &beam.vertex_sets()["x-min"];
        let is_free = body.starts_with("free");
        let mut free: Vec<usize> =
            (0..3 * beam.vertex_count()).filter(|dof| is_free || !clamp.contains(&(*dof as u32 / 3))).collect();
        free.sort_by(|&a, &b| beam.vertices()[a / 3].x.total_cmp(&beam.vertices()[b / 3].x));
        let mut elastic = Elastic::uniform(&beam, law("linear", &[384_615.384_615_384_6, 576_923.076_923_076_9]));
        let pattern = bind_all(beam.vertex_count(), &mut [&mut elastic]);
        let mut stiffness = BlockMatrix::zero(pattern.clone());
        let rest = vec![0.0; 3 * beam.vertex_count()];
        elastic.add_gradient_and_stiffness(
            &rest,
            &Conditions::START,
            Definiteness::Exact,
            &mut rest.clone(),
            &mut stiffness,
        );
        let mass = match masses {
            "consistent" => MassMatrix::consistent(&beam, &[1000.0], &pattern).unwrap(),
            _ => MassMatrix::lumped(&beam, &[1000.0]).unwrap(),
        };
        let below = |frequency: f64| {
            let omega = std::f64::consts::TAU * frequency;
            let mut shifted = stiffness.clone();
            mass.add_to(-omega * omega, &mut shifted);
            negative_pivots(&shifted, &free)
        };
        // A free body has six rigid-body modes.
        let rigid = if is_free { 6 } else { 0 };
        for (number, &frequency) in frequencies.iter().enumerate() {
            let same = |other: &&f64| (*other / frequency - 1.0).abs() < 1e-8;
            let (first, count) =
                (frequencies.iter().position(|other| same(&other)).unwrap(), frequencies.iter().filter(same).count());
            let (low, high) = (below(frequency * (1.0 - 1e-8)), below(frequency * (1.0 + 1e-8)));
            assert_eq!((low, high), (rigid + first, rigid + first + count), "{body}, {masses}, frequency {number}");
        }
    }
}
