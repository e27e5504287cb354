//! One language for the project: terms, spelling and form of all prose, as the glossary of CONTRIBUTING.md has it.
//!
//! The test reads comments and string literals of Rust sources, which include `--help` texts and error messages, and all
//! text of Markdown, Python, TypeScript, HTML, CSS and TOML files. It reports phrases that have a standard term, British
//! spellings, repeated words, first lines of documentation that lean on their neighbors, and comments that are too wide.

use std::fs;
use std::path::{Path, PathBuf};

/// Phrase that is not written, with the term to write instead and the contexts in which it is correct.
struct Rule {
    phrases: &'static [&'static str],
    write: &'static str,
    /// Longer phrases in which the phrase is correct, each with its reason.
    except: &'static [(&'static str, &'static str)],
}

const fn rule(
    phrases: &'static [&'static str],
    write: &'static str,
    except: &'static [(&'static str, &'static str)],
) -> Rule {
    Rule { phrases, write, except }
}

/// All rules on words. A phrase matches whole words in any case, also across line breaks; punctuation marks are words.
const RULES: &[Rule] = &[
    rule(&["anew"], "again", &[]),
    rule(&["so many"], "`n`, the number of", &[]),
    rule(&["beside"], "next to, besides, in addition to", &[]),
    rule(&["told", "said"], "reported, printed", &[]),
    rule(&["go on", "goes on", "went on", "going on"], "continue, resume", &[]),
    rule(&["in all ,", "in all .", "in all ;", "in all :", "in all )"], "total", &[]),
    rule(&["as a part of", "this part of"], "relative to, fraction of", &[]),
    rule(&["more often than it is", "as often as they are", "as often as it is"], "multiplicity", &[]),
    rule(&["not negative in any direction"], "positive semi-definite", &[]),
    rule(
        &["scheme", "schemes"],
        "integrator",
        &[
            ("color - scheme", "property of CSS"),
            ("prefers - color - scheme", "query of CSS"),
            ("upwind scheme", "term of the field"),
        ],
    ),
    rule(
        &["hold", "holds", "held", "holding"],
        "fixed (Dirichlet); contain, store, apply",
        &[
            ("holds for", "a law or an estimate is true"),
            ("holds if", "a law or an estimate is true"),
            ("holds only", "a law or an estimate is true"),
            ("holds in three dimensions", "a law or an estimate is true"),
            ("not hold", "a law or an estimate is true"),
            ("ceases to hold", "a law or an estimate is true"),
            ("holds the lock", "term of concurrency"),
            ("holding the lock", "term of concurrency"),
        ],
    ),
    rule(&["old factor", "old factors"], "stale factor", &[]),
    rule(&["turns with", "turned with", "turning with"], "co-rotated with", &[]),
    rule(&["turns along", "turned along"], "co-rotated with", &[]),
    rule(&["of which"], "(rewrite the sentence)", &[]),
    rule(&["there is none", "there are none"], "is absent; returns `None` if …", &[]),
    rule(&["an own", "user's own", "of its own", "of their own"], "custom, user-defined, separate", &[]),
    rule(&["bodies of surfaces"], "volume meshing of surfaces", &[]),
    rule(&["as people have them"], "imperfect (open, self-intersecting, non-manifold)", &[]),
    rule(&["leaves nothing of"], "zero pivot at", &[]),
    rule(&["a file a", "a file each", "a law a", "a law each", "a row a", "a line each"], "one … per …", &[]),
    rule(&["whole number that is"], "non-negative integer", &[]),
    rule(
        &["the cast", "reel", "studio", "dress", "dressed", "shoot", "shoots", "stage"],
        "scene geometry, visual",
        &[
            ("the cast maps", "conversion of a number in Rust"),
            ("the cast saturates", "conversion of a number in Rust"),
        ],
    ),
    rule(&["what is shown"], "(name the thing)", &[]),
    rule(
        &["the least", "the biggest", "the farthest"],
        "the minimum, the maximum",
        &[("the least - squares", "term of the field")],
    ),
];

/// First words that make documentation lean on its neighbors.
const OPENERS: &[&str] = &["the same", "of", "in", "so", "what", "how", "those", "that of", "one"];

