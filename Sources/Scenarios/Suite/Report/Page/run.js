// One run: what failed and why, its time axis, its sequence diagram, its sound and its numbers.

let axis = null;

function showRun(index) {
  const run = suite.runs[index];
  const detail = detailOf(index);
  const cell = suite.cells.find(cell => cell.runs.includes(index) || cell.overall === index);
  document.title = `${clean(run.id)} – callsim report`;
  axis = null;
  const page = $('run');
  const at = shown.findIndex(other => other === cell);
  const result = detail.result;
  const story = detail.story;
  page.replaceChildren(
    h('nav', { class: 'crumbs', 'aria-label': 'Runs' },
      h('button', { type: 'button', onclick: close }, '← Suite ', h('kbd', {}, 'Esc')),
      h('button', { type: 'button', disabled: at <= 0, onclick: () => stepRun(-1) }, 'Previous ', h('kbd', {}, 'k')),
      h('button', { type: 'button', disabled: at < 0 || at >= shown.length - 1, onclick: () => stepRun(1) }, 'Next ', h('kbd', {}, 'j')),
      at >= 0 && h('span', { class: 'soft' }, `${at + 1} of ${shown.length}`)),
    head(run, cell, index, detail),
    ...result.findings.map(findingCard));
  if (!story) {
    page.append(h('section', { class: 'card' }, h('p', { class: 'soft' }, run.seed === null
      ? 'This is judged over all the seeds of the cell: their runs above have a story each.'
      : result.verdict === 'skipped' ? 'This run was not made, so that there is no story of it.'
      : 'The page has no story of this run; the replay line plays it again.')));
    return;
  }
  axis = timeline(story, result);
  page.append(h('section', { class: 'card', 'aria-labelledby': 'time-title' }, h('h2', { id: 'time-title' }, 'What happened', h('small', {}, 'drag over a part to see it larger')), axis.node, laneList(story), key(story, result)));
  const card = h('section', { class: 'card', 'aria-labelledby': 'sequence-title' }, h('h2', { id: 'sequence-title' }, 'Signalling and media'));
  page.append(card);
  card.append(sequence(story, Math.max(280, Math.min(card.clientWidth - 36, 1100))));
  page.append(h('div', { class: 'columns' }, [sounds(detail, story), drops(story), measurements(result), notes(story)].filter(Boolean)));
}

function head(run, cell, index, detail) {
  const result = detail.result;
  const others = cell ? [...cell.runs, ...(cell.overall === null ? [] : [cell.overall])] : [];
  return h('section', { class: 'card head' }, badge(run.verdict),
    h('h1', { id: 'run-title', tabindex: -1 }, run.seed === null ? `${run.id}, over all its seeds` : run.id), result.title && h('p', { class: 'soft' }, result.title),
    others.length > 1 && h('nav', { class: 'seeds', 'aria-label': 'Seeds of the cell' },
      h('span', { class: 'soft' }, `${cell.passed} of ${cell.runs.length} passed`),
      others.map(other => h('a', { href: '#run=' + encodeURIComponent(suite.runs[other].id), class: mark(suite.runs[other].verdict), 'aria-current': other === index ? 'page' : null,
        'aria-label': `${seed(suite.runs[other])}, ${WORDS[suite.runs[other].verdict][1]}` }, (suite.runs[other].verdict === 'pass' ? '' : WORDS[suite.runs[other].verdict][0] + ' ') + seed(suite.runs[other])))),
    h('div', { class: 'facts' },
      h('span', {}, 'virtual time ', h('b', {}, seconds(run.seconds))), h('span', {}, 'events ', h('b', {}, result.eventCount)),
      h('span', {}, 'trace ', h('b', { class: 'mono' }, result.traceHash)), h('span', {}, 'file ', h('b', { class: 'mono' }, result.path)),
      detail.folder && h('span', {}, 'artifacts ', h('b', { class: 'mono' }, detail.folder))),
    h('div', { class: 'replay' }, h('code', { id: 'replay' }, detail.replay), h('button', { type: 'button', onclick: copyReplay, title: 'Copy the replay line (c)' }, 'Copy')));
}

function copyReplay() {
  const button = document.querySelector('.replay button');
  const text = $('replay').textContent;
  const told = word => { button.textContent = word; setTimeout(() => { button.textContent = 'Copy'; }, 1500); };
  const select = () => {
    getSelection().selectAllChildren($('replay'));
    told(document.execCommand('copy') ? 'Copied' : 'Selected');
  };
  if (navigator.clipboard) navigator.clipboard.writeText(text).then(() => told('Copied'), select); else select();
}

