import CTaskHost

extension HostTable {
  static func fillLaunchPhase(_ table: inout taskhost_api) {
    table.register_handler = { launch, registration in
      HostTable.answer { () throws(CallFailure) in try Registry.launch(launch).register(registration) }
    }
    table.configuration = { launch in
      HostTable.value(orElse: nil) { () throws(CallFailure) in try Registry.launch(launch).configuration() }
    }
    table.data_directory = { launch in
      HostTable.value(orElse: nil) { () throws(CallFailure) in try Registry.launch(launch).dataDirectory() }
    }
    table.launch_submit = { launch, request in
      HostTable.answer { () throws(CallFailure) in try Registry.launch(launch).submit(request) }
    }
    table.launch_log = { launch, level, message in
      HostTable.answer { () throws(CallFailure) in try Registry.launch(launch).log(level, message) }
    }
  }
}
