"""The certificate: what a run says of a builder, as one document, and whether it stands when tried again."""
