//! Three neo-Hookean laws compared: that of Bower, that of Bonet and Wood, and the stable one.
