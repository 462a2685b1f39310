internal import CallCore
internal import ScenarioFormat
internal import Vocabulary

/// The messages of the table.
extension MoveTable {
  /// Returns every message to a participant: with the content of the newest of its type, of every other type that gives
  /// it a call and a description, and of a message of another run. A message that the run without moves does not show is
  /// made up as well.
  static func messages(to participant: MoveAlphabet.Participant, _ alphabet: MoveAlphabet) -> [RawMessage] {
    guard let server = alphabet.server(of: participant) else { return [] }
    let senders = alphabet.senders(to: participant)
    var messages: [RawMessage] = []
    for declaration in participant.messages {
      let models = participant.vocabulary.messages.filter {
        $0.name == declaration.name || $0.field(.description) != nil
      }
      // A message that names no sender is the same from all of them.
      for sender in declaration.field(.sender) == nil ? Array(senders.prefix(1)) : senders {
        var message = RawMessage(type: declaration.name, from: sender, to: participant.name)
        message.server = server
        messages += models.filter { gives($0, declaration) }.map { model in
          var copy = message
          copy.like = model.name
          return copy
        }
        guard let course = alphabet.record.course else { continue }
        if course.passage(of: declaration.name, by: server) == nil {
          message.fields = madeUp(declaration)
          messages.append(message)
        }
      }
    }
    return messages + alphabet.recorded(to: participant).filter { senders.contains($0.from) || $0.from == $0.to }
  }

  /// Returns whether a message gives another a field. A message of the type itself is always another start.
  private static func gives(_ model: MessageDeclaration, _ declaration: MessageDeclaration) -> Bool {
    guard model.name != declaration.name, let fields = declaration.fields else { return true }
    return fields.contains { field in
      field.direction.includes(.serverToClient) && field.role != .sender && gives(model, field)
    }
  }

  private static func gives(_ model: MessageDeclaration, _ field: MessageField) -> Bool {
    let role = field.role == .payload ? nil : field.role
    return role.map { model.field($0) != nil } ?? false || model.fields?.contains { $0.name == field.name } ?? false
  }

  /// Returns plain values of the declared types for the fields that a client needs and a model does not give.
  private static func madeUp(_ declaration: MessageDeclaration, beside model: MessageDeclaration? = nil) -> Arguments {
    let fields = (declaration.fields ?? []).filter { field in
      field.isRequired && field.role != .sender && field.direction.includes(.serverToClient)
        && !(model.map { gives($0, field) } ?? false)
    }
    return Arguments(fields.map { ($0.name, Value($0.plainValue) ?? .text("\($0.plainValue)")) })
  }

  /// Returns candidates that come ahead of the description that they belong to: made up, in the call of a message with a
  /// description. An app that keeps them may keep too many.
  static func earlyCandidates(to participant: MoveAlphabet.Participant, _ alphabet: MoveAlphabet) -> [RawMessage] {
    guard let server = alphabet.server(of: participant), let sender = alphabet.senders(to: participant).first,
      let model = participant.messages.first(where: { $0.field(.description) != nil })
    else { return [] }
    return participant.messages.filter { $0.field(.candidate) != nil && $0.name != model.name }.map { declaration in
      var message = RawMessage(type: declaration.name, from: sender, to: participant.name)
      message.server = server
      message.like = model.name
      message.fields = madeUp(declaration, beside: model)
      return message
    }
  }

  /// What an app may have to keep: candidates and descriptions, each from the first other participant alone.
  static func isWorthFlooding(_ message: RawMessage, _ participant: MoveAlphabet.Participant) -> Bool {
    guard message.like == message.type, message.from != participant.name,
      let declaration = participant.messages.first(where: { $0.name == message.type })
    else { return false }
    return declaration.field(.candidate) != nil || declaration.field(.description) != nil
  }
}
