//! Series of `.vtu` files for ParaView, listed in a `.pvd`. The tetrahedra and hexahedra of all bodies form one grid:
//!
//! - points at rest, and point data `displacement` and `velocity`. ParaView's filter Warp By Vector with `displacement`
//!   gives the deformed shape;
//! - integer cell data `region` and `body`, with names in the field data `region_names` and `body_names`;
//! - if the frame has fields: point data `stress` (Cauchy), `strain` (Green), `von_mises`, `J` and `energy_density`,
//!   recovered at vertices (see [`Fields`](super::Fields)). Cell data of the same names are the means over elements.
//!   For the linear law, stress and strain are its `σ` and `ε`;
//! - if the frame has reactions: point data `reaction`, the forces of constraints;
//! - if bodies collide by barriers: point data `contact_pressure` and `contact_traction` with friction, in Pa, and
//!   `contact_gap` in m. Out of contact, the first two are zero and the gap is NaN, which ParaView leaves out of the
//!   range of colors and draws in its NaN color.
//!
//! The list is rewritten when it has grown by an eighth. The total size of all writes stays below ten times the final
//! size, for any number of frames, and a killed simulation leaves a list of nearly all frames. The list is replaced
//! atomically and names only complete files.

use std::path::{Path, PathBuf};

use super::series::ending;
use super::{AnimationFormat, BodyGeometry, Content, FieldValues, Frame, FrameWriter, WriterContext};
use pliant::files::{Disk, Files, WriteError};
use pliant::io::encode::{DataArray, PackedGrid, TimeStepData, Values, collection};
use pliant::math::Vec3;
use pliant::mesh::VolumeMesh;

pub(super) const FORMAT: AnimationFormat = AnimationFormat {
    name: "vtu",
    title: "VTK XML",
    extensions: &["vtu", "pvd"],
    about: "For ParaView: volume meshes at rest with displacement (for Warp By Vector), velocity, stress, strain, contact and more; one file per frame, and a PVD index",
    content: Content::Series(|context| {
        let rest = context
            .geometry()
            .bodies()
            .iter()
            .map(BodyGeometry::mesh)
            .flat_map(VolumeMesh::vertices)
            .copied()
            .collect();
        Ok(Box::new(Vtu { context, rest, grid: None, files: Vec::new(), listed: 0 }))
    }),
};

struct Vtu {
    context: WriterContext,
    /// Vertices of all bodies at rest.
    rest: Vec<Vec3>,
    /// Grid, packed with the first frame.
    grid: Option<PackedGrid>,
    /// Time and path of each frame.
    files: Vec<(f64, PathBuf)>,
    /// Number of frames in the list on disk.
    listed: usize,
}

const AXES: &[&str] = &["X", "Y", "Z"];
const TENSOR: &[&str] = &["XX", "YY", "ZZ", "XY", "YZ", "XZ"];

impl FrameWriter for Vtu {
    fn write(&mut self, frame: &Frame) -> Result<(), WriteError> {
        self.context.check(frame)?;
        let path = self.context.beside(&ending(frame.number, "vtu"));
        let bytes = self.encode(frame);
        Disk.write(&path, &bytes)?;
        self.files.push((frame.time, path));
        self.context.done(frame);
        if self.files.len() > self.listed + self.listed / 8 {
            self.list()?;
        }
        Ok(())
    }

    fn found(&mut self, number: usize, time: f64) {
        let path = self.context.beside(&ending(number, "vtu"));
        if path.is_file() {
            self.files.push((time, path));
        }
    }

    fn finish(mut self: Box<Self>) -> Result<Vec<PathBuf>, WriteError> {
        self.list()?;
        let list = self.list_path();
        Ok(std::iter::once(list).chain(self.files.into_iter().map(|(_, path)| path)).collect())
    }
}

