//! The page, which is part of the program.

use std::borrow::Cow;
use std::collections::BTreeMap;

use rust_embed::RustEmbed;

/// What `make page` has built, if it was there when this was compiled.
#[derive(RustEmbed)]
#[folder = "page/"]
struct Built;

/// The files of a page by their names, with `index.html` among them. They are all in memory: no name leads to a disk.
#[derive(Debug, Clone, Default)]
pub struct Page {
    files: BTreeMap<String, Cow<'static, [u8]>>,
}

impl Page {
    /// The page of this build; none if it was compiled without.
    pub fn embedded() -> Option<Self> {
        let own = |path: Cow<'static, str>| {
            let name = path.strip_prefix("dist/")?.to_owned();
            Some((name, Built::get(&path)?.data))
        };
        let page = Self { files: Built::iter().filter_map(own).collect() };
        page.files.contains_key("index.html").then_some(page)
    }

    /// A page of one's own.
    pub fn of(files: impl IntoIterator<Item = (String, Vec<u8>)>) -> Self {
        Self { files: files.into_iter().map(|(name, bytes)| (name, bytes.into())).collect() }
    }

    /// A file by its name.
    pub fn get(&self, name: &str) -> Option<&[u8]> {
        self.files.get(name).map(|bytes| &**bytes)
    }

    /// What kind of file a name is of, for browsers.
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
