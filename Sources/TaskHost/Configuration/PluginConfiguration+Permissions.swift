import StrictText
import TaskModel
import WorkerProcesses

extension PluginConfiguration {
  /// What the plugin's code may do, a sentence without a full stop each.
  var permissions: [String] {
    var sentences: [String] = []
    if isolation == .thread {
      sentences.append("it runs inside the host and may do whatever the host may")
    } else {
      sentences += entitlements.sentences
      sentences.append(
        "it has at most \(ByteCountFormat.text(Int64(limits.memory))) of memory, \(limits.processes) processes and threads, and "
          + "\(limits.descriptors) descriptors")
      if let quota = limits.processor.quota { sentences.append("it may use \(quota)% of a processor at most") }
      if let share = limits.processor.share { sentences.append("its share of busy processors is \(share), where others have 100") }
    }
    if !environment.isEmpty { sentences.append("it gets the environment variables \(environment.joined(separator: ", "))") }
    if !maySubmit.isEmpty { sentences.append("it may submit requests to \(maySubmit.map(\.text).joined(separator: ", "))") }
    if !mayNotify.isEmpty { sentences.append("it may raise the events \(mayNotify.map(\.text).joined(separator: ", "))") }
    if mayTransfer { sentences.append("it may have files transferred") }
    if mayWake { sentences.append("its requests may wake the machine") }
    return sentences
  }
}

extension PluginConfiguration.Entitlements {
  fileprivate var sentences: [String] {
    var sentences: [String] = []
    if !read.isEmpty { sentences.append("it may read \(read.joined(separator: ", "))") }
    if !write.isEmpty { sentences.append("it may read and write \(write.joined(separator: ", "))") }
    switch network {
    case .none: sentences.append("it may not use the network")
    case .connect: sentences.append("it may connect to any address and port")
    case .ports(let ports): sentences.append("it may connect to the ports \(ports.map(String.init).joined(separator: ", "))")
    }
    sentences.append(exec ? "it may start programs" : "it may not start programs")
    return sentences
  }
}
