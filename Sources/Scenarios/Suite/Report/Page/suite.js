// The table of cells, each over its seeds: sorted, filtered, walked through.

const SEVERITY = ['nondeterministic', 'broken', 'fail', 'inconclusive', 'timeout', 'vacuous', 'skipped', 'not run', 'pass'];
const severity = cell => SEVERITY.indexOf(cell.verdict);
const first = cell => suite.runs[cell.worst];

const COLUMNS = [
  { key: 'verdict', name: 'Result', class: 'c-verdict', order: cell => severity(cell) },
  { key: 'name', name: 'Scenario', class: 'c-name', order: cell => cell.id },
  { key: 'seeds', name: 'Seeds passed', class: 'c-seeds', order: cell => cell.passed / Math.max(1, cell.runs.length) },
  { key: 'what', name: 'What failed', class: '', order: cell => cell.signature || '\uffff' },
  { key: 'time', name: 'Time', class: 'c-time num', order: cell => first(cell).seconds },
];
const LIMIT = 500;
let sorting = { key: 'verdict', isDown: false };
let chosen = new Set();
let shown = [];
let isWhole = false;

function matches(cell, words) {
  if (chosen.size && !chosen.has(cell.verdict)) return false;
  return words.every(word => {
    const [, key, value] = /^(status|signature|path):(.*)$/.exec(word) || [];
    if (key === 'status') return cell.verdict.startsWith(value) || WORDS[cell.verdict][1].startsWith(value);
    if (key === 'signature') return cell.runs.some(index => suite.runs[index].signature.toLowerCase().includes(value));
    if (key === 'path') return cell.path.toLowerCase().includes(value);
    return cell.text.includes(word);
  });
}

function draw() {
  const words = $('filter').value.toLowerCase().split(/\s+/).filter(Boolean);
  const column = COLUMNS.find(column => column.key === sorting.key);
  shown = suite.cells.filter(cell => matches(cell, words));
  const sign = sorting.isDown ? -1 : 1;
  const compare = (a, b) => (a < b ? -1 : a > b ? 1 : 0);
  shown.sort((a, b) => sign * compare(column.order(a), column.order(b)) || a.place - b.place);
  const rows = (isWhole ? shown : shown.slice(0, LIMIT)).map(row);
  $('rows').replaceChildren(...rows);
  if (rows.length) rows[0].tabIndex = 0;
  if (!rows.length) {
    $('rows').append(h('tr', {}, h('td', { colspan: COLUMNS.length, class: 'empty' },
      suite.cells.length ? 'No run fits the filter. Esc takes it away.' : 'No run was made.')));
  }
  $('more').replaceChildren(...(rows.length < shown.length
    ? [h('button', { type: 'button', onclick: () => { isWhole = true; draw(); } }, `Show all ${shown.length}`)] : []));
  $('shown').textContent = shown.length === suite.cells.length
    ? `${suite.cells.length} cells` : `${shown.length} of ${suite.cells.length} cells`;
  for (const head of $('columns').children) {
    const isSorted = head.dataset.key === sorting.key;
    if (isSorted) head.setAttribute('aria-sort', sorting.isDown ? 'descending' : 'ascending');
    else head.removeAttribute('aria-sort');
    head.querySelector('i').textContent = isSorted ? (sorting.isDown ? '↓' : '↑') : '';
  }
}

function row(cell) {
  const run = first(cell);
  const dots = cell.runs.length > 1 && cell.runs.length <= 60 && h('span', { class: 'dots', 'aria-hidden': 'true' },
    cell.runs.map(index => h('i', { class: mark(suite.runs[index].verdict) })));
  const worst = cell.passed < cell.runs.length && cell.runs.length > 1 ? `, worst ${seed(run)}` : '';
  const what = cell.verdict === 'pass' ? [] : [run.what, h('small', {}, run.place || run.signature)];
  const node = h('tr', {
    tabindex: -1, 'data-worst': cell.worst, onclick: () => open(cell.worst),
    onkeydown: event => { if (event.key === 'Enter' && event.target === node) open(cell.worst); },
    onfocus: () => {
      for (const other of $('rows').querySelectorAll('[tabindex="0"]')) other.tabIndex = -1;
      node.tabIndex = 0;
    },
  },
  h('td', {}, badge(cell.verdict)),
  h('td', { class: 'name' }, h('a', { href: '#run=' + encodeURIComponent(run.id), tabindex: -1, style: 'color:inherit;text-decoration:none' }, cell.id),
    cell.title && h('small', {}, cell.title)),
  h('td', {}, cell.runs.length > 1 ? `${cell.passed} of ${cell.runs.length}${worst}` : run.seed === null ? 'all seeds' : `${cell.passed} of 1`, dots),
  h('td', { class: 'what' }, what),
  h('td', { class: 'num' }, seconds(run.seconds, 1)));
  return node;
}