impl Vtu {
    fn encode(&mut self, frame: &Frame) -> Vec<u8> {
        let bodies = self.context.geometry().bodies();
        let grid = self.grid.get_or_insert_with(|| {
            let bodies: Vec<_> = bodies.iter().map(|body| (body.name(), body.mesh())).collect();
            PackedGrid::of_bodies(&bodies)
        });
        let vectors = |name, numbers| DataArray { name, components: AXES, values: Values::F64(numbers) };
        let mut point_data = vec![vectors("displacement", &frame.u), vectors("velocity", &frame.v)];
        point_data.extend(frame.reactions.as_ref().map(|reactions| vectors("reaction", reactions)));
        if let Some(contact) = &frame.contact {
            let array = |name, components, numbers| DataArray { name, components, values: Values::F32(numbers) };
            point_data.push(array("contact_pressure", &[], &contact.pressure));
            point_data.push(array("contact_traction", AXES, contact.traction.as_flattened()));
            point_data.push(array("contact_gap", &[], &contact.gap));
        }
        let mut cell_data = Vec::new();
        if let Some(fields) = &frame.fields {
            point_data.extend(arrays(&fields.vertices));
            cell_data.extend(arrays(&fields.elements));
        }
        grid.file(&TimeStepData {
            time: Some(frame.time),
            points: &self.rest,
            point_data: &point_data,
            cell_data: &cell_data,
        })
    }

    fn list_path(&self) -> PathBuf {
        self.context.beside(".pvd")
    }

    /// Writes the current list to disk.
    fn list(&mut self) -> Result<(), WriteError> {
        let name = |path: &Path| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let files: Vec<(f64, String)> = self.files.iter().map(|(time, path)| (*time, name(path))).collect();
        let list = collection(files.iter().map(|(time, name)| (*time, name.as_str())));
        Disk.write(&self.list_path(), &list)?;
        self.listed = self.files.len();
        Ok(())
    }
}

