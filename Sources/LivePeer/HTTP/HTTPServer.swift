package import CallCore
internal import LibC
internal import NIOCore
internal import NIOHTTP1
internal import NIOPosix
internal import Synchronization

/// A small HTTP/1.1 server on its own thread. The call's loop gets complete requests and never waits for one.
package final class HTTPServer: Sendable {
  /// A handler for a request, with a function that answers it; both may be called on any thread.
  package typealias Handler = @Sendable (HTTPRequest, @escaping @Sendable (HTTPResponse) -> Void) -> Void

  private let group: MultiThreadedEventLoopGroup
  private let channel: any Channel
  /// The host and port of the server; if port 0 was requested, the port that the system chose.
  package let host: String
  package let port: Int

  /// Starts to listen.
  ///
  /// - Parameters:
  ///   - timeout: the timeout for a complete request, from the connection or from the previous answer.
  ///   - limit: the limit of connections, half of it for one address; further connections are closed.
  package init(
    host: String, port: Int, timeout: Interval = .seconds(60), limit: Int = 64, handler: @escaping Handler
  ) throws(HTTPServerError) {
    let connections = ConnectionCount(limit: limit)
    let timeout = TimeAmount.nanoseconds(timeout.nanoseconds)
    group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    let bootstrap = ServerBootstrap(group: group)
      .serverChannelOption(.backlog, value: 16)
      .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
      .childChannelInitializer { channel in
        let address = channel.remoteAddress?.ipAddress ?? ""
        guard connections.add(from: address) else { return channel.close() }
        channel.closeFuture.whenComplete { _ in connections.remove(from: address) }
        return channel.eventLoop.makeCompletedFuture {
          let pipeline = channel.pipeline.syncOperations
          try pipeline.configureHTTPServerPipeline()
          try pipeline.addHandler(RequestHandler(timeout: timeout, handler))
        }
      }
    do {
      channel = try bootstrap.bind(host: host, port: port).wait()
    } catch {
      group.shutdownGracefully { _ in }
      throw HTTPServerError(place: "\(host):\(port)", reason: Self.reason(for: error))
    }
    self.host = host
    self.port = channel.localAddress?.port ?? port
  }

  private static func reason(for error: any Error) -> String {
    if let error = error as? SocketAddressError.UnknownHost { return "'\(error.host)' has no address" }
    guard let error = error as? IOError else { return "\(error)" }
    switch error.errnoCode {
    case EADDRINUSE: return "the port is in use; choose another, or 0 for any"
    case EACCES: return "ports below 1024 need privileges; choose a higher one"
    case EADDRNOTAVAIL: return "this machine does not have that address"
    default: return String(cString: strerror(error.errnoCode))
    }
  }

  /// Stops listening and closes every connection.
  package func stop() {
    try? channel.close().wait()
    try? group.syncShutdownGracefully()
  }
}

/// The failure to start an HTTP server.
package struct HTTPServerError: Error, Sendable, CustomStringConvertible {
  package let place: String
  package let reason: String
  package var description: String { "cannot listen on \(place): \(reason)" }
}

private final class ConnectionCount: Sendable {
  private let counts = Mutex((all: 0, byAddress: [String: Int]()))
  private let limit: Int

  init(limit: Int) { self.limit = limit }

  /// - Returns: false if the limit is reached, in total or for this address.
  func add(from address: String) -> Bool {
    counts.withLock { counts in
      guard counts.all < limit, counts.byAddress[address, default: 0] < (limit + 1) / 2 else { return false }
      counts.all += 1
      counts.byAddress[address, default: 0] += 1
      return true
    }
  }

  func remove(from address: String) {
    counts.withLock { counts in
      counts.all -= 1
      let rest = counts.byAddress[address, default: 1] - 1
      counts.byAddress[address] = rest > 0 ? rest : nil
    }
  }
}

/// Collects a request and writes its response.
private final class RequestHandler: ChannelInboundHandler {
  typealias InboundIn = HTTPServerRequestPart
  typealias OutboundOut = HTTPServerResponsePart

  /// The limit of a body in bytes, many times the largest description.
  private static let longestBody = 1 << 20

  private let timeout: TimeAmount
  private let handler: HTTPServer.Handler
  /// The task that closes a connection without a complete request. Single bytes do not postpone it.
  private var deadline: Scheduled<Void>?
  private var request: HTTPRequest?
  private var keepsAlive = true
  private var isTooLong = false
  private var isWithoutHost = false

