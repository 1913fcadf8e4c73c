import CTaskHost
import Glibc
import TaskHostSDK
import TaskHostTesting
import Testing

@Suite("The test host's table", .timeLimit(.minutes(10)))
struct TableTests {
  @Test("is complete, and knows two extensions and no others")
  func complete() throws {
    let host = try TestHost.with { _ in .success }
    let api = host.api.pointee
    #expect(api.struct_size == UInt32(MemoryLayout<taskhost_api>.size))
    #expect(api.abi_version == 1)
    for offset in stride(from: 8, to: MemoryLayout<taskhost_api>.size, by: 8) {
      #expect(UnsafeRawPointer(host.api).load(fromByteOffset: offset, as: UInt.self) != 0, "offset \(offset)")
    }
    let requests = try #require(api.extension(TASKHOST_EXTENSION_REQUESTS))
    #expect(requests.load(as: UInt32.self) == UInt32(MemoryLayout<taskhost_requests>.size))
    let virtualTime = try #require(api.extension(VirtualTimeFunctions.identifier))
    #expect(virtualTime.load(as: UInt32.self) == 40)
    #expect(MemoryLayout<VirtualTimeFunctions>.size == 40)
    #expect(api.extension("org.taskhost.virtual-time/2") == nil)
    #expect(api.extension(nil) == nil)
  }

  @Test("keeps the sentence of the last failure for each thread, whichever host answered")
  func lastError() throws {
    let hosts = [try TestHost.with { _ in .success }, try TestHost.with { _ in .success }]
    #expect(hosts[0].api.pointee.log(0, 2, "nobody") == taskhost_status(TASKHOST_ESTALE))
    #expect(hosts[0].api.pointee.launch_log(0, 2, "nobody") == taskhost_status(TASKHOST_ELAUNCHED))
    let sentence = try #require(hosts[1].api.pointee.last_error())
    #expect(String(cString: sentence) == "launch is over: register during taskhost_plugin_launch")
  }

  @Test("a launch handle that was kept is answered ELAUNCHED from a run")
  func keptLaunch() async throws {
    let handle = Seen<taskhost_launch>()
    let answers = Seen<taskhost_status>()
    let plugin = try TestPlugin(launch: { api, launch in
      handle.note(launch)
      return TaskHostPlugin.launch(ClosureTask<Refresh>.self, api, launch)
    })
    #expect(throws: TestHostError.self) { try TestHost([plugin]) }  // no body in its settings
    let host = try TestHost.with(Refresh.self) { _ in
      .success
    }
    for kept in handle.all { answers.note(host.api.pointee.launch_submit(kept, nil)) }
    #expect(answers.all == [taskhost_status(TASKHOST_ELAUNCHED)])
  }

  @Test("state holds 10,000 keys and values of a mebibyte, and a key more is refused")
  func limits() async throws {
    let host = try TestHost.with { task in
      for number in 0..<10_000 { try task.state.set("\(number)", []) }
      try task.state.set("0", [UInt8](repeating: 1, count: 1 << 20))
      let keys = #expect(throws: TaskHostError.self) { try task.state.set("one more", []) }
      #expect(keys?.code == .limit)
      let size = #expect(throws: TaskHostError.self) { try task.state.set("0", [UInt8](repeating: 1, count: (1 << 20) + 1)) }
      #expect(size?.code == .tooBig)
      try task.state.remove("0")
      try task.state.set("one more", [])
      return .success
    }
    let run = try await host.run()
    #expect(run.result == .success, "\(run)")
    #expect(try host.state().count == 10_000)
  }

  @Test("code of the main actor sleeps on the clock, too")
  func mainActor() async throws {
    let host = try TestHost.with { task in
      try await MainWork.sleepTwice(task)
      return .success
    }
    #expect(try await host.run().duration == .seconds(20))
  }

  @MainActor enum MainWork {
    static func sleepTwice(_ task: TaskContext<NoPayload>) async throws {
      try await task.sleep(for: .seconds(10))
      try await task.sleep(for: .seconds(10))
    }
  }
}
