// One time axis for everything about a run: faults as bands through all, lanes of states, media, charts.

const HIDDEN = new Set(['signaling.state', 'ice-gathering.state', 'interface.state', 'host.state', 'link.state', 'connection.state', 'audio-session.state']);
const isParticipant = (story, subject) => story.participants.some(([name]) => subject === name || subject.startsWith(name + '/'));
const owner = (story, subject) => (story.participants.find(([name]) => subject === name || subject.startsWith(name + '/')) || [subject])[0];
const shorten = (text, length) => {
  const letters = [...clean(text)];
  return letters.length <= length ? letters.join('') : length < 3 ? '' : letters.slice(0, Math.floor(length) - 1).join('') + '…';
};

// Spans that follow each other without a second between them are one: only the pauses of media matter.
function merged(spans) {
  const list = [];
  for (const [start, end] of [...spans].sort((a, b) => a[0] - b[0])) {
    const last = list[list.length - 1];
    if (last && start - last[1] < 1e9) last[1] = Math.max(last[1], end); else list.push([start, end]);
  }
  return list;
}

function ticks(from, to, count) {
  const rough = (to - from) / Math.max(1, count);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map(factor => factor * power).find(size => size >= rough);
  const list = [];
  for (let at = Math.ceil(from / step) * step; at <= to + step * 1e-9; at += step) list.push(at);
  return { list, places: Math.max(0, -Math.floor(Math.log10(step) + 1e-9)) };
}

function timeline(story, result) {
  const length = Math.max(fromNanoseconds(story.end), fromNanoseconds(result.virtualNanoseconds), .001);
  const findings = result.findings.filter(finding => finding.kind !== 'warning');
  const failure = findings.find(finding => finding.atNanoseconds > 0);
  const view = { from: 0, to: length };
  let isWhole = false;
  const output = h('output', { 'aria-live': 'off' });
  const holder = h('div', { class: 'time' });
  const all = h('button', { type: 'button', 'aria-pressed': 'false', onclick: () => { isWhole = !isWhole; all.setAttribute('aria-pressed', isWhole); redraw(); } }, 'All states');
  const node = h('div', {}, h('div', { class: 'zoom' },
    h('button', { type: 'button', onclick: () => show(0, length) }, 'Whole run'),
    failure && h('button', { type: 'button', onclick: () => showFailure() }, 'The failure'),
    h('button', { type: 'button', 'aria-label': 'Zoom in', onclick: () => scale(.5) }, '+'),
    h('button', { type: 'button', 'aria-label': 'Zoom out', onclick: () => scale(2) }, '−'), all, output), holder);
  let drawn = null;

  function show(from, to) {
    const span = Math.min(length, Math.max(.02, to - from));
    view.from = Math.max(0, Math.min(length - span, from));
    view.to = view.from + span;
    redraw();
  }
  const scale = factor => {
    const middle = (view.from + view.to) / 2;
    const half = (view.to - view.from) / 2 * factor;
    show(middle - half, middle + half);
  };
  const shift = part => show(view.from + (view.to - view.from) * part, view.to + (view.to - view.from) * part);
  const showFailure = () => {
    const [start, end] = failure.windowNanoseconds || [failure.atNanoseconds - 3e9, failure.atNanoseconds];
    const [from, to] = [fromNanoseconds(start), fromNanoseconds(Math.max(end, failure.atNanoseconds))];
    const margin = Math.max(.5, (to - from) * .15);
    show(from - margin, to + margin);
  };

  function redraw() {
    const width = Math.max(280, Math.floor(holder.clientWidth));
    if (!width) return;
    drawn = drawTimeline(story, { findings, failure, isWhole, view, width });
    holder.replaceChildren(drawn.svg);
  }

  // The pointer: a line through all, and what was so at its time; with a button down, a part to zoom to.
  let begin = null;
  const timeAt = event => {
    const box = drawn.svg.getBoundingClientRect();
    return drawn.time((event.clientX - box.left) * drawn.width / box.width);
  };
  holder.addEventListener('pointerdown', event => { if (event.pointerType === 'mouse' && drawn) begin = timeAt(event); });
  holder.addEventListener('pointerup', event => {
    if (begin === null) return;
    const [from, to] = [begin, timeAt(event)].sort((a, b) => a - b);
    begin = null;
    if (to - from > (view.to - view.from) * .02) show(from, to);
  });
  holder.addEventListener('pointermove', event => {
    if (!drawn) return;
    const time = timeAt(event);
    const isInside = time >= view.from && time <= view.to;
    drawn.cursor(isInside ? time : null);
    output.textContent = isInside ? `${seconds(time, 3)}${drawn.values(time)}` : '';
  });
  holder.addEventListener('pointerleave', () => { drawn?.cursor(null); output.textContent = ''; begin = null; });
  let width = 0;
  new ResizeObserver(() => { if (holder.clientWidth !== width) { width = holder.clientWidth; redraw(); } }).observe(holder);

  const isAll = () => view.from === 0 && view.to === length;
  const key = name => {
    if (name === 'w') scale(.5); else if (name === 's') scale(2); else if (name === 'a') shift(-.25); else if (name === 'd') shift(.25);
    else if (name === 'x') { if (failure && isAll()) showFailure(); else show(0, length); } else return false;
    return true;
  };
  return { node, key };
}

