/// Finds the word that people would call a command by: `certbot` of `test -x /usr/bin/certbot && nice -n 10 certbot renew`.
enum ProgramName {
  /// What stands in front of the program, or starts it.
  private static let wrappers: Set<String> = [
    "exec", "nice", "ionice", "chrt", "flock", "timeout", "sudo", "su", "env", "time", "chronic", "nohup", "setsid", "cronic",
    "systemd-cat",
    "systemd-inhibit", "stdbuf", "lckdo", "runuser", "chpst", "setlock", "eatmydata", "command", "!", "{", "(", "then", "do", "else",
  ]
  /// What runs the file that follows.
  private static let interpreters: Set<String> = [
    "sh", "bash", "dash", "zsh", "ksh", "python", "python2", "python3", "perl", "php", "ruby", "node", "java", "rscript", "lua", "tclsh",
    "run-parts",
  ]
  /// What a line does besides its work.
  private static let asides: Set<String> = [
    "test", "[", "[[", "cd", "if", "while", "for", "until", "sleep", "export", "source", ".", "set", "umask", "which", "type", "hash",
    "true",
    ":", "mkdir", "echo", "printf", "date", "ulimit", "pgrep", "case", "fi", "done", "exit", "trap", "shopt", "}", ")",
  ]
  private static let endings = [".sh", ".py", ".php", ".pl", ".rb", ".js", ".jar", ".bash", ".cron", ".phar"]

  /// The name, or `job` if none is found.
  static func of(_ command: String) -> String {
    var aside: String?
    for words in statements(of: command) {
      guard let (name, isAside) = name(of: words) else { continue }
      if !isAside { return name }
      if !IdentifierBook.word(name).isEmpty { aside = name }
    }
    return aside ?? "job"
  }

  /// The words of each simple command, split at `;`, `&`, `|` and line ends outside of quotes.
  private static func statements(of command: String) -> [[String]] {
    var statements: [[String]] = [[]]
    var word: String?
    var quote: Character?
    var isEscaped = false
    func endWord() {
      if let done = word { statements[statements.count - 1].append(done) }
      word = nil
    }
    for character in command {
      if isEscaped {
        word = (word ?? "") + String(character)
        isEscaped = false
      } else if let end = quote {
        if character == end { quote = nil } else { word = (word ?? "") + String(character) }
      } else if character == "'" || character == "\"" {
        quote = character
        word = word ?? ""
      } else if character == "\\" {
        isEscaped = true
      } else if ";|&\n".contains(character) {
        endWord()
        statements.append([])
      } else if "(){}".contains(character), word == nil {
        statements.append([])
      } else if character == " " || character == "\t" {
        endWord()
      } else if character == ">" || character == "<" {
        endWord()
        statements[statements.count - 1].append(">")
      } else {
        word = (word ?? "") + String(character)
      }
    }
    endWord()
    return statements
  }

  /// Options that take the next word, by wrapper.
  private static let optionsWithValue: [String: Set<String>] = [
    "sudo": ["-u", "-g", "-h", "-p", "-C"], "flock": ["-w", "-E"], "timeout": ["-s", "-k"], "nice": ["-n"], "ionice": ["-c", "-n", "-p"],
    "env": ["-u", "-C"], "systemd-cat": ["-t", "-p"], "su": ["-s", "-g"], "runuser": ["-u", "-s", "-g"], "chrt": ["-T", "-P", "-D"],
  ]
  /// Wrappers whose first word is not the program: a lock, a user, a time, a priority.
  private static let operands: Set<String> = ["flock", "lckdo", "setlock", "su", "timeout", "chrt"]

  private static func name(of words: [String]) -> (name: String, isAside: Bool)? {
    var rest = words[...].prefix { $0 != ">" }
    var wrapper: String?
    var mayTakeOperand = false
    while let word = rest.first {
      rest = rest.dropFirst()
      let base = Self.base(of: word)
      if isAssignment(word) || word.isEmpty { continue }
      if let current = wrapper {
        if word == "-c", let code = rest.first, current != "ionice" { return (Self.of(code), false) }
        if word.hasPrefix("-") {
          if optionsWithValue[current]?.contains(word) == true { rest = rest.dropFirst() }
          continue
        }
        if mayTakeOperand {
          mayTakeOperand = false
          continue
        }
      }
      if base == "perl", rest.first == "-e" { return ("perl", true) }
      if base == "command", rest.first == "-v" { return (base, true) }
      if wrappers.contains(base) {
        (wrapper, mayTakeOperand) = (base, operands.contains(base))
        continue
      }
      guard interpreters.contains(base.lowercased()) else { return (base, asides.contains(base)) }
      return script(of: rest).map { (Self.base(of: $0), false) } ?? code(of: rest).map { (Self.of($0), false) } ?? (base, false)
    }
    return wrapper.map { ($0, true) }
  }

  /// The code that a shell is given with `-c`, `-lc` and the like.
  private static func code(of words: ArraySlice<String>) -> String? {
    guard let option = words.firstIndex(where: { $0.hasPrefix("-") && $0.hasSuffix("c") }) else { return nil }
    return words[(option + 1)...].first
  }

  /// The file that an interpreter runs, or the folder of `run-parts`.
  private static func script(of words: ArraySlice<String>) -> String? {
    var isOptionOfCode = false
    for word in words {
      if isOptionOfCode { return nil }
      if word.hasPrefix("-") {
        isOptionOfCode = word.hasSuffix("c") || word == "-e" || word == "-r"
      } else {
        return word
      }
    }
    return nil
  }

  private static func isAssignment(_ word: String) -> Bool {
    guard let sign = word.firstIndex(of: "="), sign > word.startIndex else { return false }
    return word[..<sign].utf8.allSatisfy { Bytes.isAlphanumeric($0) || $0 == 0x5f } && !Bytes.isDigit(word.utf8.first ?? 0x30)
  }

  private static func base(of word: String) -> String {
    let last = word.split(separator: "/").last.map(String.init) ?? word
    guard let ending = endings.first(where: { last.hasSuffix($0) && last.count > $0.count }) else { return last }
    return String(last.dropLast(ending.count))
  }
}
