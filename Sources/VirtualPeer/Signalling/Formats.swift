// JSON is what profiles speak with their servers: it belongs to the seam they are written on.
@_exported public import Formats
