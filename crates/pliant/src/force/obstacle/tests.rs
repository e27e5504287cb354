//! Tests of obstacles.

use std::f64::consts::PI;

use super::super::bind_all;
use super::super::testing::*;
use super::*;
use crate::mesh::{Cells, Embedding, Interpolation, SurfaceMesh, VolumeMesh, generate};
use crate::motion::{Keyframes, Pose};

const K: f64 = 1000.0;

/// Returns a plane, a ball and a hollow ball, each partly penetrated by a small mesh.
fn three_obstacles() -> [Obstacle; 3] {
    [
        Obstacle::plane(Vec3::new(0.3, 0.2, 0.5), Vec3::new(1.0, 2.0, 3.0), K),
        Obstacle::ball(Vec3::new(0.9, 0.1, 0.3), 0.5, 2.0 * K),
        Obstacle::hollow_ball(Vec3::new(0.4, 0.6, 0.6), 0.7, 3.0 * K),
    ]
}

/// Capsule around the third axis, as a program would add it.
#[derive(Debug)]
struct Capsule {
    center: Vec3,
    axis: Vec3,
    half_length: f64,
    radius: f64,
}

impl ObstacleShape for Capsule {
    fn check(&self) -> Result<(), ShapeError> {
        ShapeError::check_length("radius", self.radius)
    }

    fn placement(&self) -> Placement {
        Placement::along(self.center, self.axis)
    }

    fn surface(&self, axes: &Mat3, arm: Vec3) -> SurfacePoint {
        let axis = axes.z_axis;
        let along = axis.dot(arm);
        let outward = arm - along.clamp(-self.half_length, self.half_length) * axis;
        let r = outward.length();
        let normal = outward / r;
        let curvature = if along.abs() > self.half_length {
            Curvature::Uniform(1.0 / r)
        } else {
            Curvature::Principal([(1.0 / r, axis.cross(normal)), (0.0, axis)])
        };
        SurfacePoint { depth: self.radius - r, normal, curvature }
    }

    fn is_outside(&self, _: &Mat3, low: Vec3, high: Vec3) -> bool {
        low.max(-high).max(Vec3::ZERO).length() > self.radius + self.half_length
    }

    fn geometry(&self, placement: &Placement) -> ObstacleGeometry {
        let block = generate::block([1.0; 3], [1, 1, 1], Cells::Hex).unwrap().boundary().surface;
        let size = Vec3::new(self.radius, self.radius, self.half_length + self.radius);
        let place = |&x: &Vec3| placement.origin + placement.axes * ((2.0 * x - Vec3::ONE) * size);
        let corners = block.vertices().iter().map(place).collect();
        ObstacleGeometry::Surface(SurfaceMesh::new(corners, block.faces().clone()).unwrap())
    }
}

#[test]
fn a_shape_that_a_program_adds_has_exact_derivatives_moves_and_can_be_drawn() {
    let mesh = small_mesh(Cells::Hex);
    let axis = Vec3::new(1.0, 0.1, 0.05).normalize();
    let capsule = Capsule { center: Vec3::new(0.5, 0.05, 0.6), axis, half_length: 0.4, radius: 0.75 };
    let mut obstacles = Obstacles::new(mesh.vertices(), [Obstacle::new(capsule, K)]).unwrap();
    for u in &states(&mesh)[..2] {
        let contacts = obstacles.contacts(u, 0.0);
        assert!(contacts.len() > 2 && contacts.iter().all(|contact| contact.depth > 1e-4), "{contacts:?}");
        check_derivatives(&mut obstacles, &Conditions::START, u);
    }
    // A quarter turn about the x axis takes an axis along y to z.
    let turn = Pose { rotation: Vec3::new(0.5 * PI, 0.0, 0.0), translation: Vec3::ZERO };
    let motion = Keyframes::new(Vec3::ZERO, vec![(0.0, Pose::default()), (1.0, turn)]).unwrap();
    let upright = Capsule { center: Vec3::ZERO, axis: Vec3::Y, half_length: 1.0, radius: 0.1 };
    let obstacle = Obstacle { motion: motion.into(), ..Obstacle::new(upright, K) };
    let obstacles = Obstacles::new([Vec3::new(0.0, 0.05, 0.9)], [obstacle]).unwrap();
    assert!(obstacles.contacts(&[0.0; 3], 0.0).is_empty());
    let contacts = obstacles.contacts(&[0.0; 3], 1.0);
    let [Contact { depth, .. }] = contacts[..] else { panic!("{contacts:?}") };
    assert!((depth - 0.05).abs() < 1e-12);
    let ObstacleGeometry::Surface(surface) = obstacles.list()[0].geometry_at(1.0) else { panic!() };
    let [low, high] = surface.bounding_box();
    assert!((high - Vec3::new(0.1, 0.1, 1.1)).length() < 1e-12 && (low + high).length() < 1e-12);
}

