// Charts on the run's time axis: round trips, loss, what the jitter buffer holds, bit rates, the estimated bandwidth,
// pictures, drops by reason. Lines differ in colour and in dashes, bars in order.

const REASONS = 5;
const DASHES = ['', '7 3', '2 3', '9 3 2 3', '4 4', '1 2'];

function gaugeChart(story, quantity, title, unit, factor, places) {
  const series = story.gauges.filter(gauge => gauge.quantity === quantity).map((gauge, at) => {
    const points = [];
    for (let index = 0; index < gauge.points.length; index += 2) points.push([fromNanoseconds(gauge.points[index]), gauge.points[index + 1] * factor]);
    return { name: gauge.subject, points, color: at % 6, dash: at % 6, pause: 3 };
  });
  return chart(title, unit, series, places);
}

function rateChart(story) {
  const series = story.flows.flatMap((flow, at) => {
    const name = `${flow.from || '?'} → ${flow.to || '?'}`;
    const points = line => {
      const width = fromNanoseconds(line.width);
      return line.amounts.map((bytes, index) => [index * width + width / 2, bytes * 8 / width / 1000]);
    };
    const list = [{ name, points: points(flow.to === null ? flow.sent : flow.received), color: at % 6, dash: at % 6 }];
    const [sent, received] = [flow.sent, flow.received].map(line => line.amounts.reduce((a, b) => a + b, 0));
    // What left and did not come is worth a line of its own.
    if (flow.to !== null && flow.from !== null && sent > received * 1.02) list.push({ name: 'sent', points: points(flow.sent), color: at % 6, dash: 2, isFaint: true });
    return list;
  });
  return chart('Bit rate', 'kbit/s', series, 0);
}

function chart(title, unit, series, places) {
  const lines = series.filter(line => line.points.length);
  return {
    title, unit, lines, places,
    value: at => {
      const texts = lines.filter(line => !line.isFaint).slice(0, 3).map(line => {
        const point = line.points.findLast(point => point[0] <= at);
        return point && at - point[0] < 3 ? `${line.name} ${point[1].toFixed(places)}` : '';
      }).filter(Boolean);
      return texts.length ? `${title.toLowerCase()} ${texts.join(', ')} ${unit}` : '';
    },
  };
}

function dropChart(story) {
  const reasons = new Map();
  for (const drop of story.drops) {
    const known = reasons.get(drop.reason) || { name: drop.reason, bins: [], total: 0 };
    reasons.set(drop.reason, known);
    const width = fromNanoseconds(drop.counts.width);
    drop.counts.amounts.forEach((count, index) => { if (count) known.bins.push([index * width, width, count]); known.total += count; });
  }
  const sorted = [...reasons.values()].sort((a, b) => b.total - a.total);
  const rest = sorted.slice(REASONS);
  const bars = sorted.slice(0, REASONS);
  if (rest.length) bars.push({ name: `${rest.length} other reasons`, bins: rest.flatMap(reason => reason.bins), total: rest.reduce((sum, reason) => sum + reason.total, 0) });
  return { title: 'Packets dropped', unit: 'a bin', bars, lines: [], places: 0, value: () => '' };
}

const chartsOf = story => [
  gaugeChart(story, 'round-trip', 'Round trip', 'ms', 1000, 0), gaugeChart(story, 'loss', 'Loss', '%', 100, 1), rateChart(story),
  gaugeChart(story, 'bandwidth', 'Bandwidth estimate', 'kbit/s', .001, 0), gaugeChart(story, 'frame-rate', 'Pictures shown', 'a second', 1, 0),
  gaugeChart(story, 'buffer-delay', 'Buffer delay', 'ms', 1000, 0), dropChart(story),
].filter(chart => chart.lines.length || chart.bars?.length);

const niceTop = value => {
  if (!(value > 0)) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  return [1, 1.5, 2, 3, 5, 7.5, 10].map(factor => factor * power).find(size => size >= value * .999);
};