function drawTimeline(story, { findings, failure, isWhole, view, width }) {
  const isNarrow = width < 640;
  const gutter = isNarrow ? 0 : 172;
  const right = width - 10;
  const x = time => gutter + (time - view.from) / (view.to - view.from) * (right - gutter);
  const time = at => view.from + (at - gutter) / (right - gutter) * (view.to - view.from);
  const part = (start, end) => {
    const [from, to] = [fromNanoseconds(start), end === null ? view.to : fromNanoseconds(end)];
    return to < view.from || from > view.to ? null : [x(Math.max(from, view.from)), x(Math.min(to, view.to))];
  };
  const front = s('g', {});
  const space = { front, x, part, gutter, right, isNarrow, view, width, stop: fromNanoseconds(story.end) };
  const charts = chartsOf(story);
  let y = 24;
  for (const track of [...laneTracks(story, isWhole, space), ...charts.map(chart => chartTrack(chart))]) {
    track.draw(y, space);
    y += track.height(space);
  }
  const height = y + 22;
  const back = s('g', {});
  const { list, places } = ticks(view.from, view.to, (right - gutter) / 90);
  for (const at of list) {
    back.append(s('line', { class: 'gridline', x1: x(at), x2: x(at), y1: 18, y2: y }));
    const anchor = x(at) > right - 24 ? 'end' : x(at) < gutter + 16 && isNarrow ? 'start' : 'middle';
    for (const row of [12, height - 6]) back.append(s('text', { class: 'axis', x: x(at), y: row, 'text-anchor': anchor }, at.toFixed(places) + ' s'));
  }
  for (const fault of story.faults) {
    const place = part(fault.start, fault.lasts ? fault.end : fault.start);
    // What goes on all the time sets nothing apart.
    if (!place || place[1] - place[0] > (right - gutter) * .95) continue;
    back.append(fault.lasts ? s('rect', { class: 'band', x: place[0], y: 18, width: Math.max(1, place[1] - place[0]), height: y - 18 })
      : s('line', { class: 'instant', x1: place[0], x2: place[0], y1: 18, y2: y }));
  }
  for (const finding of failure ? [failure] : []) {
    const place = finding.windowNanoseconds && part(...finding.windowNanoseconds);
    if (place) back.append(s('rect', { class: 'window', x: place[0], y: 18, width: Math.max(2, place[1] - place[0]), height: y - 18 }));
  }
  for (const finding of findings.filter(finding => finding.atNanoseconds > 0)) {
    const place = part(finding.atNanoseconds, finding.atNanoseconds);
    if (place) front.append(s('line', { class: 'failure', x1: place[0], x2: place[0], y1: 18, y2: y }));
  }
  const cursor = s('line', { class: 'cursor', y1: 18, y2: y, visibility: 'hidden' });
  const svg = s('svg', { viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-label': 'Time axis of the run: its lanes follow as a list' },
    s('defs', {}, s('pattern', { id: 'hatch', width: 7, height: 7, patternUnits: 'userSpaceOnUse', patternTransform: 'rotate(45)' },
      s('line', { class: 'hatch', x1: 0, x2: 0, y1: 0, y2: 7 }))), back, front, cursor);
  return {
    svg, time, width,
    cursor: at => {
      if (at === null) return cursor.setAttribute('visibility', 'hidden');
      put(cursor, { x1: x(at), x2: x(at), visibility: 'visible' }, []);
    },
    values: at => charts.map(chart => chart.value(at)).filter(Boolean).map(text => ' · ' + text).join(''),
  };
}

// What lanes show, for those who do not see them.
function laneList(story) {
  const time = value => seconds(fromNanoseconds(value));
  const items = story.faults.map(fault => `Fault ${fault.label} ${fault.lasts ? `from ${time(fault.start)} to ${fault.end === null ? 'the end' : time(fault.end)}` : `at ${time(fault.start)}`}`);
  for (const machine of story.machines) {
    if (HIDDEN.has(machine.name) || !isParticipant(story, machine.subject)) continue;
    items.push(`${machine.subject} ${machine.name}: ${machine.changes.list.slice(0, 60).map(change => `${change[2]} from ${time(change[1])}`).join(', ')}`);
  }
  for (const [subject, local, remote, start, end] of story.pairs.list) {
    items.push(`${subject} sends over ${local} to ${remote} from ${time(start)} to ${end === null ? 'the end' : time(end)}`);
  }
  for (const flow of story.flows) {
    items.push(`Media from ${flow.from || 'nobody seen'} to ${flow.to || 'nobody seen'}: ${merged(flow.intervals.list).slice(0, 60).map(span => `${time(span[0])} to ${time(span[1])}`).join(', ') || 'none came'}`);
  }
  return h('ul', { class: 'hidden' }, items.map(item => h('li', {}, item)));
}