fn moving(velocity: Vec3) -> Motion {
    Keyframes::translations([(0.0, Vec3::ZERO), (10.0, 10.0 * velocity)]).unwrap().into()
}

/// Creates obstacles for a single vertex at the origin.
fn one(obstacle: Obstacle) -> Obstacles {
    Obstacles::new([Vec3::ZERO], [obstacle]).unwrap()
}

fn force_and_stiffness(
    obstacles: &mut Obstacles,
    u: [f64; 3],
    definiteness: Definiteness,
) -> ([f64; 3], [[f64; 3]; 3]) {
    let pattern = bind_all(1, &mut [obstacles]);
    let (mut f, mut k) = ([0.0; 3], BlockMatrix::zero(pattern));
    obstacles.add_gradient_and_stiffness(&u, &Conditions::START, definiteness, &mut f, &mut k);
    (f, k.block(0, 0))
}

#[test]
fn force_stiffness_and_projection_are_derivatives_of_the_energy() {
    let mesh = small_mesh(Cells::Hex);
    for obstacle in three_obstacles() {
        let mut obstacles = Obstacles::new(mesh.vertices(), [obstacle]).unwrap();
        for u in &states(&mesh)[..2] {
            let count = obstacles.contacts(u, 0.0).len();
            assert!(count > 2 && count < mesh.vertex_count(), "{count} contacts");
            // The stiffness jumps where contact begins, and differences across the jump are meaningless.
            let shallow = obstacles.contacts(u, 0.0).into_iter().filter(|contact| contact.depth < 1e-4).count();
            assert_eq!(shallow, 0);
            check_derivatives(&mut obstacles, &Conditions::START, u);
        }
    }
    let mut all = Obstacles::new(mesh.vertices(), three_obstacles()).unwrap();
    check_derivatives(&mut all, &Conditions::START, &states(&mesh)[1]);
}

#[test]
fn a_ball_is_unstable_sideways_unless_projected_and_a_hollow_one_stable() {
    // Half a radius deep: k d/r = k.
    let ball = Obstacle::ball(Vec3::new(0.0, 0.0, -1.0), 2.0, K);
    let (f, k) = force_and_stiffness(&mut one(ball.clone()), [0.0; 3], Definiteness::Exact);
    assert_eq!((f, k), ([0.0, 0.0, -K], [[-K, 0.0, 0.0], [0.0, -K, 0.0], [0.0, 0.0, K]]));
    let (_, k) = force_and_stiffness(&mut one(ball), [0.0; 3], Definiteness::Projected);
    assert_eq!(k, [[0.0; 3], [0.0; 3], [0.0, 0.0, K]]);
    // One meter outside a hollow ball with a radius of one meter: k d/r = k/2.
    let hollow = Obstacle::hollow_ball(Vec3::new(0.0, 0.0, -2.0), 1.0, K);
    for definiteness in [Definiteness::Exact, Definiteness::Projected] {
        let (f, k) = force_and_stiffness(&mut one(hollow.clone()), [0.0; 3], definiteness);
        assert_eq!(f, [0.0, 0.0, K]);
        assert_eq!(k, [[0.5 * K, 0.0, 0.0], [0.0, 0.5 * K, 0.0], [0.0, 0.0, K]]);
    }
}

