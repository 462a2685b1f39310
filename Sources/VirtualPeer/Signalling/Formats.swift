// Profiles exchange JSON with their servers, so the seam below profiles exports it.
@_exported public import Formats