function findingCard(finding) {
  const row = (name, value, kind) => value instanceof Node || value && value.length ? [h('dt', {}, name), h('dd', { class: kind }, value)] : [];
  const list = lines => lines.length > 1 ? h('ul', {}, lines.map(line => h('li', {}, line))) : lines[0];
  const time = value => seconds(fromNanoseconds(value));
  const window = finding.windowNanoseconds ? `${time(finding.windowNanoseconds[0])} to ${time(finding.windowNanoseconds[1])}` : '';
  return h('section', { class: 'card finding ' + finding.kind },
    h('header', {}, h('h3', {}, finding.title), h('code', { class: 'soft' }, finding.location || finding.kind)),
    h('dl', { class: 'grid' }, row('expected', finding.expected),
      row('actual', finding.actual + (finding.atNanoseconds > 0 ? ` (at ${time(finding.atNanoseconds)})` : ''), 'strong'),
      row('window', window), row('why', finding.why),
      row('trail', finding.trail.map(trail)), row('explanation', finding.explanation.length ? list(finding.explanation) : ''),
      row('faults', finding.faults.length ? list(finding.faults) : ''), row('signature', h('code', {}, finding.signature))));
}

// `alice: idle 0.00 > calling 1.00 > connected 3.31`
function trail(line) {
  const split = line.indexOf(': ');
  const steps = line.slice(split + 2).split(' > ').map(step => /^(.*) (\d+\.\d+)$/.exec(step) || [step, step, '']);
  return h('div', { class: 'trail' }, h('b', {}, line.slice(0, split)), steps.map(([, state, time], at) => [at ? h('em', { 'aria-hidden': 'true' }, '›') : null, h('span', {}, state, ' ', h('em', {}, time))]));
}

const key = (story, result) => h('p', { class: 'legend' },
  [['up', 'works'], ['busy', 'on its way'], ['down', 'in trouble'], ['idle', 'at rest']].map(([kind, word]) => h('span', {}, h('i', { style: `background:var(--${kind})` }), word)),
  story.faults.length ? h('span', {}, h('i', { style: 'background:var(--fault)' }), 'fault') : null,
  result.findings.some(finding => finding.atNanoseconds > 0) ? h('span', {}, h('i', { style: 'border:1px dashed var(--bad)' }), 'window of the failure; the line is when it was decided') : null);

function sounds(detail, story) {
  if (!detail.sounds || !detail.sounds.length) return null;
  return h('section', { class: 'card' }, h('h2', {}, 'Sound', h('small', {}, 'what each heard, from the run’s folder')), h('div', { class: 'sound' },
    detail.sounds.map(source => {
      const name = decodeURIComponent(source.split('/').pop()).replace(/\.wav$/, '');
      return h('label', {}, name, h('audio', { controls: true, preload: 'none', src: source }));
    })));
}

function drops(story) {
  if (!story.drops.length) return null;
  const rows = story.drops.map(drop => [drop.reason, drop.place, drop.counts.amounts.reduce((a, b) => a + b, 0)]).sort((a, b) => b[2] - a[2]);
  return table('Packets dropped', ['reason', 'where', 'packets'], rows.slice(0, 40), rows.length);
}

function measurements(result) {
  const rows = result.measurements.map(item => [item.id, item.expected, item.measured === null ? '–' : +item.measured.toFixed(6)]);
  return rows.length ? table('Measured', ['expectation', 'expected', 'measured'], rows.slice(0, 60), rows.length) : null;
}

function notes(story) {
  const rows = story.notes.list.map(([, time, subject, , , text]) => [seconds(fromNanoseconds(time), 3), subject, text]);
  return rows.length ? table('Events', ['time', 'who', 'what'], rows.slice(0, 80), rows.length + story.notes.omitted) : null;
}

function table(title, heads, rows, total) {
  return h('section', { class: 'card' }, h('h2', {}, title), h('div', { class: 'scroll' }, h('table', { class: 'plain' },
    h('thead', {}, h('tr', {}, heads.map(name => h('th', { scope: 'col' }, name)))),
    h('tbody', {}, rows.map(row => h('tr', {}, row.map(value => h('td', { class: typeof value === 'number' ? 'num' : null }, value))))))),
  rows.length < total ? h('p', { class: 'soft' }, `and ${total - rows.length} more`) : null);
}

function runKey(name) {
  if (name === 'c') { copyReplay(); return true; }
  return axis !== null && axis.key(name);
}

// Begin

beginSuite();
$('home').addEventListener('click', event => { event.preventDefault(); close(); });
$('help-button').addEventListener('click', () => $('help').showModal());
document.addEventListener('keydown', onKey);
addEventListener('hashchange', route);
route();
