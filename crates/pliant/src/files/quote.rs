//! Words of files in messages.

/// Returns a word of a file for a message: short, printable, in quotes.
pub fn quote(word: &[u8]) -> String {
    const SHOWN: usize = 40;
    let shown = &word[..word.len().min(SHOWN)];
    let dots = if word.len() > SHOWN { "…" } else { "" };
    format!("`{}{dots}`", shown.escape_ascii())
}
