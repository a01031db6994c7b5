"""One module or package per format; each has one public ``ADAPTER``."""
