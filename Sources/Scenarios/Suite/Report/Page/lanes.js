// The lanes of the time axis: faults, and for each participant its states, its selected pair, what its user did and what
// befell it; then links and the flow of media.

const STATES = {
  connected: 'up', completed: 'up', true: 'up', active: 'up', up: 'up', failed: 'down', disconnected: 'down', down: 'down',
  connecting: 'busy', checking: 'busy', gathering: 'busy', new: 'idle', closed: 'idle', false: 'idle', inactive: 'idle',
};
const LANE = 21;
const STRIPES = 8;

function label(space, y, text, isHead) {
  const top = isHead ? y + 17 : y + (space.isNarrow ? 10 : 14);
  space.front.append(s('text', { class: isHead ? 'head' : 'soft', x: isHead ? 0 : space.isNarrow ? 0 : 10, y: top }, shorten(text, space.isNarrow ? 50 : isHead ? 25 : 26)));
}

const laneHeight = space => LANE + (space.isNarrow ? 13 : 0);
const barTop = (space, y) => y + (space.isNarrow ? 13 : 0);

function bar(space, y, [from, to], kind, text) {
  const top = barTop(space, y);
  const width = Math.max(1.5, to - from - 1);
  const node = s('rect', { class: kind, x: from, y: top + 1, width, height: 17, rx: Math.min(3, width / 2) }, s('title', {}, text));
  space.front.append(node);
  if (width > 26) space.front.append(s('text', { class: kind, x: from + 6, y: top + 13.5, 'pointer-events': 'none' }, shorten(text, (width - 9) / 6)));
}

function heading(text) {
  return {
    height: () => 26,
    draw: (y, space) => {
      space.front.append(s('line', { class: 'rule', x1: 0, x2: space.right, y1: y + 1.5, y2: y + 1.5 }));
      label(space, y + 3, text, true);
    },
  };
}

function stateLane(machine, name) {
  return {
    height: laneHeight,
    draw: (y, space) => {
      label(space, y, name);
      const changes = machine.changes.list;
      changes.forEach(([, start, value, isInitial], at) => {
        const end = at + 1 < changes.length ? changes[at + 1][1] : space.stop * 1e9;
        const place = space.part(start, end);
        if (!place || end === start) return;
        const kind = isInitial || value === changes[0][2] && STATES[value] !== 'up' ? 'idle' : Object.hasOwn(STATES, value) ? STATES[value] : 'busy';
        bar(space, y, place, kind, value);
      });
    },
  };
}

function pairLane(pairs, name) {
  return {
    height: laneHeight,
    draw: (y, space) => {
      label(space, y, name);
      for (const [, local, remote, start, end] of pairs) {
        const place = space.part(start, end === null ? space.stop * 1e9 : end);
        if (!place) continue;
        const top = barTop(space, y);
        space.front.append(s('rect', { class: 'pair', x: place[0] + .5, y: top + 1.5, width: Math.max(2, place[1] - place[0] - 2), height: 16, rx: 3 }, s('title', {}, `${local} → ${remote}`)));
        if (place[1] - place[0] > 40) space.front.append(s('text', { x: place[0] + 6, y: top + 13.5 }, shorten(`${local} → ${remote}`, (place[1] - place[0] - 10) / 6)));
      }
    },
  };
}

// Deeds and what befell a participant: marks, with words where there is room for them.
function eventLane(events, name) {
  return {
    height: laneHeight,
    draw: (y, space) => {
      label(space, y, name);
      const top = barTop(space, y);
      let free = -Infinity;
      const near = events.filter(event => space.part(event.time, event.time));
      near.forEach((event, at) => {
        const [from] = space.part(event.time, event.time);
        const next = near[at + 1] ? space.part(near[at + 1].time, near[at + 1].time)[0] : space.right;
        const shape = event.class === 'deed' ? `M${from - 4} ${top + 4}h8l-4 9z` : `M${from} ${top + 3}l5 10h-10z`;
        space.front.append(s('path', { class: event.class, d: shape }, s('title', {}, `${seconds(fromNanoseconds(event.time), 3)}: ${event.text}`)));
        const [room, before] = [next - from - 14, from - Math.max(free, space.gutter) - 14];
        const isCut = [...event.text].length * 5.9 > room;
        if (room > 34 && from >= free && !(isCut && at === near.length - 1 && before > room)) {
          const text = shorten(event.text, room / 5.9);
          space.front.append(s('text', { class: event.class, x: from + 8, y: top + 13 }, text));
          free = from + 8 + text.length * 5.9;
        } else if (at === near.length - 1 && before > 60) {
          const text = shorten(event.text, before / 5.9);
          space.front.append(s('text', { class: event.class, x: from - 8, y: top + 13, 'text-anchor': 'end' }, text));
        }
      });
    },
  };
}