#[test]
fn at_the_center_of_a_ball_the_push_is_along_z_and_finite() {
    for offset in [0.0, 1e-310, 1e-200, 1e-14] {
        let mut obstacles = one(Obstacle { damping: 1.0, friction: 0.5, ..Obstacle::ball(Vec3::ZERO, 1.0, K) });
        let u = [offset, 0.0, 0.0];
        let (f, k) = force_and_stiffness(&mut obstacles, u, Definiteness::Exact);
        assert_eq!(f[0..2], [0.0, 0.0]);
        assert!((f[2] + K).abs() < 1e-10 && (k[2][2] - K).abs() < 1e-10);
        assert!(k.as_flattened().iter().all(|entry| entry.is_finite()));
        let mut force = [0.0; 3];
        obstacles.add_dissipation_gradient(&u, &Conditions::START, &[0.0; 3], &mut force);
        assert_eq!(force, [0.0; 3]);
        assert_eq!(one(Obstacle::hollow_ball(Vec3::ZERO, 1.0, K)).contacts(&u, 0.0).len(), 0);
    }
}

#[test]
fn damping_and_friction_are_symmetric_and_take_away_energy() {
    let mesh = small_mesh(Cells::Hex);
    let velocity = Vec3::new(0.5, -0.3, 0.2);
    let list = three_obstacles().map(|obstacle| Obstacle {
        motion: moving(velocity),
        damping: 20.0,
        friction: 0.4,
        ..obstacle
    });
    let mut obstacles = Obstacles::new(mesh.vertices(), list).unwrap();
    let v_bar = velocity.to_array().repeat(mesh.vertex_count());
    for u in &states(&mesh)[..2] {
        for speed in [1.0, 1e-4] {
            let mut v = random(u.len(), speed, 6);
            v.iter_mut().zip(&v_bar).for_each(|(v, v_bar)| *v += v_bar);
            let f = check_damping(&mut obstacles, &Conditions::at(0.1), u, [&v, &v_bar]);
            let power: f64 = f.iter().zip(v.iter().zip(&v_bar)).map(|(f, (v, v_bar))| f * (v - v_bar)).sum();
            assert!(power > 0.0);
        }
    }
}

#[test]
fn sliding_meets_the_friction_of_coulomb_and_creeping_less() {
    let floor = Obstacle { friction: 0.3, ..Obstacle::plane(0.01 * Vec3::Z, Vec3::Z, K) };
    // A normal force of 10 N gives 3 N of friction.
    let obstacles = one(floor);
    let friction = |v: [f64; 3]| {
        let mut force = [0.0; 3];
        obstacles.add_dissipation_gradient(&[0.0; 3], &Conditions::START, &v, &mut force);
        force
    };
    let near = |a: [f64; 3], b: [f64; 3]| (Vec3::from_array(a) - Vec3::from_array(b)).length() < 1e-12;
    assert!(near(friction([3.0, 4.0, 0.0]), [1.8, 2.4, 0.0]));
    assert!(near(friction([0.5e-3, 0.0, 0.0]), [1.5, 0.0, 0.0]));
    assert_eq!(friction([0.0, 0.0, -7.0]), [0.0; 3]);
}