/// British stems with the American ones. A word that contains the stem is reported.
const STEMS: &[(&str, &str)] = &[
    ("colour", "color"),
    ("tyre", "tire"),
    ("centre", "center"),
    ("centring", "centering"),
    ("behaviour", "behavior"),
    ("neighbour", "neighbor"),
    ("favour", "favor"),
    ("flavour", "flavor"),
    ("honour", "honor"),
    ("labour", "labor"),
    ("metre", "meter"),
    ("litre", "liter"),
    ("fibre", "fiber"),
    ("grey", "gray"),
    ("analyse", "analyze"),
    ("analysing", "analyzing"),
    ("catalogue", "catalog"),
    ("artefact", "artifact"),
    ("licence", "license"),
    ("defence", "defense"),
    ("modelled", "modeled"),
    ("modelling", "modeling"),
    ("labelled", "labeled"),
    ("labelling", "labeling"),
    ("travelled", "traveled"),
    ("travelling", "traveling"),
    ("cancelled", "canceled"),
    ("cancelling", "canceling"),
];

/// Words that contain a British stem and are American too.
const NOT_BRITISH: &[&str] = &["analyses"];

/// Ends of verbs in British spelling, with the American ones.
const ENDS: &[(&str, &str)] = &[
    ("ise", "ize"),
    ("ised", "ized"),
    ("ises", "izes"),
    ("ising", "izing"),
    ("isation", "ization"),
    ("isations", "izations"),
    ("iser", "izer"),
    ("isers", "izers"),
];

/// Words with these ends that have `s` in American spelling too, and all words that end in `wise`.
const WITH_S: &[&str] = &[
    "advise",
    "arise",
    "arises",
    "arising",
    "comprise",
    "comprises",
    "compromise",
    "concise",
    "devise",
    "disguise",
    "enterprise",
    "excise",
    "exercise",
    "exercised",
    "exercises",
    "exercising",
    "expertise",
    "improvise",
    "mises",
    "noise",
    "noises",
    "otherwise",
    "poise",
    "praise",
    "precise",
    "premise",
    "promise",
    "promised",
    "promises",
    "promising",
    "raise",
    "raised",
    "raises",
    "raising",
    "revise",
    "revised",
    "rise",
    "rises",
    "rising",
    "supervise",
    "supervised",
    "surprise",
    "surprised",
    "surprises",
    "surprising",
    "vonmises",
    "wiser",
];

/// Short words that never follow themselves.
const NOT_TWICE: &[&str] = &[
    "a", "an", "and", "are", "as", "at", "be", "by", "for", "from", "is", "it", "of", "on", "or", "the", "to", "with",
];

/// Words with a vowel at the start that follow `a` where it is a letter or a word of a format, not the article.
const AFTER_LETTER_A: &[&str] = &["and", "as", "at", "eu", "i", "in", "int", "is", "of", "on", "once", "one", "or"];

/// Names that are spelled out when spoken, and follow `an` although they begin with a consonant.
const AFTER_AN: &[&str] = &["srgb"];

/// Paths with the phrases that they may contain (all, if none is listed), each with a reason.
const EXEMPT: &[(&str, &[&str], &str)] = &[
    ("crates/pliant/tests/it/language.rs", &[], "lists the phrases"),
    (
        "CONTRIBUTING.md",
        &["hold", "held", "scheme", "old factor", "turned with", "go on"],
        "the glossary lists words to avoid",
    ),
    ("CHANGELOG.md", &["hold", "held", "holds", "scheme", "old factor", "colour", "centre"], "lists renamed keys"),
    ("CHANGELOG.md", &["tetrahedralise", "voxelise"], "lists renamed commands"),
    (
        "crates/pliant-scene/src/scene/renamed.rs",
        &["hold", "scheme", "colour", "centre", "old factor"],
        "lists renamed keys",
    ),
    ("crates/pliant-py/src/renamed.rs", &["held", "scheme", "old factor", "centre"], "lists renamed names"),
    ("crates/pliant-cli/tests/it/cli.rs", &["colour", "tetrahedralise", "voxelise"], "lists renamed options"),
];

/// Maximum number of characters of a line with a comment.
const WIDTH: usize = 120;

/// Name of the rule on the width of comments.
const WIDE: &str = "wide";

const FOLDERS: &[&str] = &["crates", "docs", "examples", "fuzz", "scenes", "web"];
const EXTENSIONS: &[&str] = &["rs", "md", "py", "pyi", "ts", "html", "css", "toml"];
const SKIPPED: &[&str] = &["target", "node_modules", "dist", "corpus", "artifacts", "coverage", "out", "test-results"];

/// Text of a file, with its path relative to the repository.
struct Source {
    path: String,
    text: String,
}

impl Source {
    fn extension(&self) -> &str {
        self.path.rsplit('.').next().unwrap()
    }

