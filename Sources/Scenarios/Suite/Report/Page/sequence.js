// The sequence diagram: signalling as it was sent and as it came, media, what users did, faults. Time goes down, a row an
// event; a message that came late ends in a row of its own.

const ROW = 24;
const ROWS = 240;

function sequenceEvents(story, isShort) {
  const events = [];
  story.messages.forEach((message, index) => {
    const [order, from, to, type, sent, isUnsent, effects, , receipts] = message;
    const copies = [];
    for (let at = 0; at < receipts.length; at += 2) copies.push({ order: receipts[at], time: receipts[at + 1] });
    const isHeld = effects.includes('delay') || effects.includes('reorder');
    const isTaken = isUnsent || effects.includes('drop') || effects.includes('blackhole');
    const isLate = copies.length > 0 && (isHeld || copies[0].time - sent > 2e9);
    const event = { order, time: sent, kind: 'message', index, from, to, type, effects, isLate,
      isLost: isTaken || (!copies.length && effects.length > 0) };
    events.push(event);
    copies.forEach((copy, number) => {
      if (number > 0 || isLate) events.push({ ...copy, kind: 'arrival', of: event, isCopy: number > 0 });
    });
  });
  for (const [order, time, peer, action, target, isRefused] of story.userActions.list) {
    events.push({ order, time, kind: 'note', who: peer, class: 'deed', text: `${action} ${target}`.trim() + (isRefused ? ' (refused)' : '') });
  }
  for (const [order, time, subject, , , text] of story.notes.list) {
    events.push({ order, time, kind: 'note', who: owner(story, subject), class: 'note', text });
  }
  for (const fault of story.faults) {
    events.push({ order: fault.order, time: fault.start, kind: 'band', text: fault.label, who: fault.targets });
    if (fault.end !== null) events.push({ order: fault.endOrder, time: fault.end, kind: 'band', text: `${fault.label} is over`, who: fault.targets, isEnd: true });
  }
  for (const flow of story.flows) {
    if (flow.from === null || flow.to === null) continue;
    const [from, to] = [owner(story, flow.from), owner(story, flow.to)];
    const spans = merged(flow.intervals.list);
    spans.forEach(([start, end], at) => {
      events.push({ order: Infinity, time: start, kind: 'media', from, to, text: at ? 'media again' : 'media' });
      if (end < story.end - 2e9) events.push({ order: Infinity, time: end, kind: 'media', from, to, text: 'media stops', isEnd: true });
    });
  }
  if (!isShort) {
    for (const machine of story.machines) {
      if (HIDDEN.has(machine.name) || !isParticipant(story, machine.subject)) continue;
      for (const [order, time, value, isInitial] of machine.changes.list) {
        if (!isInitial) events.push({ order, time, kind: 'state', who: owner(story, machine.subject), text: `${machine.name.replace(/\.state$/, '')}: ${value}` });
      }
    }
  }
  return folded(events.sort((a, b) => a.time - b.time || a.order - b.order));
}

// Candidates of one side that follow each other are one arrow with their number.
function folded(events) {
  const rows = [];
  for (const event of events) {
    const last = rows[rows.length - 1];
    if (last && event.kind === 'message' && last.kind === 'message' && !event.isLate && !last.isLate && !event.effects.length
      && !last.effects.length && !event.isLost && !last.isLost && last.type === event.type && last.from === event.from && last.to === event.to) {
      last.count = (last.count || 1) + 1;
    } else {
      rows.push(event);
    }
  }
  return rows;
}

function sequence(story, width) {
  const holder = h('div', {});
  let isShort = true;
  const draw = () => {
    const all = sequenceEvents(story, isShort);
    const rows = all.slice(0, ROWS);
    const names = [];
    const note = name => { if (name && !names.includes(name)) names.push(name); };
    for (const [name, role] of story.participants) if (role !== 'server' && rows.some(row => [row.from, row.to, row.who].flat().includes(name))) note(name);
    for (const row of rows) { if (row.kind === 'message' || row.kind === 'media') { note(row.from); note(row.to); } if (typeof row.who === 'string') note(row.who); }
    const left = 66;
    const full = Math.max(width, left + names.length * 130);
    const gap = (full - left) / Math.max(1, names.length);
    const x = name => left + gap * (names.indexOf(name) + .5);
    const y = index => 56 + index * ROW;
    const height = y(rows.length) + 6;
    const svg = s('svg', { viewBox: `0 0 ${full} ${height}`, width: full, height, role: 'img', style: `min-width:${full > width ? full : 0}px`,
      'aria-label': `Sequence diagram of ${names.join(', ')}; its rows follow as a list` });
    for (const name of names) {
      svg.append(s('line', { class: 'life', x1: x(name), x2: x(name), y1: 30, y2: height }),
        s('rect', { class: 'box', x: x(name) - Math.min(60, gap / 2 - 4), y: 6, width: Math.min(120, gap - 8), height: 24, rx: 6 }),
        s('text', { class: 'head', x: x(name), y: 22, 'text-anchor': 'middle' }, shorten(name, gap / 7.2)));
    }
    rows.forEach((row, index) => drawRow(svg, row, rows, index, { x, y, left, full, gap }));
    const more = all.length - rows.length + story.omittedMessages;
    holder.replaceChildren(
      h('div', { class: 'zoom' }, h('button', { type: 'button', 'aria-pressed': !isShort, onclick: () => { isShort = !isShort; draw(); holder.querySelector('button').focus(); } }, 'States too')),
      rows.length ? h('div', { class: 'scroll', tabindex: full > width ? 0 : null }, svg) : h('p', { class: 'soft' }, 'No signalling was seen.'),
      h('ol', { class: 'hidden' }, rows.map(row => h('li', {}, sentence(row)))),
      more > 0 ? h('p', { class: 'soft' }, `and ${more} more: the run’s trace.jsonl has them all`) : '');
  };
  draw();
  return holder;
}

