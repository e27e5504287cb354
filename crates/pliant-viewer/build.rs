//! Builds again when the page has changed.

fn main() {
    // The folder is always there; what is in it is not.
    println!("cargo::rerun-if-changed=page");
}
