/// What `sandbox-probe` printed.
struct ProbeResult {
  /// Why it refused the confinement.
  var refused: String?
  var missing: [String] = []
  var ignored: [String] = []
  var denials: [String] = []
  /// What each action answered, in order: 0, or its errno.
  var answers: [Int32] = []
  /// Nanoseconds that confining took.
  var nanoseconds = 0
  /// The signal it died of; nil: it ended by itself.
  var signal: Int32?

  init(output: String) {
    for line in output.split(separator: "\n") {
      if line.hasPrefix("denied: ") {
        denials.append(String(line))
        continue
      }
      let rest = String(line.drop { $0 != " " }.dropFirst())
      switch line.prefix(while: { $0 != " " }) {
      case "refused": refused = rest
      case "missing": missing.append(rest)
      case "ignored": ignored.append(rest)
      case "applied": nanoseconds = Int(rest) ?? 0
      case "=": answers.append(Int32(rest) ?? -1)
      default: refused = String(line)
      }
    }
  }
}