fn arrays(fields: &FieldValues) -> [DataArray<'_>; 5] {
    let array = |name, components, numbers| DataArray { name, components, values: Values::F32(numbers) };
    [
        array("stress", TENSOR, fields.stress.as_flattened()),
        array("strain", TENSOR, fields.strain.as_flattened()),
        array("von_mises", &[], &fields.von_mises),
        array("J", &[], &fields.volume_ratio),
        array("energy_density", &[], &fields.energy_density),
    ]
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::super::testing::{frames, model_of, two_bodies, write_all};
    use super::super::{Options, SceneGeometry, start};
    use super::*;
    use pliant::io::encode::data_array;
    use pliant::io::{Mesh, read};
    use pliant::mesh::{Cells, generate};
    use pliant::model::{Model, ModelBody};

    fn write(model: &Model, frames: &[Frame]) -> (tempfile::TempDir, Vec<PathBuf>) {
        let folder = tempfile::tempdir().unwrap();
        let geometry = Arc::new(SceneGeometry::new(model));
        let mut writer = start(&folder.path().join("a.vtu"), &geometry, &Options::default()).unwrap();
        frames.iter().for_each(|frame| writer.write(frame).unwrap());
        let files = writer.finish().unwrap();
        (folder, files)
    }

    #[test]
    fn a_body_is_read_back_at_rest_and_with_its_regions() {
        for cells in [Cells::Tet5, Cells::Hex] {
            let mut data = generate::block([1.0, 0.5, 0.5], [2, 1, 1], cells).unwrap().into_data();
            data.regions = vec![pliant::mesh::Region::named("left & <lower>"), pliant::mesh::Region::named("right")];
            data.element_region[0] = 1;
            let mesh = VolumeMesh::check(data).unwrap().mesh;
            let model = model_of([mesh.clone()]);
            let frame = &frames(&model, 3)[2];
            let (_folder, files) = write(&model, std::slice::from_ref(frame));
            let loaded = read(&files[1]).unwrap();
            assert_eq!(
                loaded.notes,
                ["data arrays that are not kept: \
                  J, TimeValue, body, body_names, displacement, energy_density, strain, stress, velocity, von_mises"]
            );
            let Mesh::Volume(back) = loaded.mesh else { panic!("expected a volume") };
            assert_eq!(back.connectivity(), mesh.connectivity());
            assert_eq!(back.element_region(), mesh.element_region());
            assert_eq!(back.regions(), mesh.regions());
            assert_eq!(back.vertices(), mesh.vertices());
            let bytes = std::fs::read(&files[1]).unwrap();
            assert_eq!(data_array(&bytes, "displacement").unwrap(), frame.u);
        }
    }

    #[test]
    fn tetrahedra_and_hexahedra_are_in_one_grid_with_all_fields() {
        let model = two_bodies();
        let mut frame = frames(&model, 2).remove(1);
        frame.reactions = Some(frame.v.iter().map(|v| 3.0 * v).collect());
        let (_folder, files) = write(&model, std::slice::from_ref(&frame));
        let bytes = std::fs::read(&files[1]).unwrap();
        let array = |name| data_array(&bytes, name).unwrap();
        assert_eq!(array("displacement"), frame.u);
        assert_eq!(array("velocity"), frame.v);
        assert_eq!(array("TimeValue"), [frame.time]);
        assert_eq!(Some(array("reaction")), frame.reactions);
        let fields = frame.fields.as_ref().unwrap();
        let wide = |numbers: &[f32]| numbers.iter().map(|&x| f64::from(x)).collect::<Vec<f64>>();
        // Cell data come first.
        let at = bytes.windows(11).position(|text| text == b"<PointData>").unwrap();
        let head = bytes.windows(10).position(|text| text == b"<CellData>").unwrap();
        let points_only = [&bytes[..head], &bytes[at..]].concat();
        for (bytes, values) in [(&bytes, &fields.elements), (&points_only, &fields.vertices)] {
            let array = |name| data_array(bytes, name).unwrap();
            assert_eq!(array("stress"), wide(values.stress.as_flattened()));
            assert_eq!(array("strain"), wide(values.strain.as_flattened()));
            assert_eq!(array("von_mises"), wide(&values.von_mises));
            assert_eq!(array("J"), wide(&values.volume_ratio));
            assert_eq!(array("energy_density"), wide(&values.energy_density));
        }
        let meshes: Vec<&VolumeMesh> = model.bodies().iter().map(ModelBody::mesh).collect();
        let (tets, hexes) = (meshes[0].element_count(), meshes[1].element_count());
        let each = |of_tets: f64, of_hexes: f64| [vec![of_tets; tets], vec![of_hexes; hexes]].concat();
        assert_eq!(array("types"), each(10.0, 12.0));
        assert_eq!(array("body"), each(0.0, 1.0));
        assert_eq!(array("region"), each(0.0, 1.0));
        let bytes_of = |name| array(name).iter().map(|&byte| byte as u8).collect::<Vec<u8>>();
        assert_eq!(bytes_of("body_names"), b"body\0body_2\0");
        assert_eq!(bytes_of("region_names"), b"body\0body_2\0");
        let last = *array("connectivity").last().unwrap();
        assert_eq!(last, f64::from(*meshes[1].connectivity().last().unwrap()) + meshes[0].vertex_count() as f64);
        assert_eq!(*array("offsets").last().unwrap(), (4 * tets + 8 * hexes) as f64);
        let text = String::from_utf8(bytes).unwrap();
        assert!(text.contains("Name=\"stress\" NumberOfComponents=\"6\" ComponentName0=\"XX\" ComponentName1=\"YY\""));
    }

    fn listed(list: &Path) -> Vec<(f64, String)> {
        let text = std::fs::read_to_string(list).unwrap();
        let value = |line: &str, name: &str| {
            let rest = line.split_once(&format!("{name}=\"")).unwrap().1;
            rest.split_once('"').unwrap().0.to_owned()
        };
        let lines = text.lines().filter(|line| line.starts_with("<DataSet"));
        lines.map(|line| (value(line, "timestep").parse().unwrap(), value(line, "file"))).collect()
    }

    #[test]
    fn the_list_has_only_files_that_exist_and_their_times_and_is_rarely_written() {
        let model = model_of([generate::block([1.0; 3], [1, 1, 1], Cells::Tet5).unwrap()]);
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a&b.pvd");
        let mut writer = start(&path, &Arc::new(SceneGeometry::new(&model)), &Options::default()).unwrap();
        let (mut lines, mut before) = (0, 0);
        for frame in frames(&model, 100) {
            writer.write(&frame).unwrap();
            let list = listed(&path);
            assert!(list.iter().all(|(_, file)| folder.path().join(file.replace("&amp;", "&")).is_file()));
            assert!(9 * list.len() >= 8 * frame.number, "{} of {}", list.len(), frame.number + 1);
            if list.len() != before {
                (lines, before) = (lines + list.len(), list.len());
            }
        }
        assert!(lines < 900, "{lines} lines were written for 100");
        let files = writer.finish().unwrap();
        assert_eq!((files.len(), &files[0]), (101, &path));
        let list = listed(&path);
        assert_eq!(list.len(), 100);
        assert_eq!(list[99], (99.0 * 0.04, "a&amp;b_000099.vtu".into()));
    }

    #[test]
    fn a_list_without_frames_is_a_list() {
        let (_folder, files) = write_all("a.vtu", 0);
        assert!(listed(&files[0]).is_empty());
    }
}
