// Authors need to import only TaskHostSDK: it includes the C names of `taskhost_plugin_launch` and swift-log's `Logger`.
@_exported public import CTaskHost
@_exported public import Logging
