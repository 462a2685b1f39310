'use strict';
// Helpers, data, routes and keys. Text reaches the page as text nodes only: whatever a scenario says is never markup.

const $ = id => document.getElementById(id);
// Controls and marks that turn text around would show something else than there is.
const clean = text => String(text).replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, '\ufffd');

function put(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith('on')) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? '' : clean(value));
  }
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    node.append(child instanceof Node ? child : clean(child));
  }
  return node;
}
const h = (name, attributes, ...children) => put(document.createElement(name), attributes, children);
const s = (name, attributes, ...children) =>
  put(document.createElementNS('http://www.w3.org/2000/svg', name), attributes, children);

const data = id => JSON.parse($(id).textContent);
const suite = data('data');
const details = new Map();
const detailOf = index => {
  if (!details.has(index)) details.set(index, $('run-' + index) ? data('run-' + index) : null);
  return details.get(index);
};

const WORDS = {
  pass: ['✓', 'passed'], fail: ['✗', 'failed'], broken: ['✗', 'broken'], vacuous: ['○', 'vacuous'],
  inconclusive: ['?', 'inconclusive'], timeout: ['✗', 'timeout'], nondeterministic: ['≠', 'not deterministic'],
  skipped: ['–', 'skipped'], 'not run': ['–', 'not run'],
};
const badge = verdict => h('span', { class: 'verdict ' + verdict.replace(' ', '-') },
  h('span', { 'aria-hidden': 'true' }, WORDS[verdict][0]), WORDS[verdict][1]);
const mark = verdict => verdict === 'pass' ? '' : ['vacuous', 'inconclusive', 'skipped', 'not run'].includes(verdict) ? 'odd' : 'bad';

const seconds = (value, places = 2) => value.toFixed(places) + ' s';
const fromNanoseconds = value => value / 1e9;
const seed = run => run.seed === null ? 'all seeds' : '#' + run.seed;

// Routes: `#run=…` is a run, everything else the suite. The browser's Back works.

let current = null;

function route() {
  const match = /^#run=(.*)$/.exec(location.hash);
  let index = -1;
  try { index = match ? suite.runs.findIndex(run => run.id === decodeURIComponent(match[1])) : -1; } catch { /* none */ }
  const left = current;
  current = index < 0 ? null : index;
  $('suite').hidden = current !== null;
  $('run').hidden = current === null;
  if (current !== null) {
    showRun(current);
    scrollTo(0, 0);
    $('run-title').focus({ preventScroll: true });
  } else {
    $('run').replaceChildren();
    document.title = 'callsim report';
    if (left !== null) returnToRow(left);
  }
}

const open = index => { location.hash = 'run=' + encodeURIComponent(suite.runs[index].id); };
const close = () => { location.hash = ''; };

// Keys

function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || $('help').open) return;
  const target = event.target;
  const isTyping = target.matches('input, select, textarea, audio');
  if (event.key === 'Escape') {
    if (target === $('filter')) { if (target.value) { target.value = ''; draw(); } else focusRow(0); }
    else if (current !== null) close();
    else return;
    event.preventDefault();
    return;
  }
  if (target === $('filter') && (event.key === 'Enter' || event.key === 'ArrowDown')) {
    focusRow(0);
    event.preventDefault();
    return;
  }
  if (isTyping) return;
  const step = { j: 1, ArrowDown: 1, k: -1, ArrowUp: -1 }[event.key];
  // Arrows scroll a page that has more to show than one row after the other.
  if (step && (current === null || !event.key.startsWith('Arrow') || event.shiftKey)) {
    if (current === null) stepRow(step); else stepRun(step);
  } else if (event.key === '/') {
    const filter = () => { $('filter').focus(); $('filter').select(); };
    // At once, for what is typed next; the table is back a moment after a run is closed.
    if (current === null) filter(); else { close(); setTimeout(filter); }
  } else if (event.key === '?') {
    $('help').showModal();
  } else if (current === null || !runKey(event.key)) {
    return;
  }
  event.preventDefault();
}
