/// The stable codes of problems of a scenario file.
///
/// E1xx is about YAML, E2xx about names and references, E3xx about types, units and predicates, E4xx about meaning, and
/// W4xx is advice. A code never changes its meaning; a retired one is not used again.
public enum DiagnosticCode: String, Sendable, CaseIterable {
  case syntax = "E101"
  case notUTF8 = "E102"
  case emptyFile = "E103"
  case severalDocuments = "E104"
  case anchorOrAlias = "E105"
  case tag = "E106"
  case duplicateKey = "E107"
  case tooLarge = "E108"
  case yaml11Key = "E109"
  case unreadable = "E110"
  case keyNotScalar = "E111"
  case tabIndentation = "E112"
  case notCallsim = "E113"

  case unknownKey = "E201"
  case missingKey = "E202"
  case unsupportedVersion = "E203"
  case unknownFault = "E210"
  case unknownAction = "E211"
  case unknownPeer = "E212"
  case unknownNetwork = "E213"
  case unknownLink = "E214"
  case unknownServer = "E215"
  case unknownAnchor = "E216"
  case unknownProfile = "E217"
  case unknownNamedPeer = "E218"
  case profileClash = "E219"
  case useCycle = "E220"
  case unknownState = "E221"
  case unknownEndCode = "E222"
  case unknownMessage = "E223"
  case unknownVariable = "E224"
  case unknownInvariant = "E225"
  case unknownEntry = "E226"
  case duplicateID = "E227"
  case unknownName = "E228"
  case unknownInterface = "E229"
  case badRecording = "E230"
  case ambiguousName = "E231"
  case unknownConnection = "E232"

  case wrongNode = "E301"
  case wrongType = "E302"
  case missingUnit = "E303"
  case unknownUnit = "E304"
  case unknownMember = "E305"
  case outOfRange = "E306"
  case notAChoice = "E307"
  case predicateSyntax = "E308"
  case predicateType = "E309"
  case badPrefix = "E310"
  case badName = "E311"
  case badListLength = "E312"
  case reservedName = "E313"

  case triggerCycle = "E401"
  case triggerCount = "E402"
  case effectCount = "E403"
  case uplinkCycle = "E404"
  case linkWithoutPeer = "E405"
  case peerWithoutNetwork = "E406"
  case overlappingPrefixes = "E407"
  case noCellLeft = "E408"
  case needsWhy = "E409"
  case unusedVariable = "E410"
  case neverFires = "E411"
  case conflictingKeys = "E412"
  case noBound = "E413"
  case wrongServerKind = "E414"
  case faultDoesNotLast = "E415"
  case impossibleBound = "E417"
  case wrongTransport = "E418"
  case notOfAProgram = "E419"
  case severalCallServers = "E420"
  case tooFewAddresses = "E421"
  case variableName = "E422"
  case beyondEnd = "E423"
  case needsRun = "E424"
  case neverTested = "E425"
  case wrongRouter = "E426"
  case changesNothing = "E427"
  case fixedInvariant = "E428"

  case cannotFail = "E431"
  case cannotHold = "E432"
  case untestedWindow = "E433"
  case impossibleMove = "E434"

  case emptyWindow = "W410"
  case unusedDefinition = "W411"
  case unusedName = "W412"
  case nothingExpected = "W413"
  case ineffective = "W414"
  case sharedNetwork = "W415"
  case noWayOut = "W416"
  case undeclaredField = "W417"
  case reviewRisk = "W418"

  /// The severity of a problem; a warning does not prevent a run.
  public enum Severity: String, Sendable { case error, warning }

  /// The severity of the problem.
  public var severity: Severity { rawValue.first == "W" ? .warning : .error }

  /// Whether the problem is that of a value itself, and not of its relation to others.
  var isOfValue: Bool { rawValue.hasPrefix("E2") || rawValue.hasPrefix("E3") }

