//! Access control: a connection needs the token, an origin of this server and a host name of this server.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// Secret in the address of the page: 128 random bits.
#[derive(Clone, PartialEq, Eq)]
pub struct Token(String);

impl Token {
    /// Generates a random token.
    pub fn random() -> Result<Self, getrandom::Error> {
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes)?;
        Ok(Self(bytes.iter().map(|byte| format!("{byte:02x}")).collect()))
    }

    pub fn text(&self) -> &str {
        &self.0
    }

    /// Returns true if the token equals `given`. The comparison takes constant time.
    pub fn is(&self, given: &str) -> bool {
        let differing = self.0.bytes().zip(given.bytes()).fold(0, |differing, (own, given)| differing | (own ^ given));
        given.len() == self.0.len() && differing == 0
    }
}

impl std::fmt::Debug for Token {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Token(…)")
    }
}

/// Requirements on requests.
#[derive(Debug, Clone)]
pub struct Guard {
    pub token: Token,
    listens_on: IpAddr,
    /// Additional host names of this machine.
    names: Vec<String>,
}

impl Guard {
    pub fn new(token: Token, listens_on: SocketAddr, names: &[String]) -> Self {
        let names = names.iter().map(|name| name.to_ascii_lowercase()).collect();
        Self { token, listens_on: listens_on.ip(), names }
    }

    /// Returns true if a `Host` header names this server. Other names that resolve to it are refused, as DNS rebinding
    /// would make foreign pages same-origin. The port may differ, as in an ssh tunnel.
    pub fn allows_host(&self, host: &str) -> bool {
        let name = without_port(host).to_ascii_lowercase();
        if name == "localhost" || self.names.contains(&name) {
            return true;
        }
        match name.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>() {
            Ok(address) if address.is_loopback() => true,
            // IP addresses are not subject to DNS rebinding.
            Ok(_) => !self.listens_on.is_loopback(),
            Err(_) => false,
        }
    }

    /// Returns true if a page of this origin may open a socket at this host, which requires the same origin. Browsers
    /// always send the origin, other programs do not.
    pub fn allows_origin(origin: &str, host: &str) -> bool {
        let own = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"));
        own.is_some_and(|own| own.eq_ignore_ascii_case(host))
    }
}

fn without_port(host: &str) -> &str {
    match host.rfind(']') {
        // IPv6 addresses in brackets contain colons.
        Some(end) => &host[..=end],
        None => host.split(':').next().unwrap_or(host),
    }
}

/// Returns the address for a browser on this machine.
pub fn reachable(listens_on: SocketAddr) -> SocketAddr {
    let ip = match listens_on.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    };
    SocketAddr::new(ip, listens_on.port())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn guard(listens_on: &str) -> Guard {
        Guard::new(Token::random().unwrap(), listens_on.parse().unwrap(), &["Desk.lan".into()])
    }

    #[test]
    fn only_addresses_of_this_machine_are_served() {
        let own_machine = guard("127.0.0.1:80");
        for own in
            ["localhost", "localhost:8490", "LOCALHOST:1", "127.0.0.1:8490", "127.0.0.2", "[::1]:8490", "desk.lan:3"]
        {
            assert!(own_machine.allows_host(own), "{own}");
        }
        for foreign in
            ["evil.example", "localhost.evil.example:80", "", ":", "192.168.1.2", "[::2]", "[", "127.0.0.1.nip.io"]
        {
            assert!(!own_machine.allows_host(foreign), "{foreign}");
        }
        assert!(guard("0.0.0.0:80").allows_host("192.168.1.2:80"));
        assert!(!guard("0.0.0.0:80").allows_host("evil.example"));
    }

    #[test]
    fn only_pages_of_this_server_may_connect() {
        let host = "127.0.0.1:8490";
        assert!(Guard::allows_origin("http://127.0.0.1:8490", host));
        for foreign in
            ["http://evil.example", "http://127.0.0.1:8491", "http://127.0.0.1", "null", "", "ftp://127.0.0.1:8490"]
        {
            assert!(!Guard::allows_origin(foreign, host), "{foreign}");
        }
    }

    #[test]
    fn a_token_is_itself_and_nothing_else() {
        let token = Token::random().unwrap();
        assert_eq!(token.text().len(), 32);
        assert!(token.is(token.text()) && token != Token::random().unwrap());
        for wrong in
            ["", "0", &token.text()[1..], &format!("{}0", token.text()), &token.text().to_uppercase().replace('A', "B")]
        {
            assert!(!token.is(wrong) || wrong == token.text(), "{wrong}");
        }
        assert!(!format!("{token:?}").contains(token.text()));
    }
}