#[test]
fn what_moves_with_a_turning_plane_or_ball_feels_no_friction_and_what_stands_is_dragged() {
    let spin = Pose { rotation: Vec3::new(0.0, 0.0, 10.0), translation: Vec3::ZERO };
    let turning = |center| Motion::from(Keyframes::new(center, vec![(0.0, Pose::default()), (10.0, spin)]).unwrap());
    let center = Vec3::new(-2.0, 0.0, 0.0);
    let table = Obstacle::plane(0.01 * Vec3::Z, Vec3::Z, K);
    let ball = Obstacle::ball(center, 2.01, K);
    for shape in [table, ball] {
        let obstacles = one(Obstacle { friction: 0.3, motion: turning(center), ..shape });
        let friction = |v: [f64; 3]| {
            let mut force = [0.0; 3];
            obstacles.add_dissipation_gradient(&[0.0; 3], &Conditions::at(1.0), &v, &mut force);
            Vec3::from_array(force)
        };
        // One radian per second at two meters.
        assert!(friction([0.0, 2.0, 0.0]).length() < 1e-4);
        assert!((friction([0.0; 3]) - Vec3::new(0.0, -3.0, 0.0)).length() < 1e-6);
    }
}

#[test]
fn obstacles_move_and_planes_turn() {
    // A quarter turn about the x axis takes a normal along y to z.
    let turn = Pose { rotation: Vec3::new(0.5 * PI, 0.0, 0.0), translation: Vec3::new(0.0, 0.0, 0.2) };
    let motion = Keyframes::new(Vec3::ZERO, vec![(0.0, Pose::default()), (1.0, turn)]).unwrap();
    let wall = Obstacle { motion: motion.into(), ..Obstacle::plane(Vec3::ZERO, 5.0 * Vec3::Y, K) };
    let obstacles = Obstacles::new([Vec3::new(0.0, 1.0, 0.1)], [wall]).unwrap();
    assert!(obstacles.contacts(&[0.0; 3], 0.0).is_empty());
    let contacts = obstacles.contacts(&[0.0; 3], 1.0);
    let [Contact { vertex: 0, obstacle: 0, depth, push }] = contacts[..] else { panic!("{contacts:?}") };
    assert!((depth - 0.1).abs() < 1e-15 && (push - 0.1 * K * Vec3::Z).length() < 1e-12);

    let ball = Obstacle { motion: moving(Vec3::X), ..Obstacle::ball(Vec3::new(-3.0, 0.0, 0.0), 1.0, K) };
    let contact = one(ball).contacts(&[0.0; 3], 2.5)[0];
    assert_eq!((contact.depth, contact.push), (0.5, 0.5 * K * Vec3::X));
}

#[test]
fn only_given_vertices_are_pushed_and_obstacles_can_be_exchanged() {
    let rest = [Vec3::ZERO, Vec3::X, Vec3::Y];
    let floor = Obstacle::plane(Vec3::Z, Vec3::Z, K);
    let mut obstacles = Obstacles::for_vertices(rest, vec![2, 0, 2], [floor.clone()]).unwrap();
    let touched =
        |obstacles: &Obstacles| obstacles.contacts(&[0.0; 9], 0.0).into_iter().map(|c| c.vertex).collect::<Vec<_>>();
    assert_eq!(touched(&obstacles), [0, 2]);
    assert_eq!(obstacles.push(floor).unwrap(), 1);
    assert_eq!(touched(&obstacles), [0, 0, 2, 2]);
    obstacles.replace(0, Obstacle::ball(Vec3::Y, 0.5, K)).unwrap();
    assert_eq!(touched(&obstacles), [0, 2, 2]);
    obstacles.remove(1).unwrap();
    assert_eq!((touched(&obstacles), obstacles.list().len()), (vec![2], 1));
}

#[test]
fn results_are_bitwise_equal_on_one_and_four_threads() {
    let mesh = generate::block([1.0; 3], [20, 20, 20], Cells::Hex).unwrap();
    assert!(mesh.vertex_count() > 4 * GRAIN);
    let list = three_obstacles().map(|obstacle| Obstacle { damping: 2.0, friction: 0.4, ..obstacle });
    let vertices = (0..mesh.vertex_count() as u32).filter(|v| v % 7 != 3).collect();
    let obstacles = Obstacles::for_vertices(mesh.vertices(), vertices, list).unwrap();
    check_threads(&obstacles, mesh.vertex_count());
}