    /// Returns the text with everything blank that is not prose: code of Rust, and releases of the changelog.
    fn prose(&self) -> String {
        match self.extension() {
            "rs" => without_code(&self.text),
            _ if self.path == "CHANGELOG.md" => {
                let released =
                    self.text.match_indices("\n## ").find(|(at, _)| !self.text[*at..].starts_with("\n## Unrel"));
                self.text[..released.map_or(self.text.len(), |(at, _)| at)].to_owned()
            }
            _ => self.text.clone(),
        }
    }
}

/// Returns a Rust source with spaces for everything but comments and string literals.
fn without_code(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut prose = vec![b' '; bytes.len()];
    let mut i = 0;
    while i < bytes.len() {
        let rest = &text[i..];
        let end = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            rest.find("*/").map_or(rest.len(), |end| end + 2)
        } else if let Some(end) = raw_string(rest, i.checked_sub(1).map(|before| bytes[before])) {
            end
        } else if rest.starts_with('"') {
            let mut end = 1;
            while end < rest.len() && rest.as_bytes()[end] != b'"' {
                end += if rest.as_bytes()[end] == b'\\' { 2 } else { 1 };
            }
            (end + 1).min(rest.len())
        } else {
            // A character literal may be a quotation mark; a lifetime has no closing mark.
            let mut letters = rest.chars();
            let skipped = match (letters.next(), letters.next(), letters.next()) {
                (Some('\''), Some('\\'), Some(_)) => 3,
                (Some('\''), Some(c), Some('\'')) => 2 + c.len_utf8(),
                (Some(c), ..) => c.len_utf8(),
                (None, ..) => 1,
            };
            if rest.starts_with('\n') {
                prose[i] = b'\n';
            }
            i += skipped;
            continue;
        };
        prose[i..i + end].copy_from_slice(&bytes[i..i + end]);
        i += end;
    }
    String::from_utf8(prose).expect("only whole characters are copied")
}

/// Returns the length of the raw string literal at the start of `rest`, if there is one.
fn raw_string(rest: &str, before: Option<u8>) -> Option<usize> {
    if before.is_some_and(|before| before.is_ascii_alphanumeric() && before != b'b' || before == b'_') {
        return None;
    }
    let opening = rest.strip_prefix('r')?;
    let marks = opening.len() - opening.trim_start_matches('#').len();
    let content = opening[marks..].strip_prefix('"')?;
    let closing = format!("\"{}", "#".repeat(marks));
    Some(2 + marks + content.find(&closing)? + closing.len())
}

/// Word or punctuation mark in lower case, with its line.
struct Token {
    word: String,
    line: usize,
    is_capital: bool,
}

/// Splits prose into words and punctuation marks. Underscores separate words; marks of comments are left out.
fn tokens(prose: &str) -> Vec<Token> {
    let mut found: Vec<Token> = Vec::new();
    for (line, text) in (1..).zip(prose.lines()) {
        let text = text.trim().trim_start_matches(['/', '!', '*', '#', '>']).trim_end_matches('\\');
        let mut in_word = false;
        for c in text.chars() {
            let continues = c.is_alphanumeric() || in_word && c == '\'';
            if continues && in_word {
                found.last_mut().expect("a word has begun").word.extend(c.to_lowercase());
            } else if !c.is_whitespace() && c != '\'' {
                found.push(Token { word: c.to_lowercase().collect(), line, is_capital: c.is_uppercase() });
            }
            in_word = continues;
        }
    }
    found
}

fn words(phrase: &str) -> Vec<String> {
    tokens(phrase).into_iter().map(|token| token.word).collect()
}

/// Returns true if the words of `phrase` are at `at`.
fn is_at(tokens: &[Token], at: usize, phrase: &[String]) -> bool {
    tokens.len() >= at + phrase.len() && phrase.iter().zip(&tokens[at..]).all(|(word, token)| *word == token.word)
}

/// Returns true if a longer phrase around the words `at..at + count` is one of `allowed`.
fn is_within(tokens: &[Token], at: usize, count: usize, allowed: &[Vec<String>]) -> bool {
    allowed.iter().any(|longer| {
        let first = (at + count).saturating_sub(longer.len());
        (first..=at).any(|first| is_at(tokens, first, longer))
    })
}