const rowNodes = () => [...$('rows').querySelectorAll('tr[data-worst]')];

function focusRow(index) {
  const node = rowNodes()[index];
  if (node) { node.focus(); node.scrollIntoView({ block: 'nearest' }); }
}

function stepRow(step) {
  const nodes = rowNodes();
  const at = nodes.indexOf(document.activeElement);
  focusRow(at < 0 ? (step > 0 ? 0 : nodes.length - 1) : Math.max(0, Math.min(nodes.length - 1, at + step)));
}

function stepRun(step) {
  const at = shown.findIndex(cell => cell.runs.includes(current));
  const next = shown[at + step];
  if (next) open(next.worst);
}

function returnToRow(run) {
  const at = shown.findIndex(cell => cell.runs.includes(run));
  if (at >= 0) focusRow(at);
}

function sortBy(key, isDown) {
  sorting = { key, isDown };
  draw();
}

function beginSuite() {
  $('summary').textContent = suite.summary;
  suite.cells.forEach((cell, place) => {
    cell.place = place;
    cell.text = [cell.id, cell.title || '', cell.path,
      ...cell.runs.map(index => `${suite.runs[index].what} ${suite.runs[index].signature}`)].join('\n').toLowerCase();
  });
  $('columns').append(...COLUMNS.map(column => h('th', { scope: 'col', class: column.class, 'data-key': column.key },
    h('button', { type: 'button', onclick: () => sortBy(column.key, sorting.key === column.key && !sorting.isDown) },
      column.name, h('i', { 'aria-hidden': 'true' })))));
  const counts = new Map();
  for (const cell of suite.cells) counts.set(cell.verdict, (counts.get(cell.verdict) || 0) + 1);
  const known = SEVERITY.filter(verdict => counts.has(verdict));
  if (known.length > 1) {
    $('verdicts').append(...known.map(verdict => h('button', {
      type: 'button', 'aria-pressed': 'false',
      onclick: event => {
        if (!chosen.delete(verdict)) chosen.add(verdict);
        event.currentTarget.setAttribute('aria-pressed', chosen.has(verdict));
        draw();
      },
    }, WORDS[verdict][1], ' ', h('b', {}, counts.get(verdict)))));
  }
  $('shown').before(h('label', { class: 'sort' }, 'Sort by ', h('select', { onchange: event => sortBy(event.target.value, false) },
    COLUMNS.map(column => h('option', { value: column.key }, column.name)))));
  if (suite.problems.length) {
    $('others').append(h('section', { class: 'card' }, h('h2', {}, 'Files with errors'), h('ul', {},
      suite.problems.map(problem => h('li', {}, h('code', {}, problem.place), ' ', problem.message)))));
  }
  if (suite.notRun.length) {
    $('others').append(h('section', { class: 'card' }, h('details', {}, h('summary', {}, `${suite.notRunCount} runs were not made`),
      h('ul', {}, suite.notRun.map(run => h('li', {}, h('code', {}, run.id), ' ', h('span', { class: 'soft' }, run.reason))),
      suite.notRunCount > suite.notRun.length ? h('li', {}, `and ${suite.notRunCount - suite.notRun.length} more`) : null))));
  }
  $('about').append(...suite.lines.map(line => h('p', {}, line)));
  let pause = 0;
  $('filter').addEventListener('input', () => { clearTimeout(pause); pause = setTimeout(draw, 60); });
  draw();
}