#[test]
fn impossible_obstacles_are_named_with_their_numbers() {
    let good = Obstacle::plane(Vec3::ZERO, Vec3::Z, K);
    let mut obstacles = Obstacles::new([Vec3::ZERO], [good.clone()]).unwrap();
    let mut message = |obstacle: Obstacle| obstacles.push(obstacle).unwrap_err().to_string();
    let flat = Obstacle::plane(Vec3::ZERO, Vec3::ZERO, K);
    assert_eq!(message(flat), "the normal of obstacle 1 is [0, 0, 0], which has no direction");
    assert!(message(Obstacle::plane(Vec3::ZERO, Vec3::NAN, K)).contains("is [NaN, NaN, NaN]"));
    assert_eq!(message(Obstacle::plane(Vec3::NAN, Vec3::Z, K)), "the point of obstacle 1 is not finite");
    assert_eq!(message(Obstacle::ball(Vec3::INFINITY, 1.0, K)), "the center of obstacle 1 is not finite");
    let negative = "the radius of obstacle 1 is -1, expected a positive number of meters";
    assert_eq!(message(Obstacle::ball(Vec3::ZERO, -1.0, K)), negative);
    assert_eq!(
        message(Obstacle { friction: -0.5, ..good.clone() }),
        "the friction of obstacle 1 is -0.5, expected a finite number that is not negative"
    );
    assert_eq!(
        message(Obstacle { friction_speed: 0.0, ..good.clone() }),
        "the friction speed of obstacle 1 is 0 m/s, expected a positive number"
    );
    let lost = Motion::Function(Arc::new(|_, _| Vec3::NAN));
    assert!(message(Obstacle { motion: lost, ..good.clone() }).contains("not finite at 0 s"));
    assert_eq!(obstacles.remove(1).unwrap_err().to_string(), "obstacle 1 does not exist; the number of obstacles is 1");
    let far = Obstacles::for_vertices([Vec3::ZERO], vec![0, 4], [good]).unwrap_err().to_string();
    assert_eq!(far, "obstacles are for vertex 4, but there are 1 vertices");
}

/// Returns a block embedded in a small mesh, except for a corner that sticks out.
fn embedded(cells: Cells) -> (VolumeMesh, ContactPoints) {
    let mesh = small_mesh(cells);
    let block = generate::block([0.6, 0.5, 0.8], [1, 2, 1], Cells::Hex).unwrap().boundary().surface;
    let mut corners: Vec<Vec3> = block.vertices().iter().map(|&x| x + Vec3::new(0.2, 0.2, 0.2)).collect();
    let [_, high] = mesh.bounding_box();
    *corners.iter_mut().max_by(|a, b| a.element_sum().total_cmp(&b.element_sum())).unwrap() = high + 0.05;
    let surface = SurfaceMesh::new(corners, block.faces().clone()).unwrap();
    let embedding = Embedding::new(&mesh, surface.vertices()).unwrap();
    assert_eq!(embedding.outside().len(), 1);
    let points = {
        let vertices = Interpolation::of_nodes((0..mesh.vertex_count() as u32).collect(), mesh.vertex_count());
        ContactPoints::new(&mesh, &surface, &embedding, &vertices, mesh.vertices()).unwrap()
    };
    (mesh, points)
}

fn on_points(mesh: &VolumeMesh, points: &ContactPoints, list: impl IntoIterator<Item = Obstacle>) -> Obstacles {
    let obstacles = Obstacles::for_vertices(mesh.vertices(), Vec::new(), list).unwrap();
    obstacles.with_contact_points(points.clone()).unwrap()
}

