//! Rebuilds the crate when the page has changed.

fn main() {
    // The folder always exists, its content may not.
    println!("cargo::rerun-if-changed=page");
}