/// Returns the American spelling of a word, if it has another.
fn american(word: &str) -> Option<String> {
    if NOT_BRITISH.contains(&word) {
        return None;
    }
    if let Some((stem, other)) = STEMS.iter().find(|(stem, _)| word.contains(stem)) {
        return Some(word.replace(stem, other));
    }
    let (end, other) = ENDS.iter().find(|(end, _)| word.len() > end.len() + 2 && word.ends_with(end))?;
    let is_same = WITH_S.contains(&word) || word.ends_with("wise") || word.ends_with("raise");
    (!is_same).then(|| word.strip_suffix(end).expect("the word ends so").to_owned() + other)
}

/// Returns the line number and the text of each first line of documentation.
fn first_lines(source: &Source) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    let mut is_inside = false;
    for (line, text) in (1..).zip(source.text.lines()) {
        let text = text.trim_start();
        match source.extension() {
            "rs" => {
                let doc = text.strip_prefix("///").or_else(|| text.strip_prefix("//!"));
                found.extend(doc.filter(|_| !is_inside).map(|doc| (line, doc)));
                is_inside = doc.is_some();
            }
            "ts" => found.extend(text.strip_prefix("/**").map(|doc| (line, doc))),
            "py" | "pyi" => {
                let doc = text.trim_start_matches('r').strip_prefix("\"\"\"");
                found.extend(doc.filter(|_| !is_inside).map(|doc| (line, doc)));
                is_inside ^= text.matches("\"\"\"").count() % 2 == 1;
            }
            _ => {}
        }
    }
    found
}

/// Returns everything in a file that is not written so: file, line, and what to write.
fn violations(source: &Source) -> Vec<String> {
    let Source { path, text } = source;
    let mut found: Vec<(usize, &str, String)> = Vec::new();
    let tokens = tokens(&source.prose());
    for Rule { phrases, write, except } in RULES {
        let except: Vec<Vec<String>> = except.iter().map(|(phrase, _)| words(phrase)).collect();
        for phrase in *phrases {
            let sought = words(phrase);
            for at in (0..tokens.len()).filter(|&at| is_at(&tokens, at, &sought)) {
                if !is_within(&tokens, at, sought.len(), &except) {
                    found.push((tokens[at].line, phrase, format!("\"{phrase}\": write {write}")));
                }
            }
        }
    }
    for (at, Token { word, line, is_capital }) in tokens.iter().enumerate() {
        if let Some(american) = american(word) {
            found.push((*line, word, format!("\"{word}\": American spelling is {american}")));
        }
        let Some(next) = tokens.get(at + 1) else { continue };
        if next.word == *word && next.is_capital == *is_capital && NOT_TWICE.contains(&word.as_str()) {
            found.push((*line, "", format!("\"{word}\" twice")));
        }
        let has_vowel = next.word.starts_with(['a', 'e', 'i', 'o']) && next.word.len() > 1;
        if word == "a" && !is_capital && has_vowel && !next.is_capital && !AFTER_LETTER_A.contains(&next.word.as_str())
        {
            found.push((*line, "", format!("\"a {0}\": write an {0}", next.word)));
        }
        // The article also precedes names in code.
        let Some(next) = tokens.get(at + 1 + usize::from(next.word == "`")) else { continue };
        let is_spoken = next.word.len() > 3 && next.word.chars().all(|c| c.is_ascii_alphabetic());
        let has_consonant = is_spoken && !next.word.starts_with(['a', 'e', 'i', 'o', 'u', 'h']);
        if word == "an" && has_consonant && !AFTER_AN.contains(&next.word.as_str()) {
            found.push((*line, "", format!("\"an {0}\": write a {0}", next.word)));
        }
    }
    for (line, first) in first_lines(source) {
        let start = self::tokens(first);
        for opener in OPENERS.iter().filter(|opener| is_at(&start, 0, &words(opener))) {
            found.push((
                line,
                opener,
                format!("documentation opens with \"{opener}\": its first line must stand alone"),
            ));
        }
    }
    if source.extension() == "rs" {
        for (line, text) in (1..).zip(text.lines()) {
            let width = text.chars().count();
            if width > WIDTH && text.trim_start().starts_with("//") {
                found.push((line, WIDE, format!("the comment is {width} characters wide, expected at most {WIDTH}")));
            }
        }
    }
    let is_exempt = |phrase: &str| {
        let mut exempt = EXEMPT.iter().filter(|(start, ..)| path.starts_with(start));
        exempt.any(|(_, phrases, _)| phrases.is_empty() || phrases.contains(&phrase))
    };
    found.retain(|(_, phrase, _)| !is_exempt(phrase));
    found.sort_by_key(|(line, ..)| *line);
    found.into_iter().map(|(line, _, message)| format!("{path}:{line}: {message}")).collect()
}

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Reads the files with prose in a folder, and in its subfolders if asked to.
fn read(folder: &Path, is_deep: bool, found: &mut Vec<Source>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() {
            if is_deep && !name.starts_with('.') && !SKIPPED.contains(&name.as_str()) {
                read(&path, true, found);
            }
        } else if path.extension().is_some_and(|extension| EXTENSIONS.iter().any(|known| extension == *known)) {
            let relative = path.strip_prefix(repository()).unwrap().to_string_lossy().replace('\\', "/");
            found.push(Source { path: relative, text: fs::read_to_string(&path).unwrap() });
        }
    }
}

