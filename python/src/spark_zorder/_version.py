"""The one version of this package; the build takes it from here and checks it against VERSION."""

__version__ = "0.2.0"
