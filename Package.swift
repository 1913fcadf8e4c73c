// swift-tools-version: 6.2
import PackageDescription

/// `make test` and CI set TASKHOST_STRICT, which turns warnings into errors. Packages that depend on this one do not set it.
let strict: [SwiftSetting] =
  Context.environment["TASKHOST_STRICT"] == "1" ? [.treatAllWarnings(as: .error)] : []

let settings: [SwiftSetting] =
  [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
  ] + strict

// Third-party products, named once.
let argumentParser = Target.Dependency.product(name: "ArgumentParser", package: "swift-argument-parser")
let deque = Target.Dependency.product(name: "DequeModule", package: "swift-collections")
let heap = Target.Dependency.product(name: "HeapModule", package: "swift-collections")
let grdb = Target.Dependency.product(name: "GRDB", package: "GRDB.swift")
let grdbSQLite = Target.Dependency.product(name: "GRDBSQLite", package: "GRDB.swift")
let logging = Target.Dependency.product(name: "Logging", package: "swift-log")
let mustache = Target.Dependency.product(name: "Mustache", package: "swift-mustache")
let nioCore = Target.Dependency.product(name: "NIOCore", package: "swift-nio")
let nioHTTP1 = Target.Dependency.product(name: "NIOHTTP1", package: "swift-nio")
let nioPosix = Target.Dependency.product(name: "NIOPosix", package: "swift-nio")
let nioSSL = Target.Dependency.product(name: "NIOSSL", package: "swift-nio-ssl")
let nioTLS = Target.Dependency.product(name: "NIOTLS", package: "swift-nio")
let serviceLifecycle = Target.Dependency.product(name: "ServiceLifecycle", package: "swift-service-lifecycle")
let tomlKit = Target.Dependency.product(name: "TOMLKit", package: "TOMLKit")

