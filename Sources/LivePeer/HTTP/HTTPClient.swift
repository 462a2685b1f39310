package import CallCore
internal import LibC
internal import NIOCore
internal import NIOHTTP1
internal import NIOPosix
internal import Synchronization

/// A client of another program's HTTP/1.1 endpoint, with one connection for each request.
package final class HTTPClient: Sendable {
  private let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
  /// The promised responses of all requests; a call makes two.
  private let responses = Mutex<[EventLoopPromise<HTTPResponse>]>([])

  package init() {}

  /// Sends a request; `completion` is called once, on another thread.
  package func send(
    _ request: HTTPRequest, to host: String, port: Int,
    completion: @escaping @Sendable (Result<HTTPResponse, HTTPFailure>) -> Void
  ) {
    let response = group.next().makePromise(of: HTTPResponse.self)
    response.futureResult.whenComplete { result in completion(result.mapError { HTTPFailure($0) }) }
    responses.withLock { $0.append(response) }
    ClientBootstrap(group: group)
      .connectTimeout(.seconds(10))
      .channelInitializer { channel in
        channel.pipeline.addHTTPClientHandlers().flatMapThrowing {
          try channel.pipeline.syncOperations.addHandler(ResponseHandler(response))
        }
      }
      .connect(host: host, port: port)
      .whenComplete { result in
        switch result {
        case .success(let channel): Self.write(request, host: host, port: port, on: channel)
        case .failure(let error): response.fail(error)
        }
      }
  }

  private static func write(_ request: HTTPRequest, host: String, port: Int, on channel: any Channel) {
    var headers = HTTPHeaders([
      ("Host", host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"), ("Connection", "close"),
    ])
    headers.add(name: "Content-Length", value: "\(request.body.count)")
    if !request.contentType.isEmpty { headers.add(name: "Content-Type", value: request.contentType) }
    let head = HTTPRequestHead(
      version: .http1_1, method: .init(rawValue: request.method), uri: request.path, headers: headers)
    channel.write(HTTPClientRequestPart.head(head), promise: nil)
    channel.write(HTTPClientRequestPart.body(.byteBuffer(ByteBuffer(bytes: request.body))), promise: nil)
    channel.writeAndFlush(HTTPClientRequestPart.end(nil), promise: nil)
  }

  /// Waits for pending requests, at most for `timeout`, and stops the client.
  package func stop(timeout: Interval = .seconds(2)) {
    let responses = responses.withLock { $0 }
    let timeout = TimeAmount.nanoseconds(timeout.nanoseconds)
    let limit = group.next().scheduleTask(in: timeout) {
      for response in responses { response.fail(ChannelError.connectTimeout(timeout)) }
    }
    for response in responses { _ = try? response.futureResult.wait() }
    limit.cancel()
    try? group.syncShutdownGracefully()
  }
}

/// The failure of a request, with a message for users.
package struct HTTPFailure: Error, CustomStringConvertible {
  package let description: String

  init(_ error: any Error) {
    switch error {
    case let error as NIOConnectionError:
      // If several addresses failed, the first error is enough.
      description =
        error.connectionErrors.first.map { HTTPFailure($0.error).description } ?? "'\(error.host)' has no address"
    case let error as SocketAddressError.UnknownHost: description = "'\(error.host)' has no address"
    case let error as IOError: description = String(cString: strerror(error.errnoCode))
    case ChannelError.connectTimeout: description = "no connection in time"
    case is ChannelError: description = "the connection ended before an answer came"
    case is HTTPParserError: description = "the server does not speak HTTP"
    default: description = "\(error)"
    }
  }
}

private final class ResponseHandler: ChannelInboundHandler {
  typealias InboundIn = HTTPClientResponsePart

  private static let longestBody = 1 << 20

  private let promise: EventLoopPromise<HTTPResponse>
  private var response = HTTPResponse(0)

  init(_ promise: EventLoopPromise<HTTPResponse>) { self.promise = promise }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    switch unwrapInboundIn(data) {
    case .head(let head):
      response = HTTPResponse(Int(head.status.code), head.headers.map { ($0.name, $0.value) })
    case .body(let bytes):
      guard response.body.count + bytes.readableBytes <= Self.longestBody else { return context.close(promise: nil) }
      response.body += bytes.readableBytesView
    case .end:
      promise.succeed(response)
      context.close(promise: nil)
    }
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    promise.fail(error)
    context.close(promise: nil)
  }

  /// Fails the request; has no effect after a response.
  func channelInactive(context: ChannelHandlerContext) { promise.fail(ChannelError.eof) }
}