  init(timeout: TimeAmount, _ handler: @escaping HTTPServer.Handler) {
    self.timeout = timeout
    self.handler = handler
  }

  func channelActive(context: ChannelHandlerContext) {
    awaitRequest(context.channel)
    context.fireChannelActive()
  }

  func channelInactive(context: ChannelHandlerContext) {
    deadline?.cancel()
    context.fireChannelInactive()
  }

  private func awaitRequest(_ channel: any Channel) {
    deadline?.cancel()
    deadline = channel.eventLoop.scheduleTask(in: timeout) { channel.close(promise: nil) }
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    switch unwrapInboundIn(data) {
    case .head(let head):
      keepsAlive = head.isKeepAlive
      isTooLong = false
      let (authority, target) = Self.parts(of: head.uri)
      let path = target.split(separator: "?", omittingEmptySubsequences: false).first.map(String.init) ?? "/"
      request = HTTPRequest(head.method.rawValue, path, contentType: head.headers.first(name: "Content-Type") ?? "")
      let hosts = head.headers["Host"].map { HostAndPort($0, defaultPort: 80)?.host }
      isWithoutHost = hosts.isEmpty ? head.version != .http1_0 : hosts.count > 1 || hosts[0] == nil
      request?.host = (hosts.first ?? nil) ?? ""
      if let authority {
        let host = HostAndPort(String(authority), defaultPort: 80)?.host
        isWithoutHost = isWithoutHost || host == nil
        request?.host = host ?? ""
      }
    case .body(let bytes):
      isTooLong = isTooLong || (request?.body.count ?? 0) + bytes.readableBytes > Self.longestBody
      if !isTooLong { request?.body += bytes.readableBytesView }
    case .end:
      guard let request else { return }
      self.request = nil
      respond(to: request, context: context)
    }
  }

  /// Splits a target. One in absolute form names the host, and the Host header is ignored (RFC 9112 section 3.2.2).
  private static func parts(of target: String) -> (authority: Substring?, origin: Substring) {
    guard target.lowercased().hasPrefix("http://") else { return (nil, target[...]) }
    let rest = target.dropFirst("http://".count)
    let end = rest.firstIndex { $0 == "/" || $0 == "?" } ?? rest.endIndex
    return (rest[..<end], rest[end...].hasPrefix("/") ? rest[end...] : "/" + rest[end...])
  }

  private func respond(to request: HTTPRequest, context: ChannelHandlerContext) {
    deadline?.cancel()
    let isHead = request.method == "HEAD"
    let (loop, keepsAlive) = (context.eventLoop, keepsAlive)
    let bound = NIOLoopBound((self, context), eventLoop: loop)
    let answer: @Sendable (HTTPResponse) -> Void = { response in
      loop.execute {
        let (handler, context) = bound.value
        handler.write(response, context: context, isHead: isHead, keepsAlive: keepsAlive)
      }
    }
    // RFC 9112 section 3.2.
    guard !isWithoutHost else { return answer(HTTPResponse(400, text: "a request must name one host\n")) }
    guard !isTooLong else { return answer(HTTPResponse(413, text: "too large\n")) }
    handler(request, answer)
  }

  private func write(_ response: HTTPResponse, context: ChannelHandlerContext, isHead: Bool, keepsAlive: Bool) {
    awaitRequest(context.channel)
    var headers = HTTPHeaders(response.headers)
    headers.replaceOrAdd(name: "Content-Length", value: "\(response.body.count)")
    headers.replaceOrAdd(name: "Cache-Control", value: "no-store")
    headers.replaceOrAdd(name: "X-Content-Type-Options", value: "nosniff")
    if !keepsAlive { headers.replaceOrAdd(name: "Connection", value: "close") }
    let head = HTTPResponseHead(version: .http1_1, status: .init(statusCode: response.status), headers: headers)
    context.write(wrapOutboundOut(.head(head)), promise: nil)
    if !isHead, !response.body.isEmpty {
      context.write(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(bytes: response.body)))), promise: nil)
    }
    let written = context.writeAndFlush(wrapOutboundOut(.end(nil)))
    if !keepsAlive {
      let channel = context.channel
      written.whenComplete { _ in channel.close(promise: nil) }
    }
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}