let package = Package(
  name: "taskhost",
  products: [
    .executable(name: "taskhost", targets: ["taskhost"]),
    .executable(name: "taskhost-worker", targets: ["taskhost-worker"]),
    .executable(name: "taskhost-notify", targets: ["taskhost-notify"]),
    .library(name: "CTaskHost", targets: ["CTaskHost"]),
    .library(name: "TaskHostClient", targets: ["TaskHostClient"]),
    .library(name: "TaskHostSDK", targets: ["TaskHostSDK"]),
    .library(name: "BackgroundTasks", targets: ["BackgroundTasks"]),
    .library(name: "AppleCompat", targets: ["AppleCompat", "AppleCompatOSLog", "AppleCompatSwiftUI"]),
    .library(name: "TaskHostTesting", targets: ["TaskHostTesting"]),
    .library(name: "TokenRefresh", type: .dynamic, targets: ["TokenRefreshEntry"]),
    .library(name: "Cleanup", type: .dynamic, targets: ["CleanupEntry"]),
    .library(name: "Exec", type: .dynamic, targets: ["ExecEntry"]),
    .library(name: "Transfers", type: .dynamic, targets: ["TransfersEntry"]),
  ],
  dependencies: [
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0"),
    .package(url: "https://github.com/apple/swift-collections", from: "1.6.0"),
    .package(url: "https://github.com/apple/swift-log", from: "1.16.0"),
    .package(url: "https://github.com/apple/swift-nio", from: "2.101.0"),
    .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.0"),
    .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
    .package(url: "https://github.com/LebJe/TOMLKit", from: "0.6.0"),
    .package(url: "https://github.com/hummingbird-project/swift-mustache", from: "2.1.1"),
    .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
  ],
  // A target depends on its own floor and on lower ones; ArchitectureTests reads the floors from these comments.
  targets: [
    // Floor 4: what people start.
    .executableTarget(
      name: "taskhost",
      dependencies: [
        "CPluginTemplates", "CProgramCode", "CTaskHostSystem", "CalendarTime", "Failpoints", "FleetStore", "HostControl", "HostProcesses",
        "HostThreads", "PluginCheck", "PluginTrust", "RecordJSON", "StrictText", "Takeover", "TaskFilters", "TaskHost", "TaskHostClient",
        "TaskModel",
        "TaskStore", "ValueSealing", argumentParser, logging, nioCore, nioPosix, serviceLifecycle,
      ],
      swiftSettings: settings,
      // Packed relocations make the host 1.1 MB smaller. The linker that Swift takes by itself cannot pack them.
      linkerSettings: [
        .unsafeFlags(["-use-ld=lld", "-Xlinker", "-z", "-Xlinker", "pack-relative-relocs"], .when(configuration: .release))
      ]),
    // What `plugins new` writes.
    .target(name: "CPluginTemplates"),

    .executableTarget(
      name: "taskhost-worker",
      dependencies: [
        "CCrashCell", "CProgramCode", "CTaskHostSystem", "CWorkerDenials", "HostThreads", "OpenFiles", "PluginRuntime", "TaskModel",
        "WorkerLink", "WorkerSandbox", deque,
      ],
      swiftSettings: settings,
      // A worker links Swift statically: it starts in milliseconds, and a plugin can bring another version of Swift. A plugin sees none
      // of the worker's symbols except the C functions that interpose libc's.
      linkerSettings: [.unsafeFlags(["-static-stdlib", "-Xlinker", "--no-export-dynamic"], .when(configuration: .release))]),

    // Delivers one notification by HTTP or mail, and ends. It links Swift statically, as the worker does.
    .executableTarget(
      name: "taskhost-notify", dependencies: ["CTaskHostSystem", "HostThreads", "NoticeDelivery"], swiftSettings: settings,
      linkerSettings: [.unsafeFlags(["-static-stdlib", "-Xlinker", "--no-export-dynamic"], .when(configuration: .release))]),

    // Floor 3: the composition of the host, its control over HTTP, and the conformance test.
    .target(
      name: "TaskHost",
      dependencies: [
        "CCrashCell", "CTaskHostSystem", "CalendarTime", "Failpoints", "FleetStore", "HostConditions", "HostProcesses", "HostThreads",
        "HostWatches", "OpenFiles", "PluginRuntime", "PluginTrust", "ProgramSearch", "RecordJSON", "StrictText", "SchedulingLimits",
        "TaskFilters", "TaskModel",
        "TaskScheduler", "TaskStore", "TypedCalls", "ValueSealing", "WorkerLink", "WorkerProcesses", "WorkerSandbox", deque, logging,
        tomlKit,
      ],
      swiftSettings: settings),
    // The conformance test for plugin authors: each case runs in its own process.
    .target(
      name: "PluginCheck",
      dependencies: [
        "CCrashCell", "CPluginCheck", "CTaskHost", "CTaskHostSystem", "HostProcesses", "HostThreads", "PluginRuntime", "PluginTrust",
        "RecordJSON", "StrictText", "TaskModel", "TransferOrders", "TypedCalls",
      ],
      swiftSettings: settings),
    .target(name: "CPluginCheck"),
    .target(
      name: "HostControl",
      dependencies: [
        "CalendarTime", "Dashboard", "HostThreads", "PluginTrust", "RecordJSON", "StrictText", "TaskFilters", "TaskModel", "TypedCalls",
        deque, logging, nioCore, nioHTTP1, nioPosix, nioSSL, nioTLS, serviceLifecycle,
      ],
      swiftSettings: settings),

    // For plugin authors' unit tests: a host without a daemon, with a virtual clock. It knows the SDK too, whose types its tests use.
    .target(
      name: "TaskHostTesting",
      dependencies: [
        "CTaskHost", "CalendarTime", "HostThreads", "MemoryStore", "PluginRuntime", "RecordJSON", "SchedulingLimits", "StrictText",
        "TaskHostSDK", "TaskModel", "TaskScheduler", "TransferOrders", "TypedCalls",
      ],
      path: "SDK/TaskHostTesting", swiftSettings: settings),

    // Floor 2: what runs when.
    .target(
      name: "TaskScheduler",
      dependencies: [
        "CalendarTime", "Failpoints", "HostThreads", "MemoryStore", "SchedulingLimits", "StrictText", "TaskFilters", "TaskModel", heap,
      ],
      swiftSettings: settings),

    // The pages of the dashboard, from what the host tells; it asks and changes nothing itself.
    .target(
      name: "Dashboard",
      dependencies: ["CDashboardFiles", "CalendarTime", "RecordJSON", "StrictText", "TaskFilters", "TaskModel", "TypedCalls", mustache],
      exclude: ["Files"], swiftSettings: settings),
    // The templates and what browsers load.
    .target(name: "CDashboardFiles", path: "Sources/Dashboard/Files", exclude: ["static", "templates"]),

    // Floor 1: the services.
    .target(name: "MemoryStore", dependencies: ["HostThreads", "TaskModel"], swiftSettings: settings),
    .target(name: "HostConditions", dependencies: ["CTaskHostSystem", "HostThreads", "StrictText", "TaskModel"], swiftSettings: settings),
    .target(
      name: "HostWatches", dependencies: ["CHostWatches", "CTaskHostSystem", "HostThreads", "StrictText"], exclude: ["System"],
      swiftSettings: settings),
    .target(
      name: "OpenFiles", dependencies: ["COpenFiles", "HostThreads", "StrictText", "TaskModel"], exclude: ["System"],
      swiftSettings: settings),
    // openat2 and leases are not in Swift's Glibc module.
    .target(name: "COpenFiles", path: "Sources/OpenFiles/System"),
    // timerfd is not in Swift's Glibc module.
    .target(name: "CHostWatches", path: "Sources/HostWatches/System"),
    // Crontabs and timers as commands of the configuration: text in, findings out.
    .target(name: "Takeover", dependencies: ["CalendarTime", "StrictText", "TaskModel"], swiftSettings: settings),
    // Requests, runs and answers about them as JSON, for clients and plugins.
    .target(name: "RecordJSON", dependencies: ["CalendarTime", "StrictText", "TaskModel", "TransferOrders"], swiftSettings: settings),
    .target(name: "SchedulingLimits", dependencies: ["CalendarTime", "StrictText", "TaskModel"], swiftSettings: settings),
    // What the command line and other programs speak to a host with.
    .target(
      name: "TaskHostClient", dependencies: ["HostThreads", "StrictText", "TaskModel", nioCore, nioPosix, nioSSL, nioTLS],
      swiftSettings: settings),
    // Notifications as webhooks, mails and pings.
    .target(name: "NoticeDelivery", dependencies: ["COpenSSL", "HTTPTransfer", "StrictText"], swiftSettings: settings),
    // The one grammar that selects requests and runs.
    .target(name: "TaskFilters", dependencies: ["CalendarTime", "StrictText", "TaskModel"], swiftSettings: settings),
    .target(
      name: "TaskStore",
      dependencies: ["CTaskHostSystem", "Failpoints", "HostThreads", "StrictText", "TaskModel", "ValueSealing", grdb, grdbSQLite],
      swiftSettings: settings),
    // What the hosts of a fleet share, in PostgreSQL, whose client library is loaded when it is needed.
    .target(
      name: "FleetStore", dependencies: ["CPostgres", "HostThreads", "MemoryStore", "TaskModel", "TaskStore"], swiftSettings: settings),
    .target(name: "CPostgres"),
    // What the store keeps secret, and the keys for that.
    .target(
      name: "ValueSealing", dependencies: ["COpenSSL", "HostThreads", "PluginTrust", "StrictText"], swiftSettings: settings),
    .target(
      name: "PluginRuntime",
      dependencies: ["CCrashCell", "CTaskHost", "CTaskHostSystem", "HostThreads", "TaskModel", "TypedCalls", deque, heap],
      swiftSettings: settings),
    .target(name: "TypedCalls", dependencies: ["CLibFFI", "StrictText", "TaskModel"], swiftSettings: settings),
    .systemLibrary(name: "CLibFFI", pkgConfig: "libffi", providers: [.apt(["libffi-dev"])]),
    .target(name: "PluginTrust", dependencies: ["COpenSSL", "HostThreads", "StrictText", "TaskModel"], swiftSettings: settings),
    .systemLibrary(name: "COpenSSL", pkgConfig: "libcrypto", providers: [.apt(["libssl-dev"])]),
    .target(
      name: "WorkerProcesses",
      dependencies: ["CCrashCell", "CTaskHostSystem", "HostProcesses", "HostThreads", "StrictText", "TaskModel", "WorkerLink", deque],
      swiftSettings: settings),
    .target(name: "WorkerLink", dependencies: ["CTaskHostSystem", "TaskModel"], swiftSettings: settings),
    .target(name: "WorkerSandbox", dependencies: ["CWorkerSandbox", "TaskModel"], swiftSettings: settings),
    .target(name: "CWorkerSandbox", dependencies: ["CSeccomp"]),
    .target(name: "CWorkerDenials", dependencies: ["CWorkerSandbox"]),
    // The host and its workers give back the code that they need only at start.
    .target(name: "CProgramCode"),
    .systemLibrary(name: "CSeccomp", pkgConfig: "libseccomp", providers: [.apt(["libseccomp-dev"])]),

    // Floor 0: the vocabulary and its ports; threads, locks, clocks, files and processes of the system; time zones; strict forms of text; HTTP.
    .target(name: "HostProcesses", dependencies: ["CCrashCell", "CTaskHostSystem"], swiftSettings: settings),
    .target(name: "CCrashCell", dependencies: ["CTaskHostSystem"]),
    .target(name: "HTTPTransfer", dependencies: ["CCurl", "StrictText"], swiftSettings: settings),
    .systemLibrary(name: "CCurl", pkgConfig: "libcurl", providers: [.apt(["libcurl4-openssl-dev"])]),
    .target(name: "HostThreads", dependencies: ["CTaskHostSystem", "TaskModel"], swiftSettings: settings),
    .target(name: "CTaskHostSystem"),
    // Points where a test can end the host.
    .target(name: "Failpoints", swiftSettings: settings),
    .target(name: "CalendarTime", dependencies: ["TaskModel"], swiftSettings: settings),
    .target(name: "StrictText", swiftSettings: settings),
    // What a request for transfers says: for the plugin that carries it out, and for who refuses one that is wrong.
    .target(name: "TransferOrders", dependencies: ["StrictText"], swiftSettings: settings),
    // Where the program of a command is.
    .target(name: "ProgramSearch", swiftSettings: settings),
    .target(name: "TaskModel", swiftSettings: settings),

    // The SDK: knows nothing of the host.
    .target(name: "CTaskHost", path: "SDK/CTaskHost"),
    .target(name: "CTaskHostPlugin", dependencies: ["CTaskHost"], path: "SDK/CTaskHostPlugin"),
    .target(
      name: "TaskHostSDK", dependencies: ["CTaskHost", "CTaskHostPlugin", logging], path: "SDK/TaskHostSDK", swiftSettings: settings),

    .target(name: "CBackgroundTasks", dependencies: ["CTaskHost"], path: "SDK/CBackgroundTasks"),
    .target(
      name: "BackgroundTasks", dependencies: ["CBackgroundTasks", "CTaskHost", "TaskHostSDK"], path: "SDK/BackgroundTasks",
      swiftSettings: settings),
    // Apple's `os`, `OSLog` and what a plugin needs of `SwiftUI`, under names of their own: packages that look for a module `os` must not find this one. A plugin's package
    // gives them Apple's names with -module-alias.
    .target(name: "AppleCompat", dependencies: ["TaskHostSDK", logging], path: "SDK/AppleCompat", swiftSettings: settings),
    .target(name: "AppleCompatOSLog", dependencies: ["AppleCompat"], path: "SDK/AppleCompatOSLog", swiftSettings: settings),
    .target(name: "AppleCompatSwiftUI", dependencies: ["BackgroundTasks"], path: "SDK/AppleCompatSwiftUI", swiftSettings: settings),
    // Built-in plugins: ordinary users of the SDK.
    // The exported C function has its own target: all test targets share one binary, which can export it only once.
    .target(
      name: "TokenRefresh",
      dependencies: [
        "COpenSSL", "CZlib", "HTTPTransfer", "StrictText", "TaskHostSDK", logging,
      ],
      path: "Plugins/TokenRefresh", exclude: ["Entry"], swiftSettings: settings),
    .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
    .target(
      name: "TokenRefreshEntry", dependencies: ["TaskHostSDK", "TokenRefresh"], path: "Plugins/TokenRefresh/Entry", swiftSettings: settings),
    .target(name: "CCleanup", path: "Plugins/CleanupSystem"),
    .target(
      name: "Cleanup", dependencies: ["CCleanup", "StrictText", "TaskHostSDK", logging], path: "Plugins/Cleanup", exclude: ["Entry"],
      swiftSettings: settings),
    // Runs the commands of the configuration: system calls in C, what they are used for in Swift.
    .target(name: "CExec", path: "Plugins/ExecSystem"),
    .target(
      name: "Exec", dependencies: ["CExec", "CTaskHost", "ProgramSearch", "StrictText", "TaskHostSDK"], path: "Plugins/Exec",
      exclude: ["Entry"], swiftSettings: settings),
    .target(name: "ExecEntry", dependencies: ["Exec", "TaskHostSDK"], path: "Plugins/Exec/Entry", swiftSettings: settings),
    .target(name: "CTransfers", path: "Plugins/TransfersSystem"),
    .target(
      name: "Transfers", dependencies: ["COpenSSL", "CTransfers", "HTTPTransfer", "StrictText", "TaskHostSDK", "TransferOrders"],
      path: "Plugins/Transfers", exclude: ["Entry"], swiftSettings: settings),
    .target(name: "TransfersEntry", dependencies: ["TaskHostSDK", "Transfers"], path: "Plugins/Transfers/Entry", swiftSettings: settings),
    .target(name: "CleanupEntry", dependencies: ["Cleanup", "TaskHostSDK"], path: "Plugins/Cleanup/Entry", swiftSettings: settings),

    // Tests: a folder a module, and the real binaries end to end.
    .target(name: "TestSupport", dependencies: ["CTestSupport"], path: "Tests/TestSupport", exclude: ["System"], swiftSettings: settings),
    .target(name: "CTestSupport", path: "Tests/TestSupport/System"),
    .target(name: "StoreTestSupport", dependencies: ["TaskModel"], path: "Tests/StoreTestSupport", swiftSettings: settings),
    .target(name: "CPowerLossVFS", path: "Tests/PowerLossVFS", linkerSettings: [.linkedLibrary("sqlite3")]),
    .testTarget(name: "TaskModelTests", dependencies: ["StoreTestSupport", "TaskModel"], swiftSettings: settings),
    .testTarget(
      name: "TaskStoreTests",
      dependencies: [
        "CPowerLossVFS", "HostThreads", "MemoryStore", "StoreTestSupport", "TaskFilters", "TaskModel", "TaskStore", "ValueSealing", grdb,
        grdbSQLite,
      ],
      swiftSettings: settings),
    .target(
      name: "PostgresTestSupport", dependencies: ["StoreTestSupport", "TestSupport"], path: "Tests/PostgresTestSupport",
      swiftSettings: settings),
    // Optimized in debug builds too: it walks over a million states.
    .target(name: "FleetModel", path: "Tests/FleetModel", swiftSettings: settings + [.unsafeFlags(["-O"])]),
    .testTarget(
      name: "FleetStoreTests",
      dependencies: [
        "FleetModel", "FleetStore", "HostThreads", "MemoryStore", "PostgresTestSupport", "StoreTestSupport", "TaskModel", "TaskScheduler",
        "TaskStore",
        "TestSupport",
      ],
      swiftSettings: settings),
    .testTarget(name: "ValueSealingTests", dependencies: ["StoreTestSupport", "StrictText", "ValueSealing"], swiftSettings: settings),
    .testTarget(name: "NoticeDeliveryTests", dependencies: ["NoticeDelivery"], swiftSettings: settings),
    .testTarget(name: "HTTPTransferTests", dependencies: ["HTTPTransfer"], swiftSettings: settings),
    .testTarget(name: "TaskFiltersTests", dependencies: ["StoreTestSupport", "TaskFilters", "TaskModel"], swiftSettings: settings),
    .testTarget(name: "StrictTextTests", dependencies: ["StrictText"], swiftSettings: settings),
    .testTarget(name: "TransferOrdersTests", dependencies: ["HTTPTransfer", "StrictText", "TransferOrders"], swiftSettings: settings),
    .testTarget(
      name: "CalendarTimeTests", dependencies: ["CalendarTime", "TaskModel", "TestSupport"], exclude: ["croniter_year.py"],
      swiftSettings: settings),
    .testTarget(name: "HostProcessesTests", dependencies: ["CCrashCell", "HostProcesses"], swiftSettings: settings),
    .testTarget(name: "HostThreadsTests", dependencies: ["CTaskHostSystem", "HostThreads", "TaskModel"], swiftSettings: settings),
    .target(
      name: "LauncherConformance",
      dependencies: ["HostThreads", "PluginRuntime", "TaskModel", "TestSupport", "WorkerLink", "WorkerProcesses"],
      path: "Tests/LauncherConformance", swiftSettings: settings),
    .executableTarget(
      name: "launcher-probe",
      dependencies: ["HostThreads", "LauncherConformance", "PluginRuntime", "TaskModel", "TestSupport", "WorkerLink", "WorkerProcesses"],
      path: "Tests/Fixtures/LauncherProbe", swiftSettings: settings),
    .testTarget(
      name: "PluginRuntimeTests",
      dependencies: ["CTaskHost", "HostThreads", "LauncherConformance", "PluginRuntime", "TaskModel", "TestSupport"],
      swiftSettings: settings),
    .testTarget(
      name: "WorkerProcessesTests",
      dependencies: [
        "CTaskHost", "CTaskHostSystem", "HostThreads", "LauncherConformance", "TaskModel", "TestSupport", "WorkerLink", "WorkerProcesses",
      ],
      swiftSettings: settings),
    .testTarget(
      name: "PluginTrustTests", dependencies: ["PluginTrust", "StrictText", "TaskModel", "TestSupport"], swiftSettings: settings),
    .testTarget(
      name: "WorkerLinkTests", dependencies: ["CTaskHostSystem", "TaskModel", "TestSupport", "WorkerLink"], swiftSettings: settings),
    .testTarget(name: "WorkerSandboxTests", dependencies: ["TaskModel", "TestSupport", "WorkerSandbox"], swiftSettings: settings),
    .testTarget(
      name: "WorkerCgroupTests", dependencies: ["HostThreads", "TaskModel", "TestSupport", "WorkerLink", "WorkerProcesses"],
      swiftSettings: settings),
    // Not a dependency of its tests, which would link its interposed functions into the test binary. The tests find it beside that binary.
    .executableTarget(
      name: "sandbox-probe", dependencies: ["CWorkerDenials", "CWorkerSandbox", "TaskModel", "WorkerSandbox"],
      path: "Tests/Fixtures/Sandbox/Probe", swiftSettings: settings),
    .testTarget(
      name: "TaskHostTests",
      dependencies: [
        "FleetStore", "HostConditions", "HostThreads", "MemoryStore", "RecordJSON", "SchedulingLimits", "StoreTestSupport", "TaskHost",
        "TaskModel", "TaskScheduler", "TaskStore", "TestSupport", logging,
      ],
      swiftSettings: settings),
    .target(
      name: "ControlTestSupport",
      dependencies: ["HostControl", "RecordJSON", "StoreTestSupport", "TaskFilters", "TaskModel", logging, serviceLifecycle],
      path: "Tests/ControlTestSupport", swiftSettings: settings),
    .testTarget(
      name: "HostControlTests",
      dependencies: [
        "CalendarTime", "ControlTestSupport", "HTTPTransfer", "HostControl", "HostThreads", "RecordJSON", "StrictText", "TaskModel",
        "TestSupport", logging, nioCore,
      ],
      swiftSettings: settings),
    .testTarget(
      name: "TakeoverTests", dependencies: ["CalendarTime", "Takeover", "TaskHost", "TaskModel", "TestSupport"], exclude: ["Fixtures"],
      swiftSettings: settings),
    .testTarget(name: "DashboardTests", dependencies: ["Dashboard", "TaskModel"], swiftSettings: settings),
    .testTarget(
      name: "CommandLineTests",
      dependencies: [
        "CalendarTime", "ControlTestSupport", "HostControl", "HostThreads", "StoreTestSupport", "StrictText", "TaskHost",
        "TaskHostClient", "TaskModel", "TestSupport", "taskhost",
        logging, serviceLifecycle,
      ],
      swiftSettings: settings),
    .target(name: "CTypedFixtures", path: "Tests/Fixtures/TypedFunctions"),
    .testTarget(name: "TypedCallsTests", dependencies: ["CTypedFixtures", "TaskModel", "TypedCalls"], swiftSettings: settings),
    .testTarget(
      name: "PluginCheckTests", dependencies: ["PluginCheck", "PluginTrust", "TaskModel", "TestSupport", "taskhost"],
      swiftSettings: settings),
    .testTarget(
      name: "BackgroundTasksTests", dependencies: ["BackgroundTasks", "CTaskHost", "TaskHostSDK", "TestSupport"], swiftSettings: settings),
    .testTarget(
      name: "AppleCompatTests", dependencies: ["AppleCompat", "CTaskHost", "TaskHostSDK", "TaskHostTesting"],
      swiftSettings: settings),
    .testTarget(
      name: "TaskHostTestingTests", dependencies: ["CTaskHost", "TaskHostSDK", "TaskHostTesting", "TestSupport", logging],
      swiftSettings: settings),
    // The kit from XCTest, in its own target as in an author's package.
    .testTarget(name: "TaskHostTestingXCTests", dependencies: ["TaskHostSDK", "TaskHostTesting"], swiftSettings: settings),
    .testTarget(
      name: "TaskHostSDKTests", dependencies: ["CTaskHost", "TaskHostSDK", "TestSupport", logging], swiftSettings: settings),
    .testTarget(
      name: "TokenRefreshTests",
      dependencies: [
        "CLibSSL", "COpenSSL", "StrictText", "TaskHostSDK", "TaskHostTesting", "TestSupport", "TokenRefresh", logging, nioCore,
        nioHTTP1, nioPosix,
      ],
      swiftSettings: settings),
    .testTarget(name: "ExecTests", dependencies: ["CTaskHost", "Exec", "StrictText", "TaskHostSDK"], swiftSettings: settings),
    .systemLibrary(name: "CLibSSL", path: "Tests/CLibSSL", pkgConfig: "libssl", providers: [.apt(["libssl-dev"])]),
    .testTarget(
      name: "EndToEndTests", dependencies: ["Failpoints", "PostgresTestSupport", "TaskHostClient", "TestSupport"], swiftSettings: settings),
    // The example of Documentation/clients.md.
    .executableTarget(
      name: "client-example", dependencies: ["TaskHostClient"], path: "Tests/Fixtures/ClientExample", swiftSettings: settings),
    .executableTarget(
      name: "failpoint-probe", dependencies: ["Failpoints"], path: "Tests/FailpointsTests/Probe", swiftSettings: settings),
    .testTarget(
      name: "FailpointsTests", dependencies: ["Failpoints", "TestSupport", "failpoint-probe"], exclude: ["Probe"],
      swiftSettings: settings),
    .testTarget(name: "SchedulingLimitsTests", dependencies: ["CalendarTime", "SchedulingLimits", "TaskModel"], swiftSettings: settings),
    // A separate process, so that tests can preload a calendar and lower the kernel's limits.
    .executableTarget(
      name: "watch-probe", dependencies: ["HostWatches"], path: "Tests/HostWatchesTests/Probe", swiftSettings: settings),
    .testTarget(
      name: "HostWatchesTests", dependencies: ["HostThreads", "HostWatches", "TaskModel", "TestSupport", "watch-probe"],
      exclude: ["Probe"],
      swiftSettings: settings),
    // Not a dependency of its tests: they start it in a separate network namespace and find it beside their binary.
    .executableTarget(
      name: "conditions-probe", dependencies: ["HostConditions", "HostThreads", "TaskModel"],
      path: "Tests/HostConditionsTests/Probe", swiftSettings: settings),
    .testTarget(
      name: "HostConditionsTests",
      dependencies: ["CTaskHostSystem", "HostConditions", "HostThreads", "TaskModel", "TestSupport"], exclude: ["Probe"],
      swiftSettings: settings),
    .testTarget(name: "MemoryStoreTests", dependencies: ["MemoryStore", "StoreTestSupport", "TaskModel"], swiftSettings: settings),
    .testTarget(
      name: "SchedulerProofTests",
      dependencies: ["CalendarTime", "HostThreads", "MemoryStore", "SchedulingLimits", "StoreTestSupport", "TaskModel", "TaskScheduler"],
      swiftSettings: settings),
    .testTarget(name: "ArchitectureTests", swiftSettings: settings),
    .testTarget(name: "CTaskHostTests", dependencies: ["TestSupport"], swiftSettings: settings),
    .testTarget(
      name: "TaskSchedulerTests",
      dependencies: [
        "HostThreads", "MemoryStore", "SchedulingLimits", "StoreTestSupport", "StrictText", "TaskFilters", "TaskModel", "TaskScheduler",
        "TaskStore", grdb, grdbSQLite,
      ],
      swiftSettings: settings),
    .testTarget(
      name: "ExtremeValueTests",
      dependencies: [
        "CTaskHost", "HostControl", "HostThreads", "PluginRuntime", "RecordJSON", "StoreTestSupport", "StrictText", "TaskHost",
        "TaskHostSDK",
        "TaskModel",
        "TaskScheduler", "TaskStore", "WorkerLink",
      ],
      swiftSettings: settings),
    .testTarget(
      name: "CleanupTests", dependencies: ["CTaskHost", "Cleanup", "OpenFiles", "StrictText", "TaskHostSDK", "TaskModel", "TestSupport"],
      swiftSettings: settings),
  ]
)

// `make races` names the test targets that it needs: a build of all of them under a sanitizer takes too long for CI.
if let names = Context.environment["TASKHOST_TESTS"]?.split(separator: ",") {
  package.targets.removeAll { $0.type == .test && !names.contains(Substring($0.name)) }
}
