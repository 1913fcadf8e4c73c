// An author imports TaskHostSDK alone: the C names of `taskhost_plugin_launch` and swift-log's `Logger` come with it.
@_exported public import CTaskHost
@_exported public import Logging
