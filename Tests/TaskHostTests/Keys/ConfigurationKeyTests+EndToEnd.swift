extension ConfigurationKeyTests {
  private static let processorTest = "limits.cpu holds a worker to its quota and share, or plugins list says that nothing does"

  /// Keys whose behaviour takes a process: sockets, logs, workers, sandboxes.
  static let endToEndProofs: [String: KeyProof] = [
    "plugin_directories": .endToEnd("ConfigurationTests", "paths are relative to the file, whatever the working directory"),
    "state_directory": .endToEnd("ConfigurationTests", "paths are relative to the file, whatever the working directory"),
    "store_mark": .endToEnd("StoreLossTests", "a state directory that was deleted is noticed where store_mark names a file elsewhere"),
    "overdue_after": .endToEnd("ProblemTests", "work that has been due for longer than overdue_after and nobody runs is overdue"),
    "launch_budget": .endToEnd(
      "PermissionTests", "31: a permitted plugin that is known beforehand and times out fails the launch with exit 75"),
    "drain_timeout": .endToEnd("DrainTests", "82: a run that outlasts drain_timeout expires with DRAINING, and what it returns decides"),
    "require_signatures": .endToEnd("FaultFileTests", "21: a signature that is missing, wrong, for another file, or by another key"),
    "trusted_keys.file": .endToEnd("FaultFileTests", "21: a signature that is missing, wrong, for another file, or by another key"),
    "trusted_keys.identifiers": .endToEnd("FaultFileTests", "21: a signature that is missing, wrong, for another file, or by another key"),
    "reload": .endToEnd("FileWatchTests", "auto puts changes in force once they have come to rest, and manual offers them"),
    "approve_entitlements": .endToEnd(
      "ApprovalTests", "nothing is loaded before it is approved once; its requests wait and say why; one command approves all"),
    "require_sandbox": .endToEnd("SandboxTests", "require_sandbox fails the launch where the kernel lacks something, and says what"),
    "control.socket": .endToEnd(
      "CommandLineTests", "the socket is found by --socket, TASKHOST_SOCKET, the configuration and state/control.sock"),
    "control.mode": .endToEnd(
      "ConfigurationTests", "the control socket and an event's socket have the mode and the group that are configured"),
    "control.group": .endToEnd(
      "ConfigurationTests", "the control socket and an event's socket have the mode and the group that are configured"),
    "control.listen": .endToEnd("RemoteAccessTests", "a client over TCP does what its token permits, from the configured file"),
    "control.token_file": .endToEnd("RemoteAccessTests", "a client over TCP does what its token permits, from the configured file"),
    "control.key": .endToEnd(
      "RemoteAccessTLSTests", "a host speaks TLS with the configured certificate, and with a renewed one without a restart"),
    "control.names": .endToEnd("RemoteAccessTests", "a client over TCP does what its token permits, from the configured file"),
    "fleet.url": .endToEnd("FleetTests", "any host submits, any host runs, and each request runs once"),
    "fleet.name": .endToEnd("FleetTests", "a drained host takes nothing more, and keys are unique in the fleet"),
    "fleet.max_pending": .endToEnd(
      "FleetTests", "an identifier gets no more requests than fleet.max_pending, from any host and in any way"),
    "fleet.labels": .endToEnd("FleetTests", "any host submits, any host runs, and each request runs once"),
    "plugin.*.scope": .endToEnd("FleetTests", "any host submits, any host runs, and each request runs once"),
    "redact": .endToEnd("AuditTests", "members that the configuration redacts are seen by the handler only"),
    "events.*.mode": .endToEnd(
      "ConfigurationTests", "the control socket and an event's socket have the mode and the group that are configured"),
    "events.*.group": .endToEnd(
      "ConfigurationTests", "the control socket and an event's socket have the mode and the group that are configured"),
    "events.*.listen": .endToEnd(
      "EventSocketTests", "a datagram to a Unix socket wakes the request that waits for it, with its bytes as the payload"),
    "log.level": .endToEnd("ConfigurationTests", "the log's level and format are heeded"),
    "log.format": .endToEnd("ConfigurationTests", "the log's level and format are heeded"),
    "plugin.*.file": .endToEnd("PermissionTests", "35: a file that is tied to one identifier may not register another"),
    "plugin.*.isolation": .endToEnd("BackgroundTasksTests", "SwiftUI's shape in thread isolation"),
    "plugin.*.budget": .endToEnd(
      "ExpirationTests", "a budget that the plugin registers shortens its kind's, and the configuration overrides it"),
    "plugin.*.grace": .endToEnd("FaultyLaunchTests", "plugins list shows what was registered, with the operator's limits"),
    "plugin.*.max_concurrent_runs": .endToEnd("FaultyLaunchTests", "plugins list shows what was registered, with the operator's limits"),
    "plugin.*.may_submit": .endToEnd("PluginRequestTests", "70: a plugin submits to others only where its configuration says so"),
    "plugin.*.may_transfer": .endToEnd("PluginTransferTests", "a plugin reaches nothing through transfers that it could not reach itself"),
    "plugin.*.may_wake": .endToEnd("WholeRequestTests", "a plugin wakes the machine only where its configuration says so"),
    "plugin.*.may_notify": .endToEnd("PluginEventTests", "a plugin raises others' events only where its configuration says so"),
    "plugin.*.ping": .endToEnd(
      "PingTests",
      "the begin, the success and the failure for good of a run are told, with its id; an attempt that is retried is no failure"),
    "plugin.*.settings": .endToEnd("FaultyLaunchTests", "a plugin gets its settings while it launches"),
    "plugin.*.limits.memory": .endToEnd("FaultResourceTests", "60: memory ends at the limit, and the run can still say so"),
    "plugin.*.limits.processes": .endToEnd("FaultResourceTests", "60 61: threads end at the limit of the worker"),
    "plugin.*.limits.cpu.share": .endToEnd("FaultResourceTests", processorTest),
    "plugin.*.limits.cpu.quota": .endToEnd("FaultResourceTests", processorTest),
    "plugin.*.limits.descriptors": .endToEnd(
      "FaultResourceTests",
      "61: a thousand leaked descriptors end at the limit of the worker, whose link goes on; in thread isolation the host has room for them"
    ),
    "plugin.*.entitlements.read": .endToEnd("FaultRunMisuseTests", "66: where a plugin may start programs, a daemon dies with its worker"),
    "plugin.*.entitlements.write": .endToEnd(
      "SampleTests", "the cleanup plugin removes what its rule says, and nothing the second time"),
    "plugin.*.entitlements.exec": .endToEnd("FaultRunMisuseTests", "66: where a plugin may start programs, a daemon dies with its worker"),
    "plugin.*.entitlements.network": .endToEnd("SandboxTests", "a list of ports is refused by name where Landlock cannot keep to it"),
  ]
}
