"""Computes the figures of an audit from zones of blocks, as docs/spec.md, section 8, defines them."""
