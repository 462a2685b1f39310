internal import CallCore
internal import Formats
internal import ScenarioFormat
internal import ScenarioRun

extension Campaign {
  /// - Returns: false when it was interrupted.
  func reduce(_ outcome: inout Outcome) throws -> Bool {
    var reductions: [Int: FindingReduction] = [:]
    for (index, bucket) in progress.buckets.enumerated() {
      guard let text = originalText(of: bucket) else { continue }
      do throws(FileError) {
        try store.write(text, as: "original.yaml", of: bucket)
      } catch {
        failure = error
      }
      reductions[index] = FindingReduction(
        text: text, check: bucket.check, seed: bucket.first.seed, limit: options.reductionLimit,
        registry: plan.profiles.registry)
    }
    var waiting = progress.buckets.indices.filter {
      reductions[$0]?.hasWork == true && store.minimal(of: progress.buckets[$0]) == nil
    }
    let isComplete = try pool(waiting.count).run(
      nextTask: {
        while !waiting.isEmpty {
          let index = waiting.removeFirst()
          if let job = reductions[index]?.nextJob() { return (index, job) }
        }
        return nil
      },
      wallLimit: { _ in Self.runLimit },
      follow: { index, _, outcome in
        reductions[index]?.take(outcome)
        return reductions[index]?.nextJob().map { .next($0, isFresh: false) } ?? .done
      })
    for (index, bucket) in progress.buckets.enumerated() {
      outcome.found.append(found(bucket, reductions[index], isComplete: isComplete))
    }
    return isComplete
  }

  /// Returns a finding with its smallest file, which is written if it is new.
  private func found(_ bucket: Bucket, _ reduction: FindingReduction?, isComplete: Bool) -> Found {
    var found = Found(bucket: bucket, path: store.minimal(of: bucket))
    guard found.path == nil, let reduction else { return found }
    found.obstacle = reduction.obstacle
    guard reduction.isRepeated, isComplete || !reduction.hasWork else { return found }
    do throws(FileError) {
      found.path = try store.write(reduction.text, as: "minimal.yaml", of: bucket)
    } catch {
      failure = error
    }
    return found
  }

  private func originalText(of bucket: Bucket) -> String? {
    let place = bucket.first
    guard let base = plan.bases.firstIndex(where: { $0.cell.id == place.cellID }) else {
      return nil
    }
    return plan.text(of: CampaignPlan.Run(base: base, variation: place.variation, seed: place.seed))
  }
}