  /// The text of `callsim explain CODE`.
  public var explanation: String {
    switch self {
    case .syntax: "The file is not valid YAML; nothing after this place was read."
    case .notUTF8: "Scenario files are UTF-8, with or without a byte order mark."
    case .emptyFile: "The file holds no document. The smallest one has callsim, id, peers, timeline and expect."
    case .severalDocuments: "One file holds one document: split it at '---'."
    case .anchorOrAlias:
      "Anchors and aliases (&a, *a) are not allowed: use profiles, vars or define, which are checked."
    case .tag: "Tags (!x) are not allowed: every key has one declared type."
    case .duplicateKey: "A mapping names the same key twice, or a list the same value; only one of them could be meant."
    case .tooLarge:
      "A file is at most 1 MiB, nests at most 64 deep and has at most 100,000 values; a matrix has at most 4,096 cells, "
        + "and all its cells at most 1,000,000 values, where a text counts once more for every 64 bytes; "
        + "a predicate makes at most 256 comparisons, those of the definitions it names included."
    case .yaml11Key: "on, off, yes and no are booleans to YAML 1.1 tools, so no key is spelled so."
    case .unreadable: "The file does not exist, is not a file, or may not be read."
    case .keyNotScalar: "Keys are plain words."
    case .tabIndentation: "YAML indents with spaces only."
    case .notCallsim:
      "A file of 'use' begins with callsim: 1. Other files are not shown, because they may contain anything."
    case .unknownKey: "The key does not exist at this place. '\(ProgramName.current) schema' prints all keys."
    case .missingKey: "The key is required at this place."
    case .unsupportedVersion: "This callsim reads format version 1."
    case .unknownFault: "There is no such fault. '\(ProgramName.current) explain fault' lists them all."
    case .unknownAction: "The peer's profile has no such user action, or the peer is a puppet and has none."
    case .unknownPeer: "No peer of the scenario has this name."
    case .unknownNetwork: "The name is neither a network of the topology nor a named network."
    case .unknownLink: "No link has this name. The link of a named network is called peer/network."
    case .unknownServer: "No server of the topology has this name."
    case .unknownAnchor:
      "An anchor is the id of a timeline entry, a name from define, start, end, a virtual time, or an event such as "
        + "bob.STATE (the main machine enters a state), bob.ice.connected, alice.ice.restart, alice.user.ACTION."
    case .unknownProfile:
      "No such application profile is built in. '\(ProgramName.current) explain profiles' lists them."
    case .unknownNamedPeer: "No file named in use declares a peer profile with this name."
    case .profileClash:
      "The name is declared twice, so that it is ambiguous: in two files, or under topology and built in. A "
        + "network of topology may have a built-in name if at most one peer names it, or if it is the internet."
    case .useCycle: "A file uses itself, directly or through others."
    case .unknownState: "The peer's profile declares no such state, so nothing can ever enter it."
    case .unknownEndCode: "The peer's profile declares no such end code."
    case .unknownMessage: "No peer's profile declares a signalling message of this type."
    case .unknownVariable: "A ${name} must be a variable of vars or matrix."
    case .unknownInvariant: "There is no such invariant. '\(ProgramName.current) explain invariants' lists them all."
    case .unknownEntry: "No timeline entry has this id, or it is not the kind of entry needed here."
    case .duplicateID: "Two entries share an id, so a reference to it would be ambiguous."
    case .unknownName: "The name is unknown at this place."
    case .unknownInterface: "The peer is not attached to this network."
    case .badRecording:
      "A recording for a microphone is a WAV of 16-bit PCM, 48000 Hz, mono, with samples in it. One for a camera is a Y4M "
        + "of 4:2:0 with 8 bits, or an IVF of VP8, VP9, AV1 or H.264, whose pictures have at most 64 MiB decoded. "
        + "A recording has at most 16 MiB, and all recordings of a scenario file have at most 32 MiB together."
    case .ambiguousName:
      "The name is ambiguous: a peer has several connections, or there are several servers. Write the full name."
    case .unknownConnection:
      "A peer whose profile has several connections at a time names them alice.to.NAME: by the other peer, the server or "
        + "the name that the profile declares. Other peers have a single one, without a name."
    case .wrongNode: "A mapping, a list or a scalar was expected here, and the file has another of the three."
    case .wrongType: "The value has another type than the key. YAML 1.2: only true and false are booleans."
    case .missingUnit:
      "Times, rates, shares and sizes carry a unit: 250ms, 1.5Mbps, 5%, 64KiB. Bare numbers are counts."
    case .unknownUnit: "Units: \(Quantity.unitList)."
    case .unknownMember: "The peer shows no value of this name. Names are those of the W3C and of the peer's profile."
    case .outOfRange: "The value lies outside the range that has a meaning here."
    case .notAChoice: "The key takes one of a closed list."
    case .predicateSyntax:
      "Predicates: comparisons joined with and, or, not, in and parentheses; see '\(ProgramName.current) explain predicates'."
    case .predicateType: "The two sides of a comparison have different types."
    case .badPrefix: "A prefix is written 192.168.1.0/24 or 2001:db8::/64, with the host bits zero."
    case .badName: "Names are letters, digits, '-', '_' and '/', and begin with a letter or digit."
    case .reservedName:
      "The word has a fixed meaning where this name is used: start, end, times and peers as anchors; and, or, "
        + "not, in, true, false and media-both-ways in predicates; wire and scenario among peers and servers."
    case .badListLength: "The list has too few or too many members."
    case .triggerCycle: "These entries wait for each other, so none of them ever fires."
    case .triggerCount: "An entry has exactly one trigger: at, after (with of), when or every."
    case .effectCount: "An entry has exactly one effect: do, fault, send, clear or mark."
    case .uplinkCycle: "These networks lead to each other, so packets never reach the outside."
    case .linkWithoutPeer: "A link joins a peer to a network; this one has no peer."
    case .peerWithoutNetwork: "The peer has no network and no link, so that it cannot send anything."
    case .overlappingPrefixes: "Two networks that reach each other without a NAT between them share addresses."
    case .noCellLeft: "skip and only together leave no cell of the matrix, so that nothing runs."
    case .needsWhy: "A default invariant is turned off only with a reason: { invariant: -name, why: … }."
    case .fixedInvariant: "A crash, an illegal transition or a stuck call fails every run, and cannot be turned off."
    case .unusedVariable:
      "The matrix variable has no effect, so that its cells are the same run. An 'if' only selects expectations."
    case .neverFires: "The entry never fires, or too late to have an effect."
    case .conflictingKeys: "These keys exclude each other."
    case .noBound: "Without a bound the expectation cannot fail."
    case .wrongServerKind: "The fault needs a server of another kind."
    case .faultDoesNotLast: "This fault is instantaneous, so that it has no length and cannot be cleared."
    case .impossibleBound: "No value meets all these bounds."
    case .wrongTransport: "The server does not offer this transport: see its key transports."
    case .notOfAProgram:
      "A peer with stack: external has only W3C states and statistics, without the further values of our own stack."
    case .severalCallServers:
      "All peers of a profile meet at one server of each kind that the profile declares, so that a second one has no clients."
    case .tooFewAddresses:
      "Every interface on a network has an address of its own, at the start or when link.move has taken it there, and a NAT "
        + "as many as its key addresses says; nat.reboot with address: new takes as many others before it gives those back. "
        + "The router has the first one of each prefix."
    case .variableName:
      "An id names a scenario in reports and replays, so it is the same in every cell of the matrix."
    case .ineffective: "The key has no effect here, because it depends on something that is missing."
    case .sharedNetwork:
      "A network of topology is one network for all its peers, which reach each other behind one NAT. A "
        + "named network, built in or of a file of use, gives each peer its own. For a shared network write "
        + "cidr and nat without profile, or isolated: true; or give the peers the named network and one lan."
    case .noWayOut:
      "A network without nat and to has no router, so that its hosts reach each other alone, and hosts with addresses of "
        + "one family reach none of the other; what they need is elsewhere."
    case .beyondEnd:
      "The run ends before this can be decided: raise run or, without that key, limits: { virtual: … }."
    case .needsRun:
      "The length of the run is not defined, and this lasts as long as the run: write run: 60s, or its end."
    case .neverTested: "This depends on a condition that cannot be true, so that it is never tested."
    case .cannotFail: "This holds in every possible run, so that it tests nothing."
    case .cannotHold: "This fails in every possible run."
    case .untestedWindow: "The window is empty, so that the expectation is never tested."
    case .impossibleMove: "Nothing in the scenario is there for this kind of move, so that no search can make it."
    case .wrongRouter: "The network's router does not support this fault, or not with these arguments."
    case .changesNothing:
      "The fault has no effect in any cell, so that it tests nothing. In some cells it may have none, as a control "
        + "for the others."
    case .emptyWindow:
      "The end of the window comes before its beginning. Unless the end comes again, the expectation is never tested."
    case .unusedDefinition: "The name is defined and never used."
    case .unusedName: "Nothing refers to it."
    case .undeclaredField: "The message declares no such field, but one whose name or role is much like it."
    case .reviewRisk:
      "The background mode voip is for apps with features of a call app: a store review may reject one that declares it "
        + "without them. Nothing of the run depends on it there."
    case .nothingExpected: "A scenario without expectations only checks the invariants."
    }
  }
}