#[test]
fn at_points_of_a_carried_surface_force_stiffness_and_projection_are_derivatives_of_the_energy() {
    for cells in [Cells::Tet6, Cells::Hex] {
        let (mesh, points) = embedded(cells);
        for obstacle in three_obstacles() {
            let mut obstacles = on_points(&mesh, &points, [obstacle]);
            for u in &states(&mesh)[..2] {
                let count = obstacles.contacts(u, 0.0).len();
                assert!(count > 0 && count < points.len(), "{count} contacts of {}", points.len());
                check_derivatives(&mut obstacles, &Conditions::START, u);
            }
        }
        // Vertices in addition to the points.
        let all = Obstacles::new(mesh.vertices(), three_obstacles()).unwrap();
        let mut all = all.with_contact_points(points).unwrap();
        check_derivatives(&mut all, &Conditions::START, &states(&mesh)[1]);
    }
}

#[test]
fn at_points_of_a_carried_surface_damping_and_friction_are_symmetric_and_take_away_energy() {
    let velocity = Vec3::new(0.5, -0.3, 0.2);
    for cells in [Cells::Tet5, Cells::Hex] {
        let (mesh, points) = embedded(cells);
        let list = three_obstacles().map(|obstacle| Obstacle {
            motion: moving(velocity),
            damping: 20.0,
            friction: 0.4,
            ..obstacle
        });
        let mut obstacles = on_points(&mesh, &points, list);
        let v_bar = velocity.to_array().repeat(mesh.vertex_count());
        for speed in [1.0, 1e-4] {
            let u = &states(&mesh)[1];
            let mut v = random(u.len(), speed, 6);
            v.iter_mut().zip(&v_bar).for_each(|(v, v_bar)| *v += v_bar);
            let f = check_damping(&mut obstacles, &Conditions::at(0.1), u, [&v, &v_bar]);
            let power: f64 = f.iter().zip(v.iter().zip(&v_bar)).map(|(f, (v, v_bar))| f * (v - v_bar)).sum();
            assert!(power > 0.0);
        }
    }
}

#[test]
fn no_contact_of_a_carried_point_is_lost_by_looking_at_elements_first() {
    for cells in [Cells::Tet6, Cells::Hex] {
        let (mesh, points) = embedded(cells);
        let obstacles = on_points(&mesh, &points, three_obstacles());
        for u in states(&mesh) {
            let one_by_one: usize = (0..points.element_count())
                .flat_map(|element| points.points(element).map(move |point| (element, point)))
                .map(|(element, point)| {
                    let displacement = points.interpolate(element, point, &u);
                    (0..3)
                        .filter(|&o| obstacles.at(0.0).touch_at(o, points.rest(point), displacement).is_some())
                        .count()
                })
                .sum();
            assert_eq!(obstacles.contacts(&u, 0.0).len(), one_by_one);
        }
        // NaN positions are still in contact.
        let mut u = vec![0.0; 3 * mesh.vertex_count()];
        u.fill(f64::NAN);
        assert_eq!(obstacles.contacts(&u, 0.0).len(), 3 * points.len());
    }
}

#[test]
fn contact_points_give_equal_bits_on_one_and_four_threads_and_must_be_of_the_same_vertices() {
    let mesh = generate::block([1.0; 3], [12, 12, 12], Cells::Tet5).unwrap();
    let surface = mesh.boundary().surface;
    let embedding = Embedding::new(&mesh, surface.vertices()).unwrap();
    let points = {
        let vertices = Interpolation::of_nodes((0..mesh.vertex_count() as u32).collect(), mesh.vertex_count());
        ContactPoints::new(&mesh, &surface, &embedding, &vertices, mesh.vertices()).unwrap()
    };
    assert!(points.len() >= 800);
    let list = three_obstacles().map(|obstacle| Obstacle { damping: 2.0, friction: 0.4, ..obstacle });
    check_threads(&on_points(&mesh, &points, list), mesh.vertex_count());
    let others = Obstacles::new([Vec3::ZERO], []).unwrap().with_contact_points(points);
    assert_eq!(others.unwrap_err().to_string(), "contact points are for 2197 vertices, but there are 1");
}