function flowLane(flow, name) {
  const spans = merged(flow.intervals.list);
  return {
    height: laneHeight,
    draw: (y, space) => {
      label(space, y, name);
      const top = barTop(space, y);
      for (const [start, end] of spans) {
        const place = space.part(start, end);
        if (place) space.front.append(s('rect', { class: 'flow', x: place[0], y: top + 5, width: Math.max(1.5, place[1] - place[0]), height: 9, rx: 2 }, s('title', {}, `media came from ${seconds(fromNanoseconds(start))} to ${seconds(fromNanoseconds(end))}`)));
      }
    },
  };
}

function faultLane(fault) {
  return {
    height: laneHeight,
    draw: (y, space) => {
      label(space, y, fault.targets.length ? `on ${fault.targets.join(', ')}` : fault.entry.startsWith('#') ? 'fault' : fault.entry);
      const place = space.part(fault.start, fault.lasts ? fault.end : fault.start);
      if (!place) return;
      const top = barTop(space, y);
      const isPoint = !fault.lasts || place[1] - place[0] < 3;
      space.front.append(isPoint ? s('path', { class: 'stripe', d: `M${place[0]} ${top + 3}l6 6.5l-6 6.5l-6 -6.5z` })
        : s('rect', { class: 'stripe', x: place[0], y: top + 2, width: place[1] - place[0], height: 15, rx: 3 }, s('title', {}, fault.label)));
      const [inside, after, before] = [place[1] - place[0] - 12, space.right - place[1] - 12, place[0] - space.gutter - 12];
      const length = [...fault.label].length * 6;
      if (!isPoint && inside > length) space.front.append(s('text', { class: 'on', x: place[0] + 6, y: top + 13 }, fault.label));
      else if (after > length || after > before) space.front.append(s('text', { class: 'fault', x: place[1] + 9, y: top + 13 }, shorten(fault.label, after / 5.9)));
      else space.front.append(s('text', { class: 'fault', x: place[0] - 9, y: top + 13, 'text-anchor': 'end' }, shorten(fault.label, before / 5.9)));
    },
  };
}

function more(count, what) {
  return { height: () => 18, draw: (y, space) => space.front.append(s('text', { class: 'soft', x: space.gutter + 4, y: y + 12 }, `and ${count} more ${what}`)) };
}

function laneTracks(story, isWhole, space) {
  const tracks = [];
  if (story.faults.length) {
    tracks.push(heading('Faults'), ...story.faults.slice(0, STRIPES).map(faultLane));
    if (story.faults.length > STRIPES) tracks.push(more(story.faults.length - STRIPES, 'faults, as bands'));
  }
  const isLong = machine => machine.changes.list.length > 1 || !machine.name.endsWith('.state');
  for (const [name, role] of story.participants) {
    const isMine = subject => subject === name || subject.startsWith(name + '/');
    const scope = subject => subject === name ? '' : subject.slice(name.length + 1) + ' ';
    const machines = story.machines.filter(machine => isMine(machine.subject) && (isWhole || !HIDDEN.has(machine.name)));
    const pairs = story.pairs.list.filter(pair => isMine(pair[0]));
    const events = [
      ...story.userActions.list.filter(deed => isMine(deed[2])).map(([order, time, , action, target, isRefused]) => ({ order, time, class: 'deed', text: `${action} ${target}`.trim() + (isRefused ? ' (refused)' : '') })),
      ...story.notes.list.filter(note => isMine(note[2])).map(([order, time, , , , text]) => ({ order, time, class: 'note', text })),
    ].sort((a, b) => a.order - b.order);
    if (!machines.length && !pairs.length && !events.length) continue;
    tracks.push(heading(role === 'peer' ? name : `${name}, ${role}`));
    if (events.length) tracks.push(eventLane(events, 'user and events'));
    tracks.push(...machines.map(machine => stateLane(machine, scope(machine.subject) + machine.name.replace(/\.state$/, ''))));
    for (const subject of new Set(pairs.map(pair => pair[0]))) tracks.push(pairLane(pairs.filter(pair => pair[0] === subject), scope(subject) + 'selected pair'));
  }
  const links = story.machines.filter(machine => machine.name === 'link.state' && (isWhole || isLong(machine)));
  if (links.length) tracks.push(heading('Links'), ...links.map(machine => stateLane(machine, machine.subject.replace(/^link\//, ''))));
  const flows = story.flows.filter(flow => flow.to !== null);
  if (flows.length) tracks.push(heading('Media that came'), ...flows.map(flow => flowLane(flow, `${flow.from || 'unknown'} → ${flow.to}`)));
  return tracks;
}
