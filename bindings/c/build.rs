//! Writes the header, so that it never says anything else than the library does.

fn main() {
    println!("cargo::rerun-if-changed=src/lib.rs");
    println!("cargo::rerun-if-changed=cbindgen.toml");
    let root = std::env::var("CARGO_MANIFEST_DIR").expect("cargo sets it");
    let bindings = cbindgen::generate(&root).expect("the exported items have a form in C");
    bindings.write_to_file(format!("{root}/include/fourfold.h"));
}