function drawRow(svg, row, rows, index, { x, y, left, full, gap }) {
  const at = y(index);
  svg.append(s('text', { class: 'axis', x: 0, y: at + 4 }, seconds(fromNanoseconds(row.time), 3)));
  const arrow = (kind, from, to, y1, y2, text) => {
    const [x1, x2] = [x(from), x(to)];
    const side = x2 > x1 ? -1 : 1;
    if (from === to) {
      svg.append(s('text', { class: kind, x: x1 + 10, y: at + 4 }, '↺ ' + shorten(text, gap / 6)));
      return;
    }
    const end = kind === 'lost' ? x1 + (x2 - x1) * .62 : x2;
    svg.append(s('line', { class: 'message ' + kind, x1, y1: y1 + 5, x2: end, y2: y2 + 5 }));
    if (kind === 'lost') svg.append(s('path', { class: 'cross', d: `M${end - 5} ${y2}l10 10m0-10l-10 10` }));
    else svg.append(s('path', { class: 'tip ' + kind, d: `M${x2} ${y2 + 5}l${side * 8} -4v8z` }));
    svg.append(s('text', { class: kind, x: (x1 + x2) / 2, y: y1 - 1 + (kind === 'late' ? 0 : 1), 'text-anchor': 'middle' }, shorten(text, Math.abs(x2 - x1) / 6.1)));
  };
  if (row.kind === 'message') {
    const label = row.type + (row.count ? ` × ${row.count}` : '') + (row.effects.length ? ` (${row.effects.join(', ')})` : '');
    const arrival = rows.findIndex(other => other.kind === 'arrival' && other.of === row && !other.isCopy);
    if (row.isLate && arrival > index) arrow('late', row.from, row.to, at, y(arrival), label);
    else arrow(row.isLost ? 'lost' : '', row.from, row.to, at, at, label);
  } else if (row.kind === 'arrival') {
    if (row.isCopy) arrow('late', row.of.from, row.of.to, at, at, `${row.of.type}, again`);
    else svg.append(s('text', { class: 'late', x: x(row.of.to) + (x(row.of.to) > x(row.of.from) ? 6 : -6), y: at + 9, 'text-anchor': x(row.of.to) > x(row.of.from) ? 'start' : 'end' }, 'comes'));
  } else if (row.kind === 'media') {
    if (row.isEnd) {
      const end = x(row.to);
      svg.append(s('path', { class: 'cross', d: `M${end - 4} ${at}l8 8m0-8l-8 8` }),
        s('text', { class: 'lost', x: end + (end > x(row.from) ? -9 : 9), y: at + 8, 'text-anchor': end > x(row.from) ? 'end' : 'start' }, `${row.text} from ${row.from}`));
    } else {
      arrow('media', row.from, row.to, at, at, row.text);
    }
  } else if (row.kind === 'band') {
    svg.append(s('rect', { class: 'seqband', x: left, y: at - 8, width: full - left, height: 19, rx: 4 }),
      s('text', { class: 'fault', x: left + 8, y: at + 5 }, shorten((row.isEnd ? '▲ ' : '▼ ') + row.text, (full - left) / 6.2)));
  } else {
    const text = shorten(row.text, gap / 6.2);
    const wide = Math.min(gap - 6, text.length * 6.1 + 14);
    svg.append(s('rect', { class: row.kind === 'state' ? 'chip' : 'box', x: x(row.who) - wide / 2, y: at - 7, width: wide, height: 18, rx: 9 }),
      s('text', { class: row.class || '', x: x(row.who), y: at + 6, 'text-anchor': 'middle' }, text));
  }
}

function sentence(row) {
  const time = seconds(fromNanoseconds(row.time), 3);
  if (row.kind === 'message') return `${time}: ${row.from} sends ${row.type}${row.count ? ` ${row.count} times` : ''} to ${row.to}${row.isLost ? ', lost' : ''}${row.effects.length ? ` (${row.effects.join(', ')})` : ''}`;
  if (row.kind === 'arrival') return `${time}: ${row.of.to} has ${row.of.type}${row.isCopy ? ' again' : ''}`;
  if (row.kind === 'media') return `${time}: ${row.text} from ${row.from} to ${row.to}`;
  if (row.kind === 'band') return `${time}: fault ${row.text}`;
  return `${time}: ${row.who}: ${row.text}`;
}