function chartTrack(chart) {
  const entries = chart.bars ? chart.bars.map((bar, at) => ({ name: `${bar.name} ${bar.total}`, color: at })) : chart.lines;
  const legendRows = space => space.isNarrow ? Math.ceil(entries.length / 2) : Math.min(entries.length, 6);
  const plotHeight = space => space.isNarrow ? 66 : Math.max(66, legendRows(space) * 14 + 20);
  const head = space => 14 + (space.isNarrow ? 8 + legendRows(space) * 14 : 0);
  return {
    height: space => head(space) + plotHeight(space) + 8,
    draw: (y, space) => {
      const top = y + head(space);
      const bottom = top + plotHeight(space);
      space.front.append(s('line', { class: 'rule', x1: 0, x2: space.right, y1: y + 4, y2: y + 4 }),
        s('text', { class: 'head', x: 0, y: (space.isNarrow ? y : top - 3) + 20 - (space.isNarrow ? 0 : 4) }, chart.title, s('tspan', { class: 'soft', 'font-weight': 400, dx: 6 }, chart.unit)));
      legend(entries, space, space.isNarrow ? y + 34 : top + 31, !!chart.bars);
      const [from, to] = [space.view.from, space.view.to];
      const bins = chart.bars ? stacked(chart.bars, from, to, space) : [];
      const seen = chart.lines.flatMap(line => line.points.filter(point => point[0] >= from && point[0] <= to).map(point => point[1]));
      const peak = niceTop(chart.bars ? Math.max(0, ...bins.map(bin => bin.sum)) : seen.reduce((a, b) => Math.max(a, b), 0));
      const high = value => bottom - Math.min(1, value / peak) * (bottom - top);
      for (const value of [0, peak / 2, peak]) {
        space.front.append(s('line', { class: 'gridline', x1: space.gutter, x2: space.right, y1: high(value), y2: high(value) }));
        if (value !== peak / 2) space.front.append(s('text', { class: 'unit', x: space.isNarrow ? space.right : space.gutter - 5, y: high(value) + (space.isNarrow ? (value ? 9 : -3) : 3.5), 'text-anchor': 'end' }, `${+value.toFixed(2)}`));
      }
      for (const bin of bins) for (const piece of bin.pieces) {
        space.front.append(s('rect', { x: bin.x, y: high(piece.to), width: bin.width, height: Math.max(.5, high(piece.from) - high(piece.to)), fill: `var(--s${piece.color})` }, s('title', {}, `${piece.count} ${piece.name}`)));
      }
      for (const line of chart.lines) {
        for (const path of paths(line, from, to, space.x, high)) {
          space.front.append(s('path', { class: 'line', d: path, stroke: `var(--s${line.color})`, 'stroke-dasharray': DASHES[line.dash], opacity: line.isFaint ? .6 : 1 }));
        }
      }
    },
  };
}

function legend(entries, space, y, isBars) {
  entries.slice(0, 6).forEach((entry, at) => {
    const x = space.isNarrow ? at % 2 * space.width / 2 : 10;
    const row = y + (space.isNarrow ? Math.floor(at / 2) : at) * 14;
    space.front.append(isBars ? s('rect', { x, y: row - 8, width: 9, height: 9, fill: `var(--s${entry.color})` })
      : s('line', { class: 'line', x1: x, x2: x + 16, y1: row - 4, y2: row - 4, stroke: `var(--s${entry.color})`, 'stroke-dasharray': DASHES[entry.dash], opacity: entry.isFaint ? .6 : 1 }),
    s('text', { class: 'soft', x: x + (isBars ? 14 : 21), y: row }, shorten(entry.name, space.isNarrow ? space.width / 13 - 4 : 19)));
  });
}

// A line breaks where there was nothing to measure.
function paths(line, from, to, x, high) {
  const list = [];
  let path = '';
  let last = null;
  for (const [time, value] of line.points) {
    if (time < from || time > to) continue;
    const isPause = last !== null && line.pause && time - last > line.pause;
    if (!path || isPause) { if (path) list.push(path); path = `M${x(time).toFixed(1)} ${high(value).toFixed(1)}`; } else path += `L${x(time).toFixed(1)} ${high(value).toFixed(1)}`;
    last = time;
  }
  if (path) list.push(path.includes('L') ? path : path + 'h2');
  return list;
}

function stacked(bars, from, to, space) {
  const count = Math.max(20, Math.min(160, Math.floor((space.right - space.gutter) / 6)));
  const widest = Math.max(.25, ...bars.flatMap(bar => bar.bins.map(bin => bin[1])));
  const step = Math.max(widest, (to - from) / count);
  const bins = new Map();
  bars.forEach((bar, color) => {
    for (const [start, width, number] of bar.bins) {
      const middle = start + width / 2;
      if (middle < from || middle > to) continue;
      const index = Math.floor((middle - from) / step);
      const bin = bins.get(index) || { sum: 0, pieces: new Map() };
      bins.set(index, bin);
      bin.pieces.set(color, (bin.pieces.get(color) || 0) + number);
      bin.sum += number;
    }
  });
  return [...bins].map(([index, bin]) => {
    let base = 0;
    const pieces = [...bin.pieces].sort((a, b) => a[0] - b[0]).map(([color, number]) => {
      base += number;
      return { color, from: base - number, to: base, count: number, name: bars[color].name };
    });
    const left = space.x(from + index * step);
    return { x: left, width: Math.max(1.5, Math.min(space.right, space.x(from + (index + 1) * step)) - left - 1), sum: bin.sum, pieces };
  });
}
