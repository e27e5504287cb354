//! Files of the page, embedded in the program.

use std::borrow::Cow;
use std::collections::BTreeMap;

use rust_embed::RustEmbed;

/// Output of `make page`, if it existed at compile time.
#[derive(RustEmbed)]
#[folder = "page/"]
struct Built;

/// Files of a page by name, including `index.html`. All are in memory: no name refers to the disk.
#[derive(Debug, Clone, Default)]
pub struct Page {
    files: BTreeMap<String, Cow<'static, [u8]>>,
}

impl Page {
    /// Returns the page of this build, or `None` if it was compiled without one.
    pub fn embedded() -> Option<Self> {
        let own = |path: Cow<'static, str>| {
            let name = path.strip_prefix("dist/")?.to_owned();
            Some((name, Built::get(&path)?.data))
        };
        let page = Self { files: Built::iter().filter_map(own).collect() };
        page.files.contains_key("index.html").then_some(page)
    }

    /// Creates a custom page from files by name.
    pub fn of(files: impl IntoIterator<Item = (String, Vec<u8>)>) -> Self {
        Self { files: files.into_iter().map(|(name, bytes)| (name, bytes.into())).collect() }
    }

    /// Returns a file by name.
    pub fn get(&self, name: &str) -> Option<&[u8]> {
        self.files.get(name).map(|bytes| &**bytes)
    }

    /// Returns the media type of a file by its extension.
    pub(crate) fn media_type(name: &str) -> &'static str {
        match name.rsplit_once('.').map_or("", |(_, extension)| extension) {
            "html" => "text/html; charset=utf-8",
            "js" => "text/javascript; charset=utf-8",
            "css" => "text/css; charset=utf-8",
            "svg" => "image/svg+xml",
            "png" => "image/png",
            "json" => "application/json",
            "woff2" => "font/woff2",
            _ => "application/octet-stream",
        }
    }
}
