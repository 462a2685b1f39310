extension VideoFrame {
  /// Returns the picture at another size. Each new sample is the mean of the samples that it covers, at least one;
  /// enlarging repeats samples.
  package func scaled(to size: PictureSize) -> VideoFrame {
    guard size != self.size else { return self }
    var result = VideoFrame(filled: size, timestamp: timestamp, contentID: contentID)
    for plane in Plane.allCases {
      let (from, to) = (layout(of: plane), result.layout(of: plane))
      withPlane(plane) { source in
        result.modifyPlane(plane) { target in
          for row in 0..<to.height {
            let rows = Self.covered(row, of: to.height, in: from.height)
            for column in 0..<to.width {
              let columns = Self.covered(column, of: to.width, in: from.width)
              var sum = 0
              for y in rows {
                for x in columns { sum += Int(source[y * from.width + x]) }
              }
              let count = rows.count * columns.count
              target[row * to.width + column] = UInt8((sum + count / 2) / count)
            }
          }
        }
      }
    }
    return result
  }

  private static func covered(_ index: Int, of count: Int, in samples: Int) -> Range<Int> {
    let start = index * samples / count
    return start..<max(start + 1, (index + 1) * samples / count)
  }
}
