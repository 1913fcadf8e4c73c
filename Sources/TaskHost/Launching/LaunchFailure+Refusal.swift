import Logging
import PluginTrust
import TaskModel

extension LaunchFailure {
  /// Whether a retry may help.
  var isTemporary: Bool { step == .crashed || step == .timeout }

  /// The refusal of the file, with the remedy.
  func refusal(of path: String) -> PluginRefusal {
    let (code, remedy): (PluginRefusal.Code, String) =
      switch step {
      case .load where observed.contains("undefined symbol"):
        (.unresolvedSymbol, "Link the library that has it, or rebuild against the version installed here.")
      case .load: (.dependencyMissing, "Install what it needs, in the version it was built with.")
      case .crashed: (.launchFailed, "It must neither crash nor end its process: run it under a debugger, or ask its author.")
      case .timeout: (.launchTimeout, "Do no work in taskhost_plugin_launch, or raise launch_budget.")
      case .status: (.launchFailed, "See the plugin's log lines above; check its settings.")
      case .registration where observed.hasPrefix("it registered no"):
        (.registeredNothing, "Call register_handler in taskhost_plugin_launch.")
      case .registration: (.invalidRegistration, "Correct what it registers.")
      case .note: (.noteDisagrees, "The note must agree with what is registered: correct one of them.")
      case .registeredTwice: (.registeredTwice, "Register one handler; make a plugin of its own for the other.")
      case .identifierTaken: (.identifierTaken, "Remove one of the two files, or give one another identifier.")
      case .notPermitted: (.notPermitted, "Add it to permitted_identifiers, or remove the file.")
      }
    return PluginRefusal(code: code, file: path, observed: observed, remedy: remedy)
  }
}

extension Logger.Level {
  init(_ level: LogLine.Level) {
    switch level {
    case .trace: self = .trace
    case .debug: self = .debug
    case .info: self = .info
    case .notice: self = .notice
    case .warning: self = .warning
    case .error: self = .error
    }
  }
}
