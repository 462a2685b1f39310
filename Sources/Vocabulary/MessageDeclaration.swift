/// A signalling message type, as faults and puppets name it.
public struct MessageDeclaration: Sendable {
  public enum Direction: String, Sendable { case clientToServer, serverToClient, both }

  public let name: String
  public let direction: Direction
  public let summary: String
  public let provenance: Provenance

  public init(_ name: String, _ direction: Direction, _ summary: String, provenance: Provenance) {
    self.name = name
    self.direction = direction
    self.summary = summary
    self.provenance = provenance
  }
}
