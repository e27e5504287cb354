//! Citations: sources name papers by their keys in `references.bib`, as in `[Higham1986, section 3]`.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Adds the sources below a folder, except for this one.
fn sources(folder: &Path, found: &mut Vec<(String, String)>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() && !path.ends_with("target") && !path.ends_with("node_modules") {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs" || extension == "md")
            && !path.ends_with("references.rs")
        {
            let name = path.strip_prefix(repository()).unwrap().display().to_string();
            found.push((name, fs::read_to_string(&path).unwrap()));
        }
    }
}

/// Returns true for files of Rust.
fn is_source(name: &str) -> bool {
    Path::new(name).extension().is_some_and(|extension| extension == "rs")
}

fn all_sources() -> Vec<(String, String)> {
    let mut found = Vec::new();
    for folder in ["crates", "docs"] {
        sources(&repository().join(folder), &mut found);
    }
    found
}

/// Returns true for a word such as `WuSimon2000`: letters that begin with a capital, then a year.
fn is_key(word: &str) -> bool {
    let Some(letters) = word.len().checked_sub(4).and_then(|end| word.get(..end)) else { return false };
    let year = &word[letters.len()..];
    letters.starts_with(|c: char| c.is_ascii_uppercase())
        && letters.chars().all(|c| c.is_ascii_alphabetic())
        && (year.starts_with("18") || year.starts_with("19") || year.starts_with("20"))
        && year.chars().all(|c| c.is_ascii_digit())
}

/// Returns the keys in square brackets of comments; the brackets of documentation are escaped.
fn cited(text: &str) -> BTreeSet<String> {
    let mut keys = BTreeSet::new();
    for bracket in text.split('[').skip(1) {
        let inside = bracket.split(']').next().unwrap_or("");
        let words = inside.split(|c: char| !c.is_alphanumeric()).filter(|word| is_key(word));
        keys.extend(words.map(str::to_owned));
    }
    keys
}

/// Returns the citations of a comment by author and year instead of a key: "(Liu 1986)", "Smith et al. 2018".
fn by_author(line: &str) -> Option<String> {
    let comment = line.trim_start().strip_prefix("//")?;
    let words: Vec<&str> = comment.split_whitespace().collect();
    words.windows(2).find_map(|pair| {
        let year = pair[1].trim_matches(|c: char| !c.is_alphanumeric());
        let is_year = year.len() == 4 && (year.starts_with("19") || year.starts_with("20"));
        let author = pair[0].trim_start_matches('(');
        let is_name = author.chars().all(|c| c.is_alphabetic() || c == '-')
            && author.starts_with(char::is_uppercase)
            && author.chars().count() > 2
            && !MONTHS.contains(&author);
        (is_year && (is_name || author == "al.")).then(|| pair.join(" "))
    })
}

const MONTHS: [&str; 4] = ["January", "March", "July", "ISO"];

/// Returns the keys of the bibliography, in its order.
fn bibliography() -> Vec<String> {
    let text = fs::read_to_string(repository().join("references.bib")).unwrap();
    let entries = text.lines().filter(|line| line.starts_with('@'));
    entries.map(|line| line.split(['{', ',']).nth(1).unwrap().to_owned()).collect()
}

#[test]
fn every_cited_key_is_in_the_bibliography_and_every_entry_is_cited() {
    let known = bibliography();
    assert!(
        known.windows(2).all(|pair| pair[0].to_lowercase() < pair[1].to_lowercase()),
        "keys are in order: {known:?}"
    );
    let mut all = BTreeSet::new();
    for (name, text) in all_sources() {
        let is_relevant = |line: &&str| !is_source(&name) || line.contains("//") || line.contains("key: \"");
        let comments: Vec<&str> = text.lines().filter(is_relevant).collect();
        let keys = cited(&comments.join("\n"));
        for key in &keys {
            assert!(known.contains(key), "{name} cites `{key}`, which references.bib lacks");
        }
        all.extend(keys);
    }
    for key in known {
        assert!(all.contains(&key), "nothing cites `{key}` of references.bib");
    }
}

#[test]
fn sources_cite_by_key_and_not_by_author_and_year() {
    let mut found = Vec::new();
    for (name, text) in all_sources().iter().filter(|(name, _)| is_source(name) && name.contains("/src/")) {
        let lines = (1..).zip(text.lines());
        found.extend(lines.filter_map(|(number, line)| Some(format!("{name}:{number}: {}", by_author(line)?))));
    }
    assert!(found.is_empty(), "cite the key of references.bib:\n{}", found.join("\n"));
}

#[test]
fn citations_are_recognized() {
    let keys = cited("/// By \\[Liu1986, section 3; WuSimon2000\\] in \\[m\\] and a[i2000] [Year2000x].");
    assert_eq!(keys.into_iter().collect::<Vec<_>>(), ["Liu1986", "WuSimon2000"]);
    assert_eq!(by_author("    /// Elimination trees (Liu 1986), or"), Some("(Liu 1986),".into()));
    assert_eq!(by_author("// after Smith et al. 2018."), Some("al. 2018.".into()));
    assert_eq!(by_author("/// Midnight of 1 January 1980, in 2000 steps"), None);
    assert_eq!(by_author("let x = Liu(1986);"), None);
}
