"""Calls between callsim's peer and software written elsewhere, and what is asked of them."""