fn sources() -> Vec<Source> {
    let mut found = Vec::new();
    read(&repository(), false, &mut found);
    FOLDERS.iter().for_each(|folder| read(&repository().join(folder), true, &mut found));
    found.sort_by(|a, b| a.path.cmp(&b.path));
    found
}

#[test]
fn all_prose_is_in_one_language() {
    let sources = sources();
    assert!(sources.len() > 500, "found only {} files with prose", sources.len());
    for (start, ..) in EXEMPT {
        assert!(sources.iter().any(|source| source.path.starts_with(start)), "no file is at the exempt path {start}");
    }
    let found: Vec<String> = sources.iter().flat_map(violations).collect();
    assert!(found.is_empty(), "{} violations:\n{}", found.len(), found.join("\n"));
}

fn found_in(path: &str, text: &str) -> Vec<String> {
    violations(&Source { path: path.into(), text: text.into() })
}

#[test]
fn a_planted_violation_is_found_with_its_file_and_line() {
    let found = found_in("crates/a/src/lib.rs", "fn f() {\n    // Steps are made\n    // anew.\n}\n");
    assert_eq!(found, ["crates/a/src/lib.rs:3: \"anew\": write again"]);
    let one = |path: &str, text: &str, line: usize, part: &str| {
        let found = found_in(path, text);
        assert!(found.len() == 1 && found[0].starts_with(&format!("{path}:{line}: ")), "{text:?}: {found:?}");
        assert!(found[0].contains(part), "{text:?}: {found:?}");
    };
    one("a.rs", "/// Steps by so\n/// many seconds.", 1, "so many");
    one("a.rs", "const A: &str = \"the colour\";", 1, "color");
    one("a.rs", "bail!(\"it is\\n {said}\")", 1, "said");
    one("a.rs", "let a = r#\"\n\"held\" \"#;", 2, "held");
    one("a.rs", "#[arg(help = \"a integrator\")]", 1, "an integrator");
    one("a.rs", "/// Returns an `Located`.", 1, "write a located");
    one("a.rs", "let quote = '\"'; // anew\nlet b = \"fine\";", 1, "anew");
    one("a.rs", "/// Matrix.\nfn a();\n/// The same, to set.\nfn b();", 3, "stand alone");
    one("a.rs", "//! What it does.", 1, "stand alone");
    one("a.rs", &format!("    // {}", "wide ".repeat(30)), 1, "wide");
    one("a.md", "# Title\n\nIt is **the the** end.", 3, "twice");
    one("a.pyi", "def f():\n    \"\"\"How far it is.\"\"\"", 2, "stand alone");
    one("a.py", "# normalise", 1, "normalize");
    one("a.ts", "/** Of a body. */", 1, "stand alone");
    one("a.toml", "# fixed\nabout = \"the centre\"", 2, "center");
    one("CHANGELOG.md", "## Unreleased\n- anew\n\n## 0.1.0\n- anew", 2, "anew");
}

#[test]
fn correct_text_has_no_violations() {
    for (path, text) in [
        ("a.rs", "/// Returns the color.\n///\n/// In general, a Young's modulus.\nfn held() { let said = 'a'; }"),
        ("a.rs", "fn f<'a>(told: &'a str) -> &'a str { told }"),
        ("a.rs", "// The estimate holds for otherwise precise analyses, lanewise."),
        ("a.css", ":root { color-scheme: dark; }"),
        ("a.md", "A unit, an hour, a one-line file; from a to b."),
        ("a.py", "def f():\n    \"\"\"Return it.\n\n    In meters.\n    \"\"\""),
        ("CHANGELOG.md", "# Changelog\n\n## Unreleased\n- again\n\n## 0.1.0\n- anew"),
    ] {
        assert!(found_in(path, text).is_empty(), "{text:?}: {:?}", found_in(path, text));
    }
}
